//! Halves of surrogate pairs: agents pass half an emoji through as half an escape.
//!
//! Readers of JSON refuse a whole line for it. Here the half is replaced and the line stays.

use std::borrow::Cow;

use memchr::memmem;

/// Replaces halves of surrogate pairs by the replacement character, if there are any.
pub fn mend_surrogates(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    if memmem::find(bytes, b"\\ud").or_else(|| memmem::find(bytes, b"\\uD")).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let (mut at, mut written) = (0, 0);
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        at += found;
        match unit(bytes, at) {
            Some(0xD800..=0xDBFF) if matches!(unit(bytes, at + 6), Some(0xDC00..=0xDFFF)) => {
                at += 12;
            }
            Some(0xD800..=0xDFFF) => {
                out.push_str(&text[written..at]);
                out.push_str("\\ufffd");
                at += 6;
                written = at;
            }
            Some(_) => at += 6,
            None => at = (at + 2).min(bytes.len()),
        }
    }
    if written == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[written..]);
    Cow::Owned(out)
}

/// Returns the number of the escape `\uXXXX` at `at`, if one stands there.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |number: u16, digit| {
        let digit = (*digit as char).to_digit(16)?;
        Some(number << 4 | digit as u16)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_surrogate_pair_becomes_the_replacement_character() {
        let cases = [
            (r#"{"a":"x\ud83dy"}"#, r#"{"a":"x\ufffdy"}"#),
            (r#"{"a":"\ud83d\ude00"}"#, r#"{"a":"\ud83d\ude00"}"#),
            (r#"{"a":"\\ud83d"}"#, r#"{"a":"\\ud83d"}"#),
            (r#"{"a":"\uDE00\uD83D"}"#, r#"{"a":"\ufffd\ufffd"}"#),
            (r#"{"a":"\u00e9"}"#, r#"{"a":"\u00e9"}"#),
            ("\\ud83", "\\ud83"),
            ("\\ud800\\", "\\ufffd\\"),
        ];
        for (text, expected) in cases {
            assert_eq!(mend_surrogates(text), expected);
        }
    }
}
