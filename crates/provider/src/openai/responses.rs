//! Responses API → drafts: each response is one reply, put when it has ended.
//!
//! Items are told apart by their number, because some give one item several ids. What the last
//! event repeats is taken only where the stream before it was not whole.

use std::collections::BTreeMap;

use quipu_event::payload::{ErrorReport, Message, Status, Usage};
use quipu_event::{Kind, Timestamp};

use super::items::Spoken;
use super::partial::Item;
use super::responses_request;
use super::usage::usage;
use super::wire::{failure, filled, seconds};
use crate::calls::Calls;
use crate::conversation::Conversations;
use crate::exchange::Exchange;
use crate::normalizer::Normalize;
use crate::outbox::{Outbox, Scraps, Slot, Stamp};
use crate::record::Record;
use crate::value::{Fields, Value};

/// The state of one input.
pub(crate) struct Responses {
    exchange: Exchange,
    conversations: Conversations,
    response: Option<Response>,
    /// The response that was put last.
    last_id: Option<String>,
    /// What went wrong last; a response that has failed says it again.
    last_error: Option<String>,
    /// A response was put before it had ended.
    is_settled: bool,
}

/// A response that has not ended.
struct Response {
    id: Option<String>,
    model: Option<String>,
    time: Option<Timestamp>,
    items: BTreeMap<u64, Item>,
    usage: Option<Usage>,
    /// What it says of its own state, and why.
    status: Option<String>,
    reason: Option<String>,
    /// Its beginning has been put already.
    is_rest: bool,
    slot: Slot,
    scraps: Scraps,
}

impl Responses {
    pub(crate) fn new() -> Self {
        Responses {
            exchange: Exchange::new("openai", "responses"),
            conversations: Conversations::default(),
            response: None,
            last_id: None,
            last_error: None,
            is_settled: false,
        }
    }

    fn take_request(&mut self, fields: &Fields<'_>, out: &mut Outbox<'_>) {
        self.close(out);
        self.exchange.request(fields, out);
        responses_request::take(fields, &mut self.exchange.calls, &mut self.conversations, out);
    }

    /// Takes an event, named without `response.`.
    fn take_event(&mut self, event: &str, fields: &Fields<'_>, out: &mut Outbox<'_>) {
        let response = fields.fields("response").unwrap_or_default();
        match event {
            "created" | "queued" | "in_progress" => self.begin(&response, event, out),
            "completed" | "failed" | "incomplete" | "cancelled" | "done" => {
                self.end(&response, Some(event), out);
            }
            _ => self.take_item_event(event, fields, out),
        }
    }

    fn take_item_event(&mut self, event: &str, fields: &Fields<'_>, out: &mut Outbox<'_>) {
        let last = |open: &Response| open.items.last_key_value().map(|(index, _)| *index);
        let last = self.response.as_ref().and_then(last);
        let index = fields.count("output_index").or(last).unwrap_or(0);
        let begun = self.response.as_mut().and_then(|open| open.items.remove(&index));
        let mut item = begun.unwrap_or_default();
        let is_known = match fields.get("item").filter(|_| event.starts_with("output_item.")) {
            Some(value) => {
                item.set(value, event == "output_item.done");
                true
            }
            None => item.hear(event, fields),
        };
        if is_known {
            self.absorb(out);
        }
        if let Some(response) = self.response.as_mut().filter(|_| !item.is_blank()) {
            response.items.insert(index, item);
        }
    }

    /// Keeps the record at hand with the response that is open, or opens one.
    fn absorb(&mut self, out: &mut Outbox<'_>) -> &mut Response {
        if self.response.is_none() {
            self.exchange.await_reply();
            self.last_error = None;
        }
        let is_rest = std::mem::take(&mut self.is_settled);
        let open = || Response { is_rest, ..Response::open(out.reserve()) };
        let response = self.response.get_or_insert_with(open);
        out.absorb(&mut response.scraps);
        response
    }

    fn begin(&mut self, fields: &Fields<'_>, event: &str, out: &mut Outbox<'_>) {
        let id = fields.text("id");
        let is_other = |open: &Response| open.id.as_deref() != id.as_deref();
        if event == "created" && self.response.as_ref().is_some_and(is_other) {
            self.close(out);
        }
        self.is_settled &= event != "created";
        self.absorb(out).learn(fields);
        self.open_run(out);
    }

    /// Takes the end of a response, said by an event or by the whole of it.
    fn end(&mut self, fields: &Fields<'_>, event: Option<&str>, out: &mut Outbox<'_>) {
        self.begin(fields, "", out);
        let Some(response) = &mut self.response else { return };
        if let Some(event) = event.filter(|event| *event != "done") {
            response.status.get_or_insert_with(|| event.to_owned());
        }
        response.complete(&fields.items("output"));
        self.exchange.opening.begin(seconds(fields, "completed_at"));
        let error = fields.get("error").map(failure);
        self.close(out);
        if let Some(error) = error.filter(|error| self.last_error.as_ref() != Some(&error.message))
        {
            self.put_error(&error, out);
        }
    }

    /// Takes a response that stands by itself.
    fn take_whole(&mut self, fields: &Fields<'_>, out: &mut Outbox<'_>) {
        let id = filled(fields, "id");
        let is_open = |open: &Response| open.id.as_deref() == id.as_deref();
        if id.is_some() && self.last_id.as_deref() == id.as_deref() {
            let facts = serde_json::json!({ "message_id": id });
            return out.system(&Stamp::default(), "repeated", facts);
        }
        if !self.response.as_ref().is_some_and(is_open) {
            self.close(out);
        }
        match fields.text("status").as_deref() {
            Some("queued" | "in_progress") => self.begin(fields, "", out),
            _ => self.end(fields, None, out),
        }
    }

