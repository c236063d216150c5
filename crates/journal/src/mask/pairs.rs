//! Pairs of a name and a secret in a text: `PASSWORD=…`, `token: …`, `--api-key …`, a header.
//!
//! A value in quotes is not looked for here: see [`quoted`](super::quoted).

use super::harmless::{is_code, is_declared, is_of_words, is_path, is_placeholder};
use super::names::{PASSWORDS, TOKENS, pattern, pattern_of_all};
use super::patterns::START;

/// How a secret is introduced: a pattern whose group `secret` is the secret, if it is one.
pub(super) struct Pair {
    pub(super) name: &'static str,
    pub(super) pattern: String,
    pub(super) rule: Rule,
}

/// What a value must be to be a secret.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    /// No placeholder, no code and no path.
    Given,
    /// No placeholder, no code and nothing that is made of words; base 64 may look like a path.
    NoWords,
    /// None of these, and nothing that may be the name of a type, which has a digit at most.
    NoType,
}

/// Where an unquoted value ends.
const VALUE: &str = r#"[^\s"'\\,;&|)}\]]"#;

/// Returns all pairs there are.
pub(super) fn pairs() -> Vec<Pair> {
    let all = pattern_of_all();
    let passwords = pattern(PASSWORDS.iter().copied());
    let tokens = pattern(TOKENS.iter().copied());
    let pair = |name, rule, pattern| Pair { name, pattern, rule };
    vec![
        pair(
            "authorization",
            Rule::NoWords,
            format!(r#"{START}(?i-u:bearer|basic|token)\s+(?<secret>[A-Za-z0-9._~+/=-]{{16,}})"#),
        ),
        pair(
            "authorization",
            Rule::NoWords,
            r#"(?i-u:authorization)[ \t]*:[ \t]*(?:[A-Za-z]+[ \t]+)?(?<secret>[^\s"'\\,;]{8,})"#
                .to_owned(),
        ),
        pair(
            "cookie",
            Rule::Given,
            r#"(?i-u:cookie)[ \t]*:[ \t]*(?<secret>[^\s=;:"'\\]+=[^\r\n"'\\]+)"#.to_owned(),
        ),
        pair(
            "password",
            Rule::Given,
            r#"(?-u:\b)curl(?:[ \t][^\n|;]*?)?[ \t](?:-u|--user|--proxy-user)[ \t=]?["']?[^\s:"']+:(?<secret>[^\s"'\\]+)"#
                .to_owned(),
        ),
        pair("password", Rule::Given, format!(r"{all}[ \t]*=[ \t]*(?<secret>{VALUE}+)")),
        pair("password", Rule::Given, format!(r"{passwords}[ \t]*:[ \t]*(?<secret>{VALUE}{{4,}})")),
        // Behind a colon without a space after it stands what others put in place of a secret.
        pair("password", Rule::NoType, format!(r"{tokens}[ \t]*:[ \t]+(?<secret>{VALUE}{{8,}})")),
        pair(
            "password",
            Rule::NoWords,
            format!(r"--[A-Za-z0-9_-]*?{all}[ \t](?<secret>{VALUE}{{4,}})"),
        ),
    ]
}

impl Rule {
    /// Tells whether `value` is a secret, with `before` before the pair it stands in.
    pub(super) fn holds(self, value: &str, before: &str) -> bool {
        if is_placeholder(value) || is_code(value) || is_declared(value, before) {
            return false;
        }
        match self {
            Rule::Given => !is_path(value),
            Rule::NoWords => !is_of_words(value),
            Rule::NoType => {
                let digits = value.bytes().filter(u8::is_ascii_digit).count();
                !is_path(value) && !is_of_words(value) && (digits != 1 || value.len() >= 16)
            }
        }
    }
}
