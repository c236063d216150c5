//! The lines of a rollout as they really are.
//!
//! Since 0.32 a line is `{timestamp, ordinal?, type, payload}`. Before that the first line was a
//! bare header and all others were bare Responses items.

use std::borrow::Cow;

use quipu_event::{Json, Timestamp};

use crate::record::Record;
use crate::registry::Likeness;
use crate::value::{Fields, Value, json_inside};

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// Who talks: the thread, its parent, its directory.
    SessionMeta,
    /// With which model and settings the next request is made.
    TurnContext,
    /// What goes to and comes from the model.
    ResponseItem,
    /// What the agent tells its client.
    Event,
    /// The history was replaced by a summary.
    Compacted,
    /// What one response cost.
    TokenUsageRecord,
    /// Known, and of no use here.
    Noted(&'static str),
}

const LINE_KINDS: &[(&str, LineKind)] = &[
    ("response_item", LineKind::ResponseItem),
    ("event_msg", LineKind::Event),
    ("turn_context", LineKind::TurnContext),
    ("token_usage_record", LineKind::TokenUsageRecord),
    ("world_state", LineKind::Noted("world_state")),
    ("session_meta", LineKind::SessionMeta),
    ("compacted", LineKind::Compacted),
    ("inter_agent_communication", LineKind::Noted("inter_agent_communication")),
    ("inter_agent_communication_metadata", LineKind::Noted("inter_agent_communication_metadata")),
    ("security_risk_score", LineKind::Noted("security_risk_score")),
    ("retained_context", LineKind::Noted("retained_context")),
    ("realtime_item", LineKind::Noted("realtime_item")),
];

impl LineKind {
    /// Returns the name it has in the file.
    pub(super) fn name(self) -> &'static str {
        LINE_KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| *name)
    }
}

/// One line since 0.32.
pub(super) struct Line<'a> {
    /// When it was written.
    pub(super) time: Option<Timestamp>,
    /// Its number in a paginated thread.
    pub(super) ordinal: Option<u64>,
    /// What it is.
    pub(super) kind: LineKind,
    /// What it says.
    pub(super) payload: Fields<'a>,
}

impl<'a> Line<'a> {
    /// Reads a line; nothing if it is none, or of a type that nobody knows.
    pub(super) fn read(fields: &Fields<'a>) -> Option<Self> {
        let kind = line_kind(&fields.text("type")?)?;
        let payload = fields.fields("payload")?;
        let (time, ordinal) = (fields.time("timestamp"), fields.count("ordinal"));
        Some(Line { time, ordinal, kind, payload })
    }
}

fn line_kind(name: &str) -> Option<LineKind> {
    LINE_KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// Tells whether a record is a line of a rollout.
pub(crate) fn likeness(record: &Record<'_>) -> Likeness {
    let fields = &record.fields;
    let kind = fields.text("type");
    if fields.has("payload") && fields.has("timestamp") {
        return match kind.as_deref().and_then(line_kind) {
            Some(_) => Likeness::Sure,
            None if kind.is_some() => Likeness::Maybe,
            None => Likeness::No,
        };
    }
    let is_state = || fields.text("record_type").as_deref() == Some("state");
    match kind.as_deref() {
        None if is_bare_header(fields) || is_state() => Likeness::Sure,
        Some("message") if fields.has("role") && fields.has("content") => Likeness::Maybe,
        Some("reasoning") if fields.has("summary") => Likeness::Maybe,
        Some("function_call" | "function_call_output") if fields.has("call_id") => Likeness::Maybe,
        _ => Likeness::No,
    }
}

/// Tells whether this is the first line of a rollout before 0.32.
pub(super) fn is_bare_header(fields: &Fields<'_>) -> bool {
    !fields.has("type")
        && fields.has("id")
        && fields.has("timestamp")
        && (fields.has("instructions") || fields.has("git"))
}

/// What a `session_meta` says of its thread.
pub(super) struct Thread {
    pub(super) id: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) cli_version: Option<String>,
    pub(super) parent: Option<String>,
    /// Whether another thread began it to have something done.
    pub(super) is_subagent: bool,
    pub(super) forked_from: Option<String>,
    pub(super) has_history_elsewhere: bool,
    pub(super) own_from_ordinal: Option<u64>,
    /// Small facts under their own names.
    pub(super) labels: Vec<(&'static str, String)>,
}

/// What becomes a label of the run under the name it has in the file.
const LABELS: &[&str] =
    &["originator", "model_provider", "agent_nickname", "agent_role", "agent_path"];

impl Thread {
    pub(super) fn read(meta: &Fields<'_>) -> Self {
        let source = meta.fields("source");
        let is_spawned = source.as_ref().is_some_and(|source| source.has("subagent"))
            || meta.text("thread_source").as_deref() == Some("subagent");
        let spawn = source.and_then(|source| source.fields("subagent"));
        let spawn = spawn.and_then(|subagent| subagent.fields("thread_spawn")).unwrap_or_default();
        let mut labels = Vec::new();
        for name in LABELS {
            if let Some(text) = meta.string(name).or_else(|| spawn.string(name)) {
                labels.push((*name, text));
            }
        }
        if let Some(source) = meta.get("source") {
            let name = source.text().map_or_else(|| "subagent".to_owned(), Cow::into_owned);
            labels.push(("source", name));
        }
        let parent = meta.string("parent_thread_id").or_else(|| spawn.string("parent_thread_id"));
        Thread {
            is_subagent: is_spawned || parent.is_some(),
            id: meta.string("id").or_else(|| meta.string("session_id")),
            cwd: meta.string("cwd"),
            cli_version: meta.string("cli_version"),
            parent,
            forked_from: meta.string("forked_from_id"),
            has_history_elsewhere: meta.get("history_base").is_some(),
            own_from_ordinal: meta.count("subagent_history_start_ordinal"),
            labels,
        }
    }
}

/// The tokens of one response or of all so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) input: Option<u64>,
    pub(super) cached: Option<u64>,
    pub(super) cache_write: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) reasoning: Option<u64>,
    pub(super) total: Option<u64>,
}

