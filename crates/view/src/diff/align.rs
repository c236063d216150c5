//! Two sequences side by side: which items stand for each other.
//!
//! What is the same at both ends is set aside. Between, items that occur once on each side hold the
//! sequences together; small gaps are compared in full, large ones in order. So the work never grows
//! with the square of a long run.

use std::collections::HashMap;
use std::hash::Hash;

/// How many pairs a gap may have to be compared in full.
const FULL: usize = 1 << 18;

/// Returns pairs of places with equal items, in ascending order on both sides.
pub(super) fn align<K: Hash + Eq + Copy>(a: &[K], b: &[K]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    // Gaps are worked off a list of their own: a hostile run must not exhaust the stack.
    let mut gaps = vec![(0..a.len(), 0..b.len())];
    while let Some((mut in_a, mut in_b)) = gaps.pop() {
        while !in_a.is_empty() && !in_b.is_empty() && a[in_a.start] == b[in_b.start] {
            pairs.push((in_a.start, in_b.start));
            (in_a.start, in_b.start) = (in_a.start + 1, in_b.start + 1);
        }
        while !in_a.is_empty() && !in_b.is_empty() && a[in_a.end - 1] == b[in_b.end - 1] {
            (in_a.end, in_b.end) = (in_a.end - 1, in_b.end - 1);
            pairs.push((in_a.end, in_b.end));
        }
        if in_a.is_empty() || in_b.is_empty() {
            continue;
        }
        let anchors = anchors(&a[in_a.clone()], &b[in_b.clone()]);
        if !anchors.is_empty() {
            let (from_a, from_b) = (in_a.start, in_b.start);
            let (mut next_a, mut next_b) = (from_a, from_b);
            for (at_a, at_b) in anchors {
                let (at_a, at_b) = (from_a + at_a, from_b + at_b);
                gaps.push((next_a..at_a, next_b..at_b));
                pairs.push((at_a, at_b));
                (next_a, next_b) = (at_a + 1, at_b + 1);
            }
            gaps.push((next_a..in_a.end, next_b..in_b.end));
        } else if in_a.len().saturating_mul(in_b.len()) <= FULL {
            let found = longest_common(&a[in_a.clone()], &b[in_b.clone()]);
            pairs.extend(found.into_iter().map(|(x, y)| (in_a.start + x, in_b.start + y)));
        } else {
            pairs.extend(in_order(a, b, in_a, in_b));
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Returns the items that occur once on each side, as far as they stand in the same order.
fn anchors<K: Hash + Eq + Copy>(a: &[K], b: &[K]) -> Vec<(usize, usize)> {
    let once = |items: &[K]| {
        let mut places: HashMap<K, Option<usize>> = HashMap::new();
        for (at, item) in items.iter().enumerate() {
            places.entry(*item).and_modify(|place| *place = None).or_insert(Some(at));
        }
        places
    };
    let (in_a, in_b) = (once(a), once(b));
    let mut common: Vec<(usize, usize)> =
        in_a.iter().filter_map(|(item, at)| Some(((*at)?, (*in_b.get(item)?)?))).collect();
    common.sort_unstable();
    longest_ascending(&common)
}

/// Returns the longest part of `pairs`, sorted by their first place, that ascends in the second.
fn longest_ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, place)) in pairs.iter().enumerate() {
        let length = tails.partition_point(|tail| pairs[*tail].1 < *place);
        before.push(length.checked_sub(1).map(|last| tails[last]));
        match tails.get_mut(length) {
            Some(tail) => *tail = at,
            None => tails.push(at),
        }
    }
    let mut chain = Vec::with_capacity(tails.len());
    let mut at = tails.last().copied();
    while let Some(place) = at {
        chain.push(pairs[place]);
        at = before[place];
    }
    chain.reverse();
    chain
}

fn longest_common<K: Eq>(a: &[K], b: &[K]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    let mut lengths = vec![0_u32; (a.len() + 1) * width];
    for x in (0..a.len()).rev() {
        for y in (0..b.len()).rev() {
            lengths[x * width + y] = if a[x] == b[y] {
                lengths[(x + 1) * width + y + 1] + 1
            } else {
                lengths[(x + 1) * width + y].max(lengths[x * width + y + 1])
            };
        }
    }
    let (mut x, mut y, mut pairs) = (0, 0, Vec::new());
    while x < a.len() && y < b.len() {
        if a[x] == b[y] {
            pairs.push((x, y));
            (x, y) = (x + 1, y + 1);
        } else if lengths[(x + 1) * width + y] >= lengths[x * width + y + 1] {
            x += 1;
        } else {
            y += 1;
        }
    }
    pairs
}

/// Pairs each item with the next equal one on the other side.
fn in_order<K: Hash + Eq + Copy>(
    a: &[K],
    b: &[K],
    in_a: std::ops::Range<usize>,
    in_b: std::ops::Range<usize>,
) -> Vec<(usize, usize)> {
    let mut places: HashMap<K, Vec<usize>> = HashMap::new();
    for at in in_b.clone().rev() {
        places.entry(b[at]).or_default().push(at);
    }
    let (mut pairs, mut next) = (Vec::new(), in_b.start);
    for at in in_a {
        let Some(found) = places.get_mut(&a[at]) else { continue };
        while found.last().is_some_and(|place| *place < next) {
            found.pop();
        }
        if let Some(place) = found.pop() {
            pairs.push((at, place));
            next = place + 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_common_is_found() {
        let cases: &[(&str, &str, usize)] = &[
            ("", "", 0),
            ("abc", "abc", 3),
            ("abc", "", 0),
            ("abcd", "axcd", 3),
            ("abcabc", "bcabca", 5),
            ("xaxbxc", "aybycy", 3),
            ("aaaa", "aa", 2),
        ];
        for (a, b, expected) in cases {
            assert_eq!(align(a.as_bytes(), b.as_bytes()).len(), *expected, "{a} {b}");
        }
    }

    #[test]
    fn a_long_gap_without_anchors_is_gone_through_once() {
        let a: Vec<u32> = (0..20_000).map(|n| n % 7).collect();
        let b: Vec<u32> = (0..20_000).map(|n| (n + 3) % 7).collect();
        assert!(align(&a, &b).len() > 10_000);
    }

    proptest! {
        #[test]
        fn pairs_are_equal_and_ascend(a in "[a-e]{0,30}", b in "[a-e]{0,30}") {
            let (a, b) = (a.as_bytes(), b.as_bytes());
            let pairs = align(a, b);
            prop_assert!(pairs.iter().all(|(x, y)| a[*x] == b[*y]));
            prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        }
    }
}
