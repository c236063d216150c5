//! Looks for what a JSON string must escape: quotes, backslashes and control bytes.
//!
//! Prose has something to escape every hundred bytes or so. What counts is to find out quickly that
//! there is nothing, and then exactly where there is something: each byte of a piece answers with one bit.

use wide::u8x16;

/// So many bytes are looked at together.
pub(super) const PIECE: usize = 16;
/// So many bytes are asked together whether there is anything in them at all.
pub(super) const BLOCK: usize = 4 * PIECE;
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Returns the first place at or after `from` that holds a quote, a backslash or a control byte.
#[inline]
pub(crate) fn find_special(bytes: &[u8], from: usize) -> Option<usize> {
    let (pieces, rest) = bytes[from..].as_chunks::<PIECE>();
    for (index, piece) in pieces.iter().enumerate() {
        let marks = specials(piece);
        if marks != 0 {
            return Some(from + index * PIECE + marks.trailing_zeros() as usize);
        }
    }
    let marks = specials_of_rest(bytes, rest);
    (marks != 0).then(|| bytes.len() - rest.len() + marks.trailing_zeros() as usize)
}

/// Marks each special byte of the `rest` of a text, which is less than a piece.
#[inline]
pub(super) fn specials_of_rest(text: &[u8], rest: &[u8]) -> u32 {
    match text.last_chunk::<PIECE>() {
        // What the last piece repeats of the one before is left out.
        Some(last) => specials(last) >> (PIECE - rest.len()),
        None => {
            let mut padded = [b' '; PIECE];
            padded[..rest.len()].copy_from_slice(rest);
            specials(&padded)
        }
    }
}

/// Marks each special byte of a block with the bit of its place.
#[inline]
pub(super) fn specials_of_block(block: &[u8; BLOCK]) -> u64 {
    let (pieces, _) = block.as_chunks::<PIECE>();
    let mut marked = [u8x16::default(); BLOCK / PIECE];
    for (marked, piece) in marked.iter_mut().zip(pieces) {
        *marked = mark(piece);
    }
    let [first, second, third, fourth] = marked;
    // Nearly always there is nothing, and one answer for all of them is enough.
    if !(first | second | third | fourth).any() {
        return 0;
    }
    let bits = |piece: u8x16, place: usize| u64::from(piece.to_bitmask()) << (place * PIECE);
    bits(first, 0) | bits(second, 1) | bits(third, 2) | bits(fourth, 3)
}

/// Tells whether a string must escape none of some `bytes`, at most a block of them.
#[inline]
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    // Two looks that overlap take in any number of bytes between one look and two.
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return !(mark_two(first) | mark_two(last)).any();
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return !(mark(first) | mark(last)).any();
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        return specials_of_word(first) | specials_of_word(last) == 0;
    }
    bytes.iter().all(|byte| !is_special(*byte))
}

/// Tells whether a string must escape `byte`.
pub(super) fn is_special(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

/// Marks each special byte with the bit of its place.
#[inline]
pub(super) fn specials(piece: &[u8; PIECE]) -> u32 {
    mark(piece).to_bitmask()
}

#[inline]
fn mark_two(pieces: &[u8; 2 * PIECE]) -> u8x16 {
    let (pieces, _) = pieces.as_chunks();
    pieces.iter().fold(u8x16::default(), |marked, piece| marked | mark(piece))
}

/// Sets all bits of each special byte, and none of the others.
#[inline]
fn mark(piece: &[u8; PIECE]) -> u8x16 {
    let bytes = u8x16::new(*piece);
    // With one bit turned over the quote stands where the space was, next to the control bytes.
    let turned = bytes ^ u8x16::splat(b'"' ^ b' ');
    let control_or_quote = turned.min(u8x16::splat(b' ')).simd_eq(turned);
    let backslash = bytes.simd_eq(u8x16::splat(b'\\'));
    control_or_quote | backslash
}

/// Tells whether one of the bytes of `word` is a control byte; it may say so of others too.
pub(super) fn has_control_byte(word: u64) -> bool {
    word.wrapping_sub(ONES * 0x20) & !word & HIGHS != 0
}

/// Marks the high bit of each special byte of `word`.
///
/// A byte that is less than a space, or equal to what it is compared with, borrows from its high
/// bit when the bound is taken off; bytes that have their high bit themselves are no specials. A
/// borrow can mark bytes above a true mark, never below one, so the lowest mark is a true one.
pub(super) fn specials_of_word(word: u64) -> u64 {
    let below_space = word.wrapping_sub(ONES * 0x20);
    let quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (below_space | quote | backslash) & !word & HIGHS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_special_byte_is_found(
            bytes in vec(prop_oneof![30 => b' '..=b'!', 10 => 0x80_u8..=0xff, 1 => any::<u8>()], 0..300),
            from in any::<proptest::sample::Index>(),
        ) {
            let from = from.index(bytes.len() + 1);
            let one_by_one = bytes[from..].iter().position(|byte| is_special(*byte));
            prop_assert_eq!(find_special(&bytes, from), one_by_one.map(|found| from + found));
        }
    }
}
