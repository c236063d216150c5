//! Numbers that people compare at a glance.

use quipu_event::payload::TokenCounts;
use quipu_view::price::Amount;

/// Returns a count in at most four significant places: `950`, `12.3k`, `4.56M`.
pub(crate) fn short(count: u64) -> String {
    const STEPS: [(u64, &str); 4] =
        [(1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (1000, "k")];
    for (size, letter) in STEPS {
        if count >= size {
            return format!("{}{letter}", three_places(count as f64 / size as f64));
        }
    }
    count.to_string()
}

/// Returns a count in full, with its thousands set apart: `1,234,567`.
pub(crate) fn full(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns `1 thing` or `n things`.
pub(crate) fn of(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", full(count))
}

/// Returns a size: `812 B`, `12.3 kB`, `4.56 GB`.
pub(crate) fn bytes(count: u64) -> String {
    const STEPS: [(u64, &str); 4] =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")];
    for (size, unit) in STEPS {
        if count >= size {
            return format!("{} {unit}", three_places(count as f64 / size as f64));
        }
    }
    format!("{count} B")
}

/// Returns a sum of money in dollars, spelled as a receipt spells it.
pub(crate) fn dollars(cost: f64) -> String {
    // What is no sum of money is shown as it was told.
    Amount::from_dollars(cost).map_or_else(|| format!("${cost}"), Amount::short)
}

/// Returns every number that was given: `1.2k in, 300 out, 10k cache read`.
pub(crate) fn tokens(tokens: &TokenCounts) -> String {
    let counts = [
        (tokens.input_tokens, "in"),
        (tokens.output_tokens, "out"),
        (tokens.cache_read_tokens, "cache read"),
        (tokens.cache_write_tokens, "cache written"),
        (tokens.reasoning_tokens, "reasoning"),
    ];
    let mut parts: Vec<String> = counts
        .into_iter()
        .filter_map(|(count, what)| Some(format!("{} {what}", short(count?))))
        .collect();
    parts.extend(tokens.cost_usd.map(dollars));
    parts.join(", ")
}

fn three_places(number: f64) -> String {
    // Cut rather than rounded, so that 999,999 does not become 1000k.
    let scale = if number < 10.0 {
        100.0
    } else if number < 100.0 {
        10.0
    } else {
        1.0
    };
    let text = (number * scale).floor() / scale;
    text.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_short_and_never_rounded_up() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1000, "1k"),
            (12_345, "12.3k"),
            (999_999, "999k"),
            (1_500_000, "1.5M"),
            (u64::MAX, "18446744T"),
        ];
        for (count, expected) in cases {
            assert_eq!(short(count), expected);
        }
    }

    #[test]
    fn full_counts_have_their_thousands_set_apart() {
        for (count, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(full(count), expected);
        }
    }

    #[test]
    fn only_the_numbers_that_were_given_are_shown() {
        let given = TokenCounts {
            input_tokens: Some(1200),
            output_tokens: Some(0),
            cost_usd: Some(0.0123),
            ..TokenCounts::default()
        };
        assert_eq!(tokens(&given), "1.2k in, 0 out, $0.0123");
        assert_eq!(tokens(&TokenCounts::default()), "");
        let cost = |cost| tokens(&TokenCounts { cost_usd: Some(cost), ..TokenCounts::default() });
        for (given, expected) in [(1.5, "$1.50"), (0.00002, "$0.000020"), (-1.0, "$-1")] {
            assert_eq!(cost(given), expected);
        }
    }
}
