//! Lengths of time: `30`, `1.5`, `"30s"`, `"500ms"`, `"1m30s"`, `"2h"`.

use std::time::Duration;

use super::reader::Reader;
use crate::definition::problem::Problem;
use crate::definition::yaml::Node;
use crate::language::Value;

const EXPECTED: &str = "seconds as a number, or a length of time such as `30s`, `500ms` or `1m30s`";

/// Longest first, so that `ms` is not taken for `m`.
const UNITS: [(&str, f64); 8] = [
    ("ms", 1e-3),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ns", 1e-9),
    ("d", 86_400.0),
    ("h", 3_600.0),
    ("m", 60.0),
    ("s", 1.0),
];

/// Reads a length of time.
pub(super) fn read(reader: &mut Reader, what: &str, node: &Node) -> Option<Duration> {
    let found = node.scalar().and_then(|scalar| match &scalar.value {
        Value::Number(seconds) => seconds.as_f64().and_then(from_seconds),
        _ => parse(&scalar.text),
    });
    if found.is_none() {
        let is_template = node.scalar().is_some_and(|scalar| scalar.text.contains("{{"));
        let hint = is_template.then(|| {
            "it is read before the run, so that nothing can be filled in; for one run, use \
             `--set STEP.timeout=…`"
                .to_owned()
        });
        let hint = hint.or_else(|| node.scalar().and_then(|scalar| in_words(&scalar.text)));
        let problem = Problem::error(&node.place, format!("{what} is {}", node.describe()));
        reader.problems.push(problem.expected(EXPECTED).hint(hint));
    }
    found
}

/// Takes `5 minutes` for `5m`.
fn in_words(text: &str) -> Option<String> {
    let (number, word) = text.trim().split_once(char::is_whitespace)?;
    number.parse::<f64>().ok()?;
    let word = word.trim().to_lowercase();
    let unit = match word.as_str() {
        word if word.starts_with("milli") => "ms",
        word => word.get(..1).filter(|unit| ["s", "m", "h", "d"].contains(unit))?,
    };
    Some(format!("did you mean `{number}{unit}`?"))
}

fn parse(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return from_seconds(seconds);
    }
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let (unit, seconds) = UNITS.iter().find(|(unit, _)| rest.starts_with(unit))?;
        total = total.checked_add(from_seconds(number * seconds)?)?;
        rest = &rest[unit.len()..];
    }
    (!text.is_empty()).then_some(total)
}

fn from_seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read_to_the_millisecond_and_nonsense_is_not() {
        let cases = [
            ("30", Some(30_000)),
            ("1.5", Some(1_500)),
            ("30s", Some(30_000)),
            ("500ms", Some(500)),
            ("1m30s", Some(90_000)),
            ("2h", Some(7_200_000)),
            ("1.5s", Some(1_500)),
            ("1h0m0.25s", Some(3_600_250)),
            ("0", Some(0)),
            ("", None),
            ("-5", None),
            ("-5s", None),
            ("soon", None),
            ("5x", None),
            ("5s5", None),
            ("1e400", None),
            ("NaN", None),
            ("99999999999999999999h", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), expected.map(Duration::from_millis), "{text}");
        }
    }
}
