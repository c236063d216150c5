//! The nearest of a few known names, for "did you mean". It knows no grammar, only letters.

/// Returns the known name that `wanted` was probably meant to be, if one is near enough.
pub(crate) fn nearest<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // A third of the letters may be wrong: more than that is another word.
    let allowed = (wanted.chars().count() / 3).max(1);
    known
        .into_iter()
        .filter(|name| *name != wanted && name.len() < 4 * LONGEST)
        .map(|name| (distance(&fold(wanted), &fold(name)), name))
        .filter(|(steps, _)| *steps <= allowed)
        .min_by_key(|(steps, _)| *steps)
        .map(|(_, name)| name)
}

// A name longer than this has no typing mistake worth a table of its size squared.
const LONGEST: usize = 64;

// Case and separators are what people get wrong first: `exitCode`, `exit_code`, `ExitCode`.
fn fold(name: &str) -> Vec<char> {
    name.chars()
        .filter(|letter| !matches!(letter, '_' | '-'))
        .flat_map(char::to_lowercase)
        .take(LONGEST)
        .collect()
}

// Edit distance in which a swap of two neighbours is one step: `Outptu` is near `Output`.
fn distance(left: &[char], right: &[char]) -> usize {
    let width = right.len() + 1;
    let mut table = vec![0; (left.len() + 1) * width];
    for (column, cell) in table.iter_mut().take(width).enumerate() {
        *cell = column;
    }
    for row in 1..=left.len() {
        table[row * width] = row;
        for column in 1..width {
            let same = left[row - 1] == right[column - 1];
            let above = (row - 1) * width + column;
            let mut steps = (table[above] + 1)
                .min(table[row * width + column - 1] + 1)
                .min(table[above - 1] + usize::from(!same));
            let swapped = row > 1
                && column > 1
                && left[row - 1] == right[column - 2]
                && left[row - 2] == right[column - 1];
            if swapped {
                steps = steps.min(table[(row - 2) * width + column - 2] + 1);
            }
            table[row * width + column] = steps;
        }
    }
    table[left.len() * width + right.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not() {
        let known = ["Output", "ExitCode", "Stderr", "Status"];
        for (wanted, expected) in [
            ("Outptu", Some("Output")),
            ("output", Some("Output")),
            ("exit_code", Some("ExitCode")),
            ("Sttus", Some("Status")),
            ("Temperature", None),
            ("", None),
        ] {
            assert_eq!(nearest(wanted, known), expected, "{wanted}");
        }
    }
}
