//! The events of one run → its receipt.

use std::collections::{BTreeSet, HashMap};

use quipu_event::payload::{
    RunCompleted, RunKind, RunStarted, Status, StepCompleted, StepStarted, Usage, UsageScope,
};
use quipu_event::{Event, Kind, Payload, RunId, StepPath, Timestamp};
use serde::Deserialize;

use super::ReceiptOptions;
use crate::path::{Level, pieces, split_foreign};
use crate::price::{Amount, PriceTable, Pricer};
use crate::reading::{Shape, read, step_path};
use crate::receipt::account::Account;
use crate::receipt::open::{Ending, OpenSteps};
use crate::receipt::{Bill, Day, PartKey, Receipt, StepReceipt};
use crate::session_cost::named_at_end;

/// One run while its events arrive.
#[derive(Clone, Debug)]
pub(super) struct RunBuilder {
    options: ReceiptOptions,
    receipt: Receipt,
    latest: Timestamp,
    /// How long the whole run took, once it has ended.
    whole_ms: Option<u64>,
    /// What the run says at its end that it cost.
    session_cost: Option<Amount>,
    has_reported_cost: bool,
    /// Whether no agent was asked in truth.
    is_stub: bool,
    rows: HashMap<String, usize>,
    open: OpenSteps,
    /// Usage by exact path, until the step there ends.
    accounts: HashMap<StepPath, Account>,
    calls: BTreeSet<RunId>,
    sheets: u64,
}

impl RunBuilder {
    /// Begins the receipt of the run that `first` belongs to.
    pub(super) fn new(first: &Event, options: ReceiptOptions) -> Self {
        let receipt = Receipt {
            run_id: first.run_id.clone(),
            parent_run_id: None,
            name: None,
            kind: None,
            agent: None,
            model: None,
            cwd: None,
            status: None,
            error: None,
            started: first.timestamp,
            duration_ms: 0,
            steps: Vec::new(),
            outside: Bill::default(),
            calls: Vec::new(),
            called: Vec::new(),
            prices: BTreeSet::new(),
            undecoded: 0,
        };
        RunBuilder {
            options,
            receipt,
            latest: first.timestamp,
            whole_ms: None,
            session_cost: None,
            has_reported_cost: false,
            is_stub: false,
            rows: HashMap::new(),
            open: OpenSteps::default(),
            accounts: HashMap::new(),
            calls: BTreeSet::new(),
            sheets: 0,
        }
    }

    /// Takes the next event of the run.
    pub(super) fn add(&mut self, event: &Event, pricer: &mut Pricer) {
        self.hear_until(event.timestamp);
        if self.receipt.parent_run_id.is_none() {
            self.receipt.parent_run_id.clone_from(&event.parent_run_id);
        }
        if !super::is_needed(event.kind.as_str()) {
            return;
        }
        if event.kind == Kind::MessageAssistant {
            return self.note_reply(event);
        }
        let reading = read(event);
        self.receipt.undecoded += u64::from(reading.shape == Shape::Undecoded);
        match reading.payload {
            Payload::RunCreated(run) => self.note_run(run.name, run.kind),
            Payload::RunStarted(run) => self.begin(*run),
            Payload::RunCompleted(run) => self.end(event, *run),
            Payload::StepStarted(step) => self.begin_step(event, &step),
            Payload::StepCompleted(step) => self.end_step(event, *step),
            Payload::Usage(usage) => self.count(event, &usage, pricer),
            // Something was used, and nobody can read how much.
            _ if event.kind == Kind::Usage => self.count(event, &Usage::default(), pricer),
            _ => {}
        }
    }

    pub(super) fn hear_until(&mut self, moment: Timestamp) {
        self.latest = self.latest.max(moment);
    }

    /// Settles what is open and returns the receipt.
    pub(super) fn finish(mut self, table: &PriceTable) -> Receipt {
        if let Some(cost) = self.session_cost.filter(|_| !self.has_reported_cost && self.is_whole())
        {
            let (day, model) = (Day::of(self.latest), self.receipt.model.clone());
            let account = self.accounts.entry(StepPath::root()).or_default();
            account.add_bare_cost(cost, day, model);
        }
        let mut accounts: Vec<_> = std::mem::take(&mut self.accounts).into_iter().collect();
        accounts.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (path, account) in accounts {
            let row = self.open.row_at(&path);
            self.settle(&path, row, account);
        }
        let versions = (0..64).filter(|bit| self.sheets & (1 << bit) != 0);
        let versions = versions.filter_map(|bit| table.version(bit)).map(str::to_owned);
        self.receipt.prices = versions.collect();
        let spent = self.latest.millis_since(self.receipt.started);
        self.receipt.duration_ms = self.whole_ms.unwrap_or(spent);
        self.receipt
    }

