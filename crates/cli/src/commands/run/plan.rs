//! `--dry-run`: what a workflow would do, step by step, with what is known filled in.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use quipu_workflow::definition::{
    AgentStep, CommandText, FailureTarget, Items, PromptText, Step, StepKind, TerminalStatus,
    ValueTemplate, Workflow,
};
use quipu_workflow::driver::mask_named;
use quipu_workflow::language::Value;
use quipu_workflow::operation::OPERATIONS;
use serde_json::{Map, json};

use super::known::Known;
use crate::Context;
use crate::format::span::duration;
use crate::format::style;
use crate::format::visible::{one_line, visible};

/// How much of a prompt is shown.
const WIDEST: usize = 200;

/// Prints the plan.
pub(super) fn show(
    context: &Context,
    workflow: &Workflow,
    inputs: &Map<String, Value>,
) -> anyhow::Result<()> {
    let known = Known::new(&workflow.name, inputs);
    let rows: Vec<Row> = in_order(workflow).into_iter().map(|step| Row::of(step, &known)).collect();
    let masked = mask_named(inputs);
    let plugins = needed_plugins(context, workflow);
    if context.screen.json {
        let steps: Vec<Value> = rows.iter().map(Row::json).collect();
        return context.screen.print_json(&json!({
            "workflow": workflow.name, "version": workflow.version, "file": workflow.file,
            "initial": workflow.initial, "inputs": masked, "steps": steps,
            "deliverables": workflow.deliverables.iter().map(|path| known.fill(path)).collect::<Vec<_>>(),
            "plugins": plugins.iter().map(|(name, from)| json!({ "name": name, "from": from })).collect::<Vec<_>>(),
        }));
    }
    let (bold, dim) = (style::BOLD, style::DIM);
    let mut out = context.screen.stdout();
    let version = workflow.version.as_deref().map(|v| format!(" {v}")).unwrap_or_default();
    let name = visible(&workflow.name);
    writeln!(out, "{bold}{name}{bold:#}{version}  {dim}{}{dim:#}", workflow.file.display())?;
    for (name, value) in &masked {
        writeln!(out, "  {name} = {}", one_line(&value.to_string(), WIDEST))?;
    }
    for (name, from) in &plugins {
        writeln!(out, "  {dim}plugin{dim:#} {}  {dim}{from}{dim:#}", visible(name))?;
    }
    for (index, row) in rows.iter().enumerate() {
        let number = index + 1;
        writeln!(out, "\n{number:3}. {bold}{}{bold:#}  {dim}{}{dim:#}", row.name, row.kind)?;
        for (label, text) in &row.facts {
            for (line, text) in visible(text.trim_end()).lines().enumerate() {
                let label = if line == 0 { label } else { "" };
                writeln!(out, "     {dim}{label:10}{dim:#} {text}")?;
            }
        }
        for way in &row.ways {
            writeln!(out, "     {dim}{:10}{dim:#} → {}", way.0, visible(&way.1))?;
        }
    }
    for (index, path) in workflow.deliverables.iter().enumerate() {
        let (gap, path) = (if index == 0 { "\n" } else { "" }, known.fill(path));
        writeln!(out, "{gap}     {dim}deliverable{dim:#} {}", one_line(&path, WIDEST))?;
    }
    writeln!(out, "\n{dim}nothing was run{dim:#}")?;
    out.flush()?;
    Ok(())
}

/// Returns the plugins that steps of the workflow need, and where each is configured.
fn needed_plugins(context: &Context, workflow: &Workflow) -> BTreeMap<String, &'static str> {
    let mut needed = BTreeSet::new();
    for step in workflow.steps.values() {
        match &step.kind {
            StepKind::Operation(operation) => drop(needed.insert(before_dot(&operation.operation))),
            StepKind::Custom(custom) => drop(needed.insert(before_dot(&custom.step_type))),
            StepKind::Agent(AgentStep { mcp_proxy: Some(proxy), .. }) if proxy.enable => {
                needed.extend(proxy.plugin_tools.iter().map(|tools| tools.plugin.as_str()));
            }
            _ => {}
        }
    }
    let built_in = |name: &str| OPERATIONS.iter().any(|known| before_dot(known) == name);
    let configured = needed.into_iter().filter(|name| !built_in(name)).map(|name| {
        let from = if workflow.plugins.contains_key(name) {
            "of the workflow"
        } else if context.settings.plugins.value.contains_key(name) {
            "of quipu.toml"
        } else {
            "configured nowhere"
        };
        (name.to_owned(), from)
    });
    configured.collect()
}

fn before_dot(name: &str) -> &str {
    name.split_once('.').map_or(name, |(plugin, _)| plugin)
}

/// One step of the plan.
struct Row {
    name: String,
    kind: String,
    /// What it does, by name.
    facts: Vec<(&'static str, String)>,
    /// Where it leads: when, and to which step.
    ways: Vec<(String, String)>,
}

impl Row {
    fn of(step: &Step, known: &Known) -> Self {
        let mut facts = facts(&step.kind, known);
        facts.extend(step.timeout.map(|timeout| {
            ("timeout", duration(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)))
        }));
        facts.extend(
            step.retry
                .as_ref()
                .map(|retry| ("retry", format!("up to {} attempts", retry.max_attempts))),
        );
        let (name, kind) = (step.name.clone(), step.kind.word().to_owned());
        Row { name, kind, facts, ways: ways(step, known) }
    }

