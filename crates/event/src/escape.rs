//! Writes a text as a JSON string, many bytes at a time.
//!
//! Most of a transcript is long text with few characters to escape; looking at one byte after the
//! other costs more than writing the line to disk does.

mod in_place;
mod search;

pub(crate) use in_place::string_within;
pub(crate) use search::find_special;
use search::{PIECE, is_special, specials, specials_of_rest};

const ONES: u64 = 0x0101_0101_0101_0101;
const WORD: usize = 8;
/// So many bytes the escapes of a word may take.
const ROOM: usize = 6 * WORD;
/// So many bytes are written between two looks at whether the text has room for them.
const PAGE: usize = 512;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Appends `text` to `out` as a JSON string, with its quotes.
pub(crate) fn write_string(out: &mut String, text: &str) {
    // A foreign record as a string grows by its quotes; growing later would copy it once more.
    out.reserve(text.len() + text.len() / 8 + 2);
    out.push('"');
    write_string_body(out, text);
    out.push('"');
}

/// Appends `text` to `out` as the inside of a JSON string.
pub(crate) fn write_string_body(out: &mut String, text: &str) {
    let mut text = text;
    while let Some(dense) = write_prose(out, text) {
        let (page, rest) = dense.split_at(dense.floor_char_boundary(PAGE));
        write_dense(out, page);
        text = rest;
    }
}

/// Appends `text` up to where there begins to be something to escape every few bytes; returns what
/// is left then.
fn write_prose<'a>(out: &mut String, text: &'a str) -> Option<&'a str> {
    let bytes = text.as_bytes();
    let (pieces, rest) = bytes.as_chunks::<PIECE>();
    let mut written = 0;
    for (index, piece) in pieces.iter().enumerate() {
        let marks = specials(piece);
        if marks != 0 {
            if has_many(marks) {
                return Some(&text[written..]);
            }
            written = write_marked(out, text, written, marks, index * PIECE);
        }
    }
    let marks = specials_of_rest(bytes, rest);
    if marks != 0 {
        written = write_marked(out, text, written, marks, bytes.len() - rest.len());
    }
    out.push_str(&text[written..]);
    None
}

/// Appends what is not `written` yet up to the last special of the piece that begins `at`; returns up
/// to where all is written then.
fn write_marked(
    out: &mut String,
    text: &str,
    mut written: usize,
    mut marks: u32,
    at: usize,
) -> usize {
    while marks != 0 {
        let special = at + marks.trailing_zeros() as usize;
        out.push_str(&text[written..special]);
        push_escape(out, text.as_bytes()[special]);
        written = special + 1;
        marks = without_first(marks);
    }
    written
}

/// Tells whether there are so many specials in a piece that more are to be expected. Two there are
/// wherever one paragraph follows another.
fn has_many(marks: u32) -> bool {
    without_first(without_first(marks)) != 0
}

fn without_first(marks: u32) -> u32 {
    marks & marks.wrapping_sub(1)
}

/// Appends the escape of a special byte.
fn push_escape(out: &mut String, byte: u8) {
    // The end of a line is what there is most of in prose.
    if byte == b'\n' {
        return out.push_str("\\n");
    }
    let mut escape = [0; 6];
    let len = write_escape(&mut escape, byte);
    escape[..len].iter().for_each(|byte| out.push(char::from(*byte)));
}

/// Appends `text`, in which there is something to escape every few bytes.
///
/// A JSON record as a string has a special every ten bytes or so; to look for the next and to copy
/// up to it would be two calls and a wrong guess of the processor each. Here eight bytes are taken
/// at a time, and those with a special among them go through a table without a branch.
fn write_dense(out: &mut String, text: &str) {
    let mut page = [0; PAGE];
    let mut filled = 0;
    let (words, rest) = text.as_bytes().as_chunks::<WORD>();
    for word in words {
        if filled + ROOM > PAGE {
            filled = turn_page(out, &mut page, filled);
        }
        let number = u64::from_le_bytes(*word);
        if specials_of_word(number) == 0 {
            page[filled..filled + WORD].copy_from_slice(word);
            filled += WORD;
        } else if has_control_byte(number) {
            filled = write_each(&mut page, filled, word);
        } else {
            filled += write_pairs(&mut page[filled..], word);
        }
    }
    if filled + ROOM > PAGE {
        filled = turn_page(out, &mut page, filled);
    }
    filled = write_each(&mut page, filled, rest);
    turn_page(out, &mut page, filled);
}

/// Writes bytes of which none is a control byte; returns how many bytes that makes.
fn write_pairs(out: &mut [u8], word: &[u8; WORD]) -> usize {
    let Some(out) = out.first_chunk_mut::<{ 2 * WORD + 2 }>() else { return 0 };
    let mut filled = 0;
    for byte in word {
        let escaped = usize::from((*byte == b'"') | (*byte == b'\\'));
        // The mask changes nothing; it tells the compiler that there is room.
        let at = filled & (2 * WORD - 1);
        out[at] = b'\\';
        out[at + escaped] = *byte;
        filled += 1 + escaped;
    }
    filled
}

/// Writes bytes one by one; returns how much of the page is filled then.
fn write_each(page: &mut [u8; PAGE], mut filled: usize, bytes: &[u8]) -> usize {
    for byte in bytes {
        if is_special(*byte) {
            filled += write_escape(&mut page[filled..], *byte);
        } else {
            page[filled] = *byte;
            filled += 1;
        }
    }
    filled
}

/// Appends what is on the page; returns how much is left on it: the beginning of a character.
fn turn_page(out: &mut String, page: &mut [u8; PAGE], filled: usize) -> usize {
    let whole = match simdutf8::compat::from_utf8(&page[..filled]) {
        Ok(text) => {
            out.push_str(text);
            return 0;
        }
        Err(error) => error.valid_up_to(),
    };
    if let Ok(text) = std::str::from_utf8(&page[..whole]) {
        out.push_str(text);
    }
    page.copy_within(whole..filled, 0);
    filled - whole
}

/// Tells whether one of the bytes of `word` is a control byte; it may say so of others too.
fn has_control_byte(word: u64) -> bool {
    word.wrapping_sub(ONES * 0x20) & !word & HIGHS != 0
}

/// Marks the high bit of each special byte of `word`.
///
/// A byte that is less than a space, or equal to what it is compared with, borrows from its high
/// bit when the bound is taken off; bytes that have their high bit themselves are no specials. A
/// borrow can mark bytes above a true mark, never below one, so the lowest mark is a true one.
fn specials_of_word(word: u64) -> u64 {
    let below_space = word.wrapping_sub(ONES * 0x20);
    let quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (below_space | quote | backslash) & !word & HIGHS
}

/// Writes the escape of a special byte to the beginning of `out`; returns its length.
fn write_escape(out: &mut [u8], byte: u8) -> usize {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            out[..6].copy_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            return 6;
        }
    };
    out[..2].copy_from_slice(&[b'\\', short]);
    2
}

#[cfg(test)]
mod tests {
    use super::write_string;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn escapes_exactly_as_serde_json_does(text in "(\\PC|[\\x00-\\x40\"\\\\]|[a-zé]{40,90}){0,80}") {
            let mut ours = String::new();
            write_string(&mut ours, &text);
            prop_assert_eq!(ours, serde_json::to_string(&text).unwrap());
        }
    }
}