    /// Tells whether all that was heard so far lies in the stretch of time that is asked for: the
    /// cost of the whole says nothing of a part.
    fn is_whole(&self) -> bool {
        let ReceiptOptions { since, until, .. } = self.options;
        since.is_none_or(|since| since <= self.receipt.started)
            && until.is_none_or(|until| self.latest < until)
    }

    fn note_run(&mut self, name: String, kind: RunKind) {
        if self.receipt.name.is_none() && !name.is_empty() {
            self.receipt.name = Some(name);
        }
        self.receipt.kind.get_or_insert(kind);
    }

    fn begin(&mut self, run: RunStarted) {
        if let Some(agent) = run.agent {
            self.receipt.agent = agent.label().map(str::to_owned).or(self.receipt.agent.take());
            self.receipt.model = agent.model.or(self.receipt.model.take());
        }
        self.is_stub |= run.labels.is_some_and(|labels| labels.contains_key("stub"));
        // A run that is taken up again has not ended.
        (self.receipt.status, self.receipt.error, self.whole_ms) = (None, None, None);
        self.receipt.cwd = run.cwd.or(self.receipt.cwd.take());
        self.note_run(run.name, run.kind);
    }

    fn end(&mut self, event: &Event, run: RunCompleted) {
        // A resumed run goes on behind its end; the last end counts.
        let cost = named_at_end(&run, self.receipt.kind.as_ref());
        self.session_cost = cost.and_then(Amount::from_dollars);
        self.whole_ms = Some(run.whole_ms(self.receipt.started, event.timestamp));
        self.receipt.status = run.status;
        self.receipt.error = run.error;
        if !run.name.is_empty() {
            self.note_run(run.name, run.kind);
        }
    }

    fn begin_step(&mut self, event: &Event, step: &StepStarted) {
        let path = step_path(event, &step.name);
        let attempt = step.attempt.unwrap_or(1);
        if let Some(child) = &event.child_run_id {
            self.note_call(&path, child);
        }
        if self.open.is_told(&path, &event.kind, attempt) {
            return;
        }
        let row = self.row_of(&path, Some(attempt));
        let taken_back = self.open.taken_back(&path).filter(|_| attempt > 1);
        if let Some((failed, status)) = taken_back
            && !self.options.each
        {
            self.receipt.steps[failed].take_back(&status);
        }
        let told = &mut self.receipt.steps[row];
        told.attempts += 1;
        if attempt <= 1 || self.options.each || told.times == 0 {
            told.times += 1;
        }
        if told.kind.is_none() && !step.kind.is_empty() {
            told.kind = Some(step.kind.clone());
        }
        told.note_agent(step.agent.as_ref());
        // What was left of an attempt that never ended is its own.
        if let Some(account) = self.accounts.remove(&path) {
            let row = self.open.row_at(&path);
            self.settle(&path, row, account);
        }
        self.open.begin(path, row, (event.kind.clone(), attempt), event.timestamp);
    }

    fn end_step(&mut self, event: &Event, step: StepCompleted) {
        let path = step_path(event, &step.name);
        if let Some(child) = &event.child_run_id {
            self.note_call(&path, child);
        }
        let (row, elapsed) = match self.open.end(&path) {
            Ending::Again => return,
            Ending::Of(row, started) => (row, Some(event.timestamp.millis_since(started))),
            Ending::Unbegun => {
                let row = self.row_of(&path, step.attempt.or(Some(1)));
                let told = &mut self.receipt.steps[row];
                told.times += 1;
                told.attempts += 1;
                (row, None)
            }
        };
        let status = step.status.unwrap_or(Status::Succeeded);
        let told = &mut self.receipt.steps[row];
        if told.kind.is_none() && !step.kind.is_empty() {
            told.kind = Some(step.kind);
        }
        told.note_end(status.clone(), step.error, step.duration_ms.or(elapsed));
        if let Some(account) = self.accounts.remove(&path) {
            self.settle(&path, Some(row), account);
        }
        if status.is_failure() {
            self.open.note_failure(path, row, status);
        }
    }

    fn note_call(&mut self, path: &StepPath, child: &RunId) {
        if self.calls.insert(child.clone()) {
            self.receipt.calls.push((path.as_str().to_owned(), child.clone()));
        }
    }