    fn json(&self) -> Value {
        let facts: Map<String, Value> =
            self.facts.iter().map(|(name, text)| ((*name).to_owned(), json!(text))).collect();
        let ways: Vec<Value> =
            self.ways.iter().map(|(when, goto)| json!({"when": when, "goto": goto})).collect();
        json!({"name": self.name, "kind": self.kind, "does": facts, "leads_to": ways})
    }
}

fn facts(kind: &StepKind, known: &Known) -> Vec<(&'static str, String)> {
    match kind {
        StepKind::Command(command) => {
            let mut facts = vec![match &command.text {
                CommandText::Inline(text) => ("command", known.fill(text)),
                CommandText::File(file) => ("script", known.fill(file)),
            }];
            facts.extend(command.dir.as_ref().map(|dir| ("dir", known.fill(dir))));
            facts
        }
        StepKind::Agent(agent) => {
            let mut facts = vec![("provider", known.fill(&agent.provider))];
            if let Some(ValueTemplate::Text(model)) = agent.options.get("model") {
                facts.push(("model", known.fill(model)));
            }
            facts.push(match &agent.prompt {
                PromptText::Inline(text) => ("prompt", one_line(&known.fill(text), WIDEST)),
                PromptText::File(file) => ("prompt", known.fill(file)),
            });
            facts
        }
        StepKind::Operation(operation) => vec![("operation", operation.operation.clone())],
        StepKind::Parallel(parallel) => vec![("branches", parallel.branches.join(", "))],
        StepKind::ForEach(each) => {
            let items = match &each.items {
                Items::List(list) => format!("{} items", list.len()),
                Items::Template(template) => one_line(&known.fill(template), WIDEST),
            };
            vec![("items", items), ("body", each.each.body.join(", "))]
        }
        StepKind::While(round) => vec![
            ("while", round.condition.source().to_owned()),
            ("body", round.each.body.join(", ")),
        ],
        StepKind::CallWorkflow(call) => vec![("workflow", known.fill(&call.workflow))],
        StepKind::Terminal(terminal) => {
            let status = match terminal.status {
                TerminalStatus::Success => "success",
                TerminalStatus::Failure => "failure",
            };
            let mut facts = vec![("status", status.to_owned())];
            facts.extend(terminal.message.as_ref().map(|text| ("message", known.fill(text))));
            facts
        }
        StepKind::Custom(_) => Vec::new(),
    }
}

fn ways(step: &Step, known: &Known) -> Vec<(String, String)> {
    let flow = &step.flow;
    let mut ways: Vec<(String, String)> = Vec::new();
    for transition in &flow.transitions {
        let when = transition.when.as_ref().map_or("else", |when| when.source());
        ways.push((when.to_owned(), transition.goto.clone()));
    }
    let complete = match &step.kind {
        StepKind::ForEach(each) => each.each.on_complete.as_ref(),
        StepKind::While(round) => round.each.on_complete.as_ref(),
        _ => None,
    };
    ways.extend(complete.map(|target| ("complete".to_owned(), target.clone())));
    ways.extend(flow.on_success.as_ref().map(|target| ("success".to_owned(), target.clone())));
    match &flow.on_failure {
        Some(FailureTarget::Step(target)) => ways.push(("failure".to_owned(), target.clone())),
        Some(FailureTarget::End { message, status }) => {
            let end = format!("the end, with status {status}: {}", known.fill(message));
            ways.push(("failure".to_owned(), end));
        }
        None => {}
    }
    ways
}

/// Returns the steps in the order in which a run that goes well would come to them. Those that
/// only a failure, or a step inside another, leads to follow; those that nothing leads to are last.
fn in_order(workflow: &Workflow) -> Vec<&Step> {
    let mut seen = BTreeSet::new();
    let mut order = Vec::new();
    let mut later = Vec::new();
    let mut ahead = vec![(workflow.initial.as_str(), false)];
    while let Some((name, is_inside)) = ahead.pop().or_else(|| later.pop()) {
        let Some(step) = workflow.steps.get(name) else { continue };
        if !seen.insert(name) {
            continue;
        }
        order.push(&**step);
        // The last one pushed is the next one taken.
        let (inside, next, failure) = targets(step);
        later.extend(failure.map(|name| (name, false)));
        let next = next.into_iter().rev().map(|name| (name, false));
        if is_inside {
            later.extend(next);
        } else {
            ahead.extend(next);
        }
        ahead.extend(inside.into_iter().rev().map(|name| (name, true)));
    }
    let unreached = workflow.steps.iter().filter(|(name, _)| !seen.contains(name.as_str()));
    order.extend(unreached.map(|(_, step)| &**step));
    order
}

/// Returns the steps inside a step, those it leads to, and the one a failure leads to.
fn targets(step: &Step) -> (Vec<&str>, Vec<&str>, Option<&str>) {
    let (inside, complete): (&[String], Option<&String>) = match &step.kind {
        StepKind::Parallel(parallel) => (&parallel.branches, None),
        StepKind::ForEach(each) => (&each.each.body, each.each.on_complete.as_ref()),
        StepKind::While(round) => (&round.each.body, round.each.on_complete.as_ref()),
        _ => (&[], None),
    };
    let flow = &step.flow;
    let transitions = flow.transitions.iter().map(|transition| transition.goto.as_str());
    let straight = flow.on_success.iter().chain(complete).map(String::as_str);
    let failure = match &flow.on_failure {
        Some(FailureTarget::Step(target)) => Some(target.as_str()),
        _ => None,
    };
    let inside = inside.iter().map(String::as_str).collect();
    (inside, transitions.chain(straight).collect(), failure)
}
