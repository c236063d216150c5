//! Writes a text as a JSON string, many bytes at a time.
//!
//! Most of a transcript is long text with few characters to escape; looking at one byte after the
//! other costs more than writing the line to disk does.

mod in_place;
mod search;

pub(crate) use in_place::string_within;
pub(crate) use search::find_special;
use search::{BLOCK, has_control_byte, is_plain, is_special, specials_of_block, specials_of_word};

const WORD: usize = 8;
/// So many bytes the escapes of a word may take.
const ROOM: usize = 6 * WORD;
/// So many bytes are written between two looks at whether the text has room for them.
const PAGE: usize = 512;

/// Appends `text` to `out` as a JSON string, with its quotes.
pub(crate) fn write_string(out: &mut String, text: &str) {
    // A foreign record as a string grows by its quotes; growing later would copy it once more.
    out.reserve(text.len() + text.len() / 8 + 2);
    out.push('"');
    write_string_body(out, text);
    out.push('"');
}

/// Appends `text` to `out` as the inside of a JSON string.
#[inline]
pub(crate) fn write_string_body(out: &mut String, text: &str) {
    // Names, words and ids are short and have nothing to escape.
    if text.len() < BLOCK && is_plain(text.as_bytes()) {
        return out.push_str(text);
    }
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
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let (mut written, mut at) = (0, 0);
    for block in blocks {
        let marks = specials_of_block(block);
        if marks != 0 {
            if has_many(marks) {
                return Some(&text[written..]);
            }
            written = write_marked(out, text, written, marks, at);
        }
        at += BLOCK;
    }
    let marks = match bytes.last_chunk() {
        // What the last block repeats of the one before is left out.
        Some(last) if !rest.is_empty() => specials_of_block(last) >> (BLOCK - rest.len()),
        Some(_) => 0,
        None => {
            let mut padded = [b' '; BLOCK];
            padded[..rest.len()].copy_from_slice(rest);
            specials_of_block(&padded)
        }
    };
    written = write_marked(out, text, written, marks, at);
    out.push_str(&text[written..]);
    None
}

/// Appends what is not `written` yet up to the last special that is marked, counted from `at`; returns
/// up to where all is written then.
#[inline(always)]
fn write_marked(
    out: &mut String,
    text: &str,
    mut written: usize,
    mut marks: u64,
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

/// Tells whether there are so many specials in a block that more are to be expected.
#[inline]
fn has_many(marks: u64) -> bool {
    without_first(without_first(without_first(without_first(marks)))) != 0
}

#[inline]
fn without_first(marks: u64) -> u64 {
    marks & marks.wrapping_sub(1)
}

/// Appends the escape of a special byte.
#[inline]
fn push_escape(out: &mut String, byte: u8) {
    // The end of a line is what there is most of in prose.
    if byte == b'\n' {
        return out.push_str("\\n");
    }
    push_rare_escape(out, byte);
}

#[inline(never)]
fn push_rare_escape(out: &mut String, byte: u8) {
    let mut escape = [0; 6];
    let len = write_escape(&mut escape, byte);
    escape[..len].iter().for_each(|byte| out.push(char::from(*byte)));
}

/// Appends `text`, in which there is something to escape every few bytes.
///
/// A JSON record as a string has a special every ten bytes or so; to look for the next and to copy
/// up to it would be two calls and a wrong guess of the processor each. Here eight bytes are taken
/// at a time, and those with a special among them go through a table without a branch.
#[inline(never)]
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
