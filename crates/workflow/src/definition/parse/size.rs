//! Numbers of bytes: `1024`, `10MB`, `64KiB`.

use super::reader::Reader;
use crate::definition::yaml::Node;

const UNITS: [(&str, u64); 13] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("k", 1_000),
    ("m", 1_000_000),
    ("g", 1_000_000_000),
    ("b", 1),
    ("", 1),
];

/// Reads a number of bytes.
pub(super) fn read(reader: &mut Reader, what: &str, node: &Node) -> Option<u64> {
    let found = node.scalar().and_then(|scalar| parse(&scalar.text));
    if found.is_none() {
        let message = format!("{what} is {}", node.describe());
        reader.error(&node.place, message, "a number of bytes such as `10MB` or `64KiB`");
    }
    found
}

fn parse(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let unit = text[digits..].trim();
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    if let Ok(whole) = text[..digits].parse::<u64>() {
        return whole.checked_mul(*factor);
    }
    let bytes = text[..digits].parse::<f64>().ok()? * *factor as f64;
    (bytes < u64::MAX as f64).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_both_kinds_of_units() {
        let cases = [
            ("1024", Some(1024)),
            ("10MB", Some(10_000_000)),
            ("64KiB", Some(65_536)),
            ("1.5 MB", Some(1_500_000)),
            ("1GiB", Some(1 << 30)),
            ("5b", Some(5)),
            ("", None),
            ("MB", None),
            ("-1", None),
            ("10 parsecs", None),
            ("99999999999999999999TB", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
