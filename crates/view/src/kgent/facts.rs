//! Prompts, settings, skills and memory: told by their facts, a prompt by its size and hash only.

use quipu_event::payload::Message;
use quipu_event::{BlockContent, Json, Kind, Purpose};
use serde_json::Value;

use super::Run;
use super::brief;
use super::ledger::{At, Severity, Told};
use super::measure::{self, Measure};
use crate::Shelf;

/// Facts that are the text of a prompt.
const TEXTS: [&str; 6] = ["text", "prompt", "content", "system_prompt", "rendered", "blocks"];
/// More open look-ups are not remembered.
const MOST_OPEN: usize = 64;

/// A look-up in memory that has not ended.
pub(super) struct Recall {
    step: Option<String>,
    correlation: String,
    event_id: String,
}

impl Run {
    /// Tells of a prompt, by its size and hash only. Tells whether there was one.
    pub(super) fn prompt(&mut self, at: &At, message: &Message, shelf: &mut dyn Shelf) -> bool {
        let (mut prompt, mut system) = (String::new(), String::new());
        for block in &message.blocks {
            let BlockContent::Text { text } = &block.content else { continue };
            let is_system = block.purpose == Some(Purpose::SystemPrompt);
            let place = if is_system { &mut system } else { &mut prompt };
            if !place.is_empty() {
                place.push('\n');
            }
            place.push_str(text);
        }
        if prompt.is_empty() && system.is_empty() {
            return false;
        }
        let size = Measure::of(&prompt).map(|prompt| prompt.characters);
        let sized = size.map(|size| format!(" of {size} characters")).unwrap_or_default();
        let whose = at.step.as_deref().map(|step| format!(" for {step}")).unwrap_or_default();
        let mut told =
            Told::new("prompt.rendered", "prompt", format!("prompt{sized} rendered{whose}"))
                .with("turn", message.turn);
        for (key, text) in [("prompt", &prompt), ("system_prompt", &system)] {
            if !text.is_empty() {
                told = told.with(key, measure::of_prompt(text));
            }
        }
        self.ledger.tell(at, &told, shelf);
        self.paper.prompted(at, &prompt, size, &system);
        true
    }

    /// Tells of settings, skills and memory, whose payloads are open lists of facts.
    pub(super) fn fact(&mut self, at: &At, kind: &Kind, payload: &Json, shelf: &mut dyn Shelf) {
        let whole = brief::whole(payload);
        let (word, actor): (&'static str, _) = match kind {
            Kind::ConfigLoaded => ("config.loaded", "config"),
            Kind::PromptRendered => ("prompt.rendered", "prompt"),
            Kind::SkillIndexed => ("skill.indexed", "skill"),
            Kind::SkillLoaded => ("skill.loaded", "skill"),
            Kind::MemoryRecallStarted => ("memory.recall.started", "memory"),
            Kind::MemoryRecallCompleted => ("memory.recall.completed", "memory"),
            _ => ("memory.write.requested", "memory"),
        };
        let said = |key: &str| whole[key].as_str().filter(|text| !text.is_empty());
        let subject = ["skill_id", "skill", "name", "profile_id", "query_summary", "scope", "id"];
        let subject = subject.iter().find_map(|key| said(key));
        let plain = || subject.map_or_else(|| word.to_owned(), |what| format!("{word}: {what}"));
        let summary = said("summary").map_or_else(plain, str::to_owned);
        let mut told = Told::new(word, said("actor").unwrap_or(actor), summary);
        told.severity = match said("severity") {
            Some("warning") => Severity::Warning,
            Some("error") => Severity::Error,
            _ => Severity::Info,
        };
        told.data = brief::fields(&without_texts(kind, &whole));
        for key in ["actor", "severity", "summary"] {
            told.data.remove(key);
        }
        if *kind == Kind::SkillLoaded {
            self.paper.skilled(subject.unwrap_or("a skill without a name"));
        }
        let id = said("correlation_id").or_else(|| said("call_id")).map(str::to_owned);
        self.tell_recall(at, kind, told, id, shelf);
    }

    /// Pairs the end of a look-up with its beginning.
    fn tell_recall(
        &mut self,
        at: &At,
        kind: &Kind,
        told: Told,
        id: Option<String>,
        shelf: &mut dyn Shelf,
    ) {
        match kind {
            Kind::MemoryRecallStarted => {
                let correlation = id.unwrap_or_else(|| format!("recall_{}", at.seq));
                let event_id = self.ledger.tell(at, &told.correlated(&correlation), shelf);
                self.recalls.push(Recall { step: at.step.clone(), correlation, event_id });
                if self.recalls.len() > MOST_OPEN {
                    self.recalls.remove(0);
                }
            }
            Kind::MemoryRecallCompleted => {
                let is_it = |open: &Recall| match &id {
                    Some(id) => open.correlation == *id,
                    None => open.step == at.step,
                };
                let place = self.recalls.iter().rposition(is_it);
                let open = place.map(|place| self.recalls.remove(place));
                let parent = open.as_ref().map(|open| open.event_id.as_str());
                let id = open.as_ref().map(|open| open.correlation.clone()).or(id);
                let told = told.correlated(&id.unwrap_or_default()).within(parent);
                self.ledger.tell(at, &told, shelf);
            }
            _ => {
                self.ledger.tell(at, &told.correlated(&id.unwrap_or_default()), shelf);
            }
        }
    }
}

/// The text of a prompt never stands in an event.
fn without_texts(kind: &Kind, whole: &Value) -> Value {
    let mut whole = whole.clone();
    if let (Kind::PromptRendered, Value::Object(fields)) = (kind, &mut whole) {
        for (_, value) in fields.iter_mut().filter(|(key, _)| TEXTS.contains(&key.as_str())) {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            *value = measure::of_prompt(&text);
        }
    }
    whole
}
