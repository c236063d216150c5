//! Messages API → drafts: each message is one reply, put when it has stopped.

use quipu_event::Kind;
use quipu_event::payload::{ErrorReport, Message, RunCompleted, Status, Usage};

use super::blocks::{Block, Spoken};
use super::request;
use super::wire::{add_usage, failure};
use crate::calls::Calls;
use crate::conversation::Conversations;
use crate::normalizer::Normalize;
use crate::opening::Opening;
use crate::outbox::{Outbox, Scraps, Slot, Stamp};
use crate::record::Record;
use crate::value::{Fields, Value};

/// The state of one input.
pub(crate) struct Messages {
    opening: Opening,
    calls: Calls,
    conversations: Conversations,
    open: Option<Open>,
    /// The message that was put last, until the next request.
    last_id: Option<String>,
    /// How it would end now.
    outcome: (Status, Option<String>),
    has_requests: bool,
}

/// A message that has not stopped.
struct Open {
    id: Option<String>,
    model: Option<String>,
    blocks: Vec<Block>,
    usage: Option<Usage>,
    stop_reason: Option<String>,
    slot: Slot,
    scraps: Scraps,
}

impl Messages {
    pub(crate) fn new() -> Self {
        Messages {
            opening: Opening::new("anthropic", "messages"),
            calls: Calls::default(),
            conversations: Conversations::default(),
            open: None,
            last_id: None,
            outcome: (Status::Aborted, None),
            has_requests: false,
        }
    }

    fn take_request(&mut self, fields: &Fields<'_>, out: &mut Outbox<'_>) {
        self.close(out);
        if self.has_requests {
            self.opening.put(out);
        }
        self.has_requests = true;
        self.last_id = None;
        self.outcome = (Status::Aborted, None);
        if self.opening.agent.model.is_none() {
            self.opening.agent.model = fields.string("model");
        }
        request::take(fields, &mut self.calls, &mut self.conversations, out);
    }

    fn take_event(&mut self, kind: &str, fields: &Fields<'_>, out: &mut Outbox<'_>) {
        match kind {
            "message_start" => self.begin(&fields.fields("message").unwrap_or_default(), out),
            "content_block_start" => {
                let index = fields.count("index").unwrap_or(0);
                let block = fields.get("content_block").map_or("{}", Value::source);
                self.absorb(out).blocks.push(Block::new(index, block));
            }
            "content_block_delta" => self.take_delta(fields, out),
            "content_block_stop" => {
                self.absorb(out);
            }
            "message_delta" => self.absorb(out).learn(fields),
            "message_stop" => {
                self.absorb(out).stop_reason.get_or_insert_default();
                self.close(out);
            }
            "message" => self.take_whole(fields, out),
            "ping" => match &mut self.open {
                Some(open) => out.absorb(&mut open.scraps),
                None => out.system(&Stamp::default(), "progress", serde_json::json!({})),
            },
            "error" => {
                let error = fields.fields("error").unwrap_or_default();
                self.take_error(&failure(&error), out);
            }
            _ => {}
        }
    }

    fn take_delta(&mut self, fields: &Fields<'_>, out: &mut Outbox<'_>) {
        let Some(delta) = fields.fields("delta") else { return };
        let index = fields.count("index").unwrap_or(0);
        let open = self.open.as_mut();
        let block =
            open.and_then(|open| open.blocks.iter_mut().rfind(|block| block.index == index));
        let is_known = match block {
            Some(block) => block.add(&delta),
            None => {
                let mut block = Block::without_beginning(index, &delta);
                let is_known = block.add(&delta);
                if is_known {
                    self.absorb(out).blocks.push(block);
                }
                is_known
            }
        };
        if is_known {
            self.absorb(out);
        }
    }

    /// Begins a message; a second beginning of the same one says nothing new.
    fn begin(&mut self, message: &Fields<'_>, out: &mut Outbox<'_>) {
        let id = message.string("id");
        if self.open.as_ref().is_some_and(|open| open.id != id || id.is_none()) {
            self.close(out);
        }
        let open = self.absorb(out);
        open.id = id;
        open.model = message.string("model");
        if let Some(usage) = message.fields("usage") {
            add_usage(&mut open.usage, &usage);
        }
        let model = open.model.clone();
        if !self.opening.is_put() {
            self.opening.started.session_id = message.string("id");
            self.opening.agent.model = model.or(self.opening.agent.model.take());
            self.opening.put(out);
        }
    }

