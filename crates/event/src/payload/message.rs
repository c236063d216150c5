//! What was said to an agent, and what it replied.

use schemars::JsonSchema;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::{SpokenMessage, spelled};
use crate::block::{ContentBlock, optional};
use crate::encode::{EncodeError, Opening, serialize_with_opening};
use crate::json::Json;

/// Payload of `message.user` and `message.assistant`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Message {
    /// `user` or `assistant`.
    pub role: String,
    /// What was said, in order.
    #[serde(deserialize_with = "null_as_empty")]
    pub blocks: Vec<ContentBlock>,
    /// The provider's id of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The model that replied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why it stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Which turn of a conversation, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
}

impl Message {
    /// Makes what is said to an agent.
    pub fn user(blocks: Vec<ContentBlock>) -> Self {
        Message { role: "user".to_owned(), blocks, ..Self::default() }
    }

    /// Makes what an agent replies.
    pub fn assistant(blocks: Vec<ContentBlock>) -> Self {
        Message { role: "assistant".to_owned(), blocks, ..Self::default() }
    }

    /// Encodes the message as a payload.
    ///
    /// A large text is not copied for that if it has room for a little more: the payload is made
    /// around it.
    pub fn into_payload(mut self) -> Result<Json, EncodeError> {
        if !self.blocks.iter().any(ContentBlock::is_large) {
            return Json::encode(&self);
        }
        let mut spoken = SpokenMessage::by(&self.role);
        for block in std::mem::take(&mut self.blocks) {
            spoken.take(block)?;
        }
        Ok(spoken.end(&self))
    }

    /// Decodes a message payload; a bare array is taken as the blocks of a message by `role`.
    pub(super) fn decode(role: &str, json: &Json) -> serde_json::Result<Self> {
        if json.as_str().starts_with('[') {
            return Ok(Message {
                role: role.to_owned(),
                blocks: json.decode()?,
                ..Self::default()
            });
        }
        spelled::message(json.as_str()).map_or_else(|| json.decode(), Ok)
    }
}

impl Serialize for Message {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_with_opening(self, serializer)
    }
}

impl Opening for Message {
    fn serialize_opened<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut message = serializer.serialize_struct("Message", 6)?;
        let blocks = match &*self.role {
            "assistant" => "{\"role\":\"assistant\",\"blocks\":",
            "user" => "{\"role\":\"user\",\"blocks\":",
            role => {
                message.serialize_field("{\"role\":", role)?;
                "blocks"
            }
        };
        message.serialize_field(blocks, &self.blocks)?;
        self.serialize_rest(message)
    }

    fn serialize_named<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut message = serializer.serialize_struct("Message", 6)?;
        message.serialize_field("role", &self.role)?;
        message.serialize_field("blocks", &self.blocks)?;
        self.serialize_rest(message)
    }
}

impl Message {
    /// Serialises what follows the blocks.
    fn serialize_rest<S: SerializeStruct>(&self, mut message: S) -> Result<S::Ok, S::Error> {
        optional(&mut message, "message_id", &self.message_id)?;
        optional(&mut message, "model", &self.model)?;
        optional(&mut message, "stop_reason", &self.stop_reason)?;
        optional(&mut message, "turn", &self.turn)?;
        message.end()
    }
}

/// Other writers spell "no blocks" as `null`.
fn null_as_empty<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Vec<ContentBlock>, D::Error> {
    Ok(Option::deserialize(d)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fidelity;

    #[test]
    fn every_message_is_written_as_any_serializer_writes_it() {
        let text = || ContentBlock::text(Fidelity::AgentEmitted, "a\n\"b\"");
        let word = || Some("\"".to_owned());
        for role in ["user", "assistant", "", "a \"guest\""] {
            for blocks in [vec![], vec![text()], vec![text(), text()]] {
                let bare = Message { role: role.to_owned(), blocks, ..Message::default() };
                let full = Message {
                    message_id: word(),
                    model: word(),
                    stop_reason: word(),
                    turn: Some(2),
                    ..bare.clone()
                };
                for message in [bare, full] {
                    let expected = serde_json::to_string(&message).unwrap();
                    assert_eq!(Json::encode(&message).unwrap().as_str(), expected);
                }
            }
        }
    }
}
