//! Requests to a model and its replies, as one run.
//!
//! Nothing on such a surface says where a run begins or ends: it begins with the first record, and
//! how it ends is how the last reply went. What a request says and how a reply is put is each
//! interface's own business. It knows no provider.

use quipu_event::payload::{ErrorReport, RunCompleted, Status};

use crate::calls::Calls;
use crate::opening::Opening;
use crate::outbox::{Outbox, Stamp};
use crate::value::Fields;

/// The run of one input.
pub(crate) struct Exchange {
    pub(crate) opening: Opening,
    pub(crate) calls: Calls,
    /// How it would end now.
    pub(crate) outcome: (Status, Option<String>),
    has_requests: bool,
}

impl Exchange {
    /// Makes the run of `provider`, spoken to through `surface`.
    pub(crate) fn new(provider: &str, surface: &str) -> Self {
        Exchange {
            opening: Opening::new(provider, surface),
            calls: Calls::default(),
            outcome: (Status::Aborted, None),
            has_requests: false,
        }
    }

    /// Takes note of a request; what was open before it has been put.
    ///
    /// The first one names the model, until a reply does; the run is put with the second one at
    /// the latest.
    pub(crate) fn request(&mut self, fields: &Fields<'_>, out: &mut Outbox<'_>) {
        self.settle(out);
        self.has_requests = true;
        self.await_reply();
        if self.opening.agent.model.is_none() {
            self.opening.agent.model = fields.string("model");
        }
    }

    /// Takes note that a reply is under way: without its end the run has none either.
    pub(crate) fn await_reply(&mut self) {
        self.outcome = (Status::Aborted, None);
    }

    /// Puts what went wrong.
    pub(crate) fn fail(&mut self, report: &ErrorReport, out: &mut Outbox<'_>) {
        self.opening.put(out);
        out.error(&Stamp::default(), report);
        self.outcome = (Status::Failed, Some(report.message.clone()));
    }

    /// Puts the run's beginning if there is anything that waits for it.
    pub(crate) fn settle(&mut self, out: &mut Outbox<'_>) {
        if self.has_requests {
            self.opening.put(out);
        }
    }

    /// Puts the run's end; what was open has been put.
    pub(crate) fn finish(&mut self, out: &mut Outbox<'_>) {
        self.calls.finish(out);
        let (status, error) = self.outcome.clone();
        let end = RunCompleted { status: Some(status), error, ..RunCompleted::default() };
        self.opening.complete(out, end);
    }
}
