//! What an event looks like to whoever watches: the same while it happens and when it is read back.
//!
//! It knows only what events say, and which texts were already shown in pieces.

use std::collections::HashMap;

use quipu_event::payload::{Message, Payload, Status, System, ToolStatus};
use quipu_event::{BlockContent, ContentBlock, Draft, Event, Json, Kind, Purpose, RunId, StepPath};

use super::DisplayEvent;
use crate::engine::Occurrence;
use crate::language::Value;

/// How many characters of a tool's argument are shown.
const ARGUMENT_SHOWN: usize = 40;

/// The arguments that tell most, the most telling first.
const TELLING: &[&str] = &["file_path", "path", "command", "cmd", "query", "pattern", "url"];

/// Something that happened, whether it is about to be recorded or was.
#[derive(Clone, Copy)]
pub(crate) struct Happened<'a> {
    kind: &'a Kind,
    payload: &'a Json,
    path: &'a StepPath,
    iteration: u64,
    source: Option<&'a str>,
}

impl<'a> From<&'a Draft> for Happened<'a> {
    fn from(draft: &'a Draft) -> Self {
        let Draft { kind, payload, path, iteration, source, .. } = draft;
        Happened { kind, payload, path, iteration: *iteration, source: source.as_deref() }
    }
}

impl<'a> From<&'a Event> for Happened<'a> {
    fn from(event: &'a Event) -> Self {
        let Event { kind, payload, path, iteration, source, .. } = event;
        Happened { kind, payload, path, iteration: *iteration, source: source.as_deref() }
    }
}

/// Turns events into what is seen of them.
pub(crate) struct Projector {
    run: RunId,
    /// Which attempt is under way where: most events do not say it themselves.
    attempts: HashMap<StepPath, u32>,
    /// What was shown of a message that is still being made.
    streamed: HashMap<StepPath, String>,
}

impl Projector {
    pub(crate) fn new(run: RunId) -> Projector {
        Projector { run, attempts: HashMap::new(), streamed: HashMap::new() }
    }

    /// Takes note of a piece that is shown before its event.
    pub(crate) fn note(&mut self, event: &DisplayEvent) {
        if let DisplayEvent::Text { at, text, delta: true } = event {
            self.streamed.entry(at.path.clone()).or_default().push_str(text);
        }
    }

