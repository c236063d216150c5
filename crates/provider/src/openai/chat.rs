//! Chat Completions → drafts: each response is one reply a choice, put when it is over.
//!
//! Nothing says that a response is over: usage may follow the last word. It ends with the next
//! response, the next request, an error or the input.

use quipu_event::payload::{Message, Status, ToolCall, Usage};
use quipu_event::{Kind, Timestamp};

use super::chat_request::Requests;
use super::choice::{Choice, Form};
use super::usage::usage;
use super::wire::{failure, filled, seconds};
use crate::exchange::Exchange;
use crate::normalizer::Normalize;
use crate::outbox::{Outbox, Scraps, Slot, Stamp};
use crate::record::Record;
use crate::value::{Fields, Value};

/// The state of one input.
pub(crate) struct Chat {
    exchange: Exchange,
    requests: Requests,
    response: Option<Response>,
    /// The response that was put last, until the next request.
    last_id: Option<String>,
}

/// A response that may go on.
struct Response {
    id: Option<String>,
    model: Option<String>,
    time: Option<Timestamp>,
    choices: Vec<Choice>,
    usage: Option<Usage>,
    /// Whether the bill came after the last word: some end so, without saying why they stopped.
    is_billed: bool,
    slot: Slot,
    scraps: Scraps,
}

impl Chat {
    pub(crate) fn new() -> Self {
        Chat {
            exchange: Exchange::new("openai", "chat"),
            requests: Requests::default(),
            response: None,
            last_id: None,
        }
    }

    fn take_request(&mut self, fields: &Fields<'_>, out: &mut Outbox<'_>) {
        self.close(out);
        self.exchange.request(fields, out);
        self.last_id = None;
        self.requests.take(fields, &mut self.exchange.calls, out);
    }

    fn take_response(&mut self, fields: &Fields<'_>, out: &mut Outbox<'_>) {
        let choices: Vec<_> =
            fields.items("choices").into_iter().filter_map(Value::fields).collect();
        let is_whole = choices.iter().any(|choice| choice.has("message") && !choice.has("delta"));
        let id = filled(fields, "id");
        if is_whole && id.is_some() {
            // Some log a stream and then, once more, what it came to.
            let open = self.response.as_mut().filter(|response| !response.is_empty());
            if let Some(open) = open.filter(|open| open.id.as_deref() == id.as_deref()) {
                open.add_usage(fields.fields("usage"));
                return out.absorb(&mut open.scraps);
            }
            if self.last_id.as_deref() == id.as_deref() {
                let facts = serde_json::json!({ "message_id": id });
                return out.system(&Stamp::default(), "repeated", facts);
            }
        }
        if self.response.as_ref().is_some_and(|open| open.is_over(id.as_deref(), &choices)) {
            self.close(out);
        }
        let mut response = self.response.take().unwrap_or_else(|| Response::open(out));
        out.absorb(&mut response.scraps);
        response.add(fields, &choices);
        self.open_run(&response, out);
        self.response = Some(response);
        if let Some(error) = fields.get("error") {
            self.take_error(error, out);
        }
    }

    /// Names the run after its first response.
    fn open_run(&mut self, response: &Response, out: &mut Outbox<'_>) {
        if self.exchange.opening.is_put() {
            return;
        }
        self.exchange.opening.begin(response.time);
        if let Some(model) = &response.model {
            self.exchange.opening.agent.model = Some(model.clone());
        }
        self.exchange.opening.started.session_id.clone_from(&response.id);
        if response.id.is_some() && response.model.is_some() {
            self.exchange.opening.put(out);
        }
    }

    fn take_error(&mut self, error: Value<'_>, out: &mut Outbox<'_>) {
        self.close(out);
        self.exchange.fail(&failure(error), out);
    }

    /// Puts the response that is open.
    fn close(&mut self, out: &mut Outbox<'_>) {
        let Some(response) = self.response.take() else { return };
        self.exchange.opening.put(out);
        self.exchange.opening.begin(response.time);
        let has_replied = !response.choices.is_empty();
        if has_replied {
            self.exchange.outcome = response.outcome();
        }
        self.last_id.clone_from(&response.id);
        let stamp = Stamp::at(response.time);
        let calls = response.put(out);
        if has_replied {
            self.requests.replied(&calls);
        }
        for call in calls {
            self.exchange.calls.call(out, &stamp, call);
        }
    }
}

impl Response {
    fn open(out: &mut Outbox<'_>) -> Self {
        Response {
            id: None,
            model: None,
            time: None,
            choices: Vec::new(),
            usage: None,
            is_billed: false,
            slot: out.reserve(),
            scraps: Scraps::default(),
        }
    }

    fn is_empty(&self) -> bool {
        self.choices.iter().all(Choice::is_empty)
    }

    fn choice(&self, index: u64) -> Option<&Choice> {
        self.choices.iter().find(|choice| choice.index == index)
    }

