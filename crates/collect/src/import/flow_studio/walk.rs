//! The log, event by event, with the files of each step where its last execution ends.

use std::collections::{HashMap, HashSet};

use quipu_event::payload::{Agent, Status, StepCompleted, StepStarted};
use quipu_event::{Draft, Kind, StepPath, Timestamp};
use serde_json::{Value, json};

use super::super::error::ImportError;
use super::super::folder::Folder;
use super::super::record::{Record, lines, number, owned, text, time};
use super::super::teller::Teller;
use super::ending;
use super::event::{
    Step, end_of, ends_flow, error, flow_completed, kind_of, said, step_of, usage_of, when,
};
use super::line::{self, Calls};
use super::parts::{Part, Parts};
use super::status_of;

/// See the top of this file.
pub(super) struct Walk<'a> {
    folder: &'a Folder,
    parts: Vec<Part>,
    told: HashSet<usize>,
    /// How often each step was executed in all.
    executions: HashMap<Step, u32>,
    /// Whether the log says where steps end; newer ones only say how long they took.
    has_ends: HashSet<Step>,
    tries: HashMap<Step, u32>,
    open: HashSet<Step>,
    flows: Vec<String>,
    calls: Calls,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        folder: &'a Folder,
        parts: Parts,
        records: &[(Record<'_>, Option<Value>)],
    ) -> Self {
        let mut has_ends = HashSet::new();
        let mut counted: HashMap<(Step, &str), u32> = HashMap::new();
        for event in records.iter().filter_map(|(_, event)| event.as_ref()) {
            let (Some(step), kind) = (step_of(event), kind_of(event)) else { continue };
            let kind = match kind {
                "step_start" => "start",
                "step_end" | "step_error" => "end",
                "step_timing" => "timing",
                _ => continue,
            };
            if kind != "timing" {
                has_ends.insert(step.clone());
            }
            *counted.entry((step, kind)).or_default() += 1;
        }
        let mut executions: HashMap<Step, u32> = HashMap::new();
        for ((step, kind), count) in counted {
            if kind != "timing" || !has_ends.contains(&step) {
                let most = executions.entry(step).or_default();
                *most = count.max(*most);
            }
        }
        Walk {
            folder,
            parts: parts.0,
            told: HashSet::new(),
            executions,
            has_ends,
            tries: HashMap::new(),
            open: HashSet::new(),
            flows: Vec::new(),
            calls: Calls::default(),
        }
    }

    /// Tells what one line of the log says.
    pub(super) fn take(
        &mut self,
        record: &Record<'_>,
        event: &Value,
        teller: &mut Teller,
    ) -> Result<(), ImportError> {
        let (kind, step) = (kind_of(event), step_of(event));
        let flow = text(event, &["flow_key"]).unwrap_or_default().to_owned();
        let payload = &event["payload"];
        match (kind, &step) {
            ("run_created", _) => return teller.created(record),
            ("run_started" | "flow_start" | "flow_started", None) if !flow.is_empty() => {
                return self.begin_flow(&flow, record, when(event), teller);
            }
            ("step_start", Some(step)) => return self.begin(step, record, event, teller),
            ("step_end" | "step_error", Some(step)) => {
                return self.end(step, record, event, teller);
            }
            ("step_timing", Some(step)) if !self.has_ends.contains(step) => {
                return self.end(step, record, event, teller);
            }
            _ if ends_flow(event) && !flow.is_empty() => {
                return self.end_flow(&flow, record, event, teller);
            }
            _ => {}
        }
        let draft = match kind {
            "tool_start" if !self.is_told_elsewhere(&step, |part| part.has_tools) => {
                self.calls.call(record, payload)
            }
            "tool_end" if !self.is_told_elsewhere(&step, |part| part.has_tools) => {
                self.calls.result(record, payload)
            }
            "assistant_message" | "user_message"
                if !self.is_told_elsewhere(&step, |part| part.has_messages) =>
            {
                said(kind, payload)
            }
            "error" | "flow_error" => Draft::new(Kind::Error, &error(payload)),
            "" => return teller.unknown(record, "has no kind"),
            kind => Draft::system(kind, payload.clone()),
        };
        let (path, iteration) = self.place(&flow, step.as_ref());
        let dress = |draft: Draft| Draft { timestamp: when(event), ..draft.at(path, iteration) };
        teller.tell(Some(record), draft.map(dress))
    }

    /// Tells the steps that the log does not know.
    pub(super) fn tell_rest(&mut self, teller: &mut Teller) -> Result<(), ImportError> {
        let left = (0..self.parts.len()).filter(|at| !self.told.contains(at)).collect::<Vec<_>>();
        left.into_iter().try_for_each(|at| self.tell_alone(at, teller))
    }

    /// Ends the flows that the log left open, because `record` says that the run is over.
    pub(super) fn close_flows(
        &mut self,
        record: &Record<'_>,
        status: Status,
        at: Option<Timestamp>,
        teller: &mut Teller,
    ) -> Result<(), ImportError> {
        if status == Status::Aborted {
            return Ok(());
        }
        for flow in std::mem::take(&mut self.flows).into_iter().rev() {
            let end = (status.clone(), None);
            teller.tell(Some(record), flow_completed(&flow, end, at))?;
        }
        Ok(())
    }

    fn begin_flow(
        &mut self,
        flow: &str,
        record: &Record<'_>,
        at: Option<Timestamp>,
        teller: &mut Teller,
    ) -> Result<(), ImportError> {
        let path = StepPath::root().child(flow);
        let draft = if self.flows.iter().any(|open| open == flow) {
            Draft::system("flow_started_again", json!({ "flow_key": flow }))
        } else {
            self.flows.push(flow.to_owned());
            let (name, kind) = (flow.to_owned(), "flow".to_owned());
            Draft::new(Kind::StepStarted, &StepStarted { name, kind, ..StepStarted::default() })
        };
        teller.tell(Some(record), draft.map(|draft| Draft { timestamp: at, ..draft.at(path, 0) }))
    }

    fn end_flow(
        &mut self,
        flow: &str,
        record: &Record<'_>,
        event: &Value,
        teller: &mut Teller,
    ) -> Result<(), ImportError> {
        let is_left = |at: &usize| !self.told.contains(at) && self.parts[*at].flow == flow;
        let left = (0..self.parts.len()).filter(is_left).collect::<Vec<_>>();
        left.into_iter().try_for_each(|at| self.tell_alone(at, teller))?;
        match self.flows.iter().position(|open| open == flow) {
            Some(at) => {
                self.flows.remove(at);
                teller.tell(Some(record), flow_completed(flow, end_of(event), when(event)))
            }
            None => {
                let draft = Draft::system(kind_of(event), event["payload"].clone());
                let path = StepPath::root().child(flow);
                let dress = |d: Draft| Draft { timestamp: when(event), ..d.at(path, 0) };
                teller.tell(Some(record), draft.map(dress))
            }
        }
    }

    fn begin(
        &mut self,
        step: &Step,
        record: &Record<'_>,
        event: &Value,
        teller: &mut Teller,
    ) -> Result<(), ImportError> {
        let engine = text(&event["payload"], &["engine"]).unwrap_or_default().to_owned();
        let at = time(&event["payload"], "started_at").or_else(|| when(event));
        self.begin_step(step, &engine, record, at, teller)
    }

    fn begin_step(
        &mut self,
        step: &Step,
        engine: &str,
        record: &Record<'_>,
        at: Option<Timestamp>,
        teller: &mut Teller,
    ) -> Result<(), ImportError> {
        if !self.flows.contains(&step.0) {
            self.begin_flow(&step.0, record, at, teller)?;
        }
        let tries = self.tries.entry(step.clone()).or_default();
        *tries += 1;
        let attempt = *tries;
        self.open.insert(step.clone());
        let part = self.parts.iter().find(|part| part.flow == step.0 && part.step == step.1);
        let engine = part.map_or(engine, |part| &part.engine);
        let provider = engine.split('-').next().filter(|name| !name.is_empty());
        let agent = provider.map(|provider| Agent {
            provider: Some(provider.to_owned()),
            adapter: Some(engine.to_owned()),
            model: part.and_then(|part| owned(&part.says, &["model"])),
            ..Agent::default()
        });
        let (name, kind) = (step.1.clone(), "agent".to_owned());
        let started = StepStarted { name, kind, attempt: Some(attempt), agent, blocks: None };
        let (path, iteration) = self.place(&step.0, Some(step));
        let draft = Draft::new(Kind::StepStarted, &started);
        let dress = |draft: Draft| Draft { timestamp: at, ..draft.at(path, iteration) };
        teller.tell(Some(record), draft.map(dress))
    }

    fn end(
        &mut self,
        step: &Step,
        record: &Record<'_>,
        event: &Value,
        teller: &mut Teller,
    ) -> Result<(), ImportError> {
        if !self.open.contains(step) {
            self.begin(step, record, event, teller)?;
        }
        let is_last = self.tries.get(step) >= self.executions.get(step);
        let mine = |(at, part): (usize, &Part)| {
            let is_mine = part.flow == step.0 && part.step == step.1;
            (is_mine && is_last && !self.told.contains(&at)).then_some(at)
        };
        let parts: Vec<_> = self.parts.iter().enumerate().filter_map(mine).collect();
        let mut says = Value::Null;
        for at in parts {
            says = self.parts[at].says.clone();
            self.tell_files(at, teller)?;
        }
        let payload = &event["payload"];
        let word = text(payload, &["status"]).or_else(|| text(&says, &["status"]));
        let status = match (word, kind_of(event)) {
            (_, "step_error") => Status::Failed,
            (Some(word), _) => status_of(word),
            (None, _) => Status::Succeeded,
        };
        let error = owned(payload, &["error"]).or_else(|| owned(&says, &["error"]));
        let lasted = number(payload, &["duration_ms"]);
        self.complete(step, record, (status, error, lasted), when(event), teller)
    }

    fn complete(
        &mut self,
        step: &Step,
        record: &Record<'_>,
        (status, error, duration_ms): (Status, Option<String>, Option<u64>),
        at: Option<Timestamp>,
        teller: &mut Teller,
    ) -> Result<(), ImportError> {
        self.open.remove(step);
        let completed = StepCompleted {
            name: step.1.clone(),
            kind: "agent".to_owned(),
            attempt: self.tries.get(step).copied(),
            status: Some(status),
            error,
            duration_ms,
            ..StepCompleted::default()
        };
        let (path, iteration) = self.place(&step.0, Some(step));
        let dress = |draft: Draft| Draft { timestamp: at, ..draft.at(path, iteration) };
        teller.tell(Some(record), Draft::new(Kind::StepCompleted, &completed).map(dress))
    }

    /// Tells a step that only its files know of.
    fn tell_alone(&mut self, at: usize, teller: &mut Teller) -> Result<(), ImportError> {
        let part = self.parts[at].clone();
        let step = (part.flow.clone(), part.step.clone());
        let Some(file) = part.receipt.as_ref().or(part.transcript.as_ref()) else { return Ok(()) };
        let bytes = self.folder.read(file)?.unwrap_or_default();
        let record = match part.receipt {
            Some(_) => Record::document(file, &bytes),
            None => {
                teller.begin_file(file, &bytes);
                lines(file, &bytes).next().unwrap_or(Record::document(file, b""))
            }
        };
        self.begin_step(&step, &part.engine, &record, part.began, teller)?;
        self.tell_files(at, teller)?;
        let status = text(&part.says, &["status"]).map_or(Status::Succeeded, status_of);
        let end = (status, owned(&part.says, &["error"]), number(&part.says, &["duration_ms"]));
        self.complete(&step, &record, end, time(&part.says, "completed_at"), teller)
    }

    /// Tells the transcript and the receipt of a step.
    fn tell_files(&mut self, at: usize, teller: &mut Teller) -> Result<(), ImportError> {
        self.told.insert(at);
        let part = self.parts[at].clone();
        let step = (part.flow.clone(), part.step.clone());
        let (path, iteration) = self.place(&part.flow, Some(&step));
        let cost = usage_of(&part.says);
        if let Some(name) = &part.transcript {
            let bytes = self.folder.read(name)?.unwrap_or_default();
            teller.begin_file(name, &bytes);
            let mut calls = Calls::default();
            for record in lines(name, &bytes) {
                let line = record.object().unwrap_or_default();
                let mut drafts = line::drafts(&record, &line, &mut calls);
                if drafts.is_empty() {
                    teller.unknown(&record, "is no line of a transcript")?;
                }
                if part.receipt.is_none() {
                    let usage = line::usage(&line);
                    drafts.extend(usage.map(|usage| Draft::new(Kind::Usage, &usage)));
                }
                let time = time(&line, "timestamp");
                for draft in drafts {
                    let place = (path.clone(), iteration);
                    let dress = |d: Draft| Draft { timestamp: time, ..d.at(place.0, place.1) };
                    teller.tell(Some(&record), draft.map(dress))?;
                }
            }
            ending::tell(name, &bytes, teller)?;
        }
        if let Some(name) = &part.receipt {
            let bytes = self.folder.read(name)?.unwrap_or_default();
            let record = Record::document(name, &bytes);
            let at = time(&part.says, "completed_at");
            let dress = |draft: Draft| Draft { timestamp: at, ..draft.at(path.clone(), iteration) };
            let receipt = Draft::system("receipt", part.says.clone());
            teller.tell(Some(&record), receipt.map(dress))?;
            if let Some(usage) = cost {
                teller.tell(Some(&record), Draft::new(Kind::Usage, &usage).map(dress))?;
            }
        }
        Ok(())
    }

    /// Returns where an event of a step stands: iterations of a loop are attempts of its steps.
    fn place(&self, flow: &str, step: Option<&Step>) -> (StepPath, u64) {
        let path = if flow.is_empty() { StepPath::root() } else { StepPath::root().child(flow) };
        match step {
            Some(step) => {
                let tries = self.tries.get(step).copied().unwrap_or(1);
                (path.child(&step.1), u64::from(tries.saturating_sub(1)))
            }
            None => (path, 0),
        }
    }

    /// Tells whether the transcript of this execution, which is richer, says the same.
    fn is_told_elsewhere(&self, step: &Option<Step>, has: impl Fn(&Part) -> bool) -> bool {
        let Some(step) = step else { return false };
        let is_last = self.tries.get(step) >= self.executions.get(step);
        let mine = |part: &&Part| part.flow == step.0 && part.step == step.1;
        is_last && self.parts.iter().filter(mine).any(has)
    }
}
