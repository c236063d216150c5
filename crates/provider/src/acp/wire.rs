//! The protocol's JSON as it really is: envelopes, content and what they are wrapped in.

use std::borrow::Cow;

use quipu_event::{BlockContent, ContentBlock, Fidelity, Timestamp};

use crate::outbox::Stamp;
use crate::record::Record;
use crate::registry::Likeness;
use crate::value::{Fields, Value};

/// Who wrote a message, if the log says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Agent,
}

/// One message of the protocol.
pub(super) struct Envelope<'a> {
    pub(super) method: Option<Cow<'a, str>>,
    /// The id of a request or of what answers it, as it stands.
    pub(super) id: Option<&'a str>,
    pub(super) params: Fields<'a>,
    pub(super) result: Option<Value<'a>>,
    pub(super) error: Option<Fields<'a>>,
    pub(super) writer: Option<Side>,
    pub(super) time: Option<Timestamp>,
    /// Milliseconds since the log began.
    pub(super) millis: Option<u64>,
}

impl<'a> Envelope<'a> {
    /// Reads a message, bare or wrapped.
    pub(super) fn read(record: &Record<'a>) -> Option<Self> {
        let outer = &record.fields;
        let inner = ["msg", "message"].iter().find_map(|key| outer.fields(key));
        let inner = inner.filter(|inner| is_message(inner));
        let fields = inner.as_ref().unwrap_or(outer);
        if !is_message(fields) {
            return None;
        }
        let writer = outer.text("dir").or_else(|| outer.text("direction"));
        let params = fields.fields("params").unwrap_or_default();
        let time = time(outer).or_else(|| time(fields)).or_else(|| agent_time(&params));
        Some(Envelope {
            method: fields.text("method"),
            id: fields.get("id").map(Value::source),
            result: fields.get("result"),
            error: fields.fields("error"),
            writer: writer.and_then(|writer| match &*writer {
                "out" | "sent" | "client" => Some(Side::Client),
                "in" | "received" | "agent" => Some(Side::Agent),
                _ => None,
            }),
            time,
            millis: outer.count("ms"),
            params,
        })
    }
}

fn is_message(fields: &Fields<'_>) -> bool {
    fields.has("method") || (fields.has("id") && (fields.has("result") || fields.has("error")))
}

/// Returns the time of a log's line: a text, seconds, or milliseconds.
fn time(fields: &Fields<'_>) -> Option<Timestamp> {
    const SECONDS_END: f64 = 1e11;
    let value = fields.get("timestamp")?;
    if let Some(text) = value.text() {
        return Timestamp::parse(&text).ok();
    }
    let number = value.number().filter(|number| *number >= 0.0)?;
    let micros = if number < SECONDS_END { number * 1e6 } else { number * 1e3 };
    Some(Timestamp::from_micros(micros as i64))
}

fn agent_time(params: &Fields<'_>) -> Option<Timestamp> {
    let millis = params.fields("_meta")?.integer("agentTimestampMs")?;
    Some(Timestamp::from_micros(millis.saturating_mul(1_000)))
}

/// Returns who an update is from: some agents name their subagents.
pub(super) fn stamp(update: &Fields<'_>, time: Option<Timestamp>) -> Stamp {
    let meta = update.fields("_meta").and_then(|meta| meta.fields("github.com/copilot"));
    match meta.and_then(|meta| meta.string("agentId")) {
        Some(agent) => Stamp::of_subagent(&agent, time),
        None => Stamp::at(time),
    }
}

/// Returns the text of a content block, if it is one of text.
pub(super) fn text_of<'a>(content: Value<'a>) -> Option<Cow<'a, str>> {
    let fields = content.fields()?;
    match fields.text("type").as_deref() {
        Some("text") | None => fields.text("text"),
        Some(_) => None,
    }
}

/// Names that mean a block of ours.
const OWN_BLOCKS: [&str; 6] = ["text", "thinking", "tool_use", "tool_result", "command", "stream"];

/// Makes a block of content that is no text.
pub(super) fn other_block(content: Value<'_>) -> ContentBlock {
    let block_type = content.fields().and_then(|fields| fields.string("type"));
    // A text without text is not one of our text blocks.
    let block_type = block_type.filter(|name| !OWN_BLOCKS.contains(&&**name));
    let block_type = block_type.unwrap_or_else(|| "content".to_owned());
    BlockContent::Other { block_type, content: Some(content.json()) }
        .vouched_by(Fidelity::AgentEmitted)
}

/// Returns the model that the answer to `session/new` or `session/load` names.
pub(super) fn model(answer: &Fields<'_>) -> Option<String> {
    let models = answer.fields("models").and_then(|models| models.string("currentModelId"));
    models.or_else(|| {
        let options = answer.items("configOptions").into_iter().filter_map(Value::fields);
        let mut options = options.filter(|option| {
            ["category", "id"]
                .iter()
                .any(|key| option.text(key).is_some_and(|text| text == "model"))
        });
        options.find_map(|option| option.string("currentValue"))
    })
}

/// Tells how much a record looks like a message of the protocol.
pub(super) fn likeness(record: &Record<'_>) -> Likeness {
    let outer = &record.fields;
    let inner = ["msg", "message"].iter().find_map(|key| outer.fields(key));
    let fields = inner.as_ref().unwrap_or(outer);
    let is_rpc = fields.text("jsonrpc").is_some_and(|version| version == "2.0");
    let Some(method) = fields.text("method") else {
        return if is_rpc && is_message(fields) { answer_likeness(fields) } else { Likeness::No };
    };
    let params = fields.fields("params").unwrap_or_default();
    let is_update = params.fields("update").is_some_and(|update| update.has("sessionUpdate"));
    let has_version =
        params.get("protocolVersion").is_some_and(|version| version.count().is_some());
    match &*method {
        _ if is_update => Likeness::Sure,
        "initialize" if is_rpc && has_version => Likeness::Sure,
        method if is_rpc && is_own(method) => Likeness::Sure,
        _ if is_rpc => Likeness::Maybe,
        _ => Likeness::No,
    }
}

fn answer_likeness(fields: &Fields<'_>) -> Likeness {
    let result = fields.fields("result").unwrap_or_default();
    if result.has("stopReason") || result.has("agentCapabilities") {
        return Likeness::Sure;
    }
    Likeness::Maybe
}

fn is_own(method: &str) -> bool {
    ["session/", "fs/", "terminal/", "elicitation/"].iter().any(|family| method.starts_with(family))
}
