//! The replies of a conversation: one per message id, however many records it is cut into.
//!
//! Records of one message stand apart, because answers of tools and whole subagents come between
//! them. So a reply stays open until its own thread goes on to another one. Each message is
//! counted once, with the last numbers that were given for it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use quipu_event::payload::{TokenCounts, Usage, UsageScope};
use serde_json::json;

use super::counts;
use super::partial::Partial;
use super::tools::Tools;
use super::wire::{self, SYNTHETIC};
use crate::outbox::{Outbox, Stamp};
use crate::reply::Reply;
use crate::said::SaidBlock;
use crate::value::Fields;

/// So many records of other threads may come before a reply is taken for finished.
const PATIENCE: u32 = 16;

/// So many records of any kind may come before a reply is taken for finished.
const LONGEST_WAIT: u32 = 1_000;

/// When messages are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Billing {
    /// Each with its reply.
    PerMessage,
    /// At the end, unless the run's own account has covered them.
    AtEnd,
}

/// One record of a reply.
pub(super) struct Line<'a> {
    pub(super) stamp: Stamp,
    pub(super) message: Fields<'a>,
    pub(super) uuid: Option<Cow<'a, str>>,
    pub(super) request: Option<Cow<'a, str>>,
    pub(super) cost_usd: Option<f64>,
    /// The session whose account will cover it.
    pub(super) session: Option<&'a str>,
    /// Whether the same record came before.
    pub(super) is_copy: bool,
}

/// The replies of one input.
pub(super) struct Replies {
    open: Vec<Open>,
    known: HashMap<String, Known>,
    billing: Billing,
    /// Messages that no account has covered, in their order.
    unbilled: Vec<Unbilled>,
    /// The calls since the last prompt.
    recent_calls: Vec<String>,
    /// How many records had no id at all.
    nameless: u64,
}

/// A reply that may go on; at most one a thread.
struct Open {
    id: String,
    reply: Reply,
    request: Option<String>,
    /// What its deltas say, and how many of its blocks came whole.
    partial: Partial,
    whole: usize,
    strangers: u32,
    idle: u32,
}

/// A message that no account has covered.
struct Unbilled {
    id: String,
    stamp: Stamp,
    session: Option<String>,
}

/// What is remembered of a message, open or not.
#[derive(Default)]
struct Known {
    model: Option<String>,
    /// Whether the provider gave it its id.
    has_id: bool,
    prints: Vec<u64>,
    counts: TokenCounts,
    billed: TokenCounts,
    is_listed: bool,
}

impl Replies {
    pub(super) fn new(billing: Billing) -> Self {
        Replies {
            open: Vec::new(),
            known: HashMap::new(),
            billing,
            unbilled: Vec::new(),
            recent_calls: Vec::new(),
            nameless: 0,
        }
    }

    /// Takes a record of a reply.
    pub(super) fn take(&mut self, out: &mut Outbox<'_>, tools: &mut Tools, line: Line<'_>) {
        let message_id = line.message.string("id");
        let id = message_id.clone().or_else(|| line.uuid.as_deref().map(str::to_owned));
        let id = id.unwrap_or_else(|| self.nameless_id());
        let blocks = line.message.get("content").map(wire::blocks).unwrap_or_default();
        let blocks: Vec<_> = blocks.into_iter().map(|block| (print(&block), block)).collect();
        let at = self.position(&id, &line.stamp);
        if at.is_none() && self.has_all(&id, &blocks, line.is_copy) {
            self.close_thread(out, tools, &line.stamp);
            self.count(&id, &line);
            let usage = self.bill(&id);
            out.system(&line.stamp, "repeated", json!({ "message_id": id }));
            if let Some(usage) = usage {
                out.usage(&line.stamp, &usage);
            }
            return;
        }
        let at = at.unwrap_or_else(|| self.begin(out, tools, &line.stamp, &id, &line.request));
        let open = &mut self.open[at];
        (open.strangers, open.idle) = (0, 0);
        open.reply.absorb(out);
        open.whole += blocks.len();
        open.reply.stamp.time = open.reply.stamp.time.or(line.stamp.time);
        let message = &mut open.reply.message;
        message.message_id = message_id;
        message.model = line.message.string("model").or(message.model.take());
        message.stop_reason = line.message.string("stop_reason").or(message.stop_reason.take());
        let is_other = line.is_copy || open.request.as_deref() != line.request.as_deref();
        self.count(&id, &line);
        for block in blocks {
            self.add(out, tools, at, &line.stamp, block, is_other);
        }
    }

