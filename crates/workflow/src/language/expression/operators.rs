//! The operators between two values: how they bind, and what they do.
//!
//! Null stands for what is missing: it equals only null, no order or test holds for it, and
//! arithmetic with it is null again.

use std::cmp::Ordering;

use regex::RegexBuilder;
use serde_json::Number;

use crate::language::Value;
use crate::language::value::{as_number, equal, kind_of, number_value, order, text_of};

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Otherwise,
}

/// Where `!` and `not` bind: looser than any comparison, so that `not a contains b` means what it says.
pub(super) const NOT: u8 = 20;
/// Where a sign binds.
pub(super) const SIGN: u8 = 70;

impl Operator {
    /// Returns the operator that a mark or word stands for.
    pub(super) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "||" | "or" => Operator::Or,
            "&&" | "and" => Operator::And,
            "==" => Operator::Equal,
            "!=" => Operator::NotEqual,
            "<" => Operator::Less,
            "<=" => Operator::LessOrEqual,
            ">" => Operator::Greater,
            ">=" => Operator::GreaterOrEqual,
            "contains" => Operator::Contains,
            "startsWith" => Operator::StartsWith,
            "endsWith" => Operator::EndsWith,
            "matches" => Operator::Matches,
            "in" => Operator::In,
            "+" => Operator::Add,
            "-" => Operator::Subtract,
            "*" => Operator::Multiply,
            "/" => Operator::Divide,
            "%" => Operator::Remainder,
            "**" | "^" => Operator::Power,
            "??" => Operator::Otherwise,
            _ => return None,
        })
    }

    /// Returns how tightly it binds.
    pub(super) fn binding(self) -> u8 {
        match self {
            Operator::Or => 5,
            Operator::And => 10,
            Operator::Add | Operator::Subtract => 50,
            Operator::Multiply | Operator::Divide | Operator::Remainder => 60,
            Operator::Power => 80,
            Operator::Otherwise => 90,
            _ => 30,
        }
    }

    /// Tells whether `not` may stand before it: `a not in b`.
    pub(super) fn can_be_negated(self) -> bool {
        matches!(
            self,
            Operator::In
                | Operator::Contains
                | Operator::StartsWith
                | Operator::EndsWith
                | Operator::Matches
        )
    }

    /// Applies it. `and`, `or` and `??` are not here: they may leave their right side alone.
    pub(super) fn apply(self, left: &Value, right: &Value) -> Result<Value, String> {
        match self {
            Operator::Equal => Ok(Value::Bool(equal(left, right))),
            Operator::NotEqual => Ok(Value::Bool(!equal(left, right))),
            Operator::Less
            | Operator::LessOrEqual
            | Operator::Greater
            | Operator::GreaterOrEqual => self.compare(left, right).map(Value::Bool),
            Operator::Contains => contains(left, right).map(Value::Bool),
            Operator::In => contains(right, left).map(Value::Bool),
            Operator::StartsWith | Operator::EndsWith | Operator::Matches => {
                self.test(left, right).map(Value::Bool)
            }
            _ if left.is_null() || right.is_null() => Ok(Value::Null),
            Operator::Add => add(left, right),
            _ => self.calculate(&number(left)?, &number(right)?),
        }
    }

    fn compare(self, left: &Value, right: &Value) -> Result<bool, String> {
        if left.is_null() || right.is_null() {
            return Ok(false);
        }
        let order = order(left, right)
            .ok_or_else(|| format!("cannot compare {} with {}", named(left), named(right)))?;
        Ok(match self {
            Operator::Less => order == Ordering::Less,
            Operator::LessOrEqual => order != Ordering::Greater,
            Operator::Greater => order == Ordering::Greater,
            _ => order != Ordering::Less,
        })
    }

    fn test(self, left: &Value, right: &Value) -> Result<bool, String> {
        if left.is_null() || right.is_null() {
            return Ok(false);
        }
        let (text, wanted) = (text_of(left), text_of(right));
        Ok(match self {
            Operator::StartsWith => text.starts_with(wanted.as_ref()),
            Operator::EndsWith => text.ends_with(wanted.as_ref()),
            _ => pattern(&wanted)?.is_match(&text),
        })
    }

    fn calculate(self, left: &Number, right: &Number) -> Result<Value, String> {
        if let (Some(left), Some(right)) = (left.as_i64(), right.as_i64())
            && let Some(result) = self.calculate_whole(left, right)?
        {
            return Ok(Value::from(result));
        }
        let (left, right) = (left.as_f64().unwrap_or_default(), right.as_f64().unwrap_or_default());
        let result = match self {
            Operator::Subtract => left - right,
            Operator::Multiply => left * right,
            Operator::Divide if right == 0.0 => return Err("division by 0".to_owned()),
            Operator::Divide => left / right,
            Operator::Remainder if right == 0.0 => {
                return Err("remainder of a division by 0".to_owned());
            }
            Operator::Remainder => left % right,
            Operator::Power => left.powf(right),
            _ => left + right,
        };
        Ok(number_value(result))
    }

    // None when the result is not a whole number or too large for one: then floats take over.
    fn calculate_whole(self, left: i64, right: i64) -> Result<Option<i64>, String> {
        Ok(match self {
            Operator::Add => left.checked_add(right),
            Operator::Subtract => left.checked_sub(right),
            Operator::Multiply => left.checked_mul(right),
            Operator::Remainder if right == 0 => {
                return Err("remainder of a division by 0".to_owned());
            }
            Operator::Remainder => left.checked_rem(right),
            Operator::Power => u32::try_from(right).ok().and_then(|power| left.checked_pow(power)),
            _ => None,
        })
    }
}

/// Reads a pattern for `matches`.
pub(super) fn pattern(text: &str) -> Result<regex::Regex, String> {
    const LARGEST: usize = 1 << 20;
    RegexBuilder::new(text)
        .size_limit(LARGEST)
        .build()
        .map_err(|_| format!("`{text}` is not a regular expression"))
}

/// Returns the number that a value is or reads as, or says what it is instead.
pub(super) fn number(value: &Value) -> Result<Number, String> {
    as_number(value).ok_or_else(|| format!("expected a number, found {}", named(value)))
}

fn contains(whole: &Value, part: &Value) -> Result<bool, String> {
    Ok(match whole {
        _ if part.is_null() && !whole.is_array() => false,
        Value::Null => false,
        Value::Array(items) => items.iter().any(|item| equal(item, part)),
        Value::Object(members) => members.contains_key(text_of(part).as_ref()),
        Value::String(text) => text.contains(text_of(part).as_ref()),
        other => return Err(format!("{} cannot contain anything", named(other))),
    })
}

// Two texts are joined; a text that reads as a number counts as one beside a number.
fn add(left: &Value, right: &Value) -> Result<Value, String> {
    if let (Value::Array(left), Value::Array(right)) = (left, right) {
        return Ok(left.iter().chain(right).cloned().collect());
    }
    let joins = |value: &Value| {
        value.is_string() && (left.is_string() == right.is_string() || as_number(value).is_none())
    };
    if joins(left) || joins(right) {
        return Ok(Value::String(format!("{}{}", text_of(left), text_of(right))));
    }
    Operator::Add.calculate(&number(left)?, &number(right)?)
}

fn named(value: &Value) -> String {
    const SHOWN: usize = 40;
    match value {
        Value::String(text) if text.chars().count() <= SHOWN => format!("the text `{text}`"),
        Value::Number(_) => format!("the number {value}"),
        Value::Bool(truth) => truth.to_string(),
        other => kind_of(other).to_owned(),
    }
}
