//! What both interfaces have in common on the wire, and what tells them from others.

use std::borrow::Cow;

use quipu_event::payload::ErrorReport;
use quipu_event::{BlockContent, ContentBlock, Fidelity, Json, Purpose, Timestamp};

use crate::record::Record;
use crate::registry::Likeness;
use crate::value::{Fields, Value, json_text};

const AGENT: Fidelity = Fidelity::AgentEmitted;

/// Tells whether a record looks like one of Chat Completions.
pub(crate) fn chat_likeness(record: &Record<'_>) -> Likeness {
    let fields = &record.fields;
    let object = fields.text("object").unwrap_or_default();
    if object.starts_with("chat.completion") || object == "text_completion" {
        return Likeness::Sure;
    }
    if fields.has("type") || fields.has("jsonrpc") {
        return Likeness::No;
    }
    let has_choices = !fields.items("choices").is_empty();
    // Azure begins with what it thinks of the prompt, before there is a choice.
    let is_filtered = fields.has("choices") && fields.has("prompt_filter_results");
    if is_filtered || has_choices && (fields.has("model") || fields.has("usage")) {
        return Likeness::Sure;
    }
    if is_error_alone(fields) {
        return Likeness::Maybe;
    }
    chat_request_likeness(fields)
}

/// Tells whether a record looks like one of the Responses API.
pub(crate) fn responses_likeness(record: &Record<'_>) -> Likeness {
    let fields = &record.fields;
    let kind = fields.text("type").unwrap_or_default();
    let is_event = kind.starts_with("response.") && !fields.has("jsonrpc");
    if is_event || fields.text("object").as_deref() == Some("response") {
        return Likeness::Sure;
    }
    if kind == "error" && fields.has("sequence_number") {
        return Likeness::Sure;
    }
    if !kind.is_empty() || !fields.has("model") || fields.has("jsonrpc") {
        return Likeness::No;
    }
    let Some(input) = fields.get("input") else { return Likeness::No };
    let own = ["instructions", "previous_response_id", "store", "include", "max_output_tokens"];
    let items = input.items();
    let is_items = items
        .iter()
        .filter_map(|item| item.fields())
        .any(|item| item.has("call_id") || item.has("encrypted_content") || item.has("role"));
    match is_items || own.iter().any(|key| fields.has(key)) {
        true => Likeness::Sure,
        false => Likeness::Maybe,
    }
}

/// Tells whether an object is the body of a request to Chat Completions.
fn chat_request_likeness(fields: &Fields<'_>) -> Likeness {
    let messages = fields.items("messages");
    let Some(first) = messages.first().and_then(|message| message.fields()) else {
        return Likeness::No;
    };
    if !fields.has("model") || first.text("role").is_none() || fields.has("anthropic_version") {
        return Likeness::No;
    }
    let own = ["stream_options", "max_completion_tokens", "n", "response_format", "logprobs"];
    let is_own = |message: &Value<'_>| {
        let Some(message) = message.fields() else { return false };
        let role = message.text("role").unwrap_or_default();
        message.has("tool_calls") || matches!(&*role, "system" | "developer" | "tool" | "function")
    };
    let tool = fields.items("tools").first().and_then(|tool| tool.fields());
    let has_functions = tool.is_some_and(|tool| tool.has("function"));
    let is_ours = own.iter().any(|key| fields.has(key)) || messages.iter().any(is_own);
    if is_ours || has_functions { Likeness::Sure } else { Likeness::Maybe }
}

fn is_error_alone(fields: &Fields<'_>) -> bool {
    let beside = ["error", "user_id", "request_id"];
    fields.fields("error").is_some_and(|error| error.has("message"))
        && fields.iter().all(|(key, _)| beside.contains(&key))
}

/// Returns the string under `key`, unless it is empty.
pub(crate) fn filled<'a>(fields: &Fields<'a>, key: &str) -> Option<Cow<'a, str>> {
    fields.text(key).filter(|text| !text.is_empty())
}

