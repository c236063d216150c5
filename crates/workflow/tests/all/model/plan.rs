//! Workflows that can be made up, and how they are written.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// A workflow: steps one after the other. Children are workflows of their own.
#[derive(Clone, Debug)]
pub(super) struct Plan(pub(super) Vec<Part>);

impl Plan {
    /// Gives every step of a run a way on after a failure. Without one it ends the run, and whoever
    /// resumes that wants it tried again.
    pub(super) fn without_dead_ends(mut self) -> Plan {
        for part in &mut self.0 {
            if part.on_failure == OnFailure::Nothing {
                part.on_failure = OnFailure::Rescue;
            }
            part.children_without_dead_ends();
        }
        self
    }
}

/// A step, and what follows from it.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) does: Does,
    /// How often it is tried in all.
    pub(super) tries: u32,
    pub(super) continue_on_error: bool,
    pub(super) on_failure: OnFailure,
}

impl Part {
    fn children_without_dead_ends(&mut self) {
        match &mut self.does {
            Does::Work(_) => {}
            Does::Parallel { branches: inside, .. }
            | Does::ForEach { body: inside, .. }
            | Does::While { body: inside, .. } => {
                inside.iter_mut().for_each(Part::children_without_dead_ends);
            }
            Does::Call(plan) => {
                *plan = Plan(std::mem::take(&mut plan.0)).without_dead_ends();
            }
        }
    }
}

/// What a step does.
#[derive(Clone, Debug)]
pub(super) enum Does {
    /// One piece of work.
    Work(Work),
    Parallel {
        strategy: &'static str,
        one_at_a_time: bool,
        branches: Vec<Part>,
    },
    ForEach {
        items: u64,
        break_at: Option<u64>,
        body: Vec<Part>,
    },
    While {
        times: u64,
        limit: u64,
        body: Vec<Part>,
    },
    Call(Plan),
}

/// A piece of work: when it fails, and where it leads.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// How many executions at one place fail before one succeeds.
    pub(super) fails: u64,
    /// The iteration in which it always fails.
    pub(super) fails_in: Option<u64>,
    /// Where its first success jumps to.
    pub(super) jump: Option<Jump>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Jump {
    /// To a step so many before it in the same sequence, itself if 0.
    Back(usize),
    /// Over the next step.
    Over,
    /// To the end of the run, out of everything.
    Out,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnFailure {
    Nothing,
    /// On to the next step.
    Next,
    /// To a terminal step.
    Rescue,
    /// The end, said in place.
    Inline,
}

/// Whether parallel steps may be decided while branches run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Racing {
    Yes,
    No,
}

pub(super) fn any_plan() -> impl Strategy<Value = Plan> {
    let part = any_part(any_work().prop_map(Does::Work)).prop_recursive(4, 24, 4, |inner| {
        let parts = || vec(inner.clone(), 1..4);
        let strategy = prop::sample::select(vec!["best_effort", "all_succeed", "any_succeed"]);
        any_part(prop_oneof![
            (strategy, any::<bool>(), parts()).prop_map(|(strategy, one_at_a_time, branches)| {
                Does::Parallel { strategy, one_at_a_time, branches }
            }),
            (0..4_u64, option::of(0..3_u64), parts())
                .prop_map(|(items, break_at, body)| Does::ForEach { items, break_at, body }),
            (0..4_u64, 1..4_u64, parts()).prop_map(|(times, limit, body)| Does::While {
                times,
                limit,
                body
            }),
            parts().prop_map(|parts| Does::Call(Plan(parts))),
        ])
    });
    vec(part, 1..4).prop_map(Plan)
}

fn any_part<D: Strategy<Value = Does> + 'static>(does: D) -> BoxedStrategy<Part> {
    let on_failure = prop::sample::select(vec![
        OnFailure::Nothing,
        OnFailure::Next,
        OnFailure::Rescue,
        OnFailure::Inline,
    ]);
    (does, 1..3_u32, any::<bool>(), on_failure)
        .prop_map(|(does, tries, continue_on_error, on_failure)| Part {
            does,
            tries,
            continue_on_error,
            on_failure,
        })
        .boxed()
}

fn any_work() -> impl Strategy<Value = Work> {
    let jump = prop_oneof![(0..3_usize).prop_map(Jump::Back), Just(Jump::Over), Just(Jump::Out)];
    let fails = prop_oneof![4 => Just(0_u64), 2 => Just(1), 1 => Just(9)];
    (fails, option::weighted(0.2, 0..3_u64), option::weighted(0.3, jump))
        .prop_map(|(fails, fails_in, jump)| Work { fails, fails_in, jump })
}

/// Where a sequence of steps stands.
#[derive(Clone, Copy)]
pub(super) enum Around<'a> {
    Run,
    Body { of: &'a str },
    Branches,
}

/// A step with a name, and where it leads.
pub(super) struct Named<'a> {
    pub(super) part: &'a Part,
    pub(super) name: String,
    /// Where it goes when it succeeds.
    pub(super) next: Option<String>,
    /// Where it goes when it fails, if that is a step.
    pub(super) rescue: Option<String>,
    /// Where its first success goes.
    pub(super) jump: Option<String>,
}