    /// Tells whether a record with this id and these choices belongs to another response.
    fn is_over(&self, id: Option<&str>, choices: &[Fields<'_>]) -> bool {
        let is_other = id.is_some() && self.id.is_some() && self.id.as_deref() != id;
        let has_ended = !self.choices.is_empty() && self.choices.iter().all(|c| c.finish.is_some());
        choices.iter().any(|fields| {
            let said = fields.fields("delta").or_else(|| fields.fields("message"));
            let said = said.unwrap_or_default();
            let index = fields.count("index").unwrap_or(0);
            let was_finished = self.choice(index).is_some_and(|choice| choice.finish.is_some());
            // Some give each chunk an id of its own; a new response introduces itself.
            is_other && (has_ended || said.has("role")) || was_finished && says_something(&said)
        })
    }

    fn add(&mut self, fields: &Fields<'_>, choices: &[Fields<'_>]) {
        let text = |key: &str| filled(fields, key).map(|text| text.into_owned());
        self.id = self.id.take().or_else(|| text("id"));
        self.model = self.model.take().or_else(|| text("model"));
        self.time = self.time.or_else(|| seconds(fields, "created"));
        let has_list = fields.get("choices").is_some_and(Value::is_list);
        let is_bill = has_list && fields.fields("usage").is_some();
        self.is_billed = choices.is_empty() && (self.is_billed || is_bill && !self.is_empty());
        for choice in choices {
            self.add_choice(choice);
            self.add_usage(choice.fields("usage"));
        }
        self.add_usage(fields.fields("x_groq").and_then(|groq| groq.fields("usage")));
        self.add_usage(fields.fields("usage"));
    }

    fn add_choice(&mut self, fields: &Fields<'_>) {
        let index = fields.count("index").unwrap_or(0);
        let known = self.choices.iter().position(|choice| choice.index == index);
        let number = known.unwrap_or_else(|| {
            self.choices.push(Choice::new(index));
            self.choices.len() - 1
        });
        let choice = &mut self.choices[number];
        if let Some(delta) = fields.fields("delta") {
            choice.add(&delta, Form::Delta);
        } else if let Some(message) = fields.fields("message").filter(|_| choice.is_empty()) {
            choice.add(&message, Form::Whole);
        } else if let Some(text) = fields.text("text") {
            choice.add_text(text);
        }
        if let Some(finish) = filled(fields, "finish_reason") {
            choice.finish = Some(finish.into_owned());
        }
    }

    /// Takes usage; where it is said several times, the last is the whole.
    fn add_usage(&mut self, fields: Option<Fields<'_>>) {
        let Some(found) = fields.map(|fields| usage(&fields)) else { return };
        if !found.tokens().is_empty() {
            self.usage = Some(found);
        }
    }

    fn outcome(&self) -> (Status, Option<String>) {
        let finishes = || self.choices.iter().map(|choice| choice.finish.as_deref());
        if finishes().any(|finish| finish == Some("error")) {
            return (Status::Failed, Some("the response ended with an error".to_owned()));
        }
        let is_whole = self.is_billed || finishes().all(|finish| finish.is_some());
        (if is_whole { Status::Succeeded } else { Status::Aborted }, None)
    }

    /// Puts its replies and usage, and returns its calls.
    fn put(self, out: &mut Outbox<'_>) -> Vec<ToolCall> {
        let Response { id, model, time, choices, usage, slot, scraps, .. } = self;
        let (stamp, mut calls) = (Stamp::at(time), Vec::new());
        let name = id.as_deref().unwrap_or("response");
        let has_choices = !choices.is_empty();
        out.fill(slot, scraps, |out| {
            for (index, mut choice) in choices.into_iter().enumerate() {
                let stop_reason = choice.finish.take();
                let (blocks, more) = choice.speak(name);
                calls.extend(more);
                // Choices share an id; each is a message of its own.
                let message_id = id.clone().map(|id| match index {
                    0 => id,
                    _ => format!("{id}#{index}"),
                });
                let model = model.clone();
                let message =
                    Message { message_id, model, stop_reason, ..Message::assistant(blocks) };
                out.message(&stamp, Kind::MessageAssistant, message);
            }
            match usage {
                Some(usage) => {
                    out.usage(&stamp, &Usage { model, message_id: id.clone(), ..usage });
                }
                None if has_choices => {}
                None => {
                    let facts = serde_json::json!({ "message_id": id, "status": "empty" });
                    out.system(&stamp, "turn_completed", facts);
                }
            }
        });
        calls
    }
}

/// Tells whether a delta says more than that there is one.
fn says_something(delta: &Fields<'_>) -> bool {
    let mut more = Choice::default();
    more.add(delta, Form::Delta);
    !more.is_empty()
}

impl Normalize for Chat {
    fn take(&mut self, record: &Record<'_>, out: &mut Outbox<'_>) {
        let fields = &record.fields;
        self.exchange.opening.begin(None);
        let object = fields.text("object").unwrap_or_default();
        if fields.has("choices") || object.starts_with("chat.completion") {
            self.take_response(fields, out);
        } else if fields.get("messages").is_some_and(Value::is_list) {
            self.take_request(fields, out);
        } else if let Some(error) = fields.get("error") {
            self.take_error(error, out);
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
