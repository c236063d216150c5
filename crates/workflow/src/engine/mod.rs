//! The engine: what happens next, decided without doing any of it.
//!
//! `(state, input) → (state, effects)`: no I/O, no async, no clock. A driver performs the effects and
//! feeds back what came of them; the engine answers with the next ones. Given the same answers it
//! does the same, which is how a run is resumed: what its transcript says is over is answered from
//! there instead of being performed again.
//!
//! One execution of a step is an *activity*. Activities form a tree (a loop around its body, a
//! parallel step around its branches); what happens in one is told to the one around it through a
//! queue, so that neither depth nor length of a run takes stack.

mod activity;
mod effect;
mod flow;
mod history;
mod hooks;
mod lifecycle;
mod numbering;
mod place;
mod retry;
mod run;
mod scope;
mod setup;
mod steps;
mod stopping;
mod values;
mod work;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::definition::Workflow;
use activity::{Activities, ActivityId};
pub use effect::{Effect, Input, Next, Occurrence, RunEnd, StepBegin, StepEnd, TaskId};
pub use history::{History, Past};
use numbering::Numbering;
use run::Course;
pub(crate) use scope::STATE_FIELDS;
pub use setup::{ReadFile, Setup};
use values::Values;
pub use work::{
    AgentJob, CallJob, CommandJob, CustomJob, OperationJob, Outcome, ScriptText, Work, WorkStatus,
};

/// A run while it goes on.
pub struct Engine {
    plan: Arc<Workflow>,
    setup: Setup,
    values: Values,
    activities: Activities,
    /// Who waits for which work.
    tasks: HashMap<TaskId, Owner>,
    last_task: u64,
    queue: VecDeque<Todo>,
    effects: Vec<Effect>,
    now: Duration,
    numbering: Numbering,
    course: Course,
    /// The command of the hook that runs for the run, as it reads with its values in place.
    hook_command: String,
}

/// Who waits for a piece of work.
#[derive(Clone, Copy, Debug)]
enum Owner {
    /// A step: its own work, one of its hooks, or the wait before its next attempt.
    Activity(ActivityId),
    /// A step that may take only so long.
    Alarm(ActivityId),
    /// The run: one of its hooks.
    Run,
}

/// Something the engine has yet to do itself.
#[derive(Debug)]
enum Todo {
    /// The run goes on with a step.
    Go(String),
    /// An attempt of a step begins.
    Enter(ActivityId),
    /// A loop goes on to its next iteration.
    Turn(ActivityId),
    /// A step is over, and the one around it has to know.
    Close(ActivityId),
}

impl Engine {
    /// Makes an engine for one run of `plan`.
    pub fn new(plan: Arc<Workflow>, setup: Setup) -> Self {
        Engine {
            plan,
            setup,
            values: Values::new(),
            activities: Activities::default(),
            tasks: HashMap::new(),
            last_task: 0,
            queue: VecDeque::new(),
            effects: Vec::new(),
            now: Duration::ZERO,
            numbering: Numbering::from_base(1),
            course: Course::Ahead,
            hook_command: String::new(),
        }
    }

    /// Takes an input, `now` after the run began, and returns what is to be done.
    ///
    /// Inputs that come too late (for work that nobody waits for, or after the end) change nothing.
    pub fn step(&mut self, now: Duration, input: Input) -> Vec<Effect> {
        self.now = self.now.max(now);
        match input {
            Input::Start => self.begin_run(),
            Input::Finished { task, outcome } => match self.tasks.remove(&task) {
                Some(Owner::Activity(id)) => self.task_is_over(id, outcome),
                Some(Owner::Alarm(id)) => self.alarm_rang(id, &outcome),
                Some(Owner::Run) => self.run_hook_is_over(outcome),
                None => {}
            },
            Input::Cancel { reason } => self.cancel_run(reason),
        }
        while let Some(todo) = self.queue.pop_front() {
            match todo {
                Todo::Go(step) => self.go_to(&step),
                Todo::Enter(id) => self.enter(id),
                Todo::Turn(id) => self.turn(id),
                Todo::Close(id) => self.close(id),
            }
        }
        std::mem::take(&mut self.effects)
    }

    /// Tells whether the run is over.
    pub fn is_over(&self) -> bool {
        matches!(self.course, Course::Over)
    }

    fn emit(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    fn perform(
        &mut self,
        owner: Owner,
        at: Occurrence,
        work: Work,
        timeout: Option<Duration>,
    ) -> TaskId {
        self.last_task += 1;
        let task = TaskId(self.last_task);
        self.tasks.insert(task, owner);
        self.emit(Effect::Perform { task, at, work: Box::new(work), timeout });
        task
    }
}
