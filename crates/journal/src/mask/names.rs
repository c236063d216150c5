//! Which names say that a secret stands behind them: `password`, `PGPASSWORD`, `clientSecret`.
//!
//! One list for all who ask: for a key of JSON and for a name in a text it must be the same one, or
//! what is hidden in the one would stand in clear in the other. How a name ends decides.

/// Names whose values may be any word.
pub(super) const PASSWORDS: &[&str] =
    &["password", "passwd", "pwd", "passphrase", "api_key", "secret_key"];

/// Names that also stand before other things: in prose, before types, before pieces of code.
pub(super) const TOKENS: &[&str] =
    &["token", "secret", "access_key", "private_key", "credential", "credentials"];

/// Names of headers.
const HEADERS: &[&str] = &["authorization", "cookie"];

/// So much of the end of a name is looked at.
const LONGEST: usize = 32;

/// Names of what is inside of an object that stands for a secret, if it is the secret itself.
const INSIDE: [&str; 11] = [
    "value",
    "values",
    "default",
    "current",
    "previous",
    "old",
    "new",
    "plain",
    "plaintext",
    "string",
    "data",
];

/// Tells whether a secret stands under the name. An underscore or a hyphen makes no difference.
pub(super) fn is_secret(name: &str) -> bool {
    all().any(|word| {
        let end = name.bytes().rev().take(LONGEST);
        let mut letters = end.filter(|letter| !is_separator(*letter));
        let mut expected = word.bytes().rev().filter(|letter| !is_separator(*letter));
        expected.all(|letter| letters.next().is_some_and(|own| own.eq_ignore_ascii_case(&letter)))
    })
}

/// Tells whether what stands below these keys, the nearest last, is a secret.
pub(super) fn hold_secret<S: AsRef<str>>(keys: &[S]) -> bool {
    match keys {
        [.., outer, name] if INSIDE.iter().any(|word| name.as_ref().eq_ignore_ascii_case(word)) => {
            is_secret(outer.as_ref()) || is_secret(name.as_ref())
        }
        [.., name] => is_secret(name.as_ref()),
        [] => false,
    }
}

/// Tells whether the argument behind this one is a secret, as behind `--password`.
pub(super) fn is_flag(argument: &str) -> bool {
    argument
        .strip_prefix("--")
        .is_some_and(|name| !name.contains(char::is_whitespace) && is_secret(name))
}

/// Returns a pattern for the ends of all names.
pub(super) fn pattern_of_all() -> String {
    pattern(all())
}

/// Returns a pattern for the ends of `names`.
pub(super) fn pattern<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.replace('_', "[_-]?")).collect();
    // Letters of other alphabets that fold to ours would only make the search slower.
    format!("(?i-u:{})", names.join("|"))
}

fn all() -> impl Iterator<Item = &'static str> {
    [PASSWORDS, TOKENS, HEADERS].into_iter().flatten().copied()
}

fn is_separator(letter: u8) -> bool {
    matches!(letter, b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_name_ends_says_whether_a_secret_stands_behind_it() {
        let secret = [
            "password",
            "PGPASSWORD",
            "dbPassword",
            "user-passwd",
            "accessToken",
            "SessionToken",
            "id_token",
            "_authToken",
            "clientSecret",
            "SecretAccessKey",
            "aws_secret_access_key",
            "x-api-key",
            "apikey",
            "Set-Cookie",
            "Proxy-Authorization",
            "db.credentials",
        ];
        for name in secret {
            assert!(is_secret(name), "{name}");
        }
        for name in ["", "token_count", "max_tokens", "secretary", "passwordless", "key", "oken"] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn the_nearest_key_decides_unless_it_only_says_that_here_is_the_value() {
        assert!(hold_secret(&["a", "password"]));
        assert!(hold_secret(&["password", "value"]));
        assert!(!hold_secret(&["password", "description"]));
        assert!(!hold_secret(&["value"]) && !hold_secret::<&str>(&[]));
    }
}
