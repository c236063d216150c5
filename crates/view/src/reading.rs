//! An event as views take it: the payload decoded, and what the writer left out filled in.
//!
//! Every quirk of other writers that matters to a view ends here: no payload, no status, no path, a
//! block of a type that nobody knows.
//! The event itself is never changed.

mod foreign_block;

use quipu_event::payload::{
    Message, PayloadError, RunCompleted, Status, StepCompleted, StepStarted, ToolCall, ToolResult,
    ToolStatus,
};
use quipu_event::{Event, Json, Kind, Payload, StepPath};
use serde::Deserialize;

/// What could be read of an event's payload.
pub(crate) struct Reading {
    /// The payload, with every status filled in.
    pub(crate) payload: Payload,
    /// Whether the payload had the shape of its type.
    pub(crate) shape: Shape,
}

/// Whether a payload had the shape of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// It had, or there was none.
    Sound,
    /// It had not, and what it said is not known.
    Undecoded,
}

/// Decodes the payload of `event`, with all that its blocks of unknown types say.
pub fn decode_whole(event: &Event) -> Result<Payload, PayloadError> {
    let mut payload = event.decode_payload()?;
    foreign_block::fill_in_content(&mut payload, &event.payload);
    Ok(payload)
}

/// Reads the payload of `event`.
pub(crate) fn read(event: &Event) -> Reading {
    let (payload, shape) = match decode_whole(event) {
        Ok(payload) => (payload, Shape::Sound),
        Err(_) => (Payload::Absent, Shape::Undecoded),
    };
    let mut payload = match payload {
        Payload::Absent => stand_in(&event.kind, shape),
        payload => payload,
    };
    fill_in_status(&mut payload);
    Reading { payload, shape }
}

/// Returns where a step event happened: its path or, lacking one, its name.
pub(crate) fn step_path(event: &Event, name: &str) -> StepPath {
    if event.path.is_root() { StepPath::from(name) } else { event.path.clone() }
}

/// Returns the payload that stands for one that is absent or has another shape.
///
/// What ended without a legible payload did end; nobody knows how.
fn stand_in(kind: &Kind, shape: Shape) -> Payload {
    let status = match shape {
        Shape::Sound => None,
        Shape::Undecoded => Some(Status::Other("unknown".into())),
    };
    match kind {
        Kind::RunCompleted => {
            Payload::RunCompleted(Box::new(RunCompleted { status, ..RunCompleted::default() }))
        }
        Kind::StepStarted | Kind::CallWorkflowStarted => {
            Payload::StepStarted(Box::<StepStarted>::default())
        }
        Kind::StepCompleted | Kind::CallWorkflowCompleted => {
            Payload::StepCompleted(Box::new(StepCompleted { status, ..StepCompleted::default() }))
        }
        Kind::MessageUser | Kind::MessageAssistant => Payload::Message(Message::default()),
        Kind::ToolCall => Payload::ToolCall(Box::<ToolCall>::default()),
        Kind::ToolResult => Payload::ToolResult(Box::<ToolResult>::default()),
        _ => Payload::Absent,
    }
}

fn fill_in_status(payload: &mut Payload) {
    match payload {
        Payload::RunCompleted(run) => {
            run.status = Some(Status::told(run.status.as_ref(), run.error.as_deref()));
        }
        Payload::StepCompleted(step) => {
            step.status = Some(Status::told(step.status.as_ref(), step.error.as_deref()));
        }
        Payload::ToolResult(tool) => {
            let failed = is_error(tool.error.as_deref()) || output_says_error(&tool.output);
            let status = if failed { ToolStatus::Failed } else { ToolStatus::Completed };
            tool.status.get_or_insert(status);
        }
        _ => {}
    }
}

fn is_error(error: Option<&str>) -> bool {
    error.is_some_and(|error| !error.is_empty())
}

/// AWF records a tool's output as `{"Content": […], "IsError": true}`, without a status.
fn output_says_error(output: &Json) -> bool {
    #[derive(Deserialize)]
    struct Output {
        #[serde(default, rename = "IsError")]
        is_error: bool,
    }
    output.is_object() && output.decode::<Output>().is_ok_and(|output| output.is_error)
}
