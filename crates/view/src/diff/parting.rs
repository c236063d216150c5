//! The few words that are shown of a thing, and of two things from where they part.
//!
//! Two things that differ never look alike: where their texts do, the facts are shown that differ.

use serde_json::Value;

use super::words::Words;

/// How many characters of a text are shown.
const SHOWN: usize = 100;

/// How many facts of one object or list are shown of those that differ.
const FACTS: usize = 3;

/// What is shown in place of a fact that only the other side has.
const NOTHING: &str = "nothing";

/// Returns the beginning of `text` in one line.
pub fn excerpt(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut out = String::new();
    for word in words.by_ref() {
        if !out.is_empty() {
            out.push(' ');
        }
        let left = SHOWN.saturating_sub(out.chars().count());
        out.extend(word.chars().take(left));
        if word.chars().count() > left {
            out.push('…');
            return out;
        }
    }
    out
}

/// Tells whether two excerpts show no difference but, at most, that one of them was cut, or none
/// that people are sure to see.
pub(super) fn look_alike(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim_end_matches(['…', ' ']), b.trim_end_matches(['…', ' ']));
    let at = first_parting(a, b);
    a == b || is_unclear(a[at..].chars().next(), b[at..].chars().next())
}

/// Returns where two texts begin to differ.
fn first_parting(a: &str, b: &str) -> usize {
    let same = a.char_indices().zip(b.chars()).take_while(|((_, x), y)| x == y);
    same.last().map_or(0, |((at, character), _)| at + character.len_utf8())
}

/// Tells whether two characters may look alike, or one of them like nothing: a letter of another
/// script, one with an accent of its own, a space without a width.
fn is_unclear(a: Option<char>, b: Option<char>) -> bool {
    let is_unseen = |c: char| !c.is_ascii() && !c.is_alphanumeric();
    match (a, b) {
        (Some(a), Some(b)) => {
            a != b && (a.is_ascii() != b.is_ascii() || is_unseen(a) || is_unseen(b))
        }
        (Some(alone), None) | (None, Some(alone)) => is_unseen(alone),
        (None, None) => false,
    }
}

/// Returns both texts from a little before the place where they begin to differ.
pub fn first_difference(a: &str, b: &str) -> (String, String) {
    const BEFORE: usize = 40;
    let from = first_parting(a, b);
    let start = a[..from].char_indices().rev().take(BEFORE).last().map_or(from, |(at, _)| at);
    let next = |text: &str| text[from..].chars().next();
    let is_unclear = is_unclear(next(a), next(b));
    let part = |text: &str| {
        let lead = if start > 0 { "…" } else { "" };
        match next(text).filter(|next| is_unclear && !next.is_ascii()) {
            Some(sign) => {
                let (before, rest) = (&text[start..from], &text[from + sign.len_utf8()..]);
                let code = u32::from(sign);
                format!("{lead}{}", excerpt(&format!("{before}{sign}⟨U+{code:04X}⟩{rest}")))
            }
            None => format!("{lead}{}", excerpt(&text[start..])),
        }
    };
    (part(a), part(b))
}

/// Returns both sides from where they part: their texts, and what differs beside them.
pub fn parted(a: &Words, b: &Words) -> (String, String) {
    let texts = first_difference(&a.text, &b.text);
    let mut sides = Vec::new();
    if texts.0 != texts.1 {
        sides.push(texts.clone());
    }
    gather_facts("", &a.beside, &b.beside, &mut sides);
    if sides.is_empty() {
        gather_facts("", &a.facts, &b.facts, &mut sides);
    }
    if sides.is_empty() {
        return texts;
    }
    let (a, b): (Vec<String>, Vec<String>) = sides.into_iter().unzip();
    (a.join("; "), b.join("; "))
}

/// Gathers the innermost facts that differ, each as `path: value`.
fn gather_facts(path: &str, a: &Value, b: &Value, sides: &mut Vec<(String, String)>) {
    if a == b {
        return;
    }
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys.into_iter().filter(|key| a.get(*key) != b.get(*key)).take(FACTS) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => gather_facts(&path, a, b, sides),
                    (a, b) => sides.push(named(&path, (one_side(a), one_side(b)))),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b);
            for (at, (a, b)) in pairs.take(FACTS) {
                gather_facts(&format!("{path}[{at}]"), a, b, sides);
            }
        }
        (a, b) => sides.push(named(path, first_difference(&exact(a), &exact(b)))),
    }
}

fn one_side(value: Option<&Value>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), |value| excerpt(&exact(value)))
}

fn named(path: &str, (a, b): (String, String)) -> (String, String) {
    let named = |value: String| match path {
        "" => value,
        path => format!("{path}: {value}"),
    };
    (named(a), named(b))
}

/// Returns a value as JSON in which no space is lost when it is shown in one line.
fn exact(value: &Value) -> String {
    let mut out = String::new();
    for character in value.to_string().chars() {
        let is_kept = character == ' ' && !out.ends_with(' ');
        match character.is_whitespace() && !is_kept {
            true => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            false => out.push(character),
        }
    }
    out
}
