//! Threads and their settings: who runs, where, and with which model.

use serde_json::json;

use super::Rollout;
use super::wire::Thread;
use crate::outbox::{Outbox, Stamp};
use crate::value::Fields;

impl Rollout {
    /// Takes the first `session_meta`: it names the thread whose file this is.
    pub(super) fn begin_session(&mut self, meta: &Fields<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.has_session = true;
        let thread = Thread::read(meta);
        self.lineage.begin(&thread, stamp.time);
        let started = &mut self.opening.started;
        let mut labels = thread.labels;
        labels.extend(thread.parent.map(|id| ("parent_thread_id", id)));
        labels.extend(thread.forked_from.map(|id| ("forked_from_id", id)));
        if !labels.is_empty() {
            let labels = labels.into_iter().map(|(name, value)| (name.to_owned(), value));
            started.labels = Some(labels.collect());
        }
        if thread.is_subagent {
            self.agent_id.clone_from(&thread.id);
        }
        started.session_id = thread.id;
        started.cwd = thread.cwd;
        self.opening.agent.cli_version = thread.cli_version;
        self.opening.absorb(out);
        if self.opening.is_put() {
            let stamp = &self.stamp(stamp.time);
            // The file began in the middle of something.
            out.system(
                stamp,
                "session_started",
                json!({
                    "session_id": self.opening.started.session_id,
                    "cwd": self.opening.started.cwd,
                }),
            );
        }
    }

    /// Takes another `session_meta`: the thread was resumed.
    pub(super) fn take_other_session(
        &mut self,
        meta: &Fields<'_>,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        self.speech.end(out);
        let thread = Thread::read(meta);
        let facts = json!({
            "session_id": thread.id,
            "cwd": thread.cwd,
            "cli_version": thread.cli_version,
        });
        out.system(stamp, "session_started", facts);
    }

    /// Takes the settings of the next request; the first ones complete `run.started`.
    pub(super) fn take_turn_context(
        &mut self,
        context: &Fields<'_>,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        self.speech.end(out);
        let before = self.model.clone();
        if let Some(model) = context.string("model") {
            self.model = Some(model);
        }
        if !self.opening.is_put() {
            if self.opening.started.cwd.is_none() {
                self.opening.started.cwd = context.string("cwd");
            }
            self.opening.absorb(out);
            return self.begin_work(out);
        }
        self.put_settings("turn_context", before, context, stamp, out);
    }

    /// Puts settings: as a change if they name another model than `before`.
    pub(super) fn put_settings(
        &self,
        kind: &str,
        before: Option<String>,
        settings: &Fields<'_>,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let turn_id = settings.text("turn_id");
        if before.is_some() && before != self.model {
            let facts = json!({ "from": before, "model": self.model, "turn_id": turn_id });
            return out.system(stamp, "model_changed", facts);
        }
        let effort = settings.text("effort").or_else(|| settings.text("reasoning_effort"));
        let facts = json!({
            "topic": kind,
            "turn_id": turn_id,
            "model": self.model,
            "effort": effort,
        });
        out.system(stamp, "metadata", facts);
    }
}
