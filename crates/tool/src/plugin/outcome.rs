//! What a plugin answers to a call, as the answer of a tool.

use serde_json::Value;

use quipu_event::payload::ToolStatus;

use crate::{Answer, Shown};

/// Reads the result of a call. One that is no result of a tool is told as such.
pub(super) fn answer_of(result: Value) -> Result<Answer, String> {
    let content = match result.get("content") {
        Some(Value::Array(blocks)) if blocks.iter().all(Value::is_object) => blocks.clone(),
        None if result.get("structuredContent").is_some() => Vec::new(),
        _ => return Err(format!("its answer is no result of a tool: {}", start_of(&result))),
    };
    let structured = result.get("structuredContent").filter(|value| !value.is_null()).cloned();
    let is_error = result.get("isError") == Some(&Value::Bool(true));
    let shown = Shown { content, structured };
    let output = match sole_text(&shown) {
        Some(text) => Value::from(text),
        None => result,
    };
    let mut answer = Answer { shown: Some(shown), ..Answer::completed(output) };
    if is_error {
        let text = answer.text();
        answer.status = ToolStatus::Failed;
        answer.error = Some(if text.is_empty() { "the tool failed".to_owned() } else { text });
    }
    Ok(answer)
}

/// Returns the text of an answer that is nothing else.
fn sole_text(shown: &Shown) -> Option<&str> {
    match shown.content.as_slice() {
        [block] if block["type"] == "text" && shown.structured.is_none() => block["text"].as_str(),
        _ => None,
    }
}

fn start_of(value: &Value) -> String {
    value.to_string().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_single_text_is_the_output_and_anything_else_is_kept_as_it_came() {
        let text = json!({ "content": [{ "type": "text", "text": "hi" }], "_meta": {} });
        assert_eq!(answer_of(text).unwrap().output, "hi");
        let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png", "new": 1 });
        for whole in [
            json!({ "content": [image.clone()] }),
            json!({ "content": [] }),
            json!({ "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }),
            json!({ "content": [{ "type": "text", "text": "1" }], "structuredContent": { "n": 1 } }),
            json!({ "structuredContent": { "n": 1 } }),
        ] {
            let answer = answer_of(whole.clone()).unwrap();
            assert!(answer.is_completed());
            assert_eq!(answer.output, whole);
            let shown = answer.shown.unwrap();
            assert_eq!(json!(shown.content), whole.get("content").cloned().unwrap_or(json!([])));
            assert_eq!(shown.structured.as_ref(), whole.get("structuredContent"));
        }
    }

    #[test]
    fn a_result_that_is_an_error_fails_the_call_with_its_text() {
        let block = json!({ "type": "text", "text": "no such file" });
        let answer = answer_of(json!({ "content": [block], "isError": true })).unwrap();
        assert_eq!(answer.status, ToolStatus::Failed);
        assert_eq!(answer.error.as_deref(), Some("no such file"));
        assert_eq!(answer.output, "no such file");
        assert_eq!(answer.text(), "no such file");
    }

    #[test]
    fn what_is_no_result_of_a_tool_is_none() {
        for result in [
            json!({}),
            json!("x"),
            json!(null),
            json!({ "content": "x" }),
            json!({ "content": ["x"] }),
        ] {
            let reason = answer_of(result).unwrap_err();
            assert!(reason.starts_with("its answer is no result of a tool: "), "{reason}");
        }
    }
}
