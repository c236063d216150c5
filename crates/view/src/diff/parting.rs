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

/// Tells whether two excerpts show no difference but, at most, that one of them was cut.
pub(super) fn look_alike(a: &str, b: &str) -> bool {
    a.trim_end_matches(['…', ' ']) == b.trim_end_matches(['…', ' '])
}

/// Returns both texts from a little before the place where they begin to differ.
pub fn first_difference(a: &str, b: &str) -> (String, String) {
    const BEFORE: usize = 40;
    let same = a.char_indices().zip(b.chars()).take_while(|((_, x), y)| x == y);
    let from = same.last().map_or(0, |((at, character), _)| at + character.len_utf8());
    let start = a[..from].char_indices().rev().take(BEFORE).last().map_or(from, |(at, _)| at);
    let part = |text: &str| {
        let lead = if start > 0 { "…" } else { "" };
        format!("{lead}{}", excerpt(&text[start..]))
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