impl Tokens {
    pub(super) fn read(usage: &Fields<'_>) -> Self {
        Tokens {
            input: usage.count("input_tokens"),
            cached: usage.count("cached_input_tokens"),
            cache_write: usage.count("cache_write_input_tokens"),
            output: usage.count("output_tokens"),
            reasoning: usage.count("reasoning_output_tokens"),
            total: usage.count("total_tokens"),
        }
    }
}

/// A tool call of the model.
pub(super) struct CallItem {
    pub(super) name: String,
    pub(super) call_id: Option<String>,
    pub(super) input: Json,
    pub(super) server: Option<String>,
}

impl CallItem {
    /// Reads any of the four items in which the model asks for a tool.
    pub(super) fn read(kind: &str, item: &Fields<'_>) -> Self {
        let name = match kind {
            "local_shell_call" => "local_shell".to_owned(),
            "tool_search_call" => "tool_search".to_owned(),
            _ => item.string("name").unwrap_or_default(),
        };
        let input = match kind {
            "local_shell_call" => item.json("action"),
            "custom_tool_call" => item.json("input"),
            _ => item.get("arguments").map(arguments),
        };
        CallItem {
            call_id: item.string("call_id").or_else(|| item.string("id")),
            input: input.unwrap_or_default(),
            server: mcp_server(item, &name),
            name,
        }
    }
}

/// Arguments are JSON inside a string, except where a tool search gives them plainly.
fn arguments(value: Value<'_>) -> Json {
    match value.text() {
        Some(text) => json_inside(&text),
        None => value.json(),
    }
}

/// A server's tool is either named `mcp__server__tool` or stands in the namespace `mcp__server`.
fn mcp_server(item: &Fields<'_>, name: &str) -> Option<String> {
    let namespace = item.text("namespace");
    let qualified = namespace.as_deref().unwrap_or(name).strip_prefix("mcp__")?;
    let server = qualified.split("__").next().filter(|server| !server.is_empty())?;
    Some(server.to_owned())
}

/// Returns a duration of `{secs, nanos}` in milliseconds.
pub(super) fn duration_ms(fields: &Fields<'_>) -> Option<u64> {
    let duration = fields.fields("duration")?;
    let (secs, nanos) = (duration.count("secs")?, duration.count("nanos").unwrap_or(0));
    Some(secs.saturating_mul(1000).saturating_add(nanos / 1_000_000))
}

/// Returns the texts of a list of `{text}`, or of plain strings.
pub(super) fn texts<'a>(fields: &Fields<'a>, key: &str) -> Vec<Cow<'a, str>> {
    let items = fields.items(key).into_iter();
    items.filter_map(|item| item.text().or_else(|| item.fields()?.text("text"))).collect()
}

/// How a message begins that the agent writes in the user's role without a tag around it.
const INJECTED: &[(&str, &str)] = &[
    ("# AGENTS.md", "agents_md"),
    ("Another language model started to solve this problem", "compaction_summary"),
    ("You were originally given instructions from a user", "compaction_summary"),
    ("Warning: apply_patch was requested via", "warning"),
    ("Warning: The maximum number of unified exec processes", "warning"),
];

/// Returns what a message of the user's role is when the user did not write it.
pub(super) fn injected_kind(text: &str) -> Option<String> {
    let text = text.trim_start();
    if let Some((_, kind)) = INJECTED.iter().find(|(start, _)| text.starts_with(start)) {
        return Some((*kind).to_owned());
    }
    let tag = text.strip_prefix('<')?.split(['>', ' ', '\n']).next()?;
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte == b'_' || byte == b'-';
    let is_tag = tag.len() > 2 && tag.len() < 40 && tag.bytes().all(is_name);
    (is_tag && text.contains("</")).then(|| tag.to_owned())
}
