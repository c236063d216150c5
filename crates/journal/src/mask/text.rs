//! Secrets in a text that is looked at as it stands, one character behind the other.
//!
//! It knows that an escape such as `\n` may stand before a secret, for texts are cut and put together
//! as they come. What a text would be without its escapes is not known here: see
//! [`nested`](super::nested).

use std::ops::Range;

use quipu_event::Json;
use regex::{Captures, Regex};

use super::harmless::is_of_words;
use super::pairs::{Rule, pairs};
use super::patterns::{KEYS, OPENAI_KEY, START, SURROUNDED, TELLTALE};
use super::{mark, quoted};

/// Values shorter than this would hide half of every text they occur in by chance.
pub(super) const SHORTEST_VALUE: usize = 4;

/// A value is looked for as it is, and as it stands in JSON, in JSON within a text of JSON, and on.
const SPELLINGS: usize = 5;

/// What finds secrets in a text.
pub(super) struct TextMask {
    telltale: Regex,
    surrounded: Vec<(&'static str, Regex)>,
    /// All keys at once: the number of the group that matches is the number of the key.
    keys: Regex,
    pairs: Vec<(&'static str, Regex, Rule)>,
    quoted: Regex,
    values: Vec<(String, String)>,
}

impl TextMask {
    pub(super) fn new() -> Self {
        let compile = |pattern: &str| {
            Regex::new(pattern).expect("the catalogue's patterns compile; a test compiles them all")
        };
        let keys: Vec<String> = KEYS.iter().map(|key| format!("({})", key.pattern)).collect();
        TextMask {
            telltale: compile(TELLTALE),
            surrounded: SURROUNDED
                .iter()
                .map(|shape| (shape.name, compile(shape.pattern)))
                .collect(),
            keys: compile(&format!("{START}(?:{})", keys.join("|"))),
            pairs: pairs()
                .into_iter()
                .map(|pair| (pair.name, compile(&pair.pattern), pair.rule))
                .collect(),
            quoted: compile(&quoted::opening()),
            values: Vec::new(),
        }
    }

    pub(super) fn add_value(&mut self, name: &str, value: &str) {
        let mut spelling = value.to_owned();
        for _ in 0..SPELLINGS {
            if spelling.len() < SHORTEST_VALUE
                || self.values.iter().any(|(_, known)| *known == spelling)
            {
                break;
            }
            self.values.push((name.to_owned(), spelling.clone()));
            let literal = Json::encode(&spelling).unwrap_or_default();
            let inside = literal.as_str().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            spelling = inside.unwrap_or_default().to_owned();
        }
        // A value that contains another must go first, or its rest would stay behind.
        self.values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    }

    /// Tells in one pass that a text holds nothing to hide, whatever is nested in it.
    pub(super) fn is_harmless(&self, text: &str) -> bool {
        let is_escaped = memchr::memchr(b'\\', text.as_bytes()).is_some();
        // An escape can stand for any letter, also for one of a secret.
        let hides_letters = is_escaped && (text.contains("\\u") || text.contains("\\/"));
        let has_value = match is_escaped {
            true => !self.values.is_empty(),
            false => self.values.iter().any(|(_, value)| text.contains(value.as_str())),
        };
        !hides_letters && !has_value && !self.telltale.is_match(text)
    }

    /// Returns `text` without its secrets, and counts them; nothing when there are none.
    pub(super) fn hide(&self, text: &str, hidden: &mut u64) -> Option<String> {
        let mut masked: Option<String> = None;
        for (name, value) in &self.values {
            let now = masked.as_deref().unwrap_or(text);
            let found = now.matches(value.as_str()).count() as u64;
            if found > 0 {
                *hidden += found;
                masked = Some(now.replace(value.as_str(), &mark(name)));
            }
        }
        if !self.telltale.is_match(masked.as_deref().unwrap_or(text)) {
            return masked;
        }
        for (name, shape) in &self.surrounded {
            let now = masked.as_deref().unwrap_or(text);
            let secret = |found: &Captures<'_>| Some((*name, found.name("secret")?.range()));
            masked = replace(now, shape, secret, hidden).or(masked);
        }
        let now = masked.as_deref().unwrap_or(text);
        masked = replace(now, &self.keys, key, hidden).or(masked);
        for (name, pair, rule) in &self.pairs {
            let now = masked.as_deref().unwrap_or(text);
            let secret = |found: &Captures<'_>| {
                let (whole, secret) = (found.get(0)?, found.name("secret")?);
                let is_secret = rule.holds(secret.as_str(), &now[..whole.start()]);
                is_secret.then(|| (*name, secret.range()))
            };
            masked = replace(now, pair, secret, hidden).or(masked);
        }
        let now = masked.as_deref().unwrap_or(text);
        if let Some((replaced, count)) = quoted::hide(now, &self.quoted, &mark("password")) {
            masked = Some(replaced);
            *hidden += count;
        }
        masked
    }
}

/// Returns which key was found, and where.
fn key(found: &Captures<'_>) -> Option<(&'static str, Range<usize>)> {
    let (shape, key) =
        KEYS.iter().zip(found.iter().skip(1)).find_map(|(shape, group)| Some((shape, group?)))?;
    // A name of words may begin as a key does.
    let is_name = shape.name == OPENAI_KEY && is_of_words(key.as_str());
    (!is_name).then(|| (shape.name, key.range()))
}

/// Puts marks in place of what `secret` says is one; nothing where there is none.
fn replace(
    text: &str,
    shape: &Regex,
    secret: impl Fn(&Captures<'_>) -> Option<(&'static str, Range<usize>)>,
    hidden: &mut u64,
) -> Option<String> {
    let mut masked = String::new();
    let mut kept = 0;
    for (name, range) in shape.captures_iter(text).filter_map(|found| secret(&found)) {
        if text[range.clone()].starts_with(MARK) {
            continue;
        }
        masked.push_str(&text[kept..range.start]);
        masked.push_str(&mark(name));
        kept = range.end;
        *hidden += 1;
    }
    (kept > 0).then(|| masked + &text[kept..])
}

/// How every mark begins.
const MARK: &str = "[masked:";
