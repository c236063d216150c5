//! Somebody who remembers what was recorded, and a step for calls to belong to.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use quipu_event::{Draft, StepPath};
use quipu_tool::{CallContext, Witness};
use serde_json::Value;
use tokio::sync::watch;

/// Remembers what was recorded.
#[derive(Default)]
pub(crate) struct Seen(Mutex<Vec<Draft>>);

impl Witness for Seen {
    fn record(&self, draft: Draft) {
        self.0.lock().unwrap().push(draft);
    }
}

impl Seen {
    /// Returns every event: its type, where it belongs, and its payload.
    pub(crate) fn all(&self) -> Vec<(String, String, Value)> {
        let drafts = self.0.lock().unwrap();
        let event = |draft: &Draft| {
            let payload = serde_json::to_value(&draft.payload).unwrap();
            (draft.kind.to_string(), draft.path.to_string(), payload)
        };
        drafts.iter().map(event).collect()
    }

    /// Returns the facts of one kind that were recorded.
    pub(crate) fn facts(&self, subtype: &str) -> Vec<Value> {
        let payloads = self.all().into_iter().map(|(_, _, payload)| payload);
        payloads.filter(|payload| payload["subtype"] == subtype).collect()
    }

    /// Returns which facts were recorded, in their order.
    pub(crate) fn subtypes(&self) -> Vec<String> {
        let subtypes = self.all().into_iter();
        subtypes
            .filter_map(|(_, _, payload)| payload["subtype"].as_str().map(str::to_owned))
            .collect()
    }
}

/// Returns a step, and who sees what happens at it.
pub(crate) fn step() -> (CallContext, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let context = CallContext {
        witness: Arc::clone(&seen) as Arc<dyn Witness>,
        path: StepPath::root().child("step"),
        iteration: 0,
        root: PathBuf::from("/"),
        stop: watch::channel(None).1,
        timeout: CallContext::TIMEOUT,
        call_id: String::new(),
        marks: Arc::default(),
    };
    (context, seen)
}
