//! Sessions of the versions before 0.0.342: one document, written anew with every step.
//!
//! A later version of the same document is told as far as it is new.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use quipu_event::payload::{ErrorReport, Message, RunCompleted, Status, ToolCall, ToolResult};
use quipu_event::{BlockContent, ContentBlock, Fidelity, Kind, Purpose};
use serde_json::json;

use super::entries::{self, Content, Entry};
use super::speech::tool_use;
use crate::calls::Calls;
use crate::normalizer::Normalize;
use crate::opening::Opening;
use crate::outbox::{Outbox, Stamp};
use crate::record::Record;
use crate::registry::Likeness;
use crate::value::{Fields, Value};

/// Tells how much a record looks like such a document.
pub(super) fn likeness(record: &Record<'_>) -> Likeness {
    let fields = &record.fields;
    let has_list = |key| fields.get(key).is_some_and(Value::is_list);
    match fields.has("sessionId") && (has_list("timeline") || has_list("chatMessages")) {
        true => Likeness::Sure,
        false => Likeness::No,
    }
}

/// A session as far as its versions tell.
pub(super) struct History {
    opening: Opening,
    calls: Calls,
    /// What the last version said beside what happened.
    header: Option<BTreeMap<String, String>>,
    /// What has been said, by the key of its entry.
    told: HashMap<String, String>,
    end: RunCompleted,
}

/// A reply that goes on until somebody else speaks.
#[derive(Default)]
struct Reply {
    stamp: Stamp,
    id: Option<String>,
    blocks: Vec<ContentBlock>,
    calls: Vec<(Stamp, ToolCall)>,
    results: Vec<(Stamp, ToolResult)>,
}

impl History {
    pub(super) fn new() -> Self {
        History {
            opening: Opening::new("copilot", "history"),
            calls: Calls::default(),
            header: None,
            told: HashMap::new(),
            end: RunCompleted::default(),
        }
    }

    /// Takes what stands beside the timeline; returns which facts of it have changed.
    fn take_header(&mut self, fields: &Fields<'_>, out: &mut Outbox<'_>) -> BTreeSet<String> {
        let facts = fields.iter().filter(|(name, _)| !matches!(*name, "timeline" | "chatMessages"));
        let facts = facts.map(|(name, value)| (name.to_owned(), value.source().to_owned()));
        let now: BTreeMap<_, _> = facts.collect();
        let Some(before) = self.header.replace(now.clone()) else {
            self.opening.started.session_id = fields.string("sessionId");
            self.opening.agent.model =
                fields.string("selectedModel").filter(|model| !model.is_empty() && model != "auto");
            self.opening.absorb(out);
            return BTreeSet::new();
        };
        let names = now.keys().chain(before.keys());
        names.filter(|name| now.get(*name) != before.get(*name)).cloned().collect()
    }

    /// Returns what of `text` has not been told.
    fn news(&mut self, key: String, text: &str) -> Option<String> {
        match self.told.insert(key, text.to_owned()) {
            None => Some(text.to_owned()),
            Some(before) => {
                let rest = text.strip_prefix(&*before).unwrap_or(text);
                (!rest.is_empty()).then(|| rest.to_owned())
            }
        }
    }

    fn tell(&mut self, entries: Vec<Entry>, out: &mut Outbox<'_>) {
        let (mut reply, mut before) = (Reply::default(), None);
        for Entry { key, id, time, content } in entries {
            self.opening.begin(time);
            let stamp = Stamp::at(time);
            let (status, error) = match &content {
                Content::Prompt(..) => (Status::Aborted, None),
                Content::Error(message) => (Status::Failed, Some(message.clone())),
                _ => (Status::Succeeded, None),
            };
            if !matches!(content, Content::Notice(..) | Content::Context(_)) {
                (self.end.status, self.end.error) = (Some(status), error);
            }
            let earlier = before;
            before = time.or(before);
            match content {
                Content::Tool(call, result) => {
                    // A call that is over has the time of its end.
                    let began = time.filter(|_| result.is_none()).or(earlier).or(time);
                    let is_known = |(_, known): &(Stamp, ToolCall)| known.call_id == call.call_id;
                    reply.results.extend(result.map(|result| (stamp.clone(), result)));
                    if self.calls.knows(&call.call_id) || reply.calls.iter().any(is_known) {
                        continue;
                    }
                    reply.begin(id, &stamp);
                    reply.blocks.push(tool_use(&call));
                    reply.calls.push((Stamp::at(began), call));
                }
                Content::Answer(result) => reply.results.push((stamp, result)),
                Content::Reply(text) => {
                    self.put_reply(std::mem::take(&mut reply), out);
                    reply.begin(id, &stamp);
                    let text = self.news(key, &text).filter(|text| !text.is_empty());
                    let block = text.map(|text| ContentBlock::text(Fidelity::AgentEmitted, text));
                    reply.blocks.extend(block);
                }
                other => {
                    self.put_reply(std::mem::take(&mut reply), out);
                    self.put_other(key, id, &stamp, other, out);
                }
            }
        }
        self.put_reply(reply, out);
    }

