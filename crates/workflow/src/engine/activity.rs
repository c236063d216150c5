//! Activities: steps in execution, and how they lie inside each other.

use std::sync::Arc;

use quipu_event::StepPath;
use quipu_event::payload::Status;

use super::Engine;
use super::effect::{Occurrence, TaskId};
use super::flow::Way;
use super::numbering::Numbering;
use super::scope::{LoopView, StepScope};
use super::steps::loops::Turns;
use super::steps::parallel::Branches;
use super::values::SpaceId;
use super::work::{Outcome, Work};
use crate::definition::Step;
use quipu_event::RunId;

/// Names an activity while it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ActivityId(usize);

/// One execution of a step, all its attempts included.
#[derive(Debug)]
pub(super) struct Activity {
    pub(super) parent: Parent,
    pub(super) step: Arc<Step>,
    pub(super) path: StepPath,
    pub(super) iteration: u64,
    /// The number of the attempt, unique at this path.
    pub(super) attempt: u32,
    /// How often it was tried this time.
    pub(super) tries: u32,
    pub(super) space: SpaceId,
    pub(super) inner_loop: Option<Arc<LoopView>>,
    pub(super) stopping: Option<Stopping>,
    pub(super) alarm: Option<TaskId>,
    /// The run that an earlier, unfinished attempt called.
    pub(super) child: Option<RunId>,
    /// The command of the hook that runs for it, as it reads with its values in place.
    pub(super) hook_command: String,
    pub(super) doing: Doing,
}

/// What lies around an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parent {
    /// The run itself.
    Run,
    /// A parallel step, whose branch of that index this is.
    Branch(ActivityId, usize),
    /// A loop, in whose body this is.
    Body(ActivityId),
}

/// Why an activity is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopping {
    /// The run is canceled, or a sibling decided the matter.
    Canceled,
    /// It, or something around it, took too long.
    TimedOut,
}

/// What an activity is doing.
#[derive(Debug)]
pub(super) enum Doing {
    /// Nothing yet.
    Nothing,
    /// The hooks before it; then its work.
    Before { hook: usize, work: Option<Box<Work>> },
    /// One piece of work.
    Work,
    /// Its branches.
    Parallel(Box<Branches>),
    /// Its iterations.
    Loop(Box<Turns>),
    /// Waiting for its next attempt.
    Waiting,
    /// The hooks after it.
    After { hook: usize, ended: Box<Ended> },
    /// Nothing any more.
    Over(Box<Ended>),
}

/// What an activity came to.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) status: Status,
    pub(super) outcome: Outcome,
    /// Where a loop's body or a terminal step wants the run to go.
    pub(super) way_out: Option<Way>,
    /// Whether its last attempt has been told as over already.
    pub(super) told: Told,
}

/// Whether something still has to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    NotYet,
    Already,
}

impl Activity {
    pub(super) fn occurrence(&self) -> Occurrence {
        Occurrence { path: self.path.clone(), iteration: self.iteration, attempt: self.attempt }
    }
}

/// All activities that exist.
#[derive(Debug, Default)]
pub(super) struct Activities {
    places: Vec<Option<Activity>>,
    unused: Vec<usize>,
}

impl Activities {
    pub(super) fn insert(&mut self, activity: Activity) -> ActivityId {
        match self.unused.pop() {
            Some(place) => {
                self.places[place] = Some(activity);
                ActivityId(place)
            }
            None => {
                self.places.push(Some(activity));
                ActivityId(self.places.len() - 1)
            }
        }
    }

    pub(super) fn remove(&mut self, id: ActivityId) -> Option<Activity> {
        let removed = self.places.get_mut(id.0)?.take()?;
        self.unused.push(id.0);
        Some(removed)
    }

    pub(super) fn get(&self, id: ActivityId) -> &Activity {
        self.places[id.0].as_ref().expect("an id is dropped together with its activity")
    }

    pub(super) fn get_mut(&mut self, id: ActivityId) -> &mut Activity {
        self.places[id.0].as_mut().expect("an id is dropped together with its activity")
    }

    /// Lists an activity and everything inside it.
    pub(super) fn subtree(&self, root: ActivityId) -> Vec<ActivityId> {
        let lies_inside = |id: ActivityId| {
            let around = |id: &ActivityId| match self.get(*id).parent {
                Parent::Run => None,
                Parent::Branch(outer, _) | Parent::Body(outer) => Some(outer),
            };
            std::iter::successors(Some(id), around).any(|outer| outer == root)
        };
        self.all().into_iter().filter(|id| lies_inside(*id)).collect()
    }

    pub(super) fn all(&self) -> Vec<ActivityId> {
        let taken = self.places.iter().enumerate().filter(|(_, place)| place.is_some());
        taken.map(|(index, _)| ActivityId(index)).collect()
    }
}

/// Where and with what a step is to be executed.
pub(super) struct Entrance {
    pub(super) parent: Parent,
    pub(super) path: StepPath,
    pub(super) iteration: u64,
    pub(super) space: SpaceId,
    pub(super) inner_loop: Option<Arc<LoopView>>,
}

impl Engine {
    /// Makes an activity for a step and lets it begin.
    pub(super) fn start(&mut self, step: &Arc<Step>, entrance: Entrance) -> ActivityId {
        let id = self.activities.insert(Activity {
            parent: entrance.parent,
            step: Arc::clone(step),
            path: entrance.path,
            iteration: entrance.iteration,
            attempt: 0,
            tries: 0,
            space: entrance.space,
            inner_loop: entrance.inner_loop,
            stopping: None,
            alarm: None,
            child: None,
            hook_command: String::new(),
            doing: Doing::Nothing,
        });
        self.queue.push_back(super::Todo::Enter(id));
        id
    }

    /// Returns what the templates and expressions of an activity can use.
    pub(super) fn scope(&self, id: ActivityId) -> StepScope<'_> {
        let activity = self.activities.get(id);
        StepScope {
            plan: &self.plan,
            setup: &self.setup,
            values: &self.values,
            space: activity.space,
            inner_loop: activity.inner_loop.as_ref(),
            current_step: &activity.step.name,
            elapsed: self.now,
            failure: None,
        }
    }

    /// Returns the numbers used around an activity.
    pub(super) fn numbering_around(&mut self, parent: Parent) -> &mut Numbering {
        match parent {
            Parent::Run => &mut self.numbering,
            Parent::Branch(outer, _) | Parent::Body(outer) => {
                match &mut self.activities.get_mut(outer).doing {
                    Doing::Parallel(branches) => &mut branches.numbering,
                    Doing::Loop(turns) => &mut turns.numbering,
                    _ => &mut self.numbering,
                }
            }
        }
    }
}
