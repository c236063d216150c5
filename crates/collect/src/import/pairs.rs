//! Keeps starts and ends in pairs, and each tool call unique, whatever the foreign run left out.
//!
//! What it adds has no origin: it says that something began or ended, and nothing that nobody said.

use std::collections::{HashMap, HashSet};

use quipu_event::payload::{Payload, RunCompleted, RunKind, Status, StepCompleted, StepStarted};
use quipu_event::payload::{ToolCall, ToolResult};
use quipu_event::{Draft, Event, Json, Kind, RunId, StepPath, Timestamp};
use serde::Deserialize;
use serde_json::Value;

/// Why something ends that never said so.
pub(super) const NO_END: &str = "it had no end when it was imported";

/// What is open after the events so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    open: HashMap<(Kind, StepPath, u32), Vec<Span>>,
    /// How many spans were opened: the order in which to close them.
    opened: u64,
    calls: Calls,
}

#[derive(Clone, Debug)]
struct Span {
    order: u64,
    name: String,
    kind: String,
    iteration: u64,
    child: Option<RunId>,
    source: Option<Box<str>>,
    at: Option<Timestamp>,
}

/// Tool calls, as `quipu verify` looks at them.
#[derive(Clone, Debug, Default)]
struct Calls {
    /// Every call: where, in which round, and its id.
    made: HashSet<(StepPath, u64, String)>,
    /// Calls without an answer, by the id that they had there.
    open: HashMap<(StepPath, String), Vec<ToolCall>>,
    /// The id here of the call that was last told of, by the id that it had there.
    last: HashMap<(StepPath, String), String>,
    rounds: HashMap<StepPath, u64>,
    round: u64,
}

impl Pairs {
    /// Takes in an event that the journal holds.
    pub(super) fn note(&mut self, event: &Event) {
        let matters = event.kind.completion().is_some()
            || event.kind.is_completion()
            || matches!(event.kind, Kind::ToolCall | Kind::ToolResult);
        // Of all others only the type and the path are looked at.
        let payload = if matters { event.payload.clone() } else { Json::null() };
        let draft = Draft {
            kind: event.kind.clone(),
            path: event.path.clone(),
            iteration: event.iteration,
            timestamp: Some(event.timestamp),
            child_run_id: event.child_run_id.clone(),
            payload,
            source: event.source.clone(),
            origin: None,
            raw: None,
        };
        self.fit(draft);
    }

    /// Takes in the next draft and returns it, behind what must come before it.
    pub(super) fn fit(&mut self, draft: Draft) -> Vec<Draft> {
        let fitted = match &draft.kind {
            Kind::RunStarted if self.is_running() => vec![as_system(draft, "run_started")],
            kind if kind.completion().is_some() => {
                self.begin(&draft);
                vec![draft]
            }
            kind if kind.is_completion() => self.end(draft),
            Kind::ToolCall => vec![self.calls.call(draft)],
            Kind::ToolResult => self.calls.result(draft),
            Kind::FileRead | Kind::FileWritten | Kind::FileRejected => {
                vec![self.calls.file(draft)]
            }
            _ => vec![draft],
        };
        for draft in &fitted {
            self.calls.note_round(draft);
            self.calls.note_last(draft);
        }
        fitted
    }

    /// Tells whether the run has begun and not ended.
    pub(super) fn is_running(&self) -> bool {
        self.open.contains_key(&(Kind::RunStarted, StepPath::root(), 1))
    }

    /// Returns the ends of all that is open but the run itself, the innermost first.
    pub(super) fn close_all(&mut self, at: Option<Timestamp>) -> Vec<Draft> {
        let mut spans: Vec<_> = (self.open.drain())
            .flat_map(|(key, spans)| spans.into_iter().map(move |span| (key.clone(), span)))
            .collect();
        spans.sort_by_key(|(_, span)| std::cmp::Reverse(span.order));
        let (run, spans): (Vec<_>, Vec<_>) =
            spans.into_iter().partition(|((kind, ..), _)| *kind == Kind::RunStarted);
        for ((kind, path, attempt), span) in run {
            self.open.entry((kind, path, attempt)).or_default().push(span);
        }
        let ends: Vec<_> = spans.into_iter().map(|(key, span)| end_of(key, span, at)).collect();
        ends.iter().for_each(|draft| self.calls.note_round(draft));
        ends
    }

