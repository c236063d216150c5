//! An event in words: a head that fits on one line, and parts that may be long.
//!
//! Made once and shown in two ways: `show` prints the parts below the head, `tail` squeezes
//! everything into a line. Nothing is cut or made safe here; whoever prints does that.

mod fact;
mod json;
mod message;
mod run;
mod tool;

use quipu_event::{Event, Payload, RunId};

/// An event in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// What can be said in a few words.
    pub(crate) head: String,
    /// What to make of it.
    pub(crate) tone: Tone,
    /// What was said or done at length.
    pub(crate) parts: Vec<Part>,
}

/// One text of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// What it is, where that does not go without saying.
    pub(crate) label: Option<String>,
    /// The text.
    pub(crate) text: String,
    /// What to make of it.
    pub(crate) tone: Tone,
    /// Whether it is what people read or what machines said.
    pub(crate) voice: Voice,
}

/// What to make of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Neutral,
    /// It went well.
    Good,
    /// It went wrong.
    Bad,
    /// It matters less.
    Faint,
    /// It asks a tool or a shell to do something.
    Action,
}

/// Who speaks, which decides how much of a long text is worth showing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    /// A person or an agent.
    Speech,
    /// A tool, a command or a record.
    Output,
}

impl Entry {
    /// Puts `event` into words.
    pub(crate) fn of(event: &Event) -> Self {
        let mut entry = match quipu_view::decode_whole(event) {
            Ok(payload) => Entry::of_payload(event, payload),
            Err(_) => Entry::default()
                .with(Part::output(event.payload.as_str()).labelled("undecoded payload")),
        };
        if let Some(child) = &event.child_run_id {
            entry.append(&format!("→ run {}", short_id(child)));
        }
        entry
    }

    fn of_payload(event: &Event, payload: Payload) -> Self {
        match payload {
            Payload::RunCreated(created) => run::created(&created),
            Payload::RunStarted(started) => run::started(&started),
            Payload::RunCompleted(completed) => run::completed(*completed),
            Payload::StepStarted(started) => run::step_started(*started),
            Payload::StepCompleted(completed) => run::step_completed(*completed),
            Payload::Message(message) => message::message(message),
            Payload::ToolCall(call) => tool::call(&call),
            Payload::ToolResult(result) => tool::result(*result),
            Payload::Usage(usage) => fact::usage(&usage),
            Payload::System(system) => fact::system(system, &event.payload),
            Payload::Error(error) => fact::error(error),
            Payload::Unknown(record) => fact::unknown(record, event.raw.as_ref()),
            Payload::File(file) => fact::file(&file),
            Payload::Deliverable(check) => fact::deliverable(&check),
            Payload::Facts(facts) => Entry::default().with_all(json::labelled_parts(&facts)),
            Payload::Absent => Entry::default(),
        }
    }

    fn headed(head: impl Into<String>) -> Self {
        Entry { head: head.into(), ..Entry::default() }
    }

    fn toned(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    fn with(mut self, part: Part) -> Self {
        if !part.text.is_empty() {
            self.parts.push(part);
        }
        self
    }

    fn with_all(self, parts: impl IntoIterator<Item = Part>) -> Self {
        parts.into_iter().fold(self, Entry::with)
    }

    fn append(&mut self, text: &str) {
        if !self.head.is_empty() {
            self.head.push(' ');
        }
        self.head.push_str(text);
    }
}

impl Part {
    fn speech(text: impl Into<String>) -> Self {
        Part { label: None, text: text.into(), tone: Tone::Neutral, voice: Voice::Speech }
    }

    fn output(text: impl Into<String>) -> Self {
        Part { label: None, text: text.into(), tone: Tone::Neutral, voice: Voice::Output }
    }

    fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    fn toned(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }
}

/// Returns as much of an id as people say: the first part of a random one. Ids that somebody chose
/// may all begin alike, and are said whole.
pub(crate) fn short_id(run: &RunId) -> &str {
    let id = run.as_str();
    if is_random(id) { &id[..RANDOM_PARTS[0]] } else { id }
}

/// How long the parts of a random id are, which are digits to the base of 16.
const RANDOM_PARTS: [usize; 5] = [8, 4, 4, 4, 12];

fn is_random(id: &str) -> bool {
    id.split('-').map(str::len).eq(RANDOM_PARTS)
        && id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_random_id_is_said_in_short() {
        let cases = [
            ("550e8400-e29b-41d4-a716-446655440000", "550e8400"),
            ("550e8400-e29b-41d4-a716-44665544000x", "550e8400-e29b-41d4-a716-44665544000x"),
            ("session-0001", "session-0001"),
            ("nightly", "nightly"),
        ];
        for (id, expected) in cases {
            assert_eq!(short_id(&RunId::parse(id).expect("an id")), expected);
        }
    }
}
