//! Writes a text as a JSON string, eight bytes at a time.
//!
//! Most of a transcript is long text with few characters to escape; looking at one byte after the
//! other costs more than writing the line to disk does.

mod in_place;

pub(crate) use in_place::string_within;

const ONES: u64 = 0x0101_0101_0101_0101;
const WORD: usize = 8;
/// Specials that are nearer to each other than this are taken for dense.
const SPARSE: usize = 16;
/// So many bytes the escapes of a word may take.
const ROOM: usize = 6 * WORD;
/// So many bytes are written between two looks at whether the text has room for them.
const PAGE: usize = 512;
/// So many bytes are compared at once.
const PIECE: usize = 64;
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
    let mut from = 0;
    while let Some(special) = find_special(text.as_bytes(), from) {
        if special - from < SPARSE && text.len() - from > WORD {
            let end = text.floor_char_boundary(from + PAGE);
            write_dense(out, &text[from..end]);
            from = end;
        } else {
            out.push_str(&text[from..special]);
            push_escape(out, text.as_bytes()[special]);
            from = special + 1;
        }
    }
    out.push_str(&text[from..]);
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
        if specials(number) == 0 {
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

/// Returns the first place at or after `from` that holds a quote, a backslash or a control byte.
pub(crate) fn find_special(bytes: &[u8], from: usize) -> Option<usize> {
    // Without a way out of each piece the machine compares many bytes at once.
    let has_special =
        |piece: &[u8; PIECE]| piece.iter().fold(false, |found, byte| found | is_special(*byte));
    let (pieces, _) = bytes[from..].as_chunks::<PIECE>();
    let clean = pieces.iter().take_while(|piece| !has_special(piece)).count();
    find_by_words(bytes, from + clean * PIECE)
}

/// The same, eight bytes at a time.
fn find_by_words(bytes: &[u8], from: usize) -> Option<usize> {
    let (words, rest) = bytes[from..].as_chunks::<WORD>();
    for (index, word) in words.iter().enumerate() {
        let marks = specials(u64::from_le_bytes(*word));
        if marks != 0 {
            return Some(from + index * WORD + (marks.trailing_zeros() / 8) as usize);
        }
    }
    if rest.is_empty() {
        return None;
    }
    let Some(last) = bytes[from..].last_chunk::<WORD>() else {
        return rest.iter().position(|byte| is_special(*byte)).map(|found| from + found);
    };
    // What the last word repeats of the one before is clean, so that it borrows nothing.
    let marks = specials(u64::from_le_bytes(*last));
    let found = (marks.trailing_zeros() / 8) as usize;
    (marks != 0).then_some(bytes.len() - WORD + found)
}

/// Tells whether a string must escape `byte`.
fn is_special(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
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
fn specials(word: u64) -> u64 {
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