/// Gives names to the steps of a sequence, and turns ways into names. `path` is where it stands in
/// the workflow, so that names are unique and say where they belong.
pub(super) fn named<'a>(parts: &'a [Part], path: &str, around: Around<'_>) -> Vec<Named<'a>> {
    let name = |index: usize, part: &Part| {
        let word = match part.does {
            Does::Work(_) => "work",
            Does::Parallel { .. } => "fan",
            Does::ForEach { .. } => "each",
            Does::While { .. } => "loop",
            Does::Call(_) => "call",
        };
        format!("{word}{path}_{index}")
    };
    let names: Vec<String> =
        parts.iter().enumerate().map(|(index, part)| name(index, part)).collect();
    let after = |index: usize| match (names.get(index), around) {
        (_, Around::Branches) => None,
        (Some(name), _) => Some(name.clone()),
        (None, Around::Run) => Some("done".to_owned()),
        (None, Around::Body { of }) => Some(of.to_owned()),
    };
    let with_name = |(index, part): (usize, &'a Part)| {
        let jump = match &part.does {
            Does::Work(Work { jump: Some(jump), .. }) => match jump {
                Jump::Back(steps) => after(index.saturating_sub(*steps)),
                Jump::Over => after((index + 2).min(names.len())),
                Jump::Out => after(0).map(|_| "done".to_owned()),
            },
            _ => None,
        };
        let rescue = match part.on_failure {
            OnFailure::Next => after(index + 1),
            OnFailure::Rescue => after(0).map(|_| "rescued".to_owned()),
            _ => None,
        };
        Named { part, name: names[index].clone(), next: after(index + 1), rescue, jump }
    };
    parts.iter().enumerate().map(with_name).collect()
}

/// Writes a workflow and the ones it calls, by name.
pub(super) fn written(plan: &Plan, racing: Racing) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    Writing { racing, files: &mut files }.workflow("main", plan, "");
    files
}

struct Writing<'a> {
    racing: Racing,
    files: &'a mut BTreeMap<String, String>,
}

impl Writing<'_> {
    fn workflow(&mut self, name: &str, plan: &Plan, path: &str) {
        let steps = named(&plan.0, path, Around::Run);
        let mut text = format!("name: {name}\nstates:\n  initial: {}\n", steps[0].name);
        self.sequence(&mut text, &steps, path);
        text.push_str("  done: {type: terminal}\n  rescued: {type: terminal, status: failure}\n");
        self.files.insert(name.to_owned(), text);
    }

    fn sequence(&mut self, text: &mut String, steps: &[Named<'_>], path: &str) {
        for (index, step) in steps.iter().enumerate() {
            let inside = format!("{path}_{index}");
            let mut keys = self.keys(text, step, &inside);
            if step.part.tries > 1 {
                let tries = step.part.tries;
                keys.push(format!("retry: {{max_attempts: {tries}, initial_delay: 1ms}}"));
            }
            if step.part.continue_on_error {
                keys.push("continue_on_error: true".to_owned());
            }
            match &step.rescue {
                Some(target) => keys.push(format!("on_failure: {target}")),
                None if step.part.on_failure == OnFailure::Inline && step.next.is_some() => {
                    keys.push("on_failure: {message: so be it, status: 7}".to_owned());
                }
                None => {}
            }
            if let Some(target) = &step.jump {
                let when = format!("states.{}.Output == 'time 1'", step.name);
                keys.push(format!("transitions: [{{when: \"{when}\", goto: {target}}}]"));
            }
            let _ = writeln!(text, "  {}: {{{}}}", step.name, keys.join(", "));
        }
    }

    fn keys(&mut self, text: &mut String, step: &Named<'_>, inside: &str) -> Vec<String> {
        let names = |steps: &[Named<'_>]| {
            let names: Vec<_> = steps.iter().map(|step| step.name.clone()).collect();
            names.join(", ")
        };
        let next = |key: &str| step.next.as_ref().map(|next| format!("{key}: {next}"));
        let mut keys = Vec::new();
        match &step.part.does {
            Does::Work(work) => {
                let fails_in = work.fails_in.map(|index| format!(", fails_in: {index}"));
                keys.push(format!(
                    "type: operation, operation: test.work, inputs: {{run: '{{{{.workflow.ID}}}}', fails: {}{}}}",
                    work.fails,
                    fails_in.unwrap_or_default()
                ));
                keys.extend(next("on_success"));
            }
            Does::Parallel { strategy, one_at_a_time, branches } => {
                let branches_named = named(branches, inside, Around::Branches);
                self.sequence(text, &branches_named, inside);
                let list = names(&branches_named);
                keys.push(format!("type: parallel, strategy: {strategy}, parallel: [{list}]"));
                if *one_at_a_time || self.racing == Racing::No && *strategy != "best_effort" {
                    keys.push("max_concurrent: 1".to_owned());
                }
                keys.extend(next("on_success"));
            }
            Does::ForEach { items, break_at, body } => {
                let steps = named(body, inside, Around::Body { of: &step.name });
                self.sequence(text, &steps, inside);
                let items: Vec<_> = (0..*items).map(|item| item.to_string()).collect();
                let (items, body) = (items.join(", "), names(&steps));
                keys.push(format!("type: for_each, items: [{items}], body: [{body}]"));
                keys.extend(break_at.map(|at| format!("break_when: 'loop.Index == {at}'")));
                keys.extend(next("on_complete"));
            }
            Does::While { times, limit, body } => {
                let steps = named(body, inside, Around::Body { of: &step.name });
                self.sequence(text, &steps, inside);
                let body = names(&steps);
                keys.push(format!(
                    "type: while, while: 'loop.Index < {times}', max_iterations: {limit}, body: [{body}]"
                ));
                keys.extend(next("on_complete"));
            }
            Does::Call(plan) => {
                let child = format!("child{inside}");
                self.workflow(&child, plan, inside);
                keys.push(format!("type: call_workflow, workflow: {child}"));
                keys.extend(next("on_success"));
            }
        }
        keys
    }
}
