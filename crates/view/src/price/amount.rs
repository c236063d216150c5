//! Sums of money, exact: whole numbers of a quadrillionth of a dollar.
//!
//! A price of nine decimals for a million tokens, times any number of tokens, is such a whole
//! number. Nothing is rounded before it is shown.

use std::fmt;
use std::iter::Sum;
use std::ops::AddAssign;

/// A sum of money in dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(u128);

/// How many decimals an amount has.
const DECIMALS: usize = 15;
/// How many units make a dollar.
const DOLLAR: u128 = 10_u128.pow(DECIMALS as u32);

impl Amount {
    /// Takes a cost that was reported as a binary fraction: the shortest decimal that means it.
    ///
    /// Answers nothing for what is no sum of money: less than nothing, or beyond all measure.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        if !(0.0..1e15).contains(&dollars) {
            return None;
        }
        // Rust prints the shortest decimal that reads back as the same number.
        Amount::parse(&format!("{dollars}"))
    }

    /// Reads dollars as a plain decimal. Digits beyond the fifteenth decimal are cut off.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(fraction) || whole.len() > 20 {
            return None;
        }
        let kept = &fraction[..fraction.len().min(DECIMALS)];
        let scale = 10_u128.pow((DECIMALS - kept.len()) as u32);
        let whole: u128 = whole.parse().ok()?;
        let fraction: u128 = kept.parse().ok()?;
        Some(Amount(whole.checked_mul(DOLLAR)?.checked_add(fraction * scale)?))
    }

    /// Returns what `tokens` cost at so much a million; nothing if that is beyond all measure.
    pub(crate) fn of_tokens(a_million: Amount, tokens: u64) -> Option<Self> {
        // A table's prices have nine decimals, so the division leaves nothing over.
        Some(Amount(a_million.0.checked_mul(u128::from(tokens))? / 1_000_000))
    }

    /// Tells whether a million tokens at this price can be divided into single ones exactly.
    pub(crate) fn is_a_price(self) -> bool {
        self.0.is_multiple_of(1_000_000)
    }

    /// Returns the sum for people: cents from a dollar on, four decimals or two digits below.
    ///
    /// Rounded to the nearest; what is more than nothing is never shown as nothing.
    pub fn short(self) -> String {
        let mut decimals = if self.0 >= DOLLAR { 2 } else { 4 };
        while decimals < DECIMALS && self.0 > 0 && self.rounded(decimals) < 10 {
            decimals += 1;
        }
        let (rounded, scale) = (self.rounded(decimals), 10_u128.pow(decimals as u32));
        format!("${}.{:0decimals$}", rounded / scale, rounded % scale)
    }

    /// Returns the exact sum as a plain decimal without needless zeros: `0.41`.
    pub fn decimal(self) -> String {
        let text = format!("{}.{:0DECIMALS$}", self.0 / DOLLAR, self.0 % DOLLAR);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    fn rounded(self, decimals: usize) -> u128 {
        let unit = 10_u128.pow((DECIMALS - decimals) as u32);
        self.0.saturating_add(unit / 2) / unit
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Amount::default(), |mut total, amount| {
            total += amount;
            total
        })
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.short())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reported_cost_is_the_decimal_that_was_written() {
        let cases = [(0.1, "0.1"), (0.0, "0"), (1e-7, "0.0000001"), (12.345, "12.345")];
        for (dollars, expected) in cases {
            assert_eq!(Amount::from_dollars(dollars).unwrap().decimal(), expected);
        }
        for odd in [-0.1, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(Amount::from_dollars(odd), None, "{odd}");
        }
    }

    #[test]
    fn ten_times_a_tenth_is_one() {
        let tenths = (0..10).filter_map(|_| Amount::from_dollars(0.1));
        assert_eq!(tenths.sum::<Amount>().decimal(), "1");
    }

    #[test]
    fn a_little_is_never_shown_as_nothing() {
        let cases = [
            ("0", "$0.0000"),
            ("0.41", "$0.4100"),
            ("0.00125", "$0.0013"),
            ("0.00003", "$0.000030"),
            ("0.000000000000001", "$0.000000000000001"),
            ("0.99996", "$1.0000"),
            ("12.345", "$12.35"),
            ("1234567", "$1234567.00"),
        ];
        for (sum, expected) in cases {
            assert_eq!(Amount::parse(sum).unwrap().short(), expected);
        }
    }

    #[test]
    fn only_plain_decimals_are_sums() {
        for text in ["", ".", "1.", ".5", "-1", "1e3", "1,5", "0x1", "123456789012345678901"] {
            assert_eq!(Amount::parse(text), None, "{text}");
        }
    }
}
