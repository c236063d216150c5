//! What either side says besides the conversation: each becomes a `system` event with few facts.

use serde_json::{Map, Value, json};

use crate::outbox::{Outbox, Stamp};
use crate::value::Fields;

/// A method or update, the subtype it becomes, and the fields worth keeping with our names.
type Note = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const PLAN: &[(&str, &str)] = &[("planId", "plan_id")];
const TERMINAL: &[(&str, &str)] = &[("terminalId", "terminal_id"), ("command", "command")];
const NOTHING: &[(&str, &str)] = &[];

/// Updates of a session.
const UPDATES: &[Note] = &[
    ("plan", "plan", NOTHING),
    ("plan_update", "plan", PLAN),
    ("plan_removed", "plan", PLAN),
    ("available_commands_update", "metadata", NOTHING),
    ("config_option_update", "metadata", NOTHING),
    ("session_info_update", "metadata", &[("title", "title")]),
    ("current_mode_update", "mode_changed", &[("modeId", "mode"), ("currentModeId", "mode")]),
    ("notice", "notice", &[("severity", "severity"), ("title", "title")]),
    ("compaction_update", "compaction", &[("status", "status"), ("compactionId", "compaction_id")]),
    ("compaction_summary_chunk", "progress", &[("compactionId", "compaction_id")]),
    ("terminal_update", "progress", TERMINAL),
    ("terminal_output_chunk", "progress", TERMINAL),
    ("hook_execution", "hook", &[("hook_name", "hook"), ("status", "status")]),
    ("tool_call_delta_chunk", "progress", &[("tool_call_id", "tool_id")]),
];

/// Requests and notifications.
const METHODS: &[Note] = &[
    ("initialize", "metadata", NOTHING),
    ("authenticate", "metadata", &[("methodId", "method_id")]),
    ("logout", "metadata", NOTHING),
    ("session/cancel", "interrupted", NOTHING),
    ("session/set_mode", "mode_changed", &[("modeId", "mode")]),
    ("session/set_model", "model_changed", &[("modelId", "model")]),
    ("fs/read_text_file", "file_request", &[("path", "path")]),
    ("fs/write_text_file", "file_request", &[("path", "path")]),
    ("elicitation/create", "input_requested", &[("mode", "mode")]),
    ("elicitation/complete", "input_given", NOTHING),
    ("$/cancel_request", "metadata", NOTHING),
];

/// Families of methods of which little is noted.
const FAMILIES: &[(&str, &str)] = &[
    ("session/", "metadata"),
    ("terminal/", "terminal"),
    ("providers/", "metadata"),
    ("mcp/", "metadata"),
];

/// Puts what is noted of an update; nothing if nobody knows it.
pub(super) fn put_update(out: &mut Outbox<'_>, stamp: &Stamp, kind: &str, update: &Fields<'_>) {
    let Some((_, subtype, wanted)) = UPDATES.iter().find(|(name, ..)| *name == kind) else {
        return;
    };
    let mut facts = facts(update, wanted);
    if *subtype == "plan" {
        facts.insert("entries".to_owned(), update.items("entries").len().into());
    }
    facts.insert("topic".to_owned(), kind.into());
    out.system(stamp, subtype, Value::Object(facts));
}

/// Puts what is noted of a request or notification; nothing if nobody knows it.
pub(super) fn put_method(out: &mut Outbox<'_>, stamp: &Stamp, method: &str, params: &Fields<'_>) {
    let (subtype, wanted) = match METHODS.iter().find(|(name, ..)| *name == method) {
        Some((_, subtype, wanted)) => (*subtype, *wanted),
        None => match FAMILIES.iter().find(|(family, _)| method.starts_with(family)) {
            Some((_, subtype)) => (*subtype, TERMINAL),
            None => return,
        },
    };
    let mut facts = facts(params, wanted);
    facts.insert("topic".to_owned(), method.into());
    out.system(stamp, subtype, Value::Object(facts));
}

/// Puts that something was answered.
pub(super) fn put_answer(out: &mut Outbox<'_>, stamp: &Stamp, method: Option<&str>) {
    out.system(stamp, "answered", json!({ "topic": method }));
}

/// Takes the facts that are small, under our names.
fn facts(fields: &Fields<'_>, wanted: &[(&str, &str)]) -> Map<String, Value> {
    const SMALL: usize = 300;
    let small = |(key, name): &(&str, &str)| {
        let value = fields.get(key)?;
        let is_plain = !value.is_object() && !value.is_list() && value.source().len() <= SMALL;
        let value = serde_json::from_str(value.source()).ok().filter(|_| is_plain)?;
        Some(((*name).to_owned(), value))
    };
    wanted.iter().filter_map(small).collect()
}
