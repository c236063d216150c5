//! What one thread says: replies, the calls in them, and their results, in order.
//!
//! Codex has no messages, only items. A reply is everything said from one tool result or prompt
//! to the next. Items that come piece by piece hold the reply open until they are completed; the
//! completed item counts, whatever the pieces said.

use std::collections::{HashMap, HashSet, VecDeque};

use quipu_event::payload::{ToolCall, ToolResult};
use quipu_event::{BlockContent, ContentBlock, Fidelity, Json};
use serde_json::json;

use super::prints::{GivenPiece, beyond, print};
use crate::calls::{Calls, Seen};
use crate::outbox::{Outbox, Scraps, Stamp};
use crate::reply::Reply;

/// Of a call's running output so much is kept.
const OUTPUT_KEPT: usize = 1024 * 1024;

/// So many items without an id are remembered.
const NAMELESS_KEPT: usize = 4;

/// What one thread says.
#[derive(Default)]
pub(in crate::codex) struct Voice {
    /// Which model speaks, if that is known.
    pub(in crate::codex) model: Option<String>,
    reply: Option<Reply>,
    parts: Vec<Part>,
    /// Whether the reply ends with the last part in progress.
    is_over: bool,
    calls: Calls,
    outputs: HashMap<String, Output>,
    /// The items that have been said to their end.
    said: HashSet<String>,
    /// What has been given of items that were still in progress, piece by piece, in short.
    given: HashMap<String, Vec<GivenPiece>>,
    /// What was said lately by items without an id, which the newer protocol may say again, in
    /// short.
    nameless: VecDeque<u64>,
}

struct Part {
    id: String,
    progress: Progress,
}

enum Progress {
    Done(ContentBlock),
    /// Text so far, and the section that the last piece belonged to.
    Growing(Growth, String, u64),
    /// A call whose arguments are not known yet.
    Awaited(ToolCall),
}

/// What sort of item comes piece by piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::codex) enum Growth {
    Text,
    Thinking,
    Plan,
}

#[derive(Default)]
struct Output {
    text: String,
    scraps: Scraps,
    is_loose: bool,
}

impl Growth {
    /// Makes the block of this sort that says `text`.
    pub(in crate::codex) fn content(self, text: String) -> BlockContent {
        match self {
            Growth::Text => BlockContent::Text { text },
            Growth::Thinking => BlockContent::Thinking { thinking: text, signature: None },
            Growth::Plan => BlockContent::Other {
                block_type: "plan".to_owned(),
                content: Json::encode(&text).ok(),
            },
        }
    }
}

impl Voice {
    /// Takes an item that is completed.
    pub(in crate::codex) fn say(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        id: &str,
        growth: Growth,
        text: String,
    ) {
        if self.is_said_again(id, growth, &text) {
            self.note_said(id);
            return self.absorb_or(out, stamp, "repeated", json!({ "item_id": id }));
        }
        let given = self.given.remove(id);
        let text = match given.and_then(|given| beyond(&text, &given)) {
            Some("") => {
                self.note_said(id);
                return self.absorb_or(out, stamp, "repeated", json!({ "item_id": id }));
            }
            Some(rest) => rest.to_owned(),
            None => text,
        };
        self.speak(out, stamp);
        self.adopt(id, growth);
        let block = growth.content(text).vouched_by(Fidelity::AgentEmitted);
        match self.growing(id, growth) {
            Some(part) => part.progress = Progress::Done(block),
            None => self.set(id, Progress::Done(block)),
        }
        self.note_said(id);
        self.end_if_over(out);
    }

    /// Takes the next piece of an item; one that is completed grows no more.
    pub(in crate::codex) fn grow(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        id: &str,
        growth: Growth,
        (section, piece): (u64, &str),
    ) {
        if self.said.contains(id) {
            return self.absorb_or(out, stamp, "progress", json!({ "item_id": id, "late": true }));
        }
        self.speak(out, stamp);
        let is_adopted = self.adopt(id, growth);
        let part = self.growing(id, growth).map(|part| &mut part.progress);
        let Some(Progress::Growing(_, text, at)) = part else {
            let progress = Progress::Growing(growth, piece.to_owned(), section);
            return self.parts.push(Part { id: id.to_owned(), progress });
        };
        if is_adopted && text.ends_with(piece) {
            // The last piece of the older protocol is the first of the newer one.
            return;
        }
        if section != *at && !text.is_empty() && !piece.is_empty() {
            text.push_str("\n\n");
        }
        *at = section;
        text.push_str(piece);
    }

