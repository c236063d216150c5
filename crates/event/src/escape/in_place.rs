//! A text → a JSON string with something around it, in the text's own memory.
//!
//! Whoever writes a long text to another place holds it twice for that moment. Here it is escaped
//! piece by piece, the last one first, each to where it is going to stand, so that nothing is
//! written over before it was read. A short text is better written to another place.

use super::{find_special, write_escape, write_string_body};

/// So much of a text is escaped at a time.
const PIECE: usize = 8 * 1024;

/// Makes `before`, the JSON string of `text` and `after` one text, in the memory of `text`.
///
/// Nothing is moved to other memory if there is room for all of it.
pub(crate) fn string_within(text: String, before: &str, after: &str) -> String {
    let mut bytes = text.into_bytes();
    let mut growth = growth(&bytes);
    let (mut from, around) = (bytes.len(), before.len() + after.len() + 2);
    bytes.reserve_exact(growth + around);
    bytes.resize(from + growth + around, 0);
    let mut to = bytes.len() - after.len();
    bytes[to..].copy_from_slice(after.as_bytes());
    to -= 1;
    bytes[to] = b'"';
    let mut piece = String::with_capacity(2 * PIECE);
    while growth > 0 {
        let start = piece_start(&bytes[..from]);
        piece.clear();
        write_string_body(&mut piece, &String::from_utf8_lossy(&bytes[start..from]));
        to -= piece.len();
        bytes[to..to + piece.len()].copy_from_slice(piece.as_bytes());
        growth -= piece.len() - (from - start);
        from = start;
    }
    bytes.copy_within(..from, to - from);
    bytes[..before.len()].copy_from_slice(before.as_bytes());
    bytes[before.len()] = b'"';
    // All that went in was text, and was divided between characters only.
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Returns how many bytes longer a text becomes by its escapes.
fn growth(text: &[u8]) -> usize {
    let (mut growth, mut from) = (0, 0);
    while let Some(special) = find_special(text, from) {
        growth += write_escape(&mut [0; 6], text[special]) - 1;
        from = special + 1;
    }
    growth
}

/// Returns where the last piece of a text begins.
fn piece_start(text: &[u8]) -> usize {
    let is_inside = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
    let mut start = text.len().saturating_sub(PIECE);
    while start > 0 && is_inside(text[start]) {
        start -= 1;
    }
    start
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{PIECE, string_within};
    use crate::escape::write_string;

    proptest! {
        #[test]
        fn it_comes_out_as_it_would_elsewhere(
            text in "(\\PC|[\\x00-\\x40\"\\\\]|[a-zé]{1,90}){0,60}",
            before in "[a-zé]{0,8}",
            after in "[a-zé]{0,8}",
        ) {
            let mut expected = before.clone();
            write_string(&mut expected, &text);
            expected.push_str(&after);
            prop_assert_eq!(string_within(text, &before, &after), expected);
        }
    }

    #[test]
    fn a_text_of_many_pieces_comes_out_as_it_would_elsewhere() {
        for text in ["é\n", "\u{1f600}\"ab", "abc", "\u{1}"] {
            let text = text.repeat(PIECE);
            let mut expected = String::new();
            write_string(&mut expected, &text);
            assert_eq!(string_within(text, "", ""), expected);
        }
    }

    #[test]
    fn a_text_with_room_stays_where_it_is() {
        let mut text = String::with_capacity(64);
        text.push_str("one\n\"two\"\u{1}");
        let place = text.as_ptr();
        let string = string_within(text, "{\"a\":", "}");
        assert_eq!(string, "{\"a\":\"one\\n\\\"two\\\"\\u0001\"}");
        assert_eq!(string.as_ptr(), place);
    }
}
