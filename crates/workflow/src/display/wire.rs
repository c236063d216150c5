//! Display events as JSON, one object a line: what a program that watches a run reads.

use serde::Serialize;

use super::DisplayEvent;
use crate::engine::Occurrence;

/// Returns the event as one line of JSON, without a line feed.
pub fn json_line(event: &DisplayEvent) -> String {
    // Texts and numbers under fixed keys: nothing here can fail to be JSON.
    serde_json::to_string(&Wire::of(event)).unwrap_or_default()
}

#[derive(Serialize)]
#[serde(tag = "event")]
enum Wire<'a> {
    #[serde(rename = "run.started")]
    RunStarted { run: &'a str, name: &'a str },
    #[serde(rename = "step.started")]
    StepStarted {
        #[serde(flatten)]
        at: At<'a>,
        name: &'a str,
        kind: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<&'a str>,
    },
    #[serde(rename = "loop.iteration")]
    Iteration {
        #[serde(flatten)]
        at: At<'a>,
        index: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<u64>,
    },
    #[serde(rename = "command.output")]
    Output {
        #[serde(flatten)]
        at: At<'a>,
        stream: &'a str,
        text: &'a str,
    },
    #[serde(rename = "agent.prompt")]
    Prompt {
        #[serde(flatten)]
        at: At<'a>,
        text: &'a str,
    },
    #[serde(rename = "agent.text")]
    Text {
        #[serde(flatten)]
        at: At<'a>,
        text: &'a str,
        delta: bool,
    },
    #[serde(rename = "agent.thinking")]
    Thinking {
        #[serde(flatten)]
        at: At<'a>,
        text: &'a str,
    },
    #[serde(rename = "tool.call")]
    ToolUse {
        #[serde(flatten)]
        at: At<'a>,
        id: &'a str,
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        argument: Option<&'a str>,
    },
    #[serde(rename = "tool.result")]
    ToolResult {
        #[serde(flatten)]
        at: At<'a>,
        id: &'a str,
        name: &'a str,
        status: &'a str,
    },
    #[serde(rename = "step.retry")]
    Retry {
        #[serde(flatten)]
        at: At<'a>,
        delay_ms: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
    },
    #[serde(rename = "log")]
    Log {
        #[serde(flatten)]
        at: Option<At<'a>>,
        level: &'a str,
        text: &'a str,
    },
    #[serde(rename = "step.completed")]
    StepCompleted {
        #[serde(flatten)]
        at: At<'a>,
        name: &'a str,
        kind: &'a str,
        status: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
        duration_ms: u64,
    },
    #[serde(rename = "run.completed")]
    RunCompleted {
        run: &'a str,
        status: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
        duration_ms: u64,
    },
}

#[derive(Serialize)]
struct At<'a> {
    path: &'a str,
    iteration: u64,
    attempt: u32,
}

impl<'a> From<&'a Occurrence> for At<'a> {
    fn from(at: &'a Occurrence) -> At<'a> {
        At { path: at.path.as_str(), iteration: at.iteration, attempt: at.attempt }
    }
}

impl<'a> Wire<'a> {
    fn of(event: &'a DisplayEvent) -> Wire<'a> {
        use DisplayEvent as Event;
        match event {
            Event::Output { at, stream, text } => Wire::Output { at: at.into(), stream, text },
            Event::Text { at, text, delta } => Wire::Text { at: at.into(), text, delta: *delta },
            Event::Prompt { at, text } => Wire::Prompt { at: at.into(), text },
            Event::Thinking { at, text } => Wire::Thinking { at: at.into(), text },
            Event::ToolUse { at, id, name, argument } => {
                Wire::ToolUse { at: at.into(), id, name, argument: argument.as_deref() }
            }
            Event::ToolResult { at, id, name, status } => {
                Wire::ToolResult { at: at.into(), id, name, status: status.as_str() }
            }
            Event::Log { at, level, text } => {
                Wire::Log { at: at.as_ref().map(Into::into), level, text }
            }
            Event::RunStarted { run, name } => Wire::RunStarted { run, name },
            Event::StepStarted { at, name, kind, detail } => {
                Wire::StepStarted { at: at.into(), name, kind, detail: detail.as_deref() }
            }
            Event::Iteration { at, index, total } => {
                Wire::Iteration { at: at.into(), index: *index, total: *total }
            }
            Event::Retry { at, delay_ms, error } => {
                Wire::Retry { at: at.into(), delay_ms: *delay_ms, error: error.as_deref() }
            }
            Event::StepCompleted { at, name, kind, status, error, duration_ms } => {
                Wire::StepCompleted {
                    at: at.into(),
                    name,
                    kind,
                    status: status.as_str(),
                    error: error.as_deref(),
                    duration_ms: *duration_ms,
                }
            }
            Event::RunCompleted { run, status, error, message, duration_ms } => {
                Wire::RunCompleted {
                    run,
                    status: status.as_str(),
                    error: error.as_deref(),
                    message: message.as_deref(),
                    duration_ms: *duration_ms,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use quipu_event::StepPath;
    use quipu_event::payload::Status;

    use super::*;

    #[test]
    fn each_event_is_one_object_that_names_itself_first() {
        let at = Occurrence { path: StepPath::from("each[1].check"), iteration: 1, attempt: 2 };
        let place = r#""path":"each[1].check","iteration":1,"attempt":2"#;
        let cases = [
            (
                DisplayEvent::RunStarted { run: "r".into(), name: "n".into() },
                r#"{"event":"run.started","run":"r","name":"n"}"#.to_owned(),
            ),
            (
                DisplayEvent::Output { at: at.clone(), stream: "stdout", text: "a\nb".into() },
                format!(r#"{{"event":"command.output",{place},"stream":"stdout","text":"a\nb"}}"#),
            ),
            (
                DisplayEvent::Log { at: None, level: "info", text: "hi".into() },
                r#"{"event":"log","level":"info","text":"hi"}"#.to_owned(),
            ),
            (
                DisplayEvent::Log { at: Some(at.clone()), level: "warn", text: "hi".into() },
                format!(r#"{{"event":"log",{place},"level":"warn","text":"hi"}}"#),
            ),
            (
                DisplayEvent::StepCompleted {
                    at,
                    name: "check".into(),
                    kind: "command".into(),
                    status: Status::Failed,
                    error: Some("exit code 1".into()),
                    duration_ms: 5,
                },
                format!(
                    r#"{{"event":"step.completed",{place},"name":"check","kind":"command","status":"failed","error":"exit code 1","duration_ms":5}}"#
                ),
            ),
        ];
        for (event, line) in cases {
            assert_eq!(json_line(&event), line);
        }
    }
}