    /// A reply is not read further than to who gave it. One that cannot be read was one as well.
    fn note_reply(&mut self, event: &Event) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Reply {
            model: Option<String>,
            message_id: Option<String>,
        }
        let reply: Reply = event.payload.decode().unwrap_or_default();
        let is_in_place = reply.model.as_deref().is_some_and(|model| model.starts_with('<'));
        if self.is_stub || is_in_place || !self.is_asked_for(event.timestamp) {
            return;
        }
        let key = self.key_of(event, reply.model.as_ref());
        let account = self.accounts.entry(event.path.clone()).or_default();
        account.note_reply(event, reply.message_id.as_deref(), key);
    }

    fn count(&mut self, event: &Event, usage: &Usage, pricer: &mut Pricer) {
        let is_of_all = usage.scope == Some(UsageScope::Session);
        if is_of_all && usage.tokens().total().is_none() && !self.is_whole() {
            return;
        }
        if !self.is_asked_for(event.timestamp) {
            // It tells what replies used that are asked for, and is counted elsewhere.
            let account = self.accounts.get_mut(&event.path);
            return account.into_iter().for_each(|account| account.note_usage(event, usage));
        }
        let mut key = self.key_of(event, usage.model.as_ref());
        let account = self.accounts.entry(event.path.clone()).or_default();
        if is_of_all && usage.cost_usd.is_some() && named(usage.model.as_ref()).is_none() {
            key.model = account.model_of_all(key.model);
        }
        self.has_reported_cost |= account.add(event, usage, key, pricer);
    }

    fn is_asked_for(&self, moment: Timestamp) -> bool {
        let ReceiptOptions { since, until, .. } = self.options;
        since.is_none_or(|since| since <= moment) && until.is_none_or(|until| moment < until)
    }

    fn key_of(&self, event: &Event, model: Option<&String>) -> PartKey {
        let source = event.source.as_ref().map(|source| match self.options.each {
            true => source.clone(),
            false => "subagents".into(),
        });
        let day = Day::of(event.timestamp);
        PartKey { source, model: self.model_of(event, model), day }
    }

    /// Returns the model that was used: as the event says, else as its step or its run does.
    fn model_of(&self, event: &Event, model: Option<&String>) -> Option<String> {
        let step = self.open.row_at(&event.path).and_then(|row| self.receipt.steps.get(row));
        let assumed = match step {
            Some(step) => step.model.as_ref(),
            None => self.receipt.model.as_ref().filter(|_| event.source.is_none()),
        };
        named(model).or(assumed).cloned()
    }

    fn settle(&mut self, path: &StepPath, row: Option<usize>, account: Account) {
        let bill = if path.is_root() {
            &mut self.receipt.outside
        } else {
            let row = row.unwrap_or_else(|| self.row_of(path, None));
            &mut self.receipt.steps[row].bill
        };
        account.settle(bill, &mut self.sheets);
    }

    /// Returns the row of the step at `path`, made if need be: of that attempt, where each is asked
    /// for, or of the last one.
    fn row_of(&mut self, path: &StepPath, attempt: Option<u32>) -> usize {
        let spelled = match self.options.each {
            true => path.as_str().to_owned(),
            false => without_indices(path.as_str()),
        };
        let attempt = attempt.filter(|_| self.options.each);
        if let Some(&row) = self.rows.get(&spelled)
            && (attempt.is_none() || self.receipt.steps[row].attempt == attempt)
        {
            return row;
        }
        let step = StepReceipt { path: spelled.clone(), attempt, ..StepReceipt::default() };
        self.receipt.steps.push(step);
        self.rows.insert(spelled, self.receipt.steps.len() - 1);
        self.receipt.steps.len() - 1
    }
}

/// What an agent says in a model's place has no model, and some write that as `<…>`.
fn named(model: Option<&String>) -> Option<&String> {
    model.filter(|name| !name.is_empty() && !name.starts_with('<'))
}

/// Spells a path for all iterations: `each[3].check` as `each[*].check`.
fn without_indices(path: &str) -> String {
    let (indices, name) = split_foreign(path).unwrap_or((Vec::new(), path));
    let foreign = indices.into_iter().map(Level::Iteration);
    let mut spelled = String::new();
    for level in foreign.chain(pieces(name).into_iter().map(|piece| piece.level)) {
        match level {
            Level::Step(name) => {
                if !spelled.is_empty() {
                    spelled.push('.');
                }
                spelled.push_str(name);
            }
            Level::Iteration(_) => {
                if spelled.is_empty() {
                    // Some writers number a loop without naming it.
                    spelled.push_str("loop");
                }
                spelled.push_str("[*]");
            }
        }
    }
    spelled
}