    /// Takes a call; returns whether it is new.
    pub(in crate::codex) fn call(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        call: ToolCall,
    ) -> Seen {
        if self.calls.knows(&call.call_id) {
            return Seen::Again;
        }
        self.speak(out, stamp);
        self.set(&call.call_id, Progress::Done(tool_use(&call)));
        self.calls.call(out, stamp, call)
    }

    /// Takes a call whose arguments come with its result.
    pub(in crate::codex) fn await_call(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        call: ToolCall,
    ) -> Seen {
        if self.calls.knows(&call.call_id) || self.parts.iter().any(|part| part.id == call.call_id)
        {
            return Seen::Again;
        }
        self.speak(out, stamp);
        self.parts.push(Part { id: call.call_id.clone(), progress: Progress::Awaited(call) });
        Seen::New
    }

    /// Takes the result of `call`, which is put first if nobody has told of it.
    pub(in crate::codex) fn result(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        call: ToolCall,
        mut result: ToolResult,
    ) -> Seen {
        let call_id = call.call_id.clone();
        self.call(out, stamp, call);
        self.end_reply(out);
        if let Some(output) = self.outputs.remove(&call_id) {
            if result.output.is_null() && !output.text.is_empty() {
                result.output = Json::encode(&output.text).unwrap_or_default();
            }
            if output.is_loose {
                let facts = json!({ "tool_id": call_id });
                out.put_with(output.scraps, |out| out.system(stamp, "progress", facts));
            }
        }
        self.calls.result(out, stamp, result)
    }

    /// Takes a piece of what a running call puts out.
    pub(in crate::codex) fn output(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        id: &str,
        text: &str,
    ) {
        if self.said.contains(id) || (self.calls.knows(id) && self.calls.name_of(id).is_none()) {
            return self.absorb_or(out, stamp, "progress", json!({ "tool_id": id, "late": true }));
        }
        let output = self.outputs.entry(id.to_owned()).or_default();
        if output.text.len() + text.len() <= OUTPUT_KEPT {
            output.text.push_str(text);
        }
        match &mut self.reply {
            Some(reply) => reply.absorb(out),
            None => {
                output.is_loose = true;
                out.absorb(&mut output.scraps);
            }
        }
    }

    /// Keeps the record with the reply, or puts a fact about it if there is none.
    pub(in crate::codex) fn absorb_or(
        &mut self,
        out: &mut Outbox<'_>,
        stamp: &Stamp,
        subtype: &str,
        facts: serde_json::Value,
    ) {
        match &mut self.reply {
            Some(reply) => reply.absorb(out),
            None => out.system(stamp, subtype, facts),
        }
    }

    /// Ends the reply; parts in progress are waited for.
    pub(in crate::codex) fn end_reply(&mut self, out: &mut Outbox<'_>) {
        self.is_over = self.reply.is_some();
        self.end_if_over(out);
    }

    /// Ends everything that is under way, and gives what there is of it.
    pub(in crate::codex) fn cut_off(&mut self, out: &mut Outbox<'_>) {
        self.close(out);
        self.calls.finish(out);
    }

    /// Tells what open calls have put out so far, as nothing more is to come.
    pub(in crate::codex) fn give_outputs(&mut self, out: &mut Outbox<'_>, stamp: &Stamp) {
        let mut outputs: Vec<_> = self.outputs.drain().collect();
        outputs.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (call_id, output) in outputs {
            let text = (!output.text.is_empty()).then_some(output.text);
            if text.is_some() || output.is_loose {
                let facts = json!({ "tool_id": call_id, "output": text });
                out.put_with(output.scraps, |out| out.system(stamp, "progress", facts));
            }
        }
    }

