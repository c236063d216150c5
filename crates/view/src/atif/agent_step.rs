//! A step of the agent in the making: what it said, what it asked for, and what came of that.

use quipu_event::payload::{Message, TokenCounts, ToolResult};
use quipu_event::{Event, Json};

use super::content::{self, Spoken};
use super::wire::{
    self, CallExtra, Moment, Observation, Reference, ResultExtra, Source, Step, StepExtra,
};

/// A step takes no more calls than this …
const MOST_CALLS: usize = 256;
/// … and none when what it said, asked for and was told has become so long.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// A step that may still get calls, answers and counts.
#[derive(Debug)]
pub(super) struct AgentStep {
    step: Step,
    tokens: TokenCounts,
    counted: bool,
    /// Documents of subagents, by the calls that started them and are not answered yet.
    references: Vec<(String, Reference)>,
    /// What happened meanwhile and stands behind it.
    behind: Vec<Step>,
}

impl AgentStep {
    /// Begins with what the agent said.
    pub(super) fn said(event: &Event, message: Message) -> Self {
        let (model, message_id) = (message.model.clone(), message.message_id.clone());
        let stop_reason = message.stop_reason.clone();
        let Spoken { instructions, text, reasoning, calls, left_out, .. } =
            content::spoken(message);
        let mut step = blank(event, Source::Agent, text.or(instructions).unwrap_or_default());
        step.model_name = model;
        step.reasoning_content = reasoning;
        step.tool_calls = calls;
        step.extra = StepExtra { message_id, stop_reason, left_out_blocks: left_out, ..step.extra };
        AgentStep::of(step)
    }

    /// Begins with an action that nobody announced.
    pub(super) fn silent(event: &Event) -> Self {
        AgentStep::of(blank(event, Source::Agent, String::new()))
    }

    fn of(step: Step) -> Self {
        AgentStep {
            step,
            tokens: TokenCounts::default(),
            counted: false,
            references: Vec::new(),
            behind: Vec::new(),
        }
    }

    /// Begins with an action of the workflow itself, which no model decided on.
    pub(super) fn dispatched(event: &Event, call_id: String, name: &str, arguments: Json) -> Self {
        let mut begun = AgentStep::silent(event);
        begun.step.llm_call_count = Some(0);
        begun.step.tool_calls.push(wire::ToolCall {
            tool_call_id: call_id,
            function_name: name.to_owned(),
            arguments,
            extra: None,
        });
        begun
    }

    /// Returns the id of its first call.
    pub(super) fn first_call(&self) -> Option<String> {
        self.step.tool_calls.first().map(|call| call.tool_call_id.clone())
    }

    /// Takes a call. What the model said of it is kept, who vouches for it is added.
    pub(super) fn call(&mut self, event: &Event, call: quipu_event::payload::ToolCall) {
        let extra = Some(CallExtra {
            seq: event.seq,
            fidelity: call.fidelity.as_str().to_owned(),
            provider: call.provider,
        });
        match self.step.tool_calls.iter_mut().find(|said| said.tool_call_id == call.call_id) {
            Some(said) => said.extra = extra,
            None => self.step.tool_calls.push(wire::ToolCall {
                tool_call_id: call.call_id,
                function_name: call.name,
                arguments: content::arguments(call.input),
                extra,
            }),
        }
    }

    /// Tells whether it made this call.
    pub(super) fn has_call(&self, call_id: &str) -> bool {
        self.step.tool_calls.iter().any(|call| call.tool_call_id == call_id)
    }

    /// Tells whether it made this call and a `tool.call` told so: another one is another call.
    pub(super) fn is_told_call(&self, call_id: &str) -> bool {
        let mut calls = self.step.tool_calls.iter();
        calls.any(|call| call.tool_call_id == call_id && call.extra.is_some())
    }