    /// Returns what is to be seen of something that happened.
    pub(crate) fn project<'a>(&mut self, happened: impl Into<Happened<'a>>) -> Vec<DisplayEvent> {
        let happened = happened.into();
        match Payload::decode(happened.kind, happened.payload) {
            Ok(payload) => self.show(happened, payload),
            // What cannot be read is recorded all the same; there is nothing to see.
            Err(_) => Vec::new(),
        }
    }

    fn show(&mut self, happened: Happened<'_>, payload: Payload) -> Vec<DisplayEvent> {
        match payload {
            Payload::RunStarted(started) => {
                vec![DisplayEvent::RunStarted { run: self.run.to_string(), name: started.name }]
            }
            Payload::StepStarted(started) => {
                self.attempts.insert(happened.path.clone(), started.attempt.unwrap_or(1));
                let detail = started
                    .agent
                    .as_ref()
                    .and_then(|agent| agent.label().map(str::to_owned))
                    .or_else(|| first_command(started.blocks.as_deref()))
                    .or_else(|| named_fact(happened.payload, &["workflow", "operation"]));
                let (at, name, kind) = (self.at(happened), started.name, started.kind);
                vec![DisplayEvent::StepStarted { at, name, kind, detail }]
            }
            Payload::StepCompleted(completed) => {
                let mut at = self.at(happened);
                at.attempt = completed.attempt.unwrap_or(at.attempt);
                self.attempts.remove(happened.path);
                self.streamed.remove(happened.path);
                let status = Status::told(completed.status.as_ref(), completed.error.as_deref());
                vec![DisplayEvent::StepCompleted {
                    at,
                    name: completed.name,
                    kind: completed.kind,
                    status,
                    error: completed.error,
                    duration_ms: completed.duration_ms.unwrap_or_default(),
                }]
            }
            Payload::RunCompleted(completed) => vec![DisplayEvent::RunCompleted {
                run: self.run.to_string(),
                status: Status::told(completed.status.as_ref(), completed.error.as_deref()),
                error: completed.error,
                message: completed
                    .result
                    .as_ref()
                    .and_then(|result| named_fact(result, &["message"])),
                duration_ms: completed.duration_ms.unwrap_or_default(),
            }],
            said => self.show_said(happened, said),
        }
    }

    fn show_said(&mut self, happened: Happened<'_>, payload: Payload) -> Vec<DisplayEvent> {
        let at = self.at(happened);
        match payload {
            Payload::Message(message) if message.role == "assistant" => self.message(at, message),
            // What a step asks stands in its workflow; what a person says stands nowhere else.
            Payload::Message(message) if !self.attempts.contains_key(happened.path) => {
                asked(at, message).into_iter().collect()
            }
            Payload::ToolCall(call) => vec![DisplayEvent::ToolUse {
                at,
                id: call.call_id,
                name: call.name,
                argument: telling_argument(&call.input),
            }],
            Payload::ToolResult(result) => vec![DisplayEvent::ToolResult {
                at,
                id: result.call_id,
                name: result.name,
                status: match result.status {
                    Some(ToolStatus::Failed) => Status::Failed,
                    Some(ToolStatus::Blocked) => Status::Blocked,
                    _ => Status::Succeeded,
                },
            }],
            Payload::Error(report) => {
                vec![DisplayEvent::Log { at: place(at), level: "warn", text: report.message }]
            }
            Payload::System(system) => note(at, &system).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn message(&mut self, at: Occurrence, message: Message) -> Vec<DisplayEvent> {
        let streamed = self.streamed.remove(&at.path).unwrap_or_default();
        let mut rest = streamed.as_str();
        let mut seen = Vec::new();
        let mut is_open = !streamed.is_empty() && !streamed.ends_with('\n');
        // What comes next must not go on in the line of a text that was shown in pieces.
        let line_end = || DisplayEvent::Text { at: at.clone(), text: "\n".into(), delta: true };
        for block in message.blocks {
            match block.content {
                BlockContent::Thinking { thinking, .. } if !thinking.is_empty() => {
                    seen.extend(std::mem::take(&mut is_open).then(line_end));
                    seen.push(DisplayEvent::Thinking { at: at.clone(), text: thinking });
                }
                BlockContent::Text { text } if !text.is_empty() => {
                    let ends_line = text.ends_with('\n');
                    if let Some(unseen) = unseen(&at, text, &mut rest) {
                        let continues = matches!(unseen, DisplayEvent::Text { delta: true, .. });
                        is_open = continues && !ends_line;
                        seen.push(unseen);
                    }
                }
                _ => {}
            }
        }
        seen.extend(is_open.then(line_end));
        seen
    }

    /// Returns where something happened. Who speaks in a session that has no steps is a place too.
    fn at(&self, happened: Happened<'_>) -> Occurrence {
        let path = match happened.source {
            Some(source) if happened.path.is_root() => StepPath::from(source),
            _ => happened.path.clone(),
        };
        let attempt = self.attempt(&path);
        Occurrence { path, iteration: happened.iteration, attempt }
    }

    /// Returns which attempt is under way at `path`.
    pub(crate) fn attempt(&self, path: &StepPath) -> u32 {
        self.attempts.get(path).copied().unwrap_or(1)
    }
}

/// Returns what of a text has not been shown in pieces; `streamed` is what is left of those.
fn unseen(at: &Occurrence, text: String, streamed: &mut &str) -> Option<DisplayEvent> {
    if let Some(behind) = streamed.strip_prefix(text.as_str()) {
        *streamed = behind;
        return None;
    }
    let pieces = std::mem::take(streamed);
    match text.strip_prefix(pieces) {
        Some(behind) if !pieces.is_empty() => {
            Some(DisplayEvent::Text { at: at.clone(), text: behind.to_owned(), delta: true })
        }
        _ => Some(DisplayEvent::Text { at: at.clone(), text, delta: false }),
    }
}

/// Returns what a message asks of an agent, without what its program adds by itself.
fn asked(at: Occurrence, message: Message) -> Option<DisplayEvent> {
    let texts = message.blocks.into_iter().filter_map(|block| match block.content {
        BlockContent::Text { text } if block.purpose != Some(Purpose::SystemPrompt) => Some(text),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    (!text.trim().is_empty()).then_some(DisplayEvent::Prompt { at, text })
}

/// Returns what is to be seen of a `system` event; most are not for watching.
fn note(at: Occurrence, system: &System) -> Option<DisplayEvent> {
    let text = |key: &str| system.facts.get(key).and_then(Value::as_str).map(str::to_owned);
    let number = |key: &str| system.facts.get(key).and_then(Value::as_u64);
    let warning = |at, text| DisplayEvent::Log { at: place(at), level: "warn", text };
    Some(match system.subtype.as_str() {
        "retry" => DisplayEvent::Retry {
            at,
            delay_ms: number("delay_ms").unwrap_or_default(),
            error: text("error"),
        },
        "iteration" => {
            DisplayEvent::Iteration { at, index: number("index")?, total: number("total") }
        }
        "log" => DisplayEvent::Log {
            at: place(at),
            level: if text("level").as_deref() == Some("warn") { "warn" } else { "info" },
            text: text("message").or_else(|| text("text"))?,
        },
        "hook_failed" => {
            let why = text("error").unwrap_or_else(|| "it did not succeed".to_owned());
            let hook = text("hook").unwrap_or_else(|| "a".to_owned());
            warning(at, format!("{hook} hook failed: {why}"))
        }
        "loop_truncated" => warning(at, text("message").unwrap_or_else(|| loop_truncated(number))),
        _ => warning(at, text("warning")?),
    })
}

fn loop_truncated(number: impl Fn(&str) -> Option<u64>) -> String {
    match (number("items"), number("max_iterations").or_else(|| number("limit"))) {
        (Some(items), Some(limit)) => format!("only {limit} of {items} items: max_iterations"),
        (None, Some(limit)) => format!("stopped after {limit} iterations: max_iterations"),
        _ => "stopped early: max_iterations".to_owned(),
    }
}

/// The run itself is nowhere in particular.
fn place(at: Occurrence) -> Option<Occurrence> {
    (!at.path.is_root()).then_some(at)
}

fn first_command(blocks: Option<&[ContentBlock]>) -> Option<String> {
    blocks?.iter().find_map(|block| match &block.content {
        BlockContent::Command { command, .. } => {
            let line = command.lines().map(str::trim).find(|line| !line.is_empty());
            line.map(str::to_owned)
        }
        _ => None,
    })
}

fn named_fact(json: &Json, keys: &[&str]) -> Option<String> {
    let facts: Value = json.decode().ok()?;
    keys.iter().find_map(|key| facts.get(key)?.as_str().map(str::to_owned))
}

fn telling_argument(input: &Json) -> Option<String> {
    let input: Value = input.decode().ok()?;
    let telling = TELLING.iter().find_map(|key| input.get(key)?.as_str());
    let text = telling.or_else(|| input.as_object()?.values().find_map(Value::as_str))?;
    let line = text.lines().next().unwrap_or_default();
    let mut shown: String = line.chars().take(ARGUMENT_SHOWN).collect();
    if shown.len() < text.len() {
        while shown.chars().count() >= ARGUMENT_SHOWN {
            shown.pop();
        }
        shown.push('…');
    }
    Some(shown)
}

#[cfg(test)]
mod tests {
    use quipu_event::{Fidelity, Kind};
    use serde_json::json;

    use super::*;

    fn projector() -> Projector {
        Projector::new(RunId::parse("r").unwrap())
    }

    fn at(path: &str, iteration: u64, attempt: u32) -> Occurrence {
        Occurrence { path: StepPath::from(path), iteration, attempt }
    }

    fn reply(texts: &[&str]) -> Draft {
        let blocks = texts.iter().map(|text| ContentBlock::text(Fidelity::AgentEmitted, *text));
        let message = Message::assistant(blocks.collect());
        Draft::new(Kind::MessageAssistant, &message).unwrap().at(StepPath::from("ask"), 0)
    }

    #[test]
    fn what_was_shown_in_pieces_is_not_shown_again() {
        let text = |text: &str, delta| DisplayEvent::Text {
            at: at("ask", 0, 1),
            text: text.to_owned(),
            delta,
        };
        let cases: [(&[&str], &[&str], Vec<DisplayEvent>); 6] = [
            (&[], &["Hello"], vec![text("Hello", false)]),
            (&["Hel", "lo"], &["Hello"], vec![text("\n", true)]),
            (&["Hel", "lo\n"], &["Hello\n"], vec![]),
            (&["Hel"], &["Hello"], vec![text("lo", true), text("\n", true)]),
            (&["Hello", "World"], &["Hello", "World!"], vec![text("!", true), text("\n", true)]),
            (&["Hex"], &["Hello"], vec![text("Hello", false)]),
        ];
        for (pieces, blocks, seen) in cases {
            let mut projector = projector();
            for piece in pieces {
                projector.note(&text(piece, true));
            }
            assert_eq!(projector.project(&reply(blocks)), seen, "{pieces:?} {blocks:?}");
            assert!(projector.streamed.is_empty());
        }
    }

    #[test]
    fn events_in_a_step_say_which_attempt_it_is() {
        let mut projector = projector();
        let path = StepPath::from("each[2].ask");
        let started =
            json!({"name": "ask", "kind": "agent", "attempt": 3, "agent": {"provider": "claude"}});
        let draft = Draft::new(Kind::StepStarted, &started).unwrap().at(path.clone(), 2);
        assert_eq!(
            projector.project(&draft),
            [DisplayEvent::StepStarted {
                at: at("each[2].ask", 2, 3),
                name: "ask".into(),
                kind: "agent".into(),
                detail: Some("claude".into()),
            }]
        );
        let call = json!({"name": "Bash", "call_id": "c", "input": {"command": "ls -la\npwd"}, "output": null, "fidelity": "router"});
        let draft = Draft::new(Kind::ToolCall, &call).unwrap().at(path, 2);
        assert_eq!(
            projector.project(&draft),
            [DisplayEvent::ToolUse {
                at: at("each[2].ask", 2, 3),
                id: "c".into(),
                name: "Bash".into(),
                argument: Some("ls -la…".into()),
            }]
        );
    }

    #[test]
    fn notes_are_shown_when_a_person_wants_to_know() {
        let warn = |text: &str| {
            Some(DisplayEvent::Log { at: Some(at("s", 0, 1)), level: "warn", text: text.into() })
        };
        let cases = [
            (
                "retry",
                json!({"delay_ms": 5, "error": "no"}),
                Some(DisplayEvent::Retry {
                    at: at("s", 0, 1),
                    delay_ms: 5,
                    error: Some("no".into()),
                }),
            ),
            (
                "iteration",
                json!({"index": 3, "total": 9}),
                Some(DisplayEvent::Iteration { at: at("s", 0, 1), index: 3, total: Some(9) }),
            ),
            (
                "log",
                json!({"message": "hi"}),
                Some(DisplayEvent::Log {
                    at: Some(at("s", 0, 1)),
                    level: "info",
                    text: "hi".into(),
                }),
            ),
            (
                "hook_failed",
                json!({"hook": "pre", "error": "exit code 1"}),
                warn("pre hook failed: exit code 1"),
            ),
            (
                "loop_truncated",
                json!({"items": 7, "max_iterations": 5}),
                warn("only 5 of 7 items: max_iterations"),
            ),
            ("output", json!({"text": "much"}), None),
        ];
        for (subtype, facts, seen) in cases {
            let draft = Draft::system(subtype, facts).unwrap().at(StepPath::from("s"), 0);
            assert_eq!(projector().project(&draft), Vec::from_iter(seen), "{subtype}");
        }
    }
}
