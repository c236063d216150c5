//! Writes a text as a JSON string, eight bytes at a time.
//!
//! Most of a transcript is long text with few characters to escape; looking at one byte after the
//! other costs more than writing the line to disk does.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Appends `text` to `out` as a JSON string, with its quotes.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    write_string_body(out, text);
    out.push('"');
}

/// Appends `text` to `out` as the inside of a JSON string.
pub(crate) fn write_string_body(out: &mut String, text: &str) {
    match find_special(text.as_bytes(), 0) {
        None => out.push_str(text),
        Some(first) => write_escaped(out, text, first),
    }
}

/// Appends `text`, whose first special byte is at `special`.
fn write_escaped(out: &mut String, text: &str, mut special: usize) {
    let mut written = 0;
    loop {
        out.push_str(&text[written..special]);
        write_escape(out, text.as_bytes()[special]);
        written = special + 1;
        match find_special(text.as_bytes(), written) {
            Some(next) => special = next,
            None => break out.push_str(&text[written..]),
        }
    }
}

/// Returns the first place at or after `from` that holds a quote, a backslash or a control byte.
pub(crate) fn find_special(bytes: &[u8], from: usize) -> Option<usize> {
    let (words, rest) = bytes[from..].as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let marks = specials(u64::from_le_bytes(*word));
        if marks != 0 {
            return Some(from + index * 8 + (marks.trailing_zeros() / 8) as usize);
        }
    }
    let is_special = |&byte: &u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    rest.iter().position(is_special).map(|found| bytes.len() - rest.len() + found)
}

/// Marks the high bit of each special byte of `word`.
///
/// A byte that is less than a space, or equal to what it is compared with, borrows from its high
/// bit when the bound is taken off; bytes that have their high bit themselves are no specials. A
/// borrow can mark bytes above a true mark, never below one, so the lowest mark is a true one.
fn specials(word: u64) -> u64 {
    let below_space = word.wrapping_sub(ONES * 0x20);
    let quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (below_space | quote | backslash) & !word & HIGHS
}

fn write_escape(out: &mut String, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        0x08 => out.push_str("\\b"),
        0x0c => out.push_str("\\f"),
        _ => {
            out.push_str("\\u00");
            out.push(HEX[usize::from(byte >> 4)] as char);
            out.push(HEX[usize::from(byte & 15)] as char);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::write_string;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn escapes_exactly_as_serde_json_does(text in "(\\PC|[\\x00-\\x40\"\\\\]){0,80}") {
            let mut ours = String::new();
            write_string(&mut ours, &text);
            prop_assert_eq!(ours, serde_json::to_string(&text).unwrap());
        }
    }
}
