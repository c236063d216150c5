//! What stands in a text where a secret was: a mark with its name, from which the text can be made
//! again by whoever knows the secret.
//!
//! `***secret:api_token***` is the secret of that name, `***secret:api_token+3***` what is left of it
//! behind its third byte, where it overlaps another one. A text that has such a beginning of its own
//! gets `***secret:***` for it. Which names there are is not known here.

/// How every mark begins.
pub(super) const OPENING: &str = "***secret:";

/// How every mark ends.
const CLOSING: &str = "***";

/// The name of a secret that has none to be told apart by: it cannot be put back.
pub(super) const NAMELESS: &str = "?";

/// A secret and the name that stands for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Secret {
    pub(super) value: String,
    pub(super) name: String,
}

/// What becomes of a text's own beginnings of marks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Literals {
    /// They are told apart from marks.
    Escaped,
    /// They stay: nobody will look for marks.
    Kept,
}

/// A text with its secrets put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unmarked {
    pub(super) text: String,
    /// Whether there are marks left in it of secrets that nobody knows.
    pub(super) lost: bool,
}

/// Returns a name as it can stand in a mark.
pub(super) fn name(parts: &[&str]) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
    parts.concat().chars().map(|c| if fits(c) { c } else { '_' }).collect()
}

/// Replaces each secret by its mark, and counts them; nothing when the text stays as it is.
///
/// Every byte that belongs to a secret is hidden, also where two overlap.
pub(super) fn mark(text: &str, secrets: &[Secret], literals: Literals) -> Option<(String, u64)> {
    let found = occurrences(text, secrets);
    let escapes = literals == Literals::Escaped && text.contains(OPENING);
    if found.is_empty() && !escapes {
        return None;
    }
    let mut marked = String::with_capacity(text.len());
    let (mut hidden, mut count) = (0, 0);
    for (start, end, name) in found {
        if end <= hidden {
            continue;
        }
        if start >= hidden {
            push_literal(&mut marked, &text[hidden..start], literals);
            push_mark(&mut marked, name, 0);
        } else {
            push_mark(&mut marked, name, hidden - start);
        }
        hidden = end;
        count += 1;
    }
    push_literal(&mut marked, &text[hidden..], literals);
    Some((marked, count))
}

/// Puts the secrets back; nothing when the text has no marks.
pub(super) fn unmark<'v>(
    text: &str,
    value_of: impl Fn(&str) -> Option<&'v str>,
) -> Option<Unmarked> {
    let mut rest = text;
    let mut unmarked = Unmarked { text: String::new(), lost: false };
    while let Some((before, inside, after)) = next_mark(rest) {
        unmarked.text.push_str(before);
        match inside {
            "" => unmarked.text.push_str(OPENING),
            inside => match part_of(inside, &value_of) {
                Some(value) => unmarked.text.push_str(value),
                None => {
                    unmarked.lost = true;
                    unmarked.text.extend([OPENING, inside, CLOSING]);
                }
            },
        }
        rest = after;
    }
    if rest.len() == text.len() {
        return None;
    }
    unmarked.text.push_str(rest);
    Some(unmarked)
}

/// Divides a text with marks into what stands between them, and the marks.
pub(super) fn between_marks(text: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut between, mut marks) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some((before, _, after)) = next_mark(rest) {
        between.push(before);
        marks.push(&rest[before.len()..rest.len() - after.len()]);
        rest = after;
    }
    between.push(rest);
    (between, marks)
}

/// Finds where secrets stand, in the order of their beginnings, the longest first.
fn occurrences<'s>(text: &str, secrets: &'s [Secret]) -> Vec<(usize, usize, &'s str)> {
    let mut found = Vec::new();
    for secret in secrets.iter().filter(|secret| !secret.value.is_empty()) {
        let step = secret.value.chars().next().map_or(1, char::len_utf8);
        let mut from = 0;
        while let Some(at) = text[from..].find(&secret.value) {
            let start = from + at;
            found.push((start, start + secret.value.len(), secret.name.as_str()));
            // One that overlaps itself is looked for too.
            from = start + step;
        }
    }
    found.sort_by_key(|(start, end, _)| (*start, std::cmp::Reverse(*end)));
    found
}