    /// Tells whether a further call belongs into a step of its own, for this one would never end.
    pub(super) fn is_full(&self) -> bool {
        let behind: usize = self.behind.iter().map(Step::weight).sum();
        self.step.tool_calls.len() + self.behind.len() >= MOST_CALLS
            || self.step.weight() + behind >= MOST_BYTES
    }

    /// Takes a step that stands behind this one, as it happened later.
    pub(super) fn put_behind(&mut self, step: Step) {
        self.behind.push(step);
    }

    /// Tells whether it knows what came of this call.
    pub(super) fn is_answered(&self, call_id: &str) -> bool {
        let results = self.step.observation.iter().flat_map(|seen| &seen.results);
        results.into_iter().any(|result| result.source_call_id.as_deref() == Some(call_id))
    }

    /// Takes what came of a call.
    pub(super) fn answer(&mut self, mut result: wire::Result) {
        let own = self.references.extract_if(.., |(call_id, _)| {
            result.source_call_id.as_deref() == Some(call_id.as_str())
        });
        result.subagent_trajectory_ref.extend(own.map(|(_, reference)| reference));
        self.step.observation.get_or_insert_default().results.push(result);
    }

    /// Takes note of the subagent that a call started.
    pub(super) fn refer(&mut self, call_id: &str, reference: Reference) {
        let results = self.step.observation.iter_mut().flat_map(|seen| &mut seen.results);
        let mut results = results.into_iter();
        match results.find(|result| result.source_call_id.as_deref() == Some(call_id)) {
            Some(result) => result.subagent_trajectory_ref.push(reference),
            None => self.references.push((call_id.to_owned(), reference)),
        }
    }

    /// Tells whether these tokens are those of what was said here.
    pub(super) fn is_counted_by(&self, message_id: Option<&str>) -> bool {
        !self.counted
            && match (message_id, self.step.extra.message_id.as_deref()) {
                (Some(of), Some(own)) => of == own,
                (None, _) => true,
                (Some(_), None) => false,
            }
    }

    /// Takes the tokens of what was said.
    pub(super) fn count(&mut self, tokens: &TokenCounts) {
        self.tokens.add(tokens);
        self.counted = true;
    }

    /// Returns the step, and those behind it.
    pub(super) fn end(mut self) -> impl Iterator<Item = Step> {
        for (call_id, reference) in std::mem::take(&mut self.references) {
            self.answer(wire::Result {
                source_call_id: Some(call_id),
                subagent_trajectory_ref: vec![reference],
                ..wire::Result::default()
            });
        }
        if !self.tokens.is_empty() {
            self.step.metrics = Some(content::metrics(&self.tokens));
        }
        std::iter::once(self.step).chain(self.behind)
    }
}

/// Makes a step that says `message`.
pub(super) fn blank(event: &Event, source: Source, message: String) -> Step {
    Step {
        step_id: 0,
        timestamp: Moment::of(event.timestamp),
        source,
        model_name: None,
        message,
        reasoning_content: None,
        tool_calls: Vec::new(),
        observation: None,
        metrics: None,
        llm_call_count: None,
        extra: StepExtra {
            seq: event.seq,
            path: event.path.as_str().to_owned(),
            ..StepExtra::default()
        },
    }
}

/// Makes what came of a call. Only its own step may say which call that was.
pub(super) fn observed(event: &Event, result: ToolResult, own: bool) -> wire::Result {
    let content = content::answer_text(&result.output).or_else(|| result.error.clone());
    wire::Result {
        source_call_id: own.then(|| result.call_id.clone()),
        content,
        subagent_trajectory_ref: Vec::new(),
        extra: Some(ResultExtra {
            seq: event.seq,
            call_id: (!own).then_some(result.call_id),
            status: result.status.map(|status| status.as_str().to_owned()),
            error: result.error,
            duration_ms: result.duration_ms,
        }),
    }
}

/// Makes an observation of one result.
pub(super) fn observation(result: wire::Result) -> Option<Observation> {
    Some(Observation { results: vec![result] })
}
