//! The inside of a JSON string → text, in one copy.

use memchr::memchr;

/// Decodes the inside of a valid JSON string; answers nothing for half a surrogate pair.
pub(crate) fn unescape(inside: &str) -> Option<String> {
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(backslash) = memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..backslash]);
        let (character, len) = match *rest.as_bytes().get(backslash + 1)? {
            b'n' => ('\n', 2),
            b't' => ('\t', 2),
            b'r' => ('\r', 2),
            b'b' => ('\u{8}', 2),
            b'f' => ('\u{c}', 2),
            b'u' => unicode(rest.get(backslash..)?)?,
            byte => (char::from(byte), 2),
        };
        out.push(character);
        rest = rest.get(backslash + len..)?;
    }
    out.push_str(rest);
    Some(out)
}

/// Decodes `\uXXXX`, or the two of a surrogate pair; returns how many bytes that took.
fn unicode(text: &str) -> Option<(char, usize)> {
    let unit = |from: usize| u32::from_str_radix(text.get(from..from + 4)?, 16).ok();
    let first = unit(2)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 6));
    }
    let second = if text.get(6..8)? == "\\u" { unit(8)? } else { return None };
    if !(0xD800..0xDC00).contains(&first) || !(0xDC00..0xE000).contains(&second) {
        return None;
    }
    let joined = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    char::from_u32(joined).map(|character| (character, 12))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::unescape;

    proptest! {
        #[test]
        fn it_decodes_what_serde_json_decodes_and_refuses_what_it_refuses(
            inside in r#"([a-zé]|\\[nrtbf/\\"]|\\u00e9|\\ud83d\\ude00|\\u[0-9a-fA-F]{4}){0,12}"#
        ) {
            let theirs = serde_json::from_str::<String>(&format!("\"{inside}\""));
            prop_assert_eq!(unescape(&inside), theirs.ok());
        }
    }
}
