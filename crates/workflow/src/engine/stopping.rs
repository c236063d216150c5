//! How work is stopped before its time: the run is canceled, a branch decided the matter, or it takes
//! too long. What was started is always waited for, so that each start gets its end.

use std::collections::HashSet;

use quipu_event::payload::Status;

use super::activity::{ActivityId, Stopping};
use super::effect::{Effect, TaskId};
use super::run::Course;
use super::work::{Outcome, Work, WorkStatus};
use super::{Engine, Owner};

impl Engine {
    /// Stops everything. A second time changes nothing: the driver knows how to insist.
    pub(super) fn cancel_run(&mut self, reason: String) {
        match &self.course {
            Course::Ahead => return self.end_run(Status::Canceled, Some(reason), None),
            Course::Starting { .. } | Course::Steps => {}
            Course::Canceling { .. } | Course::Ending { .. } | Course::Over => return,
        }
        self.course = Course::Canceling { reason: reason.clone() };
        let all = self.activities.all();
        self.stop(&all, Stopping::Canceled);
        let run_tasks: Vec<_> = self.tasks_of(|owner| matches!(owner, Owner::Run));
        for &task in &run_tasks {
            self.emit(Effect::Stop { task });
        }
        if all.is_empty() && run_tasks.is_empty() {
            self.queue.clear();
            self.end_run(Status::Canceled, Some(reason), None);
        }
    }

    /// Stops an activity and everything inside it.
    pub(super) fn stop_subtree(&mut self, root: ActivityId, stopping: Stopping) {
        let inside = self.activities.subtree(root);
        self.stop(&inside, stopping);
    }

    /// Stops what is inside an activity, and not the activity itself.
    pub(super) fn stop_inside(&mut self, root: ActivityId, stopping: Stopping) {
        let mut inside = self.activities.subtree(root);
        inside.retain(|id| *id != root);
        self.stop(&inside, stopping);
    }

    fn stop(&mut self, activities: &[ActivityId], stopping: Stopping) {
        for &id in activities {
            self.activities.get_mut(id).stopping.get_or_insert(stopping);
        }
        let meant: HashSet<_> = activities.iter().copied().collect();
        let tasks =
            self.tasks_of(|owner| matches!(owner, Owner::Activity(id) if meant.contains(&id)));
        for task in tasks {
            self.emit(Effect::Stop { task });
        }
    }

    fn tasks_of(&self, is_meant: impl Fn(Owner) -> bool) -> Vec<TaskId> {
        let mut tasks: Vec<_> = self
            .tasks
            .iter()
            .filter(|(_, owner)| is_meant(**owner))
            .map(|(task, _)| *task)
            .collect();
        tasks.sort();
        tasks
    }

    /// Sets an alarm for an activity that is no single piece of work.
    pub(super) fn set_alarm(&mut self, id: ActivityId) {
        let activity = self.activities.get(id);
        let Some(timeout) = activity.step.timeout else { return };
        let at = activity.occurrence();
        let task = self.perform(Owner::Alarm(id), at, Work::Wait(timeout), None);
        self.activities.get_mut(id).alarm = Some(task);
    }

    pub(super) fn silence_alarm(&mut self, id: ActivityId) {
        if let Some(task) = self.activities.get_mut(id).alarm.take() {
            self.tasks.remove(&task);
            self.emit(Effect::Stop { task });
        }
    }

    pub(super) fn alarm_rang(&mut self, id: ActivityId, outcome: &Outcome) {
        self.activities.get_mut(id).alarm = None;
        if outcome.status == WorkStatus::Succeeded {
            self.stop_subtree(id, Stopping::TimedOut);
        }
    }
}
