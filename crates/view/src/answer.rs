//! What a tool answered: where its blocks are, and what text they hold.
//!
//! The tool protocol has them under `content`, AWF spells its keys in PascalCase, and some agents
//! leave a bare list.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::fields::{Fields, text_of};

/// Returns the blocks of an answer; nothing if it is not made of blocks.
pub fn blocks_of(answer: &str) -> Option<Vec<&RawValue>> {
    let blocks = match serde_json::from_str::<Fields<'_>>(answer) {
        Ok(fields) => fields.either("content", "Content")?,
        Err(_) => answer,
    };
    serde_json::from_str(blocks).ok()
}

/// Returns the text of a block; nothing if it has none.
pub fn text_of_block(block: &RawValue) -> Option<Cow<'_, str>> {
    let fields: Fields<'_> = serde_json::from_str(block.get()).ok()?;
    fields.either("text", "Text").filter(|text| text.starts_with('"')).map(text_of)
}
