//! What a scalar stands for, by YAML's core schema.
//!
//! Only what is written plainly can be anything but text: `"5"` is a text, `5` a number.

use super::Style;
use crate::language::Value;

/// Returns the value of a scalar. `tag` is the part of `!!str` behind the marks.
pub(super) fn resolve(text: &str, style: Style, tag: Option<&str>) -> Value {
    match tag {
        Some("str") => return text.into(),
        Some("int" | "float" | "bool" | "null") => {}
        _ if style != Style::Plain => return text.into(),
        _ => {}
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        _ => number(text).unwrap_or_else(|| text.into()),
    }
}

fn number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let first = digits.bytes().next()?;
    if !first.is_ascii_digit() && first != b'.' {
        return None;
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return u64::from_str_radix(octal, 8).ok().map(Value::from);
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(Value::from);
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let text = text.strip_prefix('+').unwrap_or(text);
        if let Ok(whole) = text.parse::<i64>() {
            return Some(whole.into());
        }
        if let Ok(whole) = text.parse::<u64>() {
            return Some(whole.into());
        }
    }
    let looks_right =
        digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    let float = if looks_right { text.parse::<f64>().ok()? } else { return None };
    // JSON knows no infinity: what is too large to be a number stays the text it was.
    serde_json::Number::from_f64(float).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_scalars_are_what_the_core_schema_says() {
        let cases = [
            ("", json!(null)),
            ("~", json!(null)),
            ("True", json!(true)),
            ("FALSE", json!(false)),
            ("yes", json!("yes")),
            ("12", json!(12)),
            ("-7", json!(-7)),
            ("+7", json!(7)),
            ("0o17", json!(15)),
            ("0xff", json!(255)),
            ("18446744073709551615", json!(18446744073709551615u64)),
            ("1.5", json!(1.5)),
            ("-.5", json!(-0.5)),
            ("1e3", json!(1000.0)),
            (".inf", json!(".inf")),
            ("1.0.0", json!("1.0.0")),
            ("30s", json!("30s")),
            ("1-2", json!("1-2")),
            (".", json!(".")),
        ];
        for (text, expected) in cases {
            assert_eq!(resolve(text, Style::Plain, None), expected, "{text:?}");
            assert_eq!(resolve(text, Style::DoubleQuoted, None), json!(text), "{text:?} in quotes");
            assert_eq!(resolve(text, Style::Plain, Some("str")), json!(text), "!!str {text:?}");
        }
    }
}