    /// Names the run after its first response.
    fn open_run(&mut self, out: &mut Outbox<'_>) {
        let Some(response) = self.response.as_ref().filter(|_| !self.exchange.opening.is_put())
        else {
            return;
        };
        self.exchange.opening.begin(response.time);
        if let Some(model) = &response.model {
            self.exchange.opening.agent.model = Some(model.clone());
        }
        self.exchange.opening.started.session_id.clone_from(&response.id);
        self.exchange.opening.put(out);
    }

    fn put_error(&mut self, report: &ErrorReport, out: &mut Outbox<'_>) {
        self.exchange.fail(report, out);
        self.last_error = Some(report.message.clone());
    }

    /// Puts the response that is open.
    fn close(&mut self, out: &mut Outbox<'_>) {
        let Some(response) = self.response.take() else { return };
        self.exchange.opening.put(out);
        self.exchange.opening.begin(response.time);
        if self.last_error.is_none() || response.is_ended() {
            self.exchange.outcome = response.outcome(self.last_error.as_deref());
        }
        self.last_id.clone_from(&response.id);
        self.conversations.reply();
        response.put(&mut self.exchange.calls, out);
    }
}

impl Response {
    fn open(slot: Slot) -> Self {
        Response {
            id: None,
            model: None,
            time: None,
            items: BTreeMap::new(),
            usage: None,
            status: None,
            reason: None,
            is_rest: false,
            slot,
            scraps: Scraps::default(),
        }
    }

    fn learn(&mut self, fields: &Fields<'_>) {
        let text = |key: &str| filled(fields, key).map(|text| text.into_owned());
        self.id = self.id.take().or_else(|| text("id"));
        self.model = self.model.take().or_else(|| text("model"));
        self.time = self.time.or_else(|| seconds(fields, "created_at"));
        self.status = text("status").or_else(|| self.status.take());
        let details = fields.fields("incomplete_details");
        self.reason = details.and_then(|details| details.string("reason"));
        if let Some(found) = fields.fields("usage").map(|fields| usage(&fields)) {
            self.usage = Some(found).filter(|usage| !usage.tokens().is_empty());
        }
    }

    /// Takes the whole output where the stream did not tell it whole.
    fn complete(&mut self, output: &[Value<'_>]) {
        let is_whole = self.items.values().all(Item::is_done) && self.items.len() >= output.len();
        if !is_whole && !output.is_empty() && !self.is_rest {
            let items = output.iter().map(|item| Item::done(*item));
            self.items = (0..).zip(items).collect();
        }
    }

    fn is_ended(&self) -> bool {
        !matches!(self.status.as_deref(), None | Some("queued" | "in_progress"))
    }

    fn outcome(&self, error: Option<&str>) -> (Status, Option<String>) {
        match self.status.as_deref() {
            Some("completed") => (Status::Succeeded, None),
            Some("cancelled") => (Status::Canceled, None),
            Some("failed") => (Status::Failed, error.map(str::to_owned)),
            Some("incomplete") => match self.reason.as_deref() {
                // To have said as much as one may is an end; the message names it.
                Some("max_output_tokens") => (Status::Succeeded, None),
                reason => {
                    let reason = reason.unwrap_or("no reason given");
                    (Status::Failed, Some(format!("incomplete: {reason}")))
                }
            },
            _ => (Status::Aborted, None),
        }
    }

    fn put(self, calls: &mut Calls, out: &mut Outbox<'_>) {
        let has_ended = self.is_ended();
        let Response { id, model, time, items, usage, status, reason, slot, scraps, .. } = self;
        let stamp = Stamp::at(time);
        let mut spoken = Spoken::default();
        for (index, item) in items {
            let name = format!("{}/{index}", id.as_deref().unwrap_or("response"));
            item.speak(&mut spoken, &name);
        }
        let blocks = std::mem::take(&mut spoken.blocks);
        out.fill(slot, scraps, |out| {
            if blocks.is_empty() {
                let facts = serde_json::json!({ "message_id": id, "status": status });
                out.system(&stamp, "turn_completed", facts);
            } else {
                let (message_id, model) = (id.clone(), model.clone());
                let stop_reason = reason.or(status).filter(|_| has_ended);
                let message =
                    Message { message_id, model, stop_reason, ..Message::assistant(blocks) };
                out.message(&stamp, Kind::MessageAssistant, message);
            }
            if let Some(usage) = usage {
                out.usage(&stamp, &Usage { model, message_id: id, ..usage });
            }
        });
        spoken.put_rest(&stamp, calls, out);
    }
}

impl Normalize for Responses {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        let fields = &record.fields;
        self.exchange.opening.begin(None);
        let kind = fields.text("type").unwrap_or_default();
        if let Some(event) = kind.strip_prefix("response.") {
            self.take_event(event, fields, out);
        } else if kind == "keepalive" {
            match &mut self.response {
                Some(response) => out.absorb(&mut response.scraps),
                None => out.system(&Stamp::default(), "progress", serde_json::json!({})),
            }
        } else if kind == "error" {
            let report = match fields.get("error") {
                Some(error) => failure(error),
                None => Value::parse(record.source).map(failure).unwrap_or_default(),
            };
            self.put_error(&report, out);
        } else if fields.get("output").is_some_and(Value::is_list) {
            self.take_whole(fields, out);
        } else if fields.has("input") {
            self.take_request(fields, out);
        } else if let Some(error) = fields.get("error") {
            self.put_error(&failure(error), out);
        }
    }

    fn settle(&mut self, out: &mut Outbox<'_>) {
        self.is_settled = self.response.is_some();
        self.close(out);
        self.exchange.settle(out);
    }

    fn finish(&mut self, out: &mut Outbox<'_>) {
        self.close(out);
        self.exchange.finish(out);
    }
}
