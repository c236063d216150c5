//! What each type of event carries.
//!
//! One struct per type. A decoded payload is a *projection*: it has the fields this version
//! knows, while the event itself keeps the payload's exact JSON, so nothing is lost by not being
//! listed here. Absent fields decode as empty; a field of the wrong JSON type is an error.

mod fact;
mod message;
mod run;
mod spelled;
mod spoken;
mod step;
mod tool;
mod usage;

pub use fact::{
    DeliverableCheck, DeliverableResult, ErrorReport, FileAccess, System, UnknownRecord,
};
pub use message::Message;
pub use run::{Agent, Counts, Definition, RunCompleted, RunCreated, RunKind, RunStarted, Status};
pub use spoken::SpokenMessage;
pub use step::{StepCompleted, StepResult, StepStarted};
pub use tool::{ToolCall, ToolResult, ToolStatus};
pub use usage::{TokenCounts, Usage, UsageScope};

use crate::json::Json;
use crate::kind::Kind;
use crate::numbers::without_unreadable_numbers;

/// A payload, decoded by the type of its event.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// Of `run.started`.
    RunStarted(Box<RunStarted>),
    /// Of `run.completed`.
    RunCompleted(Box<RunCompleted>),
    /// Of `run.created`.
    RunCreated(RunCreated),
    /// Of `step.started` and `step.call_workflow.started`.
    StepStarted(Box<StepStarted>),
    /// Of `step.completed` and `step.call_workflow.completed`.
    StepCompleted(Box<StepCompleted>),
    /// Of `message.user` and `message.assistant`.
    Message(Message),
    /// Of `tool.call`.
    ToolCall(Box<ToolCall>),
    /// Of `tool.result`.
    ToolResult(Box<ToolResult>),
    /// Of `usage`.
    Usage(Box<Usage>),
    /// Of `system`.
    System(System),
    /// Of `error`.
    Error(ErrorReport),
    /// Of `unknown`.
    Unknown(UnknownRecord),
    /// Of `file.*`.
    File(FileAccess),
    /// Of `deliverable.*`.
    Deliverable(DeliverableCheck),
    /// Of the types whose payload is an open list of facts, and of types from the future.
    Facts(Json),
    /// No payload: `null`.
    Absent,
}

/// A payload that is not of its type's shape.
#[derive(Debug, thiserror::Error)]
#[error("payload does not have the shape of {kind}")]
pub struct PayloadError {
    /// The type whose shape was expected.
    pub kind: Kind,
    /// What was wrong, with its column inside the payload.
    #[source]
    pub source: serde_json::Error,
}

impl Payload {
    /// Decodes `json` as the payload of an event of type `kind`.
    ///
    /// A message payload that is a bare array is taken as its blocks: other writers do that. A number
    /// that no type can hold, such as `1e400`, is taken as `null`: it does not hide the rest.
    pub fn decode(kind: &Kind, json: &Json) -> Result<Payload, PayloadError> {
        if json.is_null() {
            return Ok(Payload::Absent);
        }
        let decoded = decode_by_kind(kind, json).or_else(|error| {
            // The text is JSON, so that what its syntax is blamed for is more than a type can hold.
            let smaller = error.is_syntax().then(|| without_unreadable_numbers(json.as_str()));
            let smaller = smaller.flatten().map(|text| json.with_text(text));
            smaller.and_then(|json| decode_by_kind(kind, &json).ok()).ok_or(error)
        });
        decoded.map_err(|source| PayloadError { kind: kind.clone(), source })
    }
}

fn decode_by_kind(kind: &Kind, json: &Json) -> serde_json::Result<Payload> {
    Ok(match kind {
        Kind::RunStarted => Payload::RunStarted(json.decode()?),
        Kind::RunCompleted => Payload::RunCompleted(json.decode()?),
        Kind::RunCreated => Payload::RunCreated(json.decode()?),
        Kind::StepStarted | Kind::CallWorkflowStarted => Payload::StepStarted(json.decode()?),
        Kind::StepCompleted | Kind::CallWorkflowCompleted => Payload::StepCompleted(json.decode()?),
        Kind::MessageUser => Payload::Message(Message::decode("user", json)?),
        Kind::MessageAssistant => Payload::Message(Message::decode("assistant", json)?),
        Kind::ToolCall => Payload::ToolCall(json.decode()?),
        Kind::ToolResult => Payload::ToolResult(json.decode()?),
        Kind::Usage => Payload::Usage(json.decode()?),
        Kind::System => Payload::System(json.decode()?),
        Kind::Error => Payload::Error(json.decode()?),
        Kind::Unknown => Payload::Unknown(json.decode()?),
        Kind::FileRead | Kind::FileWritten | Kind::FileRejected => Payload::File(json.decode()?),
        Kind::DeliverableCheckStarted
        | Kind::DeliverableCheckCompleted
        | Kind::DeliverableMissing => Payload::Deliverable(json.decode()?),
        Kind::ConfigLoaded
        | Kind::PromptRendered
        | Kind::SkillIndexed
        | Kind::SkillLoaded
        | Kind::MemoryRecallStarted
        | Kind::MemoryRecallCompleted
        | Kind::MemoryWriteRequested
        | Kind::Other(_) => Payload::Facts(json.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_no_type_can_hold_does_not_hide_the_rest() {
        let text = r#"{"subtype":"x","a":1e400,"b":"\ud800","c":18446744073709551616,"d":-0}"#;
        let json: Json = serde_json::from_str(text).unwrap();
        let Ok(Payload::System(system)) = Payload::decode(&Kind::System, &json) else {
            panic!("{json} is the payload of a system event");
        };
        assert_eq!((system.subtype.as_str(), system.facts.len()), ("x", 4));
        assert_eq!((&system.facts["a"], &system.facts["b"]), (&().into(), &"\u{fffd}".into()));
        assert_eq!(json.as_str(), text);
        let wrong = Json::parse(r#"{"subtype":1e400}"#).unwrap();
        assert!(Payload::decode(&Kind::System, &wrong).is_err());
    }
}
