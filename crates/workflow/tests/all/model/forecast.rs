//! What a workflow that was made up comes to, worked out step by step.
//!
//! It knows nothing of the engine: it walks sequences of steps and counts executions by their place.

use std::collections::BTreeMap;

use super::plan::{Around, Does, Named, OnFailure, Part, Plan, Work, named};

/// What a run comes to.
pub(super) struct Forecast {
    /// Each execution of each step on a line, sorted by path; called runs further in.
    pub(super) text: String,
    /// Whether no loop and no parallel step is executed twice at the same place.
    pub(super) enters_nothing_twice: bool,
}

/// Works out what a workflow comes to.
pub(super) fn of(plan: &Plan) -> Forecast {
    let mut nothing_twice = true;
    let text = run(plan, "", &mut nothing_twice);
    Forecast { text, enters_nothing_twice: nothing_twice }
}

/// Where a walk goes from a step.
#[derive(Clone, Debug)]
enum Way {
    To(String),
    /// Nothing is said: on with the next, or the end.
    On,
    /// The end, failed.
    Failed,
    /// The run ends, as a step says itself.
    Ended,
}

/// What a step came to, and where it wants to go.
struct End {
    succeeded: bool,
    out: Option<Way>,
}

/// One run.
struct Walk<'a> {
    /// Each execution by place: iteration, kind, how it ended, the run it called.
    done: BTreeMap<String, Vec<String>>,
    nothing_twice: &'a mut bool,
}

fn run(plan: &Plan, path: &str, nothing_twice: &mut bool) -> String {
    let mut walk = Walk { done: BTreeMap::new(), nothing_twice };
    let steps = named(&plan.0, path, Around::Run);
    let mut at = Some(0);
    let mut succeeded = true;
    while let Some(index) = at.take() {
        let step = &steps[index];
        let (_, way) = walk.step(step, &format!("{path}_{index}"), &step.name, 0, true);
        match way {
            Way::To(name) => match steps.iter().position(|step| step.name == name) {
                Some(index) => at = Some(index),
                None => {
                    succeeded = name == "done";
                    let status = if succeeded { "succeeded" } else { "failed" };
                    walk.done.entry(name).or_default().push(format!("~0 terminal {status}"));
                }
            },
            Way::On => {}
            Way::Failed | Way::Ended => succeeded = false,
        }
    }
    let status = if succeeded { "succeeded" } else { "failed" };
    let mut text = format!("{status}\n");
    for (path, executions) in &walk.done {
        for (index, told) in executions.iter().enumerate() {
            text += &format!("{path}#{} {told}\n", index + 1);
        }
    }
    text
}

