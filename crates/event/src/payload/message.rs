//! What was said to an agent, and what it replied.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SpokenMessage, spelled};
use crate::block::ContentBlock;
use crate::encode::EncodeError;
use crate::json::Json;

/// Payload of `message.user` and `message.assistant`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// Other writers spell "no blocks" as `null`.
fn null_as_empty<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Vec<ContentBlock>, D::Error> {
    Ok(Option::deserialize(d)?.unwrap_or_default())
}
