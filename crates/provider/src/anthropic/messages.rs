//! Messages API → drafts: each message is one reply, put when it has stopped.

use quipu_event::Kind;
use quipu_event::payload::{ErrorReport, Message, Status, Usage};

use super::blocks::{Block, Spoken};
use super::request;
use super::wire::{add_usage, failure};
use crate::calls::Calls;
use crate::conversation::Conversations;
use crate::exchange::Exchange;
use crate::normalizer::Normalize;
use crate::outbox::{Outbox, Scraps, Slot, Stamp};
use crate::record::Record;
use crate::value::{Fields, Value};

/// The state of one input.
pub(crate) struct Messages {
    exchange: Exchange,
    conversations: Conversations,
    open: Option<Open>,
    /// The message that was put last, until the next request.
    last_id: Option<String>,
}

/// A message that has not stopped.
struct Open {
    id: Option<String>,
    model: Option<String>,
    /// Blocks that may go on.
    blocks: Vec<Block>,
    /// What blocks came to that stood whole.
    spoken: Spoken,
    usage: Option<Usage>,
    stop_reason: Option<String>,
    slot: Slot,
    scraps: Scraps,
}

impl Messages {
    pub(crate) fn new() -> Self {
        Messages {
            exchange: Exchange::new("anthropic", "messages"),
            conversations: Conversations::default(),
            open: None,
            last_id: None,
        }
    }

    fn take_request(&mut self, fields: &Fields<'_>, out: &mut Outbox<'_>) {
        self.close(out);
        self.exchange.request(fields, out);
        self.last_id = None;
        request::take(fields, &mut self.exchange.calls, &mut self.conversations, out);
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
        if !self.exchange.opening.is_put() {
            self.exchange.opening.started.session_id = message.string("id");
            self.exchange.opening.agent.model = model.or(self.exchange.opening.agent.model.take());
            self.exchange.opening.put(out);
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
        let name = name_of(id.as_deref());
        let mut spoken = Spoken::default();
        for (index, block) in message.items("content").into_iter().enumerate() {
            spoken.add(block, &format!("{name}/{index}"));
        }
        let open = self.absorb(out);
        open.spoken = spoken;
        open.stop_reason = Some(message.string("stop_reason").unwrap_or_default());
        self.close(out);
    }

    fn take_error(&mut self, report: &ErrorReport, out: &mut Outbox<'_>) {
        self.close(out);
        self.exchange.fail(report, out);
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
        self.exchange.opening.put(out);
        let has_stopped = open.stop_reason.is_some();
        self.exchange.outcome =
            (if has_stopped { Status::Succeeded } else { Status::Aborted }, None);
        self.last_id.clone_from(&open.id);
        self.conversations.reply();
        open.put(&mut self.exchange.calls, out);
    }
}

impl Open {
    fn new(slot: Slot) -> Self {
        Open {
            id: None,
            model: None,
            blocks: Vec::new(),
            spoken: Spoken::default(),
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
        let Open { id, model, blocks, mut spoken, usage, stop_reason, slot, scraps } = self;
        let stamp = Stamp::default();
        for block in blocks {
            let name = format!("{}/{}", name_of(id.as_deref()), block.index);
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

/// Returns what calls without an id are named after.
fn name_of(id: Option<&str>) -> &str {
    id.unwrap_or("message")
}

impl Normalize for Messages {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        let fields = &record.fields;
        self.exchange.opening.begin(None);
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
        self.exchange.settle(out);
    }

    fn finish(&mut self, out: &mut Outbox<'_>) {
        self.close(out);
        self.exchange.finish(out);
    }
}
