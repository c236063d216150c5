//! Writes a text as a JSON string, many bytes at a time.
//!
//! Most of a transcript is long text with few characters to escape; looking at one byte after the
//! other costs more than writing the line to disk does.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Appends `text` to `out` as a JSON string, with its quotes.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    match find_special(text.as_bytes(), 0) {
        None => out.push_str(text),
        Some(first) => write_escaped(out, text, first),
    }
    out.push('"');
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

/// From this length on it pays to bring the vector unit in.
const LONG: usize = 64;

/// Returns the first place at or after `from` that holds a quote, a backslash or a control byte.
pub(crate) fn find_special(bytes: &[u8], from: usize) -> Option<usize> {
    if bytes.len() - from >= LONG { find_in_long(bytes, from) } else { find_in_short(bytes, from) }
}

/// Looks for the three most frequent specials, and for the others in what lies before them.
fn find_in_long(bytes: &[u8], from: usize) -> Option<usize> {
    let frequent = memchr::memchr3(b'"', b'\\', b'\n', &bytes[from..]).map(|found| from + found);
    let plain = &bytes[from..frequent.unwrap_or(bytes.len())];
    // The least of all bytes is found without a branch, sixteen or more at a time.
    if plain.iter().fold(u8::MAX, |least, &byte| least.min(byte)) >= 0x20 {
        return frequent;
    }
    plain.iter().position(|&byte| byte < 0x20).map(|found| from + found)
}

fn find_in_short(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(chunk) = bytes[at..].first_chunk() {
        if let Some(found) = first_special(chunk) {
            return Some(at + found);
        }
        at += 8;
    }
    let is_special = |&byte: &u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    bytes[at..].iter().position(is_special).map(|found| at + found)
}

/// Returns the place of the first special byte among eight.
fn first_special(chunk: &[u8; 8]) -> Option<usize> {
    let marks = specials(u64::from_le_bytes(*chunk));
    (marks != 0).then(|| (marks.trailing_zeros() / 8) as usize)
}

/// Marks the high bit of each special byte of `word`.
///
/// The subtraction can mark bytes above a true mark by its borrow, never below one, so the lowest
/// mark is always a true one.
fn specials(word: u64) -> u64 {
    let zero_bytes = |x: u64| x.wrapping_sub(ONES) & !x;
    let below_space = word.wrapping_sub(ONES * 0x20) & !word;
    let quotes = zero_bytes(word ^ (ONES * b'"' as u64));
    let backslashes = zero_bytes(word ^ (ONES * b'\\' as u64));
    (below_space | quotes | backslashes) & HIGHS
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
