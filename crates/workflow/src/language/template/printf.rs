//! `printf`: the verbs that texts and numbers need. Unknown verbs are errors, not `%!x(…)`.

use std::borrow::Cow;

use crate::language::Value;
use crate::language::value::{as_number, text_of};

/// Fills a format in.
pub(super) fn format(pattern: &str, values: &[Cow<'_, Value>]) -> Result<String, String> {
    let mut text = String::new();
    let mut values = values.iter();
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            text.push(letter);
            continue;
        }
        let mut verb = Verb::default();
        while let Some(flag) =
            letters.next_if(|letter| matches!(letter, '-' | '+' | '0' | ' ' | '#'))
        {
            verb.left |= flag == '-';
            verb.plus |= flag == '+';
            verb.zeros |= flag == '0';
        }
        verb.width = read_count(&mut letters)?.unwrap_or_default();
        if letters.next_if_eq(&'.').is_some() {
            verb.precision = Some(read_count(&mut letters)?.unwrap_or_default());
        }
        match letters.next() {
            Some('%') => text.push('%'),
            Some(letter) => {
                let value = values
                    .next()
                    .ok_or_else(|| format!("`printf`: `%{letter}` has no argument left"))?;
                text.push_str(&verb.fill(letter, value)?);
            }
            None => return Err("`printf`: `%` at the end of the format".to_owned()),
        }
    }
    match values.count() {
        0 => Ok(text),
        extra => Err(format!("`printf`: {extra} more arguments than the format has verbs")),
    }
}

#[derive(Default)]
struct Verb {
    left: bool,
    plus: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
}

impl Verb {
    fn fill(&self, letter: char, value: &Value) -> Result<String, String> {
        let number = || {
            as_number(value).ok_or_else(|| {
                format!("`printf`: `%{letter}` needs a number, not `{}`", text_of(value))
            })
        };
        let whole = || {
            number()?.as_i64().ok_or_else(|| format!("`printf`: `%{letter}` needs a whole number"))
        };
        let is_number = matches!(letter, 'd' | 'f' | 'x' | 'X');
        let mut text = match letter {
            'v' | 's' | 't' => {
                let text = text_of(value);
                text.chars().take(self.precision.unwrap_or(usize::MAX)).collect()
            }
            'q' => Value::from(text_of(value)).to_string(),
            'd' => whole()?.to_string(),
            'x' => format!("{:x}", whole()?),
            'X' => format!("{:X}", whole()?),
            'f' => {
                let float = number()?.as_f64().unwrap_or_default();
                format!("{float:.*}", self.precision.unwrap_or(6))
            }
            _ => return Err(format!("`printf` does not know `%{letter}`")),
        };
        if self.plus && is_number && !text.starts_with('-') {
            text.insert(0, '+');
        }
        Ok(self.pad(text, is_number))
    }

    fn pad(&self, text: String, is_number: bool) -> String {
        let missing = self.width.saturating_sub(text.chars().count());
        match (self.left, self.zeros && is_number) {
            (true, _) => text + &" ".repeat(missing),
            (false, true) => {
                let sign = usize::from(text.starts_with(['+', '-']));
                format!("{}{}{}", &text[..sign], "0".repeat(missing), &text[sign..])
            }
            (false, false) => " ".repeat(missing) + &text,
        }
    }
}

fn read_count(
    letters: &mut std::iter::Peekable<std::str::Chars<'_>>,
) -> Result<Option<usize>, String> {
    // Wider than this is a mistake that would only fill memory.
    const WIDEST: usize = 1000;
    let mut count = None;
    while let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(10)) {
        letters.next();
        let next = count.unwrap_or(0) * 10 + digit as usize;
        if next > WIDEST {
            return Err(format!("`printf`: a width past {WIDEST}"));
        }
        count = Some(next);
    }
    Ok(count)
}
