//! Written from where it stands, everything comes out as if it had been taken over first.

use std::hash::DefaultHasher;

use proptest::prelude::*;
use quipu_event::payload::ToolStatus;
use quipu_event::{BlockContent, ContentBlock};

use super::*;

/// Takes a block over.
fn taken_over(block: &SaidBlock<'_>) -> ContentBlock {
    let own = |said: &Said<'_>| said.text().into_owned();
    let content = match block {
        SaidBlock::Text(text) => BlockContent::Text { text: own(text) },
        SaidBlock::Thinking { thinking, signature } => BlockContent::Thinking {
            thinking: own(thinking),
            signature: signature.as_ref().map(own),
        },
        SaidBlock::ToolUse { id, name, input } => BlockContent::ToolUse {
            tool_name: name.to_string(),
            tool_id: id.to_string(),
            tool_input: input.clone().into_json(),
        },
        SaidBlock::ToolResult { id, content, is_error } => BlockContent::ToolResult {
            tool_id: id.to_string(),
            tool_content: content.map(Value::json).unwrap_or_default(),
            is_error: Some(*is_error),
        },
        SaidBlock::Other { block_type, content } => BlockContent::Other {
            block_type: block_type.to_string(),
            content: Some(content.clone().into_json()),
        },
    };
    content.vouched_by(Fidelity::AgentEmitted)
}

#[test]
fn blocks_are_written_as_their_like() {
    let deep = "[".repeat(600) + &"]".repeat(600);
    let value = |text| Given::Value(Value::parse(text).unwrap());
    let blocks = [
        SaidBlock::Text(Said::Literal(r#""a\/\u003c\n""#)),
        SaidBlock::Text(Said::Text("a\n\u{0}".to_owned())),
        SaidBlock::Thinking { thinking: Said::default(), signature: None },
        SaidBlock::Thinking {
            thinking: Said::Literal(r#""é""#),
            signature: Some(Said::Literal(r#""s\\""#)),
        },
        SaidBlock::ToolUse { id: "i".into(), name: "n".into(), input: value("{\"a\":\n [1.0]}") },
        SaidBlock::ToolUse { id: "".into(), name: "".into(), input: Given::from(None) },
        SaidBlock::ToolResult { id: "i".into(), content: None, is_error: true },
        SaidBlock::ToolResult {
            id: "i".into(),
            content: Some(Value::parse(r#""\/""#).unwrap()),
            is_error: false,
        },
        SaidBlock::Other { block_type: "image".into(), content: value(&deep) },
    ];
    for block in blocks {
        let own = taken_over(&block);
        assert_eq!(block.block_type(), own.content.block_type());
        assert_eq!(Json::encode(&Spoken(&block, None)).unwrap(), Json::encode(&own).unwrap());
        let own = own.with_purpose(Purpose::Prompt);
        let spoken = Json::encode(&Spoken(&block, Some(Purpose::Prompt))).unwrap();
        assert_eq!(spoken, Json::encode(&own).unwrap());
    }
}

#[test]
fn results_are_written_as_their_like() {
    let full = ToolResult {
        name: "n".to_owned(),
        call_id: "i".to_owned(),
        input: Json::parse("[1]").unwrap(),
        error: Some("no".to_owned()),
        status: Some(ToolStatus::Failed),
        duration_ms: Some(7),
        ..ToolResult::default()
    };
    for result in [full, ToolResult::default()] {
        for source in ["null", "\"a\\/\"", "[1,\n2]", "{\"a\":1.50}"] {
            let output = Given::Value(Value::parse(source).unwrap());
            let own = ToolResult { output: output.clone().into_json(), ..result.clone() };
            let answered = Answered { result: &result, output: &output };
            assert_eq!(Json::encode(&answered).unwrap(), Json::encode(&own).unwrap());
        }
    }
}

#[test]
fn a_long_text_is_printed_in_pieces_without_a_seam() {
    let literal = format!("\"{}\"", r"äöü\/\u20ac\ud83d".repeat(4_000));
    let said = Said::Literal(&literal);
    assert_eq!(Json::encode(&said).unwrap(), Json::encode(&*said.text()).unwrap());
}

#[test]
fn equal_texts_have_equal_hashes_however_they_are_escaped() {
    let hash = |said: Said<'_>| {
        let mut hasher = DefaultHasher::new();
        said.hash(&mut hasher);
        hasher.finish()
    };
    let text = hash(Said::Text("</a>\n".to_owned()));
    for literal in [r#""</a>\n""#, r#""<\/a>\n""#, r#""\u003c/a>\u000a""#] {
        assert_eq!(hash(Said::Literal(literal)), text, "{literal}");
    }
    assert_ne!(hash(Said::Literal(r#""</b>\n""#)), text);
    let long = "0123456789\n\u{1}é\"".repeat(3_000);
    let ours = Json::encode(&*long).unwrap();
    let theirs = ours.as_str().replace("\\n", "\\u000A");
    let long = hash(Said::Text(long));
    assert_eq!(hash(Said::Literal(ours.as_str())), long);
    assert_eq!(hash(Said::Literal(&theirs)), long);
}

proptest! {
    #[test]
    fn a_text_is_written_as_if_it_had_been_decoded_first(
        inside in r#"([a-zé€]|\\[nrtbf/\\"]|\\u00[0-9a-fA-F]{2}|\\ud83d\\ude00|\\u[dD][89cC]0[0-9]|\\u[0-9a-c][0-9a-fA-F]{3}){0,40}"#
    ) {
        let literal = format!("\"{inside}\"");
        let said = Said::Literal(&literal);
        let encoded = Json::encode(&said).unwrap();
        prop_assert_eq!(&encoded, &Json::encode(&*said.text()).unwrap());
        prop_assert!(encoded.as_str().len() <= literal.len());
        prop_assert_eq!(is_escaped_our_way(&inside), encoded.as_str() == literal);
    }
}
