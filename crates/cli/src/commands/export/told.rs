//! What an export came to, told at its end.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;

use quipu_event::RunId;
use quipu_export::{Exported, Pushed, Written};
use quipu_journal::{Damage, DamageKind, Layout};
use quipu_view::Losses;
use serde_json::{Value, json};

use super::Args;
use crate::Context;
use crate::exit::Exit;
use crate::format::count;
use crate::format::damage::{DamageCount, is_being_written};
use crate::format::note::{hint, note};
use crate::format::visible::visible;

/// Where an export arrived.
pub(super) enum Arrival {
    /// In a directory.
    Written { out: PathBuf, written: Written },
    /// At an endpoint.
    Pushed { url: String, pushed: Pushed },
}

impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arrival::Written { out, written } => {
                let (files, bytes) = (count::of(written.files, "file"), written.bytes);
                write!(f, "in {}: {files}, {}", out.display(), count::bytes(bytes))
            }
            Arrival::Pushed { url, pushed } => {
                let requests = count::of(pushed.requests, "request");
                write!(f, "at {url}: {} in {requests}", count::of(pushed.spans, "span"))
            }
        }
    }
}

/// What an export came to.
#[derive(Default)]
pub(super) struct Summary {
    runs: Vec<Run>,
    /// Runs that were called and are not in the storage.
    pub(super) missing: Vec<RunId>,
    /// How many places were hidden.
    pub(super) hidden: u64,
}

struct Run {
    exported: Exported,
    damage: DamageCount,
}

impl Summary {
    pub(super) fn add(&mut self, layout: &Layout, exported: Exported) {
        let torn = |damage: &Damage| matches!(damage.what, DamageKind::TornTail(_));
        let path = layout.transcript(&exported.run_id);
        let mut damage = DamageCount::default();
        for found in &exported.damage {
            // The last line of a run that somebody writes is in the making.
            if !(torn(found) && is_being_written(&path)) {
                note(&format!("{}: {found}", path.display()));
                damage.add(1);
            }
        }
        if exported.events == 0 {
            note(&format!("{} holds no event, so there is nothing to show of it", path.display()));
        }
        self.runs.push(Run { exported, damage });
    }

    pub(super) fn tell(
        &self,
        context: &Context,
        args: &Args,
        arrival: &Arrival,
    ) -> anyhow::Result<Exit> {
        if context.screen.json {
            context.screen.print_json(&self.to_json(args, arrival))?;
        } else {
            let mut out = context.screen.stdout();
            let runs = count::of(self.runs.len() as u64, "run");
            writeln!(out, "{}", visible(&format!("{runs} as {} {arrival}", args.to.name)))?;
            out.flush()?;
            self.tell_losses(args);
        }
        let mut damage = DamageCount::default();
        self.runs.iter().for_each(|run| damage.merge(run.damage));
        let only: Option<&RunId> = match self.runs.as_slice() {
            [run] => Some(&run.exported.run_id),
            _ => None,
        };
        Ok(damage.conclude(&context.settings, only))
    }

    fn tell_losses(&self, args: &Args) {
        for run in &self.missing {
            note(&format!("{run} was called and is not in the storage"));
        }
        if self.hidden > 0 {
            note(&format!("{} hidden", count::of(self.hidden, "secret")));
        }
        let losses = self.losses();
        let events: u64 = self.runs.iter().map(|run| run.exported.events).sum();
        let left_out = losses.total();
        if left_out == 0 {
            note(&format!("{} carried, none left out", count::of(events, "event")));
            return;
        }
        let mut types: Vec<_> = losses.events.iter().collect();
        types.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let types: Vec<_> =
            types.iter().map(|(name, count)| format!("{} {name}", count::full(**count))).collect();
        let of = count::of(events, "event");
        note(&format!("{} of {of} left out: {}", count::full(left_out), types.join(", ")));
        hint(&format!("docs/layouts/{}.md says what the layout cannot carry", args.to.name));
    }

    fn losses(&self) -> Losses {
        let mut losses = Losses::default();
        self.runs.iter().for_each(|run| losses.merge(&run.exported.losses));
        losses
    }

    fn to_json(&self, args: &Args, arrival: &Arrival) -> Value {
        let runs: Vec<Value> = self.runs.iter().map(Run::to_json).collect();
        let mut told = json!({
            "layout": args.to.name,
            "left_out": self.losses().total(),
            "hidden": self.hidden,
            "runs": runs,
            "missing_runs": self.missing,
        });
        match arrival {
            Arrival::Written { out, written } => {
                told["out"] = json!(out);
                told["files"] = json!(written.files);
                told["bytes"] = json!(written.bytes);
            }
            Arrival::Pushed { url, pushed } => {
                told["url"] = json!(url);
                told["requests"] = json!(pushed.requests);
                told["spans"] = json!(pushed.spans);
                told["rejected_spans"] = json!(pushed.rejected);
                told["messages"] = json!(pushed.messages);
            }
        }
        told
    }
}

impl Run {
    fn to_json(&self) -> Value {
        let Exported { run_id, root, events, losses, .. } = &self.exported;
        json!({
            "run_id": run_id,
            "root": root,
            "events": events,
            "left_out": losses.events,
            "damaged_lines": self.damage.lines(),
        })
    }
}
