//! How an answer is read: as text without the fence around it, or as JSON out of one.

use crate::definition::OutputFormat;
use crate::language::Value;

/// An answer as the step wants it read.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The text, without a fence around it.
    pub text: String,
    /// What it says as JSON, if that was wanted.
    pub json: Option<Value>,
}

/// Reads an answer.
///
/// - `text`: an answer that is one code fence is what stands in it.
/// - `json`: the answer, or what stands in the fence around it, or else in the first fence anywhere in
///   it that holds JSON. Anything else is an error, for a person to read.
pub fn read_answer(answer: &str, format: OutputFormat) -> Result<Answer, String> {
    let bare = without_fence(answer);
    match format {
        OutputFormat::Text => Ok(Answer { text: bare.to_owned(), json: None }),
        OutputFormat::Json => read_json(answer, bare),
    }
}

fn read_json(answer: &str, bare: &str) -> Result<Answer, String> {
    let found = |text: &str, json| Ok(Answer { text: text.to_owned(), json: Some(json) });
    let problem = match serde_json::from_str(bare) {
        Ok(json) => return found(bare, json),
        Err(problem) => problem,
    };
    let mut fences = fences(answer);
    fences.sort_by_key(|(language, _)| !language.eq_ignore_ascii_case("json"));
    for (_, text) in fences {
        if let Ok(json) = serde_json::from_str(text) {
            return found(text, json);
        }
    }
    Err(format!("the answer is not JSON: {problem}; it begins with {}", beginning(answer)))
}

/// Returns what stands in the fence, if all of the answer is one.
fn without_fence(answer: &str) -> &str {
    let trimmed = answer.trim();
    let inner = trimmed.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    match inner.and_then(|inner| inner.split_once('\n')) {
        Some((_, body)) if !body.contains("\n```") && !body.starts_with("```") => body.trim(),
        _ => trimmed,
    }
}

/// Returns the fences of a text: the language each names, and what stands in it.
fn fences(text: &str) -> Vec<(&str, &str)> {
    let mut fences = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("```") {
        let Some((language, body)) = after.split_once('\n') else { break };
        let Some((body, behind)) = body.split_once("```") else { break };
        fences.push((language.trim(), body.trim()));
        rest = behind;
    }
    fences
}

fn beginning(answer: &str) -> String {
    let text: String = answer.trim().chars().take(80).collect();
    format!("{text:?}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_found_wherever_models_put_it() {
        for (answer, expected) in [
            ("{\"a\":1}", json!({ "a": 1 })),
            ("  [1, 2]\n", json!([1, 2])),
            ("```json\n{\"a\":1}\n```", json!({ "a": 1 })),
            ("```\n{\"a\":1}\n```\n", json!({ "a": 1 })),
            ("Here you are:\n```json\n{\"a\":1}\n```\nAnything else?", json!({ "a": 1 })),
            ("```sh\nls\n```\nand\n```json\n{\"a\":2}\n```", json!({ "a": 2 })),
            ("```\n{\"a\":1}\n```\n```json\n{\"a\":2}\n```", json!({ "a": 2 })),
            ("{\"code\":\"```x```\"}", json!({ "code": "```x```" })),
            ("\"text\"", json!("text")),
        ] {
            let read = read_answer(answer, OutputFormat::Json);
            assert_eq!(read.map(|answer| answer.json), Ok(Some(expected)), "{answer}");
        }
    }

    #[test]
    fn an_answer_without_json_says_what_it_says_instead() {
        for answer in ["", "No.", "```json\n{\"a\":\n```", "{} and more"] {
            let error = read_answer(answer, OutputFormat::Json).unwrap_err();
            assert!(error.starts_with("the answer is not JSON: "), "{error}");
        }
    }

    #[test]
    fn text_loses_the_fence_around_all_of_it() {
        for (answer, expected) in [
            ("plain ", "plain"),
            ("```\nx\n```", "x"),
            ("```rust\nfn f() {}\n```\n", "fn f() {}"),
            ("Look:\n```\nx\n```", "Look:\n```\nx\n```"),
            ("```\na\n```\nand\n```\nb\n```", "```\na\n```\nand\n```\nb\n```"),
        ] {
            let read = read_answer(answer, OutputFormat::Text).unwrap();
            assert_eq!((read.text.as_str(), read.json), (expected, None), "{answer}");
        }
    }
}
