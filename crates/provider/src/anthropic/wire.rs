//! What the Messages API puts on the wire besides content, and what tells it from others.

use quipu_event::payload::{ErrorReport, Usage, UsageScope};

use crate::record::Record;
use crate::registry::Likeness;
use crate::value::{Fields, Value};

/// Tells whether a record looks like one of the Messages API.
pub(crate) fn likeness(record: &Record<'_>) -> Likeness {
    let fields = &record.fields;
    let is = |yes: bool| if yes { Likeness::Sure } else { Likeness::No };
    match fields.text("type").as_deref() {
        Some("message_start") => is(fields.fields("message").is_some()),
        Some("content_block_start") => is(fields.fields("content_block").is_some()),
        Some("content_block_delta" | "message_delta") => is(fields.fields("delta").is_some()),
        Some("content_block_stop") => is(fields.has("index")),
        Some("message") => is(is_message(fields)),
        Some("error") => is(is_error(fields)),
        Some("message_stop" | "ping") => Likeness::Maybe,
        Some(_) => Likeness::No,
        None => request_likeness(fields),
    }
}

/// Tells whether an object is a whole message.
pub(crate) fn is_message(fields: &Fields<'_>) -> bool {
    let is_reply = fields.text("role").as_deref() == Some("assistant");
    is_reply && fields.get("content").is_some_and(Value::is_list) && fields.has("stop_reason")
}

fn is_error(fields: &Fields<'_>) -> bool {
    let own = ["type", "error", "request_id"];
    fields.fields("error").is_some_and(|error| error.has("type") && error.has("message"))
        && fields.iter().all(|(key, _)| own.contains(&key))
}

/// Tells whether an object is the body of a request.
fn request_likeness(fields: &Fields<'_>) -> Likeness {
    let messages = fields.items("messages");
    let role = |message: &Value<'_>| message.fields()?.string("role");
    let is_talk = |message| matches!(role(message).as_deref(), Some("user" | "assistant"));
    let is_versioned = fields.has("anthropic_version");
    if messages.is_empty() || !messages.iter().all(is_talk) || fields.has("choices") {
        return Likeness::No;
    }
    if !fields.has("model") && !is_versioned {
        return Likeness::No;
    }
    let own = ["system", "thinking", "stop_sequences", "top_k", "context_management", "betas"];
    let tool = fields.items("tools").first().and_then(|tool| tool.fields());
    let is_own = |message: &Value<'_>| {
        let blocks = message.fields().map(|fields| fields.items("content")).unwrap_or_default();
        blocks.iter().filter_map(|block| block.fields()).any(|block| {
            matches!(block.text("type").as_deref(), Some("tool_use" | "tool_result" | "thinking"))
        })
    };
    let is_claude = fields.text("model").is_some_and(|model| model.contains("claude"));
    let is_ours = is_versioned
        || own.iter().any(|key| fields.has(key))
        || tool.is_some_and(|tool| tool.has("input_schema"))
        || messages.iter().any(is_own);
    match fields.has("max_tokens") {
        true if is_ours || is_claude => Likeness::Sure,
        _ if is_ours => Likeness::Sure,
        true => Likeness::Maybe,
        false => Likeness::No,
    }
}

/// Describes what went wrong.
pub(crate) fn failure(error: &Fields<'_>) -> ErrorReport {
    let code = error.string("type").unwrap_or_else(|| "api_error".to_owned());
    let passing = ["overloaded_error", "rate_limit_error", "api_error", "timeout_error"];
    ErrorReport {
        category: "api".to_owned(),
        message: error.string("message").unwrap_or_default(),
        retryable: passing.contains(&&*code),
        details: None,
        code,
    }
}

/// Adds what a `usage` object says; numbers are running totals, so the last of each counts.
pub(crate) fn add_usage(usage: &mut Option<Usage>, fields: &Fields<'_>) {
    let usage = usage.get_or_insert_default();
    let details = fields.fields("output_tokens_details");
    let thinking = details.and_then(|details| details.count("thinking_tokens"));
    let written = cache_write(fields);
    usage.scope = Some(UsageScope::Message);
    usage.input_tokens = fields.count("input_tokens").or(usage.input_tokens);
    usage.output_tokens = fields.count("output_tokens").or(usage.output_tokens);
    usage.cache_read_tokens = fields.count("cache_read_input_tokens").or(usage.cache_read_tokens);
    usage.cache_write_tokens = written.or(usage.cache_write_tokens);
    usage.reasoning_tokens = thinking.or(usage.reasoning_tokens);
}

/// Returns what was written to caches: as a sum, or by how long it is kept.
fn cache_write(fields: &Fields<'_>) -> Option<u64> {
    let sum = fields.count("cache_creation_input_tokens");
    if sum.is_some_and(|sum| sum > 0) {
        return sum;
    }
    let parts = fields.fields("cache_creation").unwrap_or_default();
    let keys = ["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"];
    keys.iter().filter_map(|key| parts.count(key)).reduce(u64::saturating_add).or(sum)
}