    /// Tells whether an item says what one without an id has said before.
    ///
    /// Where the newer protocol is first heard in the middle of a turn, the older one may have
    /// told the same already.
    fn is_said_again(&mut self, id: &str, growth: Growth, text: &str) -> bool {
        if id.is_empty() {
            if self.nameless.len() == NAMELESS_KEPT {
                self.nameless.pop_front();
            }
            self.nameless.push_back(print((growth, text)));
            return false;
        }
        if self.nameless.is_empty() {
            return false;
        }
        let print = print((growth, text));
        let place = self.nameless.iter().position(|said| *said == print);
        let Some(place) = place else { return false };
        self.nameless.remove(place);
        if self.parts.len() > 1 {
            // It may have been begun; what there is of it is no more than a beginning.
            let is_begun =
                |part: &Part| part.id == id && matches!(part.progress, Progress::Growing(..));
            self.parts.retain(|part| !is_begun(part));
        }
        true
    }

    fn note_said(&mut self, id: &str) {
        if !id.is_empty() {
            self.said.insert(id.to_owned());
        }
    }

    fn speak(&mut self, out: &mut Outbox<'_>, stamp: &Stamp) {
        match &mut self.reply {
            Some(reply) => reply.absorb(out),
            None => {
                let reply = self.reply.insert(Reply::open(out, stamp.clone()));
                reply.message.model.clone_from(&self.model);
            }
        }
    }

    /// Returns the part in progress that is item `id`; items of older versions have no id.
    fn growing(&mut self, id: &str, growth: Growth) -> Option<&mut Part> {
        let is_it = |part: &&mut Part| {
            part.id == id && matches!(part.progress, Progress::Growing(sort, ..) if sort == growth)
        };
        self.parts.iter_mut().find(is_it)
    }

    /// Gives a part in progress that has no id the one under which the newer protocol goes on
    /// with it; returns whether there was one.
    fn adopt(&mut self, id: &str, growth: Growth) -> bool {
        if id.is_empty() || self.growing(id, growth).is_some() {
            return false;
        }
        let part = self.growing("", growth);
        part.map(|part| id.clone_into(&mut part.id)).is_some()
    }

    fn set(&mut self, id: &str, progress: Progress) {
        match self.parts.iter_mut().find(|part| !id.is_empty() && part.id == id) {
            Some(part) => part.progress = progress,
            None => self.parts.push(Part { id: id.to_owned(), progress }),
        }
    }

    fn end_if_over(&mut self, out: &mut Outbox<'_>) {
        let is_done = |part: &Part| matches!(part.progress, Progress::Done(_));
        if self.is_over && self.parts.iter().all(is_done) {
            self.close(out);
        }
    }

    fn close(&mut self, out: &mut Outbox<'_>) {
        self.is_over = false;
        let Some(mut reply) = self.reply.take() else { return };
        let (mut awaited, mut silent) = (Vec::new(), None);
        for part in std::mem::take(&mut self.parts) {
            match part.progress {
                Progress::Done(block) => reply.add(block),
                Progress::Growing(growth, text, _) if !text.is_empty() => {
                    self.given.entry(part.id).or_default().push(GivenPiece::of(&text));
                    reply.add(growth.content(text).vouched_by(Fidelity::AgentEmitted));
                }
                Progress::Growing(growth, text, _) => silent = Some(growth.content(text)),
                Progress::Awaited(call) => {
                    reply.add(tool_use(&call));
                    awaited.push(call);
                }
            }
        }
        if let (true, Some(silent)) = (reply.message.blocks.is_empty(), silent) {
            reply.add(silent.vouched_by(Fidelity::AgentEmitted));
        }
        let stamp = reply.stamp.clone();
        reply.close(out);
        for call in awaited {
            self.calls.call(out, &stamp, call);
        }
    }
}

fn tool_use(call: &ToolCall) -> ContentBlock {
    let (tool_name, tool_id) = (call.name.clone(), call.call_id.clone());
    BlockContent::ToolUse { tool_name, tool_id, tool_input: call.input.clone() }
        .vouched_by(Fidelity::AgentEmitted)
}
