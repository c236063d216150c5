//! The name that somebody may have meant.

use std::ffi::OsStr;

use cap_std::fs::Dir;

/// How many names are looked at.
const MOST_NAMES: usize = 2_000;

/// Returns the name in a directory that looks most like the one that is not there.
pub(super) fn name_like(dir: &Dir, wanted: &OsStr) -> Option<String> {
    let wanted = wanted.to_string_lossy().to_lowercase();
    let farthest = 1 + wanted.chars().count() / 4;
    let names = dir.entries().ok()?.take(MOST_NAMES).flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let near = names.filter_map(|name| {
        let distance = distance(&wanted, &name.to_lowercase());
        (distance <= farthest).then_some((distance, name))
    });
    near.min().map(|(_, name)| name)
}

/// Returns how many letters must be put in, left out or changed.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (index, candidate) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *candidate);
            diagonal = row[index + 1];
            row[index + 1] = changed.min(diagonal + 1).min(row[index] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_letters() {
        for (one, other, expected) in
            [("", "", 0), ("a", "", 1), ("main.rs", "mian.rs", 2), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(one, other), expected, "{one} {other}");
            assert_eq!(distance(other, one), expected, "{other} {one}");
        }
    }
}
