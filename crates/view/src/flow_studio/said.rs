//! Texts: what a message says in each role, and what a tool answered as one string.

use quipu_event::payload::Message;
use quipu_event::{BlockContent, Fidelity, Json, Kind, Purpose, mend_surrogates};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A message, by who speaks.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) system: Option<String>,
    pub(super) user: Option<String>,
    pub(super) assistant: Option<String>,
}

impl Said {
    /// Sorts the texts of a message. `by_place` is for writers who put the system prompt second.
    pub(super) fn of(kind: &Kind, message: &Message, by_place: bool) -> Self {
        let mut said = Said::default();
        for (at, block) in message.blocks.iter().enumerate() {
            let BlockContent::Text { text } = &block.content else { continue };
            let is_system = block.purpose == Some(Purpose::SystemPrompt)
                || message.role == "system"
                || (by_place && at == 1 && are_two_prompts(message));
            let place = match (kind, is_system) {
                (Kind::MessageAssistant, _) => &mut said.assistant,
                (_, true) => &mut said.system,
                (_, false) => &mut said.user,
            };
            match place {
                Some(before) => *before += &format!("\n\n{text}"),
                None => *place = Some(text.clone()),
            }
        }
        said
    }

    /// Returns each line: the role and the text. What the agent is told about itself comes first.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [("system", &self.system), ("user", &self.user), ("assistant", &self.assistant)]
            .into_iter()
            .filter_map(|(role, text)| Some((role, text.as_deref()?)))
    }
}

fn are_two_prompts(message: &Message) -> bool {
    let is_plain = |block: &quipu_event::ContentBlock| {
        matches!(block.content, BlockContent::Text { .. })
            && block.purpose.is_none()
            && block.fidelity == Fidelity::Router
    };
    message.blocks.len() == 2 && message.blocks.iter().all(is_plain)
}

/// Returns what a tool answered, as text.
pub(super) fn text_of(output: &Json) -> String {
    match mended(output) {
        Some(Value::String(text)) => text,
        Some(Value::Null) => String::new(),
        Some(value) => texts(&value).unwrap_or_else(|| mend_surrogates(output.as_str()).into()),
        None => mend_surrogates(output.as_str()).into(),
    }
}

/// Decodes JSON in which halves of surrogate pairs are replaced.
pub(super) fn mended<T: DeserializeOwned>(json: &Json) -> Option<T> {
    serde_json::from_str(&mend_surrogates(json.as_str())).ok()
}

/// Returns the first `most` characters.
pub(super) fn cut(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// Returns the texts of a list of text blocks, as several protocols wrap an answer.
fn texts(value: &Value) -> Option<String> {
    let is_wrapper = |key: &String| {
        matches!(key.as_str(), "Content" | "IsError" | "content" | "isError" | "is_error")
    };
    let wrapper = value.as_object().filter(|object| object.keys().all(is_wrapper));
    let list = wrapper.and_then(|object| object.get("Content").or_else(|| object.get("content")));
    let blocks = list.unwrap_or(value).as_array().filter(|blocks| !blocks.is_empty())?;
    let text = |block: &Value| {
        let text = block.get("text").or_else(|| block.get("Text"))?;
        text.as_str().map(str::to_owned)
    };
    blocks.iter().map(text).collect::<Option<Vec<_>>>().map(|texts| texts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_any_shape_are_text() {
        for (json, expected) in [
            (r#""a\nb""#, "a\nb"),
            ("null", ""),
            (r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#, "a\nb"),
            (r#"{"Content":[{"Type":"text","Text":"a"}],"IsError":true}"#, "a"),
            (r#"{"content":"a"}"#, r#"{"content":"a"}"#),
            (r#"[{"type":"image"}]"#, r#"[{"type":"image"}]"#),
            (r#""half \ud83d""#, "half \u{fffd}"),
            ("7", "7"),
        ] {
            assert_eq!(text_of(&Json::from_valid(json)), expected, "{json}");
        }
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("éàü", 2), "éà");
        assert_eq!(cut("é", 2), "é");
    }
}