    /// Returns the folded deltas of this thread's reply, which the record at hand belongs to.
    pub(super) fn deltas(&mut self, out: &mut Outbox<'_>, stamp: &Stamp) -> Option<&mut Partial> {
        let open = self.open.iter_mut().find(|open| open.reply.stamp.source == stamp.source)?;
        open.reply.absorb(out);
        Some(&mut open.partial)
    }

    /// Takes what deltas say of a message as a whole: its usage, and why it stopped.
    pub(super) fn amend(&mut self, stamp: &Stamp, usage: Option<Fields<'_>>, stop: Option<String>) {
        let own = |open: &&mut Open| open.reply.stamp.source == stamp.source;
        let Some(open) = self.open.iter_mut().find(own) else { return };
        open.reply.message.stop_reason = stop.or(open.reply.message.stop_reason.take());
        if let (Some(usage), Some(known)) = (usage, self.known.get_mut(&open.id)) {
            counts::overlay(&mut known.counts, &counts::message_counts(&usage));
        }
    }

    /// Notes that a record of another thread was seen; replies that wait too long are closed.
    pub(super) fn pass(&mut self, out: &mut Outbox<'_>, tools: &mut Tools, stamp: &Stamp) {
        for at in (0..self.open.len()).rev() {
            let open = &mut self.open[at];
            if open.reply.stamp.source != stamp.source {
                open.strangers += 1;
                if open.strangers > PATIENCE {
                    self.close(out, tools, at);
                }
            }
        }
    }

    /// Notes that a record was seen, whatever it was.
    pub(super) fn wait(&mut self, out: &mut Outbox<'_>, tools: &mut Tools) {
        for at in (0..self.open.len()).rev() {
            self.open[at].idle += 1;
            if self.open[at].idle > LONGEST_WAIT {
                self.close(out, tools, at);
            }
        }
    }

    /// Closes the reply of a thread.
    pub(super) fn close_thread(&mut self, out: &mut Outbox<'_>, tools: &mut Tools, stamp: &Stamp) {
        let own = |open: &Open| open.reply.stamp.source == stamp.source;
        if let Some(at) = self.open.iter().position(own) {
            self.close(out, tools, at);
        }
    }

    /// Closes all replies.
    pub(super) fn close_all(&mut self, out: &mut Outbox<'_>, tools: &mut Tools) {
        while !self.open.is_empty() {
            self.close(out, tools, 0);
        }
    }

    /// Forgets the messages that an account of their session has covered.
    ///
    /// An account covers what names no session, and one that names none covers everything.
    pub(super) fn settle_bill(&mut self, session: Option<&str>) {
        let known = &mut self.known;
        self.unbilled.retain(|message| {
            let own = message.session.as_deref();
            if own.is_some() && session.is_some() && own != session {
                return true;
            }
            if let Some(known) = known.get_mut(&message.id) {
                (known.billed, known.is_listed) = (known.counts, false);
            }
            false
        });
    }

    /// Puts the usage of messages that no account of the run has covered.
    pub(super) fn put_unbilled(&mut self, out: &mut Outbox<'_>) {
        for Unbilled { id, stamp, .. } in std::mem::take(&mut self.unbilled) {
            if let Some(usage) = self.usage(&id) {
                out.usage(&stamp, &usage);
            }
        }
    }

    /// Tells whether nobody has replied yet.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Forgets the calls so far: a new prompt makes up for what was left unanswered.
    pub(super) fn forget_calls(&mut self) {
        self.recent_calls.clear();
    }

    /// Tells whether a call since the last prompt is without an answer.
    pub(super) fn is_dangling(&self, tools: &Tools) -> bool {
        self.recent_calls.iter().any(|id| tools.is_open(id))
    }

    fn nameless_id(&mut self) -> String {
        self.nameless += 1;
        format!("#{}", self.nameless)
    }

    fn position(&self, id: &str, stamp: &Stamp) -> Option<usize> {
        let is_it = |open: &Open| open.id == id && open.reply.stamp.source == stamp.source;
        self.open.iter().position(is_it)
    }

