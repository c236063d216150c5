//! The inside of a JSON string → text, in one copy.
//!
//! `serde_json` gathers a string with escapes in a buffer of its own before it hands it out, which
//! doubles the memory of a long one. This takes only strings that are known to be valid.

use memchr::memchr;

/// Texts that are longer than this have room.
const LONG: usize = 64 * 1024;
/// So much room they have.
const ROOM: usize = 4 * 1024;

/// Decodes the inside of a valid JSON string; halves of surrogate pairs become U+FFFD.
///
/// A long text has room for what a payload puts between and around it, so that it need not be
/// moved for that: nobody's escapes are shorter than ours.
pub(crate) fn unescape(inside: &str) -> String {
    let room = if inside.len() > LONG { ROOM } else { 0 };
    let mut out = String::with_capacity(inside.len() + room);
    unescape_to(inside, |part| out.push_str(part));
    out
}

/// Hands on what the inside of a valid JSON string stands for, part by part.
pub(crate) fn unescape_to(inside: &str, mut take: impl FnMut(&str)) {
    let mut rest = inside;
    while let Some(backslash) = memchr(b'\\', rest.as_bytes()) {
        take(&rest[..backslash]);
        rest = &rest[backslash + 1..];
        let (character, len) = match rest.bytes().next() {
            Some(b'n') => ('\n', 1),
            Some(b't') => ('\t', 1),
            Some(b'r') => ('\r', 1),
            Some(b'b') => ('\u{8}', 1),
            Some(b'f') => ('\u{c}', 1),
            Some(b'u') => unicode(rest),
            Some(byte) => (char::from(byte), 1),
            None => break,
        };
        take(character.encode_utf8(&mut [0; 4]));
        rest = rest.get(len..).unwrap_or_default();
    }
    take(rest);
}

/// Decodes `uXXXX`, or the two of a surrogate pair; returns how many bytes that took.
fn unicode(text: &str) -> (char, usize) {
    let unit = |from: usize| u32::from_str_radix(text.get(from..from + 4)?, 16).ok();
    let first = unit(1).unwrap_or(0xFFFD);
    let second = if text.get(5..7) == Some("\\u") { unit(7) } else { None };
    if let (0xD800..0xDC00, Some(second @ 0xDC00..0xE000)) = (first, second) {
        let joined = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        return (char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER), 11);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 5)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn half_a_surrogate_pair_is_the_replacement_character() {
        let cases =
            [(r"\ud83d", "\u{fffd}"), (r"a\ude00\n", "a\u{fffd}\n"), (r"\ud83dx", "\u{fffd}x")];
        for (inside, expected) in cases {
            assert_eq!(unescape(inside), expected);
        }
    }

    proptest! {
        #[test]
        fn it_decodes_what_serde_json_decodes(
            inside in r#"([a-zé"]|\\[nrtbf/\\"]|\\u00e9|\\ud83d\\ude00|\\u[0-9a-c][0-9a-fA-F]{3}){0,40}"#
        ) {
            let quoted = format!("\"{inside}\"");
            if let Ok(expected) = serde_json::from_str::<String>(&quoted) {
                prop_assert_eq!(unescape(&inside), expected);
            }
        }
    }
}
