//! A tool that works on files: its arguments are checked here, its work is done on a thread that may
//! block, and what it was refused is recorded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quipu_event::Kind;
use quipu_event::payload::FileAccess;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::arguments::{Argument, Arguments, schema_of};
use crate::sandbox::{Place, Root, Trouble};
use crate::{Answer, CallContext, Calling, Tool, ToolSpec};

/// What a tool is and does.
pub(super) struct Work {
    /// Its name.
    pub(super) name: &'static str,
    /// What it does, for a model.
    pub(super) description: &'static str,
    /// What it takes.
    pub(super) arguments: &'static [Argument],
    /// Whether it changes nothing.
    pub(super) is_read_only: bool,
    /// What it does, for us.
    pub(super) perform: fn(&Arguments, &Site) -> Result<Answer, Trouble>,
}

/// Where a call does its work.
pub(super) struct Site {
    /// What it may not leave.
    pub(super) root: Root,
    context: CallContext,
    is_given_up: Arc<AtomicBool>,
}

/// A tool that works on files.
pub(super) struct OnFiles {
    spec: ToolSpec,
    work: &'static Work,
}

impl OnFiles {
    /// Makes a tool.
    pub(super) fn new(work: &'static Work) -> OnFiles {
        let spec = ToolSpec {
            name: work.name.to_owned(),
            description: work.description.to_owned(),
            input_schema: schema_of(work.arguments),
            provider: "builtin".to_owned(),
            is_read_only: work.is_read_only,
        };
        OnFiles { spec, work }
    }
}

impl Tool for OnFiles {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, input: Value, context: &'a CallContext) -> Calling<'a> {
        let (work, context) = (self.work, context.clone());
        Box::pin(async move {
            let arguments = match Arguments::check(work.arguments, input) {
                Ok(arguments) => arguments,
                Err(bad) => return Answer::failed(bad.to_string()),
            };
            let given_up = GivenUp::default();
            let is_given_up = given_up.0.clone();
            let working = tokio::task::spawn_blocking(move || {
                let done = Root::open(&context.root).and_then(|root| {
                    let site = Site { root, context: context.clone(), is_given_up };
                    (work.perform)(&arguments, &site)
                });
                done.unwrap_or_else(|trouble| settle(trouble, &context))
            });
            match working.await {
                Ok(answer) => answer,
                // The door knows what to say of a tool that panics.
                Err(broken) if broken.is_panic() => std::panic::resume_unwind(broken.into_panic()),
                Err(_) => Answer::failed("canceled"),
            }
        })
    }
}

impl Site {
    /// Tells whether anybody still waits for the call.
    pub(super) fn is_wanted(&self) -> bool {
        !self.is_given_up.load(Ordering::Relaxed)
    }

    /// Records that a file was read or written, and what of it.
    pub(super) fn passed(&self, kind: Kind, place: &Place, text: &[u8]) {
        let access = FileAccess {
            file: place.to_string(),
            bytes: Some(text.len() as u64),
            sha256: Some(hash_of(text)),
            ..FileAccess::default()
        };
        self.context.touched(kind, access);
    }
}

/// Makes an answer of trouble, and records it if it was a refusal.
pub(super) fn settle(trouble: Trouble, context: &CallContext) -> Answer {
    match &trouble {
        Trouble::Refused { file, why } => {
            let reason = Some(why.to_string());
            let access = FileAccess { file: file.clone(), reason, ..FileAccess::default() };
            context.touched(Kind::FileRejected, access);
            Answer::blocked(trouble.to_string())
        }
        Trouble::Failed(why) => Answer::failed(why),
    }
}

fn hash_of(text: &[u8]) -> String {
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|half| char::from_digit(half.into(), 16));
    Sha256::digest(text).iter().flat_map(digits).flatten().collect()
}

/// Tells the thread that works when nobody waits for it any more.
#[derive(Default)]
struct GivenUp(Arc<AtomicBool>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
