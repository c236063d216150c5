//! Which names stand for secrets, and values under such names hidden.
//!
//! What a secret's value is, and where else it turns up, is not known here.

use serde_json::Map;

use super::MASKED;
use crate::language::Value;

/// Words that make a name the name of a secret.
const WORDS: &[&str] = &[
    "secret",
    "secrets",
    "password",
    "passwd",
    "passphrase",
    "token",
    "apikey",
    "credential",
    "credentials",
];

/// Pairs of words that do.
const PAIRS: &[(&str, &str)] = &[("api", "key"), ("private", "key"), ("access", "key")];

/// Beginnings that do, whatever follows them.
const BEGINNINGS: &[&str] = &["secret_", "api_key", "password", "token"];

/// Returns whether a name stands for a secret: `API_KEY`, `databasePassword`, `deploy-token`.
pub fn is_secret_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    if BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning)) {
        return true;
    }
    let words = words(name);
    words.iter().any(|word| WORDS.contains(&word.as_str()))
        || words.windows(2).any(|pair| PAIRS.contains(&(pair[0].as_str(), pair[1].as_str())))
}

/// Returns `inputs` with `***` for each value whose name stands for a secret, at any depth.
pub fn mask_named(inputs: &Map<String, Value>) -> Map<String, Value> {
    let masked = inputs.iter().map(|(name, value)| {
        let value = if is_secret_name(name) { hidden(value) } else { mask_within(value) };
        (name.clone(), value)
    });
    masked.collect()
}

/// Splits a name where people do: at separators, and where a capital begins a word.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (i, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = i.checked_sub(1).map(|i| letters[i]);
        let after_small = before.is_some_and(|c| c.is_lowercase() || c.is_numeric());
        let ends_capitals = before.is_some_and(char::is_uppercase)
            && letters.get(i + 1).is_some_and(|c| c.is_lowercase());
        if letter.is_uppercase() && (after_small || ends_capitals) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn hidden(value: &Value) -> Value {
    match value {
        // Nothing is no secret, and a reader may want to know that nothing was given.
        Value::Null => Value::Null,
        Value::String(text) if text.is_empty() => value.clone(),
        _ => Value::from(MASKED),
    }
}

fn mask_within(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(mask_named(map)),
        Value::Array(items) => items.iter().map(mask_within).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_secrets_are_known_in_every_spelling() {
        let secret = [
            "SECRET_X",
            "api_key",
            "API_KEY_2",
            "PASSWORD",
            "passwords",
            "Token",
            "token_file",
            "database_password",
            "databasePassword",
            "APIKey",
            "apiKey",
            "myAPIKey",
            "api-key",
            "deploy.token",
            "secret_token",
            "client_secret",
            "aws_secret_access_key",
            "accessKey",
            "private_key",
            "privateKeyPem",
            "credentials",
            "gcpCredential",
            "DB_PASSWD",
            "githubToken",
        ];
        let plain = [
            "name",
            "max_tokens",
            "maxTokens",
            "key",
            "api",
            "secretary",
            "monkey",
            "keyboard",
            "description",
            "compass",
            "author",
            "",
        ];
        for name in secret {
            assert!(is_secret_name(name), "{name}");
        }
        for name in plain {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn secrets_among_inputs_are_masked_at_any_depth() {
        let inputs = json!({"env": "staging", "api_key": "k", "n": {"password": 7, "x": [{"token": ["a"]}]}, "token": ""});
        let masked = mask_named(inputs.as_object().unwrap());
        assert_eq!(
            Value::Object(masked),
            json!({"env": "staging", "api_key": "***", "n": {"password": "***", "x": [{"token": "***"}]}, "token": ""})
        );
    }
}
