//! What is not the model's: prompts, what the agent adds to them, its notices and errors.

use quipu_event::payload::{ErrorReport, Message};
use quipu_event::{Kind, Purpose};
use serde_json::json;

use super::super::held::Last;
use super::super::told::Told;
use super::super::wire::{Part, parts, short, status_of, text_of};
use super::{Retelling, block};
use crate::outbox::{Outbox, Stamp};
use crate::value::Fields;

/// Tells whether somebody asked for something in a message.
pub(in crate::gemini) fn is_prompt(message: &Fields<'_>) -> bool {
    let is_asked = |part| match part {
        Part::Text(text) => added(&text).is_none_or(|(_, rest)| !rest.is_empty()),
        part => matches!(part, Part::Other(..)),
    };
    let is_user = message.text("type").as_deref() == Some("user");
    is_user && parts(message.get("content")).into_iter().any(is_asked)
}

/// Tells whether a message only has answers of tools.
pub(in crate::gemini) fn is_only_answers(message: &Fields<'_>) -> bool {
    let parts = parts(message.get("content"));
    !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::Answer(_)))
}

impl Retelling {
    /// Tells what has the role of the user: a prompt, answers of tools, or what the agent added.
    pub(super) fn user(
        &mut self,
        id: Option<String>,
        fields: &Fields<'_>,
        (told, is_again): (&mut Told, bool),
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let (mut blocks, mut context, mut answers) = (Vec::new(), None, Vec::new());
        for part in parts(fields.get("content")) {
            match part {
                Part::Answer(answer) => answers.push(answer),
                Part::Text(text) => match added(&text) {
                    Some((kind, rest)) => {
                        self.cwd = self.cwd.take().or_else(|| workspace(&text));
                        context = Some(kind);
                        blocks.extend(
                            block(Part::Text(rest.to_owned())).filter(|_| !rest.is_empty()),
                        );
                    }
                    None => blocks.extend(block(Part::Text(text))),
                },
                part => blocks.extend(block(part)),
            }
        }
        let (has_answers, mut answered) = (!answers.is_empty(), Vec::new());
        for (number, answer) in answers.into_iter().enumerate() {
            let made_up = || format!("{}#{number}", id.as_deref().unwrap_or_default());
            let call_id = answer.call_id.clone().unwrap_or_else(made_up);
            let status = status_of(&answer);
            if told.answered.contains(&call_id) {
                continue;
            }
            if !self.answered.contains(&call_id) {
                self.left = Some(Last::Well);
            }
            answered.push(call_id.clone());
            self.answer(call_id, answer, status, stamp, out);
        }
        told.answered.extend(answered);
        if let Some(kind) = context.filter(|kind| told.note.as_deref() != Some(*kind)) {
            told.note = Some(kind.to_owned());
            out.system(stamp, "context", json!({ "topic": kind }));
        }
        let is_silent = blocks.is_empty() && (context.is_some() || has_answers);
        let blocks = told.news(blocks, self.remembers);
        if !blocks.is_empty() || !is_silent && !is_again {
            let blocks = blocks.into_iter().map(|block| block.with_purpose(Purpose::Prompt));
            let prompt = Message { message_id: id, ..Message::user(blocks.collect()) };
            out.message(stamp, Kind::MessageUser, prompt);
            // It waits for a reply.
            self.left = Some(Last::Interrupted);
        }
    }

    pub(super) fn error(
        &mut self,
        fields: &Fields<'_>,
        told: &mut Told,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let message = short(&text_of(fields.get("content")));
        self.left = Some(Last::Failed(message.clone()));
        if told.note.replace(message.clone()).as_ref() == Some(&message) {
            return;
        }
        let (code, category) = ("agent_error".to_owned(), "session".to_owned());
        let report = ErrorReport { code, category, message, ..ErrorReport::default() };
        out.error(stamp, &report);
    }

    pub(super) fn notice(
        &mut self,
        level: &str,
        fields: &Fields<'_>,
        told: &mut Told,
        stamp: &Stamp,
        out: &mut Outbox<'_>,
    ) {
        let message = short(&text_of(fields.get("content")));
        if told.note.replace(message.clone()).as_ref() == Some(&message) {
            return;
        }
        let facts = json!({ "level": level, "message": message });
        if message.starts_with("Request cancelled") {
            self.left = Some(Last::Interrupted);
            return out.system(stamp, "interrupted", facts);
        }
        out.system(stamp, "notice", facts);
    }
}

/// Tells what the agent itself put into the user's mouth, and returns what is left of the text.
fn added(text: &str) -> Option<(&'static str, &str)> {
    let text = text.trim_start();
    if text.starts_with("<session_context>") {
        let rest = text.split_once("</session_context>").map_or("", |(_, rest)| rest.trim_start());
        return Some(("session_context", rest));
    }
    if text.starts_with("This is the Gemini CLI. We are setting up the context") {
        return Some(("session_context", ""));
    }
    (text == "System: Please continue.").then_some(("continue", ""))
}

/// Returns the first directory that the session's context names.
fn workspace(context: &str) -> Option<String> {
    let markers = ["Workspace Directories:**\n  - ", "I'm currently working in the directory: "];
    let (_, rest) = markers.into_iter().find_map(|marker| context.split_once(marker))?;
    rest.lines().next().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty())
}