    /// Tells whether a message that is closed has said all of this before.
    fn has_all(&self, id: &str, blocks: &[Printed<'_>], is_copy: bool) -> bool {
        self.known.get(id).is_some_and(|known| {
            is_copy || blocks.iter().all(|(print, _)| known.prints.contains(print))
        })
    }

    /// Opens a reply in place of its thread's last one.
    fn begin(
        &mut self,
        out: &mut Outbox<'_>,
        tools: &mut Tools,
        stamp: &Stamp,
        id: &str,
        request: &Option<Cow<'_, str>>,
    ) -> usize {
        self.close_thread(out, tools, stamp);
        self.open.push(Open {
            id: id.to_owned(),
            reply: Reply::open(out, stamp.clone()),
            request: request.as_deref().map(str::to_owned),
            partial: Partial::default(),
            whole: 0,
            strangers: 0,
            idle: 0,
        });
        self.open.len() - 1
    }

    fn add(
        &mut self,
        out: &mut Outbox<'_>,
        tools: &mut Tools,
        at: usize,
        stamp: &Stamp,
        (print, mut block): Printed<'_>,
        is_other: bool,
    ) {
        let open = &mut self.open[at];
        let known = self.known.entry(open.id.clone()).or_default();
        let is_use = matches!(block, SaidBlock::ToolUse { .. });
        if (is_use || is_other) && known.prints.contains(&print) {
            return;
        }
        known.prints.push(print);
        if let SaidBlock::ToolUse { id, name, input } = &mut block {
            if id.is_empty() {
                *id = tools.invent_id(&open.id).into();
            }
            self.recent_calls.push(id.clone().into_owned());
            tools.call(out, stamp, name, id, input.clone().into_json());
        }
        open.reply.say(out, &block);
    }

    fn close(&mut self, out: &mut Outbox<'_>, tools: &mut Tools, at: usize) {
        let Open { partial, whole, reply, .. } = &mut self.open[at];
        let (partial, stamp) = (std::mem::take(partial), reply.stamp.clone());
        for block in partial.rest(*whole) {
            self.add(out, tools, at, &stamp, (print(&block), block), true);
        }
        let Open { id, mut reply, .. } = self.open.remove(at);
        reply.usage = self.bill(&id);
        reply.close(out);
    }

    /// Notes the numbers that a record gives for its message.
    fn count(&mut self, id: &str, line: &Line<'_>) {
        let known = self.known.entry(id.to_owned()).or_default();
        known.model = line.message.string("model").or(known.model.take());
        known.has_id |= line.message.has("id");
        let Some(usage) = line.message.fields("usage") else { return };
        if known.model.as_deref() == Some(SYNTHETIC) {
            return;
        }
        let newer = TokenCounts { cost_usd: line.cost_usd, ..counts::message_counts(&usage) };
        counts::overlay(&mut known.counts, &newer);
        if self.billing == Billing::AtEnd && !known.is_listed {
            known.is_listed = true;
            let (id, stamp) = (id.to_owned(), line.stamp.clone());
            self.unbilled.push(Unbilled { id, stamp, session: line.session.map(str::to_owned) });
        }
    }

    /// Returns what is to be put with a message now.
    fn bill(&mut self, id: &str) -> Option<Usage> {
        if self.billing == Billing::PerMessage { self.usage(id) } else { None }
    }

    /// Returns what a message cost beyond what was put before.
    fn usage(&mut self, id: &str) -> Option<Usage> {
        let known = self.known.get_mut(id)?;
        if known.counts == known.billed {
            return None;
        }
        let cost = counts::difference(&known.counts, &known.billed);
        known.billed = known.counts;
        let message_id = known.has_id.then(|| id.to_owned());
        let usage = counts::usage_of(&cost, known.model.clone(), UsageScope::Message);
        Some(Usage { message_id, ..usage })
    }
}

/// A block, and the number that it shares only with those that say the same.
type Printed<'a> = (u64, SaidBlock<'a>);

/// Returns a number that two blocks share only if they say the same.
fn print(block: &SaidBlock<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    block.block_type().hash(&mut hasher);
    match block {
        SaidBlock::Text(text) => text.hash(&mut hasher),
        SaidBlock::Thinking { thinking, signature } => {
            (thinking, signature).hash(&mut hasher);
        }
        SaidBlock::ToolUse { id, name, input } if id.is_empty() => {
            (name, input.source()).hash(&mut hasher);
        }
        SaidBlock::ToolUse { id, .. } => id.hash(&mut hasher),
        SaidBlock::Other { content, .. } => content.source().hash(&mut hasher),
        SaidBlock::ToolResult { .. } => {}
    }
    hasher.finish()
}