fn push_literal(marked: &mut String, text: &str, literals: Literals) {
    match literals {
        Literals::Kept => marked.push_str(text),
        Literals::Escaped => {
            marked.push_str(&text.replace(OPENING, &format!("{OPENING}{CLOSING}")));
        }
    }
}

fn push_mark(marked: &mut String, name: &str, skipped: usize) {
    marked.extend([OPENING, name]);
    if skipped > 0 {
        marked.push_str(&format!("+{skipped}"));
    }
    marked.push_str(CLOSING);
}

/// Finds the first mark: what stands before it, in it and behind it.
fn next_mark(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(OPENING)?;
    let (inside, after) = rest.split_once(CLOSING)?;
    Some((before, inside, after))
}

fn part_of<'v>(inside: &str, value_of: impl Fn(&str) -> Option<&'v str>) -> Option<&'v str> {
    match inside.split_once('+') {
        Some((name, skipped)) => value_of(name)?.get(skipped.parse().ok()?..),
        None => value_of(inside),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn secrets(values: &[(&str, &str)]) -> Vec<Secret> {
        let secret = |(name, value): &(&str, &str)| Secret {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        values.iter().map(secret).collect()
    }

    #[test]
    fn a_secret_becomes_its_name_and_overlaps_are_hidden_whole() {
        let known = secrets(&[("a", "abcd"), ("b", "cdef"), ("c", "abcdxyz"), ("s", "secret")]);
        let cases = [
            ("nothing", None),
            ("x abcd y", Some("x ***secret:a*** y")),
            ("abcdef", Some("***secret:a******secret:b+2***")),
            ("abcdxyz", Some("***secret:c***")),
            ("secret", Some("***secret:s***")),
            ("***secret:a***", Some("******secret:s***:a***")),
        ];
        for (text, expected) in cases {
            let marked = mark(text, &known, Literals::Escaped).map(|(marked, _)| marked);
            assert_eq!(marked.as_deref(), expected, "{text}");
        }
        let escaped = mark("***secret:a***", &known[..1], Literals::Escaped).unwrap();
        assert_eq!(escaped, ("***secret:***a***".to_owned(), 0));
        assert_eq!(mark("***secret:a***", &known[..1], Literals::Kept), None);
    }

    #[test]
    fn a_secret_that_nobody_knows_stays_as_it_is_and_is_told() {
        let value_of = |name: &str| (name == "a").then_some("xyz");
        let lost = unmark("***secret:a*** ***secret:gone*** ***secret:a+9***", value_of).unwrap();
        assert_eq!(lost.text, "xyz ***secret:gone*** ***secret:a+9***");
        assert!(lost.lost);
        assert_eq!(unmark("no *** marks ***secret:", value_of), None);
    }

    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            3 => "[ab*:sé]{0,6}",
            1 => Just(OPENING.to_owned()),
            1 => Just(CLOSING.to_owned()),
            1 => Just("***secret:n0***".to_owned()),
            1 => Just("secret:".to_owned()),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn what_was_masked_can_be_put_back_exactly(
            values in proptest::collection::vec(piece(), 0..5),
            pieces in proptest::collection::vec((piece(), 0usize..8), 0..8),
        ) {
            let known: Vec<Secret> = values
                .iter()
                .enumerate()
                .map(|(i, value)| Secret { name: format!("n{i}"), value: value.clone() })
                .collect();
            let text: String = pieces
                .iter()
                .map(|(piece, i)| format!("{piece}{}", values.get(*i).cloned().unwrap_or_default()))
                .collect();
            let marked = mark(&text, &known, Literals::Escaped).map_or(text.clone(), |(m, _)| m);
            let value_of = |name: &str| {
                known.iter().find(|secret| secret.name == name).map(|secret| secret.value.as_str())
            };
            let back = unmark(&marked, value_of);
            prop_assert!(back.as_ref().is_none_or(|back| !back.lost), "{}", marked);
            prop_assert_eq!(back.map_or(marked.clone(), |back| back.text), text);
            // What is left between the marks is no secret, and no part of one that stood there.
            let (between, _) = between_marks(&marked);
            for literal in between {
                for secret in known.iter().filter(|secret| !secret.value.is_empty()) {
                    prop_assert!(!literal.contains(&secret.value), "{:?} in {:?}", secret, marked);
                }
            }
        }
    }
}