    fn begin(&mut self, draft: &Draft) {
        let (name, kind, attempt) = names_of(draft);
        self.opened += 1;
        let span = Span {
            order: self.opened,
            name,
            kind,
            iteration: draft.iteration,
            child: draft.child_run_id.clone(),
            source: draft.source.clone(),
            at: draft.timestamp,
        };
        let key = (draft.kind.clone(), draft.path.clone(), attempt);
        self.open.entry(key).or_default().push(span);
    }

    fn end(&mut self, draft: Draft) -> Vec<Draft> {
        let start = Kind::ALL.iter().find(|kind| kind.completion().as_ref() == Some(&draft.kind));
        let Some(start) = start.cloned() else { return vec![draft] };
        let (.., attempt) = names_of(&draft);
        let key = (start.clone(), draft.path.clone(), attempt);
        let open = self.open.get_mut(&key);
        if let Some(spans) = open {
            spans.pop();
            if spans.is_empty() {
                self.open.remove(&key);
            }
            return vec![draft];
        }
        vec![start_of(start, &draft), draft]
    }
}

impl Calls {
    fn note_round(&mut self, draft: &Draft) {
        if draft.path.is_root() {
            return;
        }
        match draft.kind {
            Kind::StepStarted | Kind::MessageUser => {
                self.round += 1;
                self.rounds.insert(draft.path.clone(), self.round);
            }
            Kind::StepCompleted => drop(self.rounds.remove(&draft.path)),
            _ => {}
        }
    }

    fn call(&mut self, draft: Draft) -> Draft {
        let Ok(mut call) = draft.payload.decode::<ToolCall>() else { return draft };
        let free = self.free(&draft.path, &call.call_id);
        let native = native_id(&call.call_id).to_owned();
        let is_as_it_was = free == call.call_id;
        call.call_id = free;
        let payload = if is_as_it_was { None } else { with_call_id(&draft.payload, &call.call_id) };
        self.open.entry((draft.path.clone(), native)).or_default().push(call);
        Draft { payload: payload.unwrap_or(draft.payload), ..draft }
    }

    fn result(&mut self, draft: Draft) -> Vec<Draft> {
        let Ok(result) = draft.payload.decode::<ToolResult>() else { return vec![draft] };
        let open = self.open.get_mut(&(draft.path.clone(), native_id(&result.call_id).to_owned()));
        if let Some(calls) = open.filter(|calls| !calls.is_empty()) {
            let at = calls.iter().position(|open| open.call_id == result.call_id);
            let call = calls.remove(at.unwrap_or_default());
            let payload = answering(&draft.payload, &result, &call);
            return vec![Draft { payload: payload.unwrap_or(draft.payload), ..draft }];
        }
        let call_id = self.free(&draft.path, &result.call_id);
        let payload = with_call_id(&draft.payload, &call_id).filter(|_| call_id != result.call_id);
        let draft = Draft { payload: payload.unwrap_or(draft.payload), ..draft };
        let ToolResult { name, input, fidelity, .. } = result;
        let call = ToolCall { name, call_id, input, fidelity, ..ToolCall::default() };
        let payload = Json::encode(&call).unwrap_or_default();
        vec![beside(&draft, Draft::with_json(Kind::ToolCall, payload)), draft]
    }

    fn note_last(&mut self, draft: &Draft) {
        if matches!(draft.kind, Kind::ToolCall | Kind::ToolResult)
            && let Some(id) = call_id_of(&draft.payload)
        {
            self.last.insert((draft.path.clone(), native_id(&id).to_owned()), id);
        }
    }

    /// Names the call that a file is of as it is named here.
    ///
    /// A file is told of while its call goes on, or right after its result.
    fn file(&self, draft: Draft) -> Draft {
        let Some(there) = call_id_of(&draft.payload) else { return draft };
        let here = self.last.get(&(draft.path.clone(), there.clone()));
        let here = here.filter(|here| **here != there);
        let payload = here.and_then(|here| with_call_id(&draft.payload, here));
        Draft { payload: payload.unwrap_or(draft.payload), ..draft }
    }

    /// Returns `id`, or one made of it that no call has yet.
    fn free(&mut self, path: &StepPath, id: &str) -> String {
        let round = self.rounds.get(path).copied().unwrap_or_default();
        let mut free = id.to_owned();
        let mut next = 2;
        while !self.made.insert((path.clone(), round, free.clone())) {
            free = format!("{}#{next}", native_id(id));
            next += 1;
        }
        free
    }
}

/// Returns an id without the number that made it unique here.
fn native_id(id: &str) -> &str {
    let numbered = id.rsplit_once('#');
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    numbered.filter(|(_, number)| is_number(number)).map_or(id, |(native, _)| native)
}

