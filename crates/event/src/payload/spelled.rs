//! Messages as our own writer spells them: known keys in their order, no white space.
//!
//! Most lines of a transcript are messages, and most messages are spelled so. Any other spelling is
//! answered with nothing and decoded by [`Json::decode`](crate::Json::decode): this file may be deleted and
//! every message still means the same (a property test says so).

use super::Message;
use crate::block::{BlockContent, ContentBlock, Fidelity, Purpose};
use crate::walk::Walk;

/// Decodes a message payload that has the known keys in their order, and no other.
pub(super) fn message(payload: &str) -> Option<Message> {
    let mut walk = Walk::along(payload);
    let message = Message {
        role: walk.after(b"{\"role\":\"", Walk::text)?,
        blocks: walk.after(b",\"blocks\":[", blocks)?,
        message_id: walk.if_there(b",\"message_id\":\"", Walk::text)?,
        model: walk.if_there(b",\"model\":\"", Walk::text)?,
        stop_reason: walk.if_there(b",\"stop_reason\":\"", Walk::text)?,
        turn: walk.if_there(b",\"turn\":", Walk::whole_number)?,
    };
    walk.end(b"}")?;
    Some(message)
}

fn blocks(walk: &mut Walk<'_>) -> Option<Vec<ContentBlock>> {
    if walk.literal(b"]").is_some() {
        return Some(Vec::new());
    }
    // Most messages have one block; a vector that grows begins with room for four.
    let mut blocks = Vec::with_capacity(1);
    loop {
        blocks.push(block(walk)?);
        if walk.literal(b",").is_none() {
            return walk.literal(b"]").map(|()| blocks);
        }
    }
}

fn block(walk: &mut Walk<'_>) -> Option<ContentBlock> {
    let block_type = walk.after(b"{\"type\":\"", Walk::plain_text)?;
    let fidelity = Fidelity::from(walk.after(b",\"fidelity\":\"", Walk::plain_text)?);
    let content = content(block_type, walk)?;
    let purpose = walk.if_there(b",\"purpose\":\"", |walk| walk.plain_text().map(Purpose::from))?;
    walk.literal(b"}")?;
    Some(ContentBlock { fidelity, purpose, content })
}

/// What the types of blocks say of which there are many.
fn content(block_type: &str, walk: &mut Walk<'_>) -> Option<BlockContent> {
    Some(match block_type {
        "text" => BlockContent::Text { text: walk.after(b",\"text\":\"", Walk::text)? },
        "thinking" => BlockContent::Thinking {
            thinking: walk.after(b",\"thinking\":\"", Walk::text)?,
            signature: walk.if_there(b",\"signature\":\"", Walk::text)?,
        },
        "tool_use" => BlockContent::ToolUse {
            tool_name: walk.after(b",\"tool_name\":\"", Walk::text)?,
            tool_id: walk.after(b",\"tool_id\":\"", Walk::text)?,
            tool_input: walk.after(b",\"tool_input\":", Walk::value)?,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::*;
    use crate::json::Json;

    const SPELLED: &[&str] = &[
        r#"{"role":"user","blocks":[]}"#,
        r#"{"role":"","blocks":[{"type":"text","fidelity":"router","text":"","purpose":"prompt"}]}"#,
        r#"{"role":"assistant","blocks":[{"type":"text","fidelity":"agent_emitted","text":"a\n\ud83d\ude00"},{"type":"thinking","fidelity":"oracle","thinking":"é"}],"turn":3}"#,
        r#"{"role":"assistant","blocks":[{"type":"thinking","fidelity":"router","thinking":"a","signature":"b\/"}],"message_id":"m","model":"x","stop_reason":"y","turn":0}"#,
        r#"{"role":"a\"b","blocks":[{"type":"tool_use","fidelity":"router","tool_name":"n","tool_id":"i","tool_input":{"a":[1.50, {}]}}],"model":""}"#,
    ];

    fn long_way(payload: &str) -> serde_json::Result<Message> {
        serde_json::from_str(payload)
    }

    #[test]
    fn what_we_write_goes_the_short_way() {
        for payload in SPELLED {
            assert_eq!(message(payload).unwrap(), long_way(payload).unwrap(), "{payload}");
        }
    }

    #[test]
    fn other_spellings_go_the_long_way() {
        let others = [
            r#"[]"#,
            r#"{"blocks":[],"role":"user"}"#,
            r#"{"role":"user","blocks":null}"#,
            r#"{"role":"user","blocks":[] }"#,
            r#"{"role":"\ud800","blocks":[]}"#,
            r#"{"role":"user","blocks":[],"turn":-1}"#,
            r#"{"role":"user","blocks":[],"turn":1,"turn":2}"#,
            r#"{"role":"user","blocks":[],"new":1}"#,
            r#"{"role":"user","blocks":[],"model":null}"#,
            r#"{"role":"user","blocks":[{"type":"hologram","fidelity":"router"}]}"#,
            r#"{"role":"user","blocks":[{"type":"text","fidelity":"router","text":"","font":1}]}"#,
            r#"{"role":"user","blocks":[{"type":"text","text":""}]}"#,
        ];
        for payload in others {
            assert_eq!(message(payload), None, "{payload}");
        }
    }

    fn any_block() -> impl Strategy<Value = ContentBlock> {
        let text = || "(\\PC|[\\x00-\\x30\"\\\\]){0,12}";
        let content = prop_oneof![
            text().prop_map(|text| BlockContent::Text { text }),
            (text(), option::of(text()))
                .prop_map(|(thinking, signature)| BlockContent::Thinking { thinking, signature }),
            (text(), text(), text()).prop_map(|(tool_name, tool_id, input)| {
                let tool_input = Json::encode(&[input]).unwrap();
                BlockContent::ToolUse { tool_name, tool_id, tool_input }
            }),
        ];
        (content, any::<bool>()).prop_map(|(content, is_prompt)| {
            let block = content.vouched_by(Fidelity::Router);
            if is_prompt { block.with_purpose(Purpose::Prompt) } else { block }
        })
    }

    proptest! {
        #[test]
        fn any_message_of_ours_goes_the_short_way_and_comes_out_as_it_was(
            blocks in vec(any_block(), 0..4),
            turn in option::of(any::<u64>()),
            model in option::of("\\PC{0,8}"),
        ) {
            let said = Message { turn, model, ..Message::assistant(blocks) };
            let payload = Json::encode(&said).unwrap();
            prop_assert_eq!(message(payload.as_str()), Some(said));
        }

        #[test]
        fn a_message_that_was_bent_is_read_as_the_long_way_reads_it(
            payload in select(SPELLED),
            bends in vec((any::<Index>(), select(b"{}[]\",:\\ 019e.-nux".to_vec())), 1..3),
        ) {
            let mut bytes = payload.as_bytes().to_vec();
            for (at, byte) in bends {
                let at = at.index(bytes.len());
                if bytes[at].is_ascii() {
                    bytes[at] = byte;
                }
            }
            let text = String::from_utf8(bytes).unwrap();
            // Only what is JSON is ever asked for here.
            if serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok()
                && let Some(ours) = message(&text)
            {
                prop_assert_eq!(ours, long_way(&text).unwrap());
            }
        }
    }
}