/// Returns the time under `key`, in seconds since 1970; 0 is nobody's time.
pub(crate) fn seconds(fields: &Fields<'_>, key: &str) -> Option<Timestamp> {
    let seconds = fields.number(key).filter(|seconds| (1.0..1e11).contains(seconds))?;
    Some(Timestamp::from_micros((seconds * 1e6) as i64))
}

/// Describes what went wrong.
pub(crate) fn failure(error: Value<'_>) -> ErrorReport {
    let fields = error.fields().unwrap_or_default();
    let word = |key: &str| {
        let value = fields.get(key).filter(|value| !value.is_object() && !value.is_list())?;
        let word = value.text().unwrap_or(Cow::Borrowed(value.source()));
        (!word.is_empty() && word != "error").then(|| word.into_owned())
    };
    let (code, kind) = (word("code"), word("type"));
    let message = fields.text("message").or_else(|| error.text()).unwrap_or_default();
    let passing = ["rate_limit", "overloaded", "server_error", "timeout", "unavailable"];
    let is_passing = |word: &str| {
        passing.iter().any(|part| word.contains(part))
            || matches!(word.parse(), Ok(408 | 409 | 429 | 500..=599))
    };
    let retryable = code.iter().chain(&kind).any(|word| is_passing(word));
    ErrorReport {
        code: code.or(kind).unwrap_or_else(|| "api_error".to_owned()),
        category: "api".to_owned(),
        message: message.into_owned(),
        retryable,
        details: None,
    }
}

/// Makes the block of a refusal: it is neither an answer nor silence.
pub(crate) fn refusal(text: &str) -> ContentBlock {
    other("refusal", json_text(text))
}

/// Makes the block of something that is neither text nor thinking nor a call.
pub(crate) fn other(block_type: &str, content: Json) -> ContentBlock {
    let block_type = block_type.to_owned();
    BlockContent::Other { block_type, content: Some(content) }.vouched_by(AGENT)
}

/// Makes the block of a call.
pub(crate) fn tool_use(name: &str, id: &str, input: Json) -> ContentBlock {
    let (tool_name, tool_id) = (name.to_owned(), id.to_owned());
    BlockContent::ToolUse { tool_name, tool_id, tool_input: input }.vouched_by(AGENT)
}

/// Makes a block of thinking.
pub(crate) fn thinking(thinking: String, signature: Option<String>) -> ContentBlock {
    BlockContent::Thinking { thinking, signature }.vouched_by(AGENT)
}

/// Makes the blocks of what a request says for `purpose`: a text, or a list of parts.
pub(crate) fn request_blocks(content: Option<Value<'_>>, purpose: &Purpose) -> Vec<ContentBlock> {
    let Some(content) = content else { return Vec::new() };
    let text = |text: Cow<'_, str>| ContentBlock::text(AGENT, text).with_purpose(purpose.clone());
    if let Some(whole) = content.text() {
        return vec![text(whole)];
    }
    let block = |part: Value<'_>| {
        let Some(fields) = part.fields() else {
            return part.text().map_or_else(|| other("unknown", part.json()), text);
        };
        match fields.text("text") {
            Some(said) => text(said),
            None => other(&fields.text("type").unwrap_or_default(), part.json()),
        }
    };
    content.items().into_iter().map(block).collect()
}

/// Makes an object of those of `keys` that are there.
pub(crate) fn gather(fields: &Fields<'_>, keys: &[&str]) -> Json {
    let mut text = String::from("{");
    for key in keys {
        let Some(value) = fields.get(key) else { continue };
        let comma = if text.len() > 1 { "," } else { "" };
        text.push_str(&format!("{comma}\"{key}\":{}", value.source()));
    }
    text.push('}');
    Value::parse(&text).map(Value::json).unwrap_or_default()
}
