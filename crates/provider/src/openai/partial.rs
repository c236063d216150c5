//! One output item of a response, folded from its events.
//!
//! A finished item stands for itself and whatever was heard before of it is forgotten. One that
//! was cut off is put together from its deltas, in the shape in which it would have finished, so
//! that nobody else needs to know the difference.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::items::Spoken;
use crate::value::{Fields, Value};

/// An item as far as it has come.
#[derive(Default)]
pub(crate) struct Item {
    /// Its JSON as it was said last.
    source: Option<String>,
    /// What it came to, if it is finished and only says something.
    spoken: Option<Spoken>,
    is_done: bool,
    content: BTreeMap<u64, (&'static Text, String)>,
    summary: BTreeMap<u64, String>,
    commands: BTreeMap<u64, String>,
    input: Option<(&'static str, String)>,
}

/// A kind of text inside an item.
struct Text {
    /// The events that carry it.
    family: &'static str,
    /// What the item is then.
    item: &'static str,
    /// What its part is.
    part: &'static str,
    /// Where the part has it, and the last event.
    key: &'static str,
}

const TEXTS: [Text; 3] = [
    Text { family: "output_text", item: "message", part: "output_text", key: "text" },
    Text { family: "refusal", item: "message", part: "refusal", key: "refusal" },
    Text { family: "reasoning_text", item: "reasoning", part: "reasoning_text", key: "text" },
];

/// The events that carry what goes into a tool, what the item is then and where it has it.
const INPUTS: [(&str, &str, &str); 4] = [
    ("function_call_arguments", "function_call", "arguments"),
    ("mcp_call_arguments", "mcp_call", "arguments"),
    ("custom_tool_call_input", "custom_tool_call", "input"),
    ("code_interpreter_call_code", "code_interpreter_call", "code"),
];

/// The beginnings of events that say nothing which the finished item does not say again.
const PASSING: [&str; 14] = [
    "content_part",
    "output_text.annotation",
    "reasoning_summary_part",
    "reasoning_summary.",
    "web_search_call.",
    "file_search_call.",
    "code_interpreter_call.",
    "image_generation_call.",
    "mcp_call.",
    "mcp_list_tools.",
    "shell_call",
    "apply_patch_call",
    "audio.",
    "tool_search_call.",
];

impl Item {
    /// Takes the item as a whole record says it.
    pub(crate) fn set(&mut self, item: Value<'_>, is_done: bool) {
        if is_done {
            *self = Item::done(item);
        } else if !self.is_done {
            self.source = Some(item.source().to_owned());
        }
    }

    /// Makes a finished item.
    pub(crate) fn done(item: Value<'_>) -> Self {
        let spoken = Spoken::of_words(item);
        let source = spoken.is_none().then(|| item.source().to_owned());
        Item { source, spoken, is_done: true, ..Item::default() }
    }

    /// Adds what it came to; a call without an id gets `name`.
    pub(crate) fn speak(self, spoken: &mut Spoken, name: &str) {
        match self.spoken {
            Some(words) => spoken.blocks.extend(words.blocks),
            None => {
                if let Ok(value) = Value::parse(&self.json()) {
                    spoken.add(value, name);
                }
            }
        }
    }

    /// Tells whether the item is finished.
    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Tells whether nothing has been said or heard of it.
    pub(crate) fn is_blank(&self) -> bool {
        let is_silent = self.content.is_empty() && self.summary.is_empty();
        let is_unsaid = self.source.is_none() && !self.is_done;
        is_unsaid && is_silent && self.commands.is_empty() && self.input.is_none()
    }

    /// Takes an event about the item, named without `response.`; returns whether it is known.
    pub(crate) fn hear(&mut self, event: &str, fields: &Fields<'_>) -> bool {
        let Some((family, step)) = event.rsplit_once('.') else { return false };
        let at = |key: &str| fields.count(key).unwrap_or(0);
        if let Some(text) = TEXTS.iter().find(|text| text.family == family) {
            let (_, heard) =
                self.content.entry(at("content_index")).or_insert((text, String::new()));
            return take_text(heard, step, fields, text.key);
        }
        if let Some((_, _, key)) = INPUTS.iter().find(|input| input.0 == family) {
            let (_, heard) = self.input.get_or_insert((key, String::new()));
            return take_text(heard, step, fields, key);
        }
        match family {
            "reasoning_summary_text" => {
                let heard = self.summary.entry(at("summary_index")).or_default();
                take_text(heard, step, fields, "text")
            }
            "shell_call_command" => {
                let heard = self.commands.entry(at("command_index")).or_default();
                take_text(heard, step, fields, "command")
            }
            _ => PASSING.iter().any(|beginning| event.starts_with(beginning)),
        }
    }

    /// Returns its JSON: as it was finished, or as far as it came.
    fn json(&self) -> Cow<'_, str> {
        match &self.source {
            Some(source) if self.is_done => Cow::Borrowed(source),
            source => Cow::Owned(self.mend(source.as_deref())),
        }
    }

    /// Adds what was heard to what was said; of a key that stands twice the last one counts.
    fn mend(&self, source: Option<&str>) -> String {
        let begun = source.and_then(|source| source.trim_end().strip_suffix('}'));
        let mut text = match begun {
            Some(begun) => begun.to_owned(),
            None => format!("{{\"type\":{}", quoted(self.kind())),
        };
        let mut add = |key: &str, value: serde_json::Value| {
            let comma = if text.trim_end().ends_with('{') { "" } else { "," };
            text.push_str(&format!("{comma}{}:{value}", quoted(key)));
        };
        if !self.content.is_empty() {
            let part = |(kind, text): &(&Text, String)| {
                let (part, key) = (kind.part, kind.key);
                serde_json::json!({ "type": part, key: text })
            };
            add("content", self.content.values().map(part).collect());
        }
        if !self.summary.is_empty() {
            let part = |text| serde_json::json!({ "type": "summary_text", "text": text });
            add("summary", self.summary.values().map(part).collect());
        }
        if !self.commands.is_empty() {
            let commands: Vec<_> = self.commands.values().collect();
            add("action", serde_json::json!({ "commands": commands }));
        }
        if let Some((key, input)) = &self.input {
            add(key, serde_json::json!(input));
        }
        text.push('}');
        text
    }

    /// Returns what an item is of which nobody said what it is.
    fn kind(&self) -> &'static str {
        if let Some((text, _)) = self.content.values().next() {
            return text.item;
        }
        let input = self.input.as_ref().map(|input| input.0);
        match INPUTS.iter().find(|known| Some(known.2) == input) {
            Some((_, item, _)) => item,
            None if self.commands.is_empty() => "reasoning",
            None => "shell_call",
        }
    }
}

/// Adds a delta, or replaces the deltas by what they came to.
fn take_text(heard: &mut String, step: &str, fields: &Fields<'_>, key: &str) -> bool {
    match step {
        "delta" => {
            let delta = fields.get("delta");
            if let Some(delta) = delta {
                heard.push_str(&delta.text().unwrap_or(Cow::Borrowed(delta.source())));
            }
        }
        "done" => {
            if let Some(whole) = fields.string(key) {
                *heard = whole;
            }
        }
        "added" => {}
        _ => return false,
    }
    true
}

fn quoted(text: &str) -> serde_json::Value {
    serde_json::Value::from(text)
}
