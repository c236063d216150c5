//! "Did you mean": the nearest of the names that would have been right.

/// Returns the known name that `given` was most likely meant to be, if one is near enough.
pub(crate) fn nearest<'k>(
    given: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Option<&'k str> {
    let wanted = plain(given);
    // A third of the letters may be wrong; in a word of two letters, one.
    let limit = (wanted.chars().count() / 3).max(1);
    known
        .into_iter()
        .filter(|name| *name != given)
        .map(|name| (distance(&wanted, &plain(name)), name))
        .filter(|(distance, name)| *distance <= limit && *distance < name.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Returns the hint "did you mean `name`?", if a known name is near enough.
pub fn did_you_mean<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    nearest(given, known).map(|name| format!("did you mean `{name}`?"))
}

/// Returns names as a list for a sentence: `a`, `b` or `c`.
pub(crate) fn one_of<'k>(names: impl IntoIterator<Item = &'k str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => "nothing".to_owned(),
    }
}

/// Spelling that people mix up freely does not count as a mistake.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}

/// Counts the letters to put in, take out, change or swap with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_name_that_was_meant_and_a_strange_word_finds_none() {
        let known = ["process", "prepare", "done", "on_success", "error"];
        let cases = [
            ("proces", Some("process")),
            ("porcess", Some("process")),
            ("Process", Some("process")),
            ("on-success", Some("on_success")),
            ("onsuccess", Some("on_success")),
            ("dnoe", Some("done")),
            ("x", None),
            ("nonexistent", None),
            ("", None),
        ];
        for (given, expected) in cases {
            assert_eq!(nearest(given, known), expected, "{given}");
        }
    }

    #[test]
    fn names_are_listed_as_a_sentence_lists_them() {
        assert_eq!(one_of(["a"]), "`a`");
        assert_eq!(one_of(["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
