//! Blocks of types that nobody knows: all that they say, and not only what stands under `content`.
//!
//! Our own producers put the foreign block under that key. Others write its fields beside its type,
//! where decoding passes over them. Here they are taken from the payload as they stand there.

use quipu_event::{BlockContent, ContentBlock, Json, Payload};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::fields::Fields;

/// Fills in what the blocks of unknown types say, which `text` is the payload of.
pub(super) fn fill_in_content(payload: &mut Payload, text: &Json) {
    let blocks: &mut [ContentBlock] = match payload {
        Payload::Message(message) => &mut message.blocks,
        Payload::StepStarted(step) => step.blocks.as_deref_mut().unwrap_or_default(),
        _ => return,
    };
    let is_foreign = |block: &ContentBlock| matches!(block.content, BlockContent::Other { .. });
    if !blocks.iter().any(is_foreign) {
        return;
    }
    for (block, written) in blocks.iter_mut().zip(written_blocks(text.as_str())) {
        if let BlockContent::Other { content, .. } = &mut block.content
            && let Some(whole) = said_beside_content(written)
        {
            *content = Some(whole);
        }
    }
}

/// Returns the blocks of a payload as they were written. AWF has payloads that are a list of them.
fn written_blocks(payload: &str) -> Vec<&RawValue> {
    #[derive(Deserialize)]
    struct Written<'a> {
        #[serde(borrow, default)]
        blocks: Vec<&'a RawValue>,
    }
    let bare = || serde_json::from_str(payload).unwrap_or_default();
    serde_json::from_str(payload).map_or_else(|_| bare(), |Written { blocks }| blocks)
}

/// Returns the block but for our own remarks on it, if it says anything beside `content`.
fn said_beside_content(block: &RawValue) -> Option<Json> {
    let Fields(fields) = serde_json::from_str(block.get()).ok()?;
    let is_ours = |key: &str| matches!(key, "fidelity" | "purpose");
    let says_more = |key: &str| !is_ours(key) && !matches!(key, "type" | "content");
    if !fields.iter().any(|(key, _)| says_more(key)) {
        return None;
    }
    let fields = fields.iter().filter(|(key, _)| !is_ours(key)).map(|(key, value)| {
        let key = serde_json::Value::from(key.as_ref());
        format!("{key}:{}", value.get())
    });
    let fields: Vec<String> = fields.collect();
    Some(Json::from_valid(&format!("{{{}}}", fields.join(","))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quipu_event::Kind;

    #[test]
    fn a_block_of_an_unknown_type_says_all_that_stands_in_it() {
        let cases = [
            (r#"{"type":"image"}"#, None),
            (r#"{"type":"image","fidelity":"router","content":[1.0]}"#, Some("[1.0]")),
            (
                r#"{"fidelity":"router","type":"image","a\"b":1.50,"source":{"z":1,"a":2}}"#,
                Some(r#"{"type":"image","a\"b":1.50,"source":{"z":1,"a":2}}"#),
            ),
            (
                r#"{"type":"image","content":"x","text":"y","purpose":"prompt"}"#,
                Some(r#"{"type":"image","content":"x","text":"y"}"#),
            ),
        ];
        for (block, expected) in cases {
            let known = r#"{"type":"text","text":"a","font":"serif"}"#;
            let blocks = format!("[{known},{block}]");
            for text in [format!("{{\"blocks\":{blocks}}}"), blocks] {
                let text = Json::parse(&text).unwrap();
                let mut payload = Payload::decode(&Kind::MessageUser, &text).unwrap();
                fill_in_content(&mut payload, &text);
                let Payload::Message(message) = payload else { panic!() };
                let BlockContent::Other { content, .. } = &message.blocks[1].content else {
                    panic!()
                };
                assert_eq!(content.as_ref().map(Json::as_str), expected, "{block}");
            }
        }
    }
}
