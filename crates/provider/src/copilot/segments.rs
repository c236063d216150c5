//! The session itself: its starts and resumes, its accounts, its shutdowns.

use serde_json::json;

use crate::outbox::{Outbox, Scraps, Stamp};

use super::normalize::{Events, error_report};
use super::notes;
use super::speech::Accounted;
use super::wire::Event;

impl Events {
    /// Takes an event about the session.
    pub(super) fn take_session(&mut self, event: &Event<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        match &*event.kind {
            "session.start" | "session.resume" => self.begin_segment(event, stamp, out),
            "session.usage_record" => self.usage_record(event, stamp, out),
            "session.shutdown" => self.shutdown(event, stamp, out),
            "session.error" => {
                let report = error_report(event, "session_error", "session");
                self.ending.fail(report.message.clone());
                out.error(stamp, &report);
            }
            "session.model_change" | "session.auto_mode_resolved" => {
                let previous = event.data.string("previousModel");
                out.system(
                    stamp,
                    "model_changed",
                    json!({ "model": event.model(), "previous": previous }),
                );
            }
            kind => notes::put(out, stamp, kind, &event.data),
        }
    }

    /// Takes a start or resume: the first one tells of the run, others of a new part of it.
    fn begin_segment(&mut self, event: &Event<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let context = event.data.fields("context").unwrap_or_default();
        let (session_id, cwd) = (event.data.string("sessionId"), context.string("cwd"));
        let is_first = !self.opening.is_put() && self.opening.started.session_id.is_none();
        if is_first && session_id.is_some() {
            self.opening.started.session_id = session_id;
            self.opening.started.cwd = cwd;
            self.opening.agent.cli_version = event.data.string("copilotVersion");
            return self.opening.absorb(out);
        }
        let facts = json!({
            "session_id": session_id,
            "model": event.model(),
            "cwd": cwd,
            "resumed": event.kind == "session.resume",
        });
        out.system(stamp, "session_started", facts);
        // The part before was never summed up.
        self.ledger.put_held(out);
    }

    /// Takes the usage of one model call, which waits for the call's message.
    pub(super) fn usage_record(&mut self, event: &Event<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        let Some((api_call, usage)) = self.ledger.record(&event.data) else {
            return out.system(stamp, "repeated", json!({ "topic": event.kind }));
        };
        self.put_usage(&event.thread, out);
        let mut scraps = Scraps::default();
        out.absorb(&mut scraps);
        let accounted = Accounted { stamp: stamp.clone(), usage, scraps };
        self.thread(event).usage = Some((api_call, accounted));
    }

    fn shutdown(&mut self, event: &Event<'_>, stamp: &Stamp, out: &mut Outbox<'_>) {
        self.put_everything(out);
        self.ending.take_shutdown(&event.data);
        let shutdown = event.data.string("shutdownType");
        out.system(stamp, "session_ended", json!({ "shutdown": shutdown }));
        self.ledger.shutdown(stamp, &event.data, out);
    }
}