impl Walk<'_> {
    /// Walks through all tries of a step. `chooses` is whether it has a say in what follows.
    fn step(
        &mut self,
        step: &Named<'_>,
        inside: &str,
        place: &str,
        iteration: u64,
        chooses: bool,
    ) -> (bool, Way) {
        let mut tries = 0;
        loop {
            tries += 1;
            // The number is taken before anything inside is walked.
            let executions = self.done.entry(place.to_owned()).or_default();
            executions.push(String::new());
            let time = executions.len();
            let (end, kind, child) = self.once(step.part, inside, place, iteration, time, step);
            let status = if end.succeeded { "succeeded" } else { "failed" };
            let told = format!("~{iteration} {kind} {status}{child}");
            self.done.get_mut(place).unwrap()[time - 1] = told;
            if end.succeeded || tries >= step.part.tries {
                let way = if chooses { way_from(step, &end, time) } else { Way::On };
                return (end.succeeded, way);
            }
        }
    }

    fn once(
        &mut self,
        part: &Part,
        inside: &str,
        place: &str,
        iteration: u64,
        time: usize,
        step: &Named<'_>,
    ) -> (End, &'static str, String) {
        let plain = |succeeded| End { succeeded, out: None };
        let is_container = !matches!(part.does, Does::Work(_) | Does::Call(_));
        *self.nothing_twice &= !is_container || time == 1;
        match &part.does {
            Does::Work(Work { fails, fails_in, .. }) => {
                let failed = time as u64 <= *fails || *fails_in == Some(iteration);
                (plain(!failed), "operation", String::new())
            }
            Does::Parallel { strategy, branches, .. } => {
                let succeeded = self.parallel(strategy, branches, inside, place, iteration);
                (plain(succeeded), "parallel", String::new())
            }
            Does::ForEach { items, break_at, body } => {
                let (end, _) = self.each(body, inside, place, &step.name, *items, *break_at);
                (end, "for_each", String::new())
            }
            Does::While { times, limit, body } => {
                let count = *times.min(limit);
                let (mut end, had_failure) =
                    self.each(body, inside, place, &step.name, count, None);
                // Giving up at the limit is a failure, unless the workflow says what follows.
                let gave_up = times > limit && had_failure && step.next.is_none();
                end.succeeded &= end.out.is_some() || !gave_up;
                (end, "while", String::new())
            }
            Does::Call(plan) => {
                let child = run(plan, inside, self.nothing_twice);
                let succeeded = child.starts_with("succeeded");
                let child: String = child.lines().map(|line| format!("\n    {line}")).collect();
                (plain(succeeded), "call_workflow", format!(" called{child}"))
            }
        }
    }

    /// Walks through branches. Those with a strategy that can be decided early go one by one.
    fn parallel(
        &mut self,
        strategy: &str,
        branches: &[Part],
        inside: &str,
        place: &str,
        iteration: u64,
    ) -> bool {
        let steps = named(branches, inside, Around::Branches);
        let (mut good, mut bad) = (0, 0);
        for (index, step) in steps.iter().enumerate() {
            if strategy == "all_succeed" && bad > 0 || strategy == "any_succeed" && good > 0 {
                break;
            }
            let place = format!("{place}.{}", step.name);
            let further = format!("{inside}_{index}");
            let (succeeded, _) = self.step(step, &further, &place, iteration, false);
            if succeeded || step.part.continue_on_error {
                good += 1;
            } else {
                bad += 1;
            }
        }
        match strategy {
            "all_succeed" => bad == 0,
            "any_succeed" => good > 0,
            _ => true,
        }
    }

    /// Walks through iterations. Also tells whether a step in them failed.
    fn each(
        &mut self,
        body: &[Part],
        inside: &str,
        place: &str,
        name: &str,
        times: u64,
        break_at: Option<u64>,
    ) -> (End, bool) {
        let mut had_failure = false;
        let steps = named(body, inside, Around::Body { of: name });
        for iteration in 0..times {
            let mut at = 0;
            while let Some(step) = steps.get(at) {
                let place = format!("{place}[{iteration}].{}", step.name);
                let further = format!("{inside}_{at}");
                let (succeeded, way) = self.step(step, &further, &place, iteration, true);
                had_failure |= !succeeded;
                let failed_here = !succeeded && !step.part.continue_on_error;
                at = match way {
                    Way::To(target) if target == name => at + 1,
                    Way::To(target) => match steps.iter().position(|step| step.name == target) {
                        Some(index) => index,
                        None => {
                            let out = Some(Way::To(target));
                            return (End { succeeded: !failed_here, out }, had_failure);
                        }
                    },
                    Way::On => at + 1,
                    // A failure that nothing takes care of leaves the last word to `break_when`.
                    Way::Failed if break_at == Some(iteration) => break,
                    way @ (Way::Failed | Way::Ended) => {
                        let out = Some(way);
                        return (End { succeeded: false, out }, had_failure);
                    }
                };
            }
            if break_at == Some(iteration) {
                break;
            }
        }
        (End { succeeded: true, out: None }, had_failure)
    }
}

/// Where a step leads that has a say in it.
fn way_from(step: &Named<'_>, end: &End, time: usize) -> Way {
    let on = || step.next.clone().map_or(Way::On, Way::To);
    if end.succeeded {
        let jump = step.jump.clone().filter(|_| time == 1);
        return end.out.clone().or_else(|| jump.map(Way::To)).unwrap_or_else(on);
    }
    if step.part.continue_on_error {
        return on();
    }
    match (&step.rescue, step.part.on_failure) {
        (Some(target), _) => Way::To(target.clone()),
        (None, OnFailure::Inline) => Way::Ended,
        (None, _) => end.out.clone().unwrap_or(Way::Failed),
    }
}