    fn put_reply(&mut self, reply: Reply, out: &mut Outbox<'_>) {
        let Reply { stamp, id, blocks, calls, results } = reply;
        if !blocks.is_empty() {
            let model = self.opening.agent.model.clone();
            let message = Message { message_id: id, model, ..Message::assistant(blocks) };
            out.message(&stamp, Kind::MessageAssistant, message);
        }
        for (stamp, call) in calls {
            self.calls.call(out, &stamp, call);
        }
        for (stamp, result) in results {
            self.calls.result(out, &stamp, result);
        }
    }

    fn put_other(
        &mut self,
        key: String,
        id: Option<String>,
        stamp: &Stamp,
        content: Content,
        out: &mut Outbox<'_>,
    ) {
        match content {
            Content::Prompt(text, images) => {
                let is_first = !self.told.contains_key(&key);
                let text = self.news(key, &text).filter(|text| !text.is_empty());
                let text = text.map(|text| ContentBlock::text(Fidelity::AgentEmitted, text));
                let images = images.into_iter().filter(|_| is_first).map(|image| {
                    let block_type = "attachment".to_owned();
                    BlockContent::Other { block_type, content: Some(image) }
                        .vouched_by(Fidelity::AgentEmitted)
                });
                let blocks = text.into_iter().chain(images);
                let blocks: Vec<_> =
                    blocks.map(|block| block.with_purpose(Purpose::Prompt)).collect();
                if !blocks.is_empty() {
                    let message = Message { message_id: id, ..Message::user(blocks) };
                    out.message(stamp, Kind::MessageUser, message);
                }
            }
            Content::Error(message) => {
                if let Some(message) = self.news(key, &message) {
                    let (code, category) = ("session_error".to_owned(), "session".to_owned());
                    let report = ErrorReport { code, category, message, ..ErrorReport::default() };
                    out.error(stamp, &report);
                }
            }
            Content::Notice(level, message) => {
                if let Some(message) = self.news(key, &message) {
                    out.system(stamp, "notice", json!({ "level": level, "message": message }));
                }
            }
            Content::Context(role) => {
                if self.news(key, &role).is_some() {
                    out.system(stamp, "context", json!({ "topic": role }));
                }
            }
            Content::Reply(_) | Content::Tool(..) | Content::Answer(_) => {}
        }
    }
}

impl Reply {
    fn begin(&mut self, id: Option<String>, stamp: &Stamp) {
        if self.blocks.is_empty() && self.id.is_none() {
            (self.id, self.stamp) = (id, stamp.clone());
        }
    }
}

impl Normalize for History {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        let fields = &record.fields;
        self.opening.begin(fields.time("startTime"));
        if likeness(record) == Likeness::No {
            return;
        }
        let changed = self.take_header(fields, out);
        self.tell(entries::read(fields), out);
        if !out.is_carried() {
            let stamp = Stamp::at(fields.time("endTime"));
            out.system(&stamp, "metadata", json!({ "fields": changed }));
        }
        self.opening.put(out);
    }

    /// Does nothing: a document is told when it has come.
    fn settle(&mut self, _: &mut Outbox<'_>) {}

    fn finish(&mut self, out: &mut Outbox<'_>) {
        let is_dangling = self.calls.any_open();
        self.calls.finish(out);
        let end = std::mem::take(&mut self.end);
        let status = end.status.filter(|status| !is_dangling || *status == Status::Failed);
        self.opening
            .complete(out, RunCompleted { status: status.or(Some(Status::Aborted)), ..end });
    }
}