/// Returns the id of the call that a payload is of, or is.
fn call_id_of(payload: &Json) -> Option<String> {
    #[derive(Deserialize)]
    struct Head {
        call_id: Option<String>,
    }
    payload.decode::<Head>().ok()?.call_id.filter(|id| !id.is_empty())
}

fn with_call_id(payload: &Json, id: &str) -> Option<Json> {
    let mut payload: Value = payload.decode().ok()?;
    payload["call_id"] = id.into();
    Json::encode(&payload).ok()
}

/// Completes a result with what its call says; nothing if there is nothing to add.
fn answering(payload: &Json, result: &ToolResult, call: &ToolCall) -> Option<Json> {
    let is_whole = result.call_id == call.call_id
        && (!result.name.is_empty() || call.name.is_empty())
        && (!result.input.is_null() || call.input.is_null());
    if is_whole {
        return None;
    }
    let mut payload: Value = payload.decode().ok()?;
    payload["call_id"] = call.call_id.as_str().into();
    if result.name.is_empty() {
        payload["name"] = call.name.as_str().into();
    }
    if result.input.is_null() {
        payload["input"] = call.input.decode().ok()?;
    }
    Json::encode(&payload).ok()
}

/// Returns name, kind and attempt of what begins or ends.
fn names_of(draft: &Draft) -> (String, String, u32) {
    match Payload::decode(&draft.kind, &draft.payload) {
        Ok(Payload::RunStarted(run)) => (run.name, run.kind.as_str().to_owned(), 1),
        Ok(Payload::RunCompleted(run)) => (run.name, run.kind.as_str().to_owned(), 1),
        Ok(Payload::StepStarted(step)) => (step.name, step.kind, step.attempt.unwrap_or(1)),
        Ok(Payload::StepCompleted(step)) => (step.name, step.kind, step.attempt.unwrap_or(1)),
        _ => (String::new(), String::new(), 1),
    }
}

/// Puts `made` where and when `draft` is.
fn beside(draft: &Draft, made: Draft) -> Draft {
    Draft {
        path: draft.path.clone(),
        iteration: draft.iteration,
        timestamp: draft.timestamp,
        child_run_id: None,
        source: draft.source.clone(),
        ..made
    }
}

fn start_of(start: Kind, end: &Draft) -> Draft {
    let (name, kind, attempt) = names_of(end);
    let payload = match start {
        Kind::StepStarted | Kind::CallWorkflowStarted => {
            let attempt = (attempt > 1).then_some(attempt);
            Json::encode(&StepStarted { name, kind, attempt, ..StepStarted::default() })
        }
        Kind::DeliverableCheckStarted => {
            Json::encode(&serde_json::json!({ "required": [], "missing": [] }))
        }
        _ => Json::encode(&serde_json::json!({})),
    };
    let made = beside(end, Draft::with_json(start, payload.unwrap_or_default()));
    Draft { child_run_id: end.child_run_id.clone(), ..made }
}

fn end_of(
    (start, path, attempt): (Kind, StepPath, u32),
    span: Span,
    at: Option<Timestamp>,
) -> Draft {
    let (status, error) = (Some(Status::Aborted), Some(NO_END.to_owned()));
    let Span { name, kind, iteration, child, source, at: began, .. } = span;
    let payload = match start {
        Kind::RunStarted => {
            let kind = RunKind::from(kind.as_str());
            Json::encode(&RunCompleted { name, kind, status, error, ..RunCompleted::default() })
        }
        Kind::StepStarted | Kind::CallWorkflowStarted => {
            let attempt = (attempt > 1).then_some(attempt);
            let step = StepCompleted { name, kind, attempt, status, error, ..Default::default() };
            Json::encode(&step)
        }
        Kind::DeliverableCheckStarted => {
            Json::encode(&serde_json::json!({ "required": [], "missing": [], "result": "blocked" }))
        }
        _ => Json::encode(&serde_json::json!({ "status": "aborted", "error": NO_END })),
    };
    let completion = start.completion().unwrap_or(Kind::StepCompleted);
    let draft = Draft::with_json(completion, payload.unwrap_or_default()).at(path, iteration);
    Draft { timestamp: at.or(began), child_run_id: child, source, ..draft }
}

/// Turns a draft into a `system` event that has the same facts.
fn as_system(draft: Draft, subtype: &str) -> Draft {
    let facts = draft.payload.decode().unwrap_or_default();
    match Draft::system(subtype, facts) {
        Ok(system) => Draft { kind: system.kind, payload: system.payload, ..draft },
        Err(_) => draft,
    }
}
