//! What a call comes to: what is recorded of it, and what the caller is shown.

use quipu_event::payload::ToolStatus;
use serde_json::Value;

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// How it ended.
    pub status: ToolStatus,
    /// What is recorded: a text, or whatever structure the tool has.
    pub output: Value,
    /// Why it did not complete.
    pub error: Option<String>,
    /// What the caller is shown, when that is not the output itself.
    pub shown: Option<Shown>,
}

/// What a caller is shown, in the terms of MCP.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// Content blocks: `{"type": "text", "text": …}`, images and so on.
    pub content: Vec<Value>,
    /// The same as a structure.
    pub structured: Option<Value>,
}

impl Answer {
    /// Makes the answer of a call that did what it was to do.
    pub fn completed(output: impl Into<Value>) -> Answer {
        let output = output.into();
        Answer { status: ToolStatus::Completed, output, error: None, shown: None }
    }

    /// Makes the answer of a call that failed.
    pub fn failed(error: impl Into<String>) -> Answer {
        Answer::without_output(ToolStatus::Failed, error.into())
    }

    /// Makes the answer of a call that was refused.
    pub fn blocked(reason: impl Into<String>) -> Answer {
        Answer::without_output(ToolStatus::Blocked, reason.into())
    }

    fn without_output(status: ToolStatus, error: String) -> Answer {
        Answer { status, output: Value::from(error.clone()), error: Some(error), shown: None }
    }

    /// Tells whether it did what it was to do.
    pub fn is_completed(&self) -> bool {
        self.status == ToolStatus::Completed
    }

    /// Returns the text for a caller that can read nothing else.
    pub fn text(&self) -> String {
        match &self.shown {
            Some(shown) => shown.text(),
            None => text_of(&self.output),
        }
    }

    /// Returns what the caller is shown.
    pub fn shown(&self) -> Shown {
        self.shown.clone().unwrap_or_else(|| Shown::text_only(text_of(&self.output)))
    }
}

impl Shown {
    /// Makes a single block of text.
    pub fn text_only(text: impl Into<String>) -> Shown {
        let block = serde_json::json!({ "type": "text", "text": text.into() });
        Shown { content: vec![block], structured: None }
    }

    /// Returns the texts, with a note for what is none.
    fn text(&self) -> String {
        let blocks = self.content.iter().map(|block| match block["text"].as_str() {
            Some(text) => text.to_owned(),
            None => match block["resource"]["text"].as_str() {
                Some(text) => text.to_owned(),
                None => format!("[{}]", block["type"].as_str().unwrap_or("unknown content")),
            },
        });
        let text = blocks.collect::<Vec<_>>().join("\n");
        match &self.structured {
            Some(structured) if text.is_empty() => structured.to_string(),
            _ => text,
        }
    }
}

fn text_of(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
