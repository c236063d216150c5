//! Any text as a part of a path, so that distinct texts stay distinct.

use uuid::Uuid;

/// Names that would be longer than this end in a hash instead.
const LONGEST: usize = 100;

/// Returns `text` as a single, harmless part of a path: letters, digits, `-` and single dots.
///
/// Every other byte becomes `_` and its two hexadecimal digits, the underscore itself too, so that no
/// two texts share a name.
pub(crate) fn safe_name(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'.' if !name.is_empty() && !name.ends_with('.') => name.push('.'),
            b'-' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => name.push(char::from(byte)),
            _ => name.push_str(&format!("_{byte:02x}")),
        }
    }
    if name.len() > LONGEST || name.is_empty() {
        // No byte is written as `_h`, so that no short name looks like this.
        name.truncate(LONGEST / 2);
        name.push_str("_h");
        name.push_str(&Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes()).simple().to_string());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_every_sort_are_harmless() {
        let cases = [
            ("main", "main"),
            ("a_b", "a_5fb"),
            ("../x", "_2e._2fx"),
            (".", "_2e"),
            ("a..b", "a._2eb"),
            ("é", "_c3_a9"),
        ];
        for (text, name) in cases {
            assert_eq!(safe_name(text), name);
        }
        assert!(safe_name("").starts_with("_h"));
        assert!(safe_name(&"x".repeat(1000)).len() < 100);
    }

    proptest! {
        #[test]
        fn distinct_texts_have_distinct_harmless_names(one in ".{0,80}", other in ".{0,80}") {
            let (a, b) = (safe_name(&one), safe_name(&other));
            prop_assert_eq!(one == other, a == b);
            prop_assert!(!a.contains("..") && !a.starts_with('.') && !a.contains('/'));
        }
    }
}
