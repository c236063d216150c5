//! Looks for what a JSON string must escape: quotes, backslashes and control bytes.
//!
//! Prose has something to escape every hundred bytes or so. What counts is to find out quickly that
//! there is nothing, and then exactly where there is something: each byte of a piece answers with one bit.

use wide::u8x16;

/// So many bytes are looked at together.
pub(super) const PIECE: usize = 16;
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

/// Tells whether a string must escape `byte`.
pub(super) fn is_special(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

/// Marks each special byte with the bit of its place.
#[inline]
pub(super) fn specials(piece: &[u8; PIECE]) -> u32 {
    let bytes = u8x16::new(*piece);
    let control = bytes.min(u8x16::splat(b' ' - 1)).simd_eq(bytes);
    let quote = bytes.simd_eq(u8x16::splat(b'"'));
    let backslash = bytes.simd_eq(u8x16::splat(b'\\'));
    (control | quote | backslash).to_bitmask()
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
