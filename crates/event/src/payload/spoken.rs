//! A message's payload, written while the message is being said.
//!
//! A [`Message`] holds all its blocks until it is encoded, and for that moment every text is in
//! memory twice. Here each block goes into the payload as it comes and need not be kept beside it.
//! It takes back nothing: whoever changes blocks after they were said needs a [`Message`].

use serde::Serialize;

use super::Message;
use crate::block::ContentBlock;
use crate::encode::{EncodeError, write_value, write_value_at};
use crate::escape::string_within;
use crate::json::Json;

/// How deep a block stands in the payload of a message.
const BLOCK_DEPTH: usize = 2;

/// The payload of a message that is still being said.
#[derive(Clone, Debug)]
pub struct SpokenMessage {
    text: String,
    has_blocks: bool,
}

impl SpokenMessage {
    /// Begins a message by `role`.
    pub fn by(role: &str) -> Self {
        let mut text = String::with_capacity(512);
        text.push_str("{\"role\":");
        // A string neither nests nor has keys.
        let _ = write_value(&mut text, role);
        text.push_str(",\"blocks\":[");
        SpokenMessage { text, has_blocks: false }
    }

    /// Adds a block: whatever is written as a [`crate::ContentBlock`] would be.
    ///
    /// `room` is how many bytes it will take, as far as is known; a good guess saves moving a large
    /// text. Nothing is added when the block nests too deep or has a key that is not text.
    pub fn add(&mut self, block: &impl Serialize, room: usize) -> Result<(), EncodeError> {
        let before = self.text.len();
        self.text.reserve(room);
        if self.has_blocks {
            self.text.push(',');
        }
        let written = write_value_at(&mut self.text, block, BLOCK_DEPTH);
        match written {
            Ok(()) => self.has_blocks = true,
            Err(_) => self.text.truncate(before),
        }
        written
    }

    /// Adds a block that is not needed any more.
    ///
    /// Where its text is large, and larger than what has been said before, that goes before it
    /// and not the text behind that.
    pub fn take(&mut self, mut block: ContentBlock) -> Result<(), EncodeError> {
        let said = self.text.len();
        let is_large = block.is_large();
        let Some((key, text)) = block.said_mut().filter(|(_, text)| is_large && text.len() > said)
        else {
            return self.add(&block, 0);
        };
        let (key, text) = (format!("\"{key}\":"), std::mem::take(text));
        self.add(&block, 0)?;
        // A quote inside a text has a backslash before it, so that this can only be the key.
        let gap = self.text[said..].find(&format!("{key}\"\"")).map(|at| said + at + key.len());
        let gap = gap.ok_or_else(|| EncodeError::Custom(format!("a block lacks {key}")))?;
        let (before, after) = (&self.text[..gap], &self.text[gap + 2..]);
        self.text = string_within(text, before, after);
        Ok(())
    }

    /// Tells whether nothing has been said yet.
    pub fn is_empty(&self) -> bool {
        !self.has_blocks
    }

    /// Ends the message with what `rest` knows beside its role and blocks.
    pub fn end(self, rest: &Message) -> Json {
        let mut text = self.text;
        let Message { role: _, blocks: _, message_id, model, stop_reason, turn } = rest;
        let mut end = String::with_capacity(256);
        end.push(']');
        let words = [("message_id", message_id), ("model", model), ("stop_reason", stop_reason)];
        for (key, word) in words {
            if let Some(word) = word {
                end.push_str(&format!(",\"{key}\":"));
                let _ = write_value(&mut end, word);
            }
        }
        if let Some(turn) = turn {
            end.push_str(&format!(",\"turn\":{turn}"));
        }
        end.push('}');
        text.reserve_exact(end.len());
        text.push_str(&end);
        Json::trusted(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::LARGE;
    use crate::{BlockContent, ContentBlock, Fidelity, MAX_DEPTH, Purpose};

    fn messages() -> Vec<Message> {
        let text = |text: &str| ContentBlock::text(Fidelity::AgentEmitted, text);
        let full = Message {
            message_id: Some("m\"1".to_owned()),
            model: Some("x".to_owned()),
            stop_reason: Some("end_turn".to_owned()),
            turn: Some(3),
            ..Message::assistant(vec![
                text("a\n"),
                ContentBlock::thinking(Fidelity::Router, "é\u{1}"),
                BlockContent::ToolUse {
                    tool_name: "t".to_owned(),
                    tool_id: "i".to_owned(),
                    tool_input: Json::parse("{\"a\":[1]}").unwrap(),
                }
                .vouched_by(Fidelity::AgentEmitted),
            ])
        };
        let prompt = Message::user(vec![text("go").with_purpose(Purpose::Prompt)]);
        vec![full, prompt, Message::assistant(Vec::new())]
    }

    #[test]
    fn a_message_is_written_alike_at_once_and_while_it_is_said() {
        for message in messages() {
            let mut spoken = SpokenMessage::by(&message.role);
            assert!(spoken.is_empty());
            for block in &message.blocks {
                spoken.add(block, 0).unwrap();
            }
            assert_eq!(spoken.end(&message), Json::encode(&message).unwrap());
        }
    }

    #[test]
    fn a_message_is_encoded_alike_around_a_large_text_and_beside_it() {
        let large = "a\"text\":\"\"\n".repeat(LARGE / 10);
        let text = |text: &str| ContentBlock::text(Fidelity::AgentEmitted, text);
        let thought = |text: &str| ContentBlock::thinking(Fidelity::AgentEmitted, text);
        let sealed = |text: &str, seal: &str| {
            let (thinking, signature) = (text.to_owned(), Some(seal.to_owned()));
            BlockContent::Thinking { thinking, signature }.vouched_by(Fidelity::AgentEmitted)
        };
        for blocks in [
            vec![text(&large)],
            vec![text("\"text\":\"\""), text(&large).with_purpose(Purpose::Prompt), text("b")],
            vec![thought(&large), text("a"), text(&large)],
            vec![sealed(&large, "\"thinking\":\"\""), text(&large.repeat(2)), thought("")],
            vec![sealed("", &large), text("a")],
        ] {
            let model = Some("x".to_owned());
            let message = Message { model, ..Message::assistant(blocks) };
            let expected = Json::encode(&message).unwrap();
            assert_eq!(message.into_payload().unwrap(), expected);
        }
    }

    #[test]
    fn a_block_that_nests_too_deep_leaves_no_trace() {
        let nested = |n: usize| {
            let text = "[".repeat(n) + &"]".repeat(n);
            let content = Some(serde_json::from_str(&text).unwrap());
            BlockContent::Other { block_type: "x".to_owned(), content }
                .vouched_by(Fidelity::AgentEmitted)
        };
        let fits = nested(MAX_DEPTH - BLOCK_DEPTH - 1);
        let mut spoken = SpokenMessage::by("user");
        assert!(spoken.add(&nested(MAX_DEPTH - BLOCK_DEPTH), 0).is_err());
        spoken.add(&fits, 0).unwrap();
        assert!(spoken.add(&nested(MAX_DEPTH), 0).is_err());
        let message = Message::user(vec![fits]);
        assert_eq!(spoken.end(&message), Json::encode(&message).unwrap());
    }
}