    /// Takes a message that stands by itself.
    fn take_whole(&mut self, message: &Fields<'_>, out: &mut Outbox<'_>) {
        let id = message.string("id");
        let open = self.open.as_ref().filter(|open| id.is_some() && open.id == id);
        if open.is_some_and(|open| !open.blocks.is_empty()) {
            // Some log a stream and then, once more, what it came to.
            let open = self.absorb(out);
            if let Some(usage) = message.fields("usage") {
                add_usage(&mut open.usage, &usage);
            }
            return;
        }
        if id.is_some() && self.last_id == id {
            let facts = serde_json::json!({ "message_id": id });
            return out.system(&Stamp::default(), "repeated", facts);
        }
        self.begin(message, out);
        let blocks = message.items("content").into_iter().enumerate();
        let open = self.absorb(out);
        open.blocks =
            blocks.map(|(index, block)| Block::new(index as u64, block.source())).collect();
        open.stop_reason = Some(message.string("stop_reason").unwrap_or_default());
        self.close(out);
    }

    fn take_error(&mut self, report: &ErrorReport, out: &mut Outbox<'_>) {
        self.close(out);
        self.opening.put(out);
        out.error(&Stamp::default(), report);
        self.outcome = (Status::Failed, Some(report.message.clone()));
    }

    /// Keeps the record at hand with the message that is open, or opens one.
    fn absorb(&mut self, out: &mut Outbox<'_>) -> &mut Open {
        let open = self.open.get_or_insert_with(|| Open::new(out.reserve()));
        out.absorb(&mut open.scraps);
        open
    }

    /// Puts the message that is open.
    fn close(&mut self, out: &mut Outbox<'_>) {
        let Some(open) = self.open.take() else { return };
        self.opening.put(out);
        let has_stopped = open.stop_reason.is_some();
        self.outcome = (if has_stopped { Status::Succeeded } else { Status::Aborted }, None);
        self.last_id.clone_from(&open.id);
        self.conversations.reply();
        open.put(&mut self.calls, out);
    }
}

impl Open {
    fn new(slot: Slot) -> Self {
        Open {
            id: None,
            model: None,
            blocks: Vec::new(),
            usage: None,
            stop_reason: None,
            slot,
            scraps: Scraps::default(),
        }
    }

    fn learn(&mut self, fields: &Fields<'_>) {
        let delta = fields.fields("delta").unwrap_or_default();
        self.stop_reason = delta.string("stop_reason").or_else(|| self.stop_reason.take());
        if let Some(usage) = fields.fields("usage") {
            add_usage(&mut self.usage, &usage);
        }
    }

    fn put(self, calls: &mut Calls, out: &mut Outbox<'_>) {
        let Open { id, model, blocks, usage, stop_reason, slot, scraps } = self;
        let (stamp, mut spoken) = (Stamp::default(), Spoken::default());
        for block in &blocks {
            let name = format!("{}/{}", id.as_deref().unwrap_or("message"), block.index);
            spoken.add_streamed(block, &name);
        }
        let model = spoken.fallback.take().or(model);
        let message = Message {
            message_id: id.clone(),
            model: model.clone(),
            stop_reason: stop_reason.filter(|reason| !reason.is_empty()),
            ..Message::assistant(std::mem::take(&mut spoken.blocks))
        };
        out.fill(slot, scraps, |out| {
            out.message(&stamp, Kind::MessageAssistant, message);
            if let Some(usage) = usage.filter(|usage| !usage.tokens().is_empty()) {
                out.usage(&stamp, &Usage { model, message_id: id, ..usage });
            }
        });
        spoken.put_rest(&stamp, calls, out);
    }
}

impl Normalize for Messages {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        let fields = &record.fields;
        self.opening.begin(None);
        match fields.text("type") {
            Some(kind) => self.take_event(&kind, fields, out),
            None if fields.get("messages").is_some_and(Value::is_list) => {
                self.take_request(fields, out);
            }
            None => {}
        }
    }

    fn settle(&mut self, out: &mut Outbox<'_>) {
        self.close(out);
        if self.has_requests {
            self.opening.put(out);
        }
    }

    fn finish(&mut self, out: &mut Outbox<'_>) {
        self.close(out);
        self.calls.finish(out);
        let (status, error) = self.outcome.clone();
        let end = RunCompleted { status: Some(status), error, ..RunCompleted::default() };
        self.opening.complete(out, end);
    }
}
