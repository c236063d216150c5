//! Decimal digits written into a place that is there already, two at a time.

/// The numbers below 100.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// Writes `number` so that it ends where `room` ends; returns where it begins.
pub(crate) fn write_to_end_of<const ROOM: usize>(room: &mut [u8; ROOM], number: u64) -> usize {
    const { assert!(ROOM >= 20, "the largest number has 20 digits") }
    let (mut rest, mut start) = (number, ROOM);
    while rest >= 10 {
        start -= 2;
        room[start..start + 2].copy_from_slice(&PAIRS[(rest % 100) as usize]);
        rest /= 100;
    }
    // A number of an odd number of digits has one left; of an even number, only 0 is.
    if rest > 0 || number == 0 {
        start -= 1;
        room[start] = b'0' + rest as u8;
    }
    start
}

/// Spells a number below a million with six digits.
pub(crate) fn six(number: u64) -> [u8; 6] {
    let pair = |of: u64| PAIRS[(of % 100) as usize];
    let ([a, b], [c, d], [e, f]) = (pair(number / 10_000), pair(number / 100), pair(number));
    [a, b, c, d, e, f]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(number: u64) {
        let mut room = [b'x'; 23];
        let start = write_to_end_of(&mut room, number);
        assert_eq!(str::from_utf8(&room[start..]).unwrap(), number.to_string());
        assert!(room[..start].iter().all(|byte| *byte == b'x'));
    }

    #[test]
    fn numbers_at_the_edges_have_their_digits() {
        (0..1_100).chain([9_999, 10_000, 99_999, u64::MAX - 1, u64::MAX]).for_each(check);
    }

    proptest! {
        #[test]
        fn every_number_has_its_digits(number in any::<u64>(), places in 0..64) {
            check(number >> places);
        }

        #[test]
        fn six_digits_are_padded(number in 0..1_000_000_u64) {
            let digits = six(number);
            prop_assert_eq!(str::from_utf8(&digits).unwrap(), format!("{number:06}"));
        }
    }
}
