//! Bodies that an agent keeps beside its input, given from memory.

use std::collections::BTreeMap;

use quipu_event::payload::ToolResult;
use quipu_event::{Json, Payload};
use quipu_provider::{Companions, KeptBytes, Normalizer, find_provider};
use serde_json::json;

use crate::reading::payloads;

/// Files by their place.
struct Files(BTreeMap<&'static str, &'static [u8]>);

impl Companions for Files {
    fn body(&self, place: &str) -> Option<Vec<u8>> {
        self.0.get(place).map(|body| body.to_vec())
    }
}

fn note(path: &str) -> String {
    format!(
        "<persisted-output>\nOutput too large (1MB). Full output saved to: {path}\n\nPreview:\nab"
    )
}

/// Reads a record, with `more` in it, whose one answer is `content`; returns it, and what is told of its origin.
fn answer(
    content: &serde_json::Value,
    more: &serde_json::Value,
    files: &[(&'static str, &'static [u8])],
) -> (ToolResult, Option<serde_json::Value>) {
    let mut record = json!({
        "type": "user", "uuid": "u", "sessionId": "s1",
        "message": { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "t1", "content": content },
        ] },
    });
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let record = format!("{record}\n");
    let surface = find_provider("claude").unwrap().find_surface("session").unwrap();
    let companions = Files(files.iter().copied().collect());
    let mut normalizer =
        Normalizer::new(surface, KeptBytes::Full).with_companions(Box::new(companions));
    let mut made = Vec::new();
    normalizer.push(record.as_bytes(), &mut made);
    normalizer.finish(&mut made);
    let (mut result, mut told) = (None, None);
    for (_, payload) in payloads(&made) {
        match payload {
            Payload::ToolResult(tool_result) => result = Some(*tool_result),
            Payload::System(system) if system.subtype == "output_joined" => {
                told = Some(serde_json::Value::Object(system.facts));
            }
            _ => {}
        }
    }
    let kept = made.iter().find_map(|made| made.draft.raw.as_ref()).unwrap().bytes().unwrap();
    assert_eq!(kept, record.trim_end().as_bytes(), "the record is kept as it was");
    (result.unwrap(), told)
}

#[test]
fn a_body_stands_in_the_place_of_the_note_that_names_its_file() {
    let text = note("/home/me/p/s1/tool-results/b1.txt");
    let told = json!({ "tool_id": "t1", "file": "b1.txt", "bytes": 9 });
    let list = json!([{ "type": "text", "text": text }]);
    for content in [json!(text), list] {
        for (more, place) in [
            (json!({}), "s1/tool-results/b1.txt"),
            (json!({}), "tool-results/b1.txt"),
            (json!({ "agentId": "a1", "isSidechain": true }), "../tool-results/b1.txt"),
        ] {
            let (result, fact) = answer(&content, &more, &[(place, b"all\nof it")]);
            assert_eq!(result.output, Json::encode("all\nof it").unwrap(), "{place}");
            assert_eq!(fact.as_ref(), Some(&told), "{place}");
        }
    }
}

#[test]
fn a_body_that_was_a_list_is_one_again() {
    let text = note("C:\\me\\s1\\tool-results\\t1.json");
    let body: &[u8] = b"[\n {\"type\":\"text\",\"text\":\"all\"}\n]";
    let (result, _) = answer(&json!(text), &json!({}), &[("s1/tool-results/t1.json", body)]);
    assert_eq!(result.output.as_str(), r#"[{"type":"text","text":"all"}]"#);
}

#[test]
fn the_agents_own_details_name_the_file_where_the_note_does_not() {
    let details =
        json!({ "toolUseResult": { "persistedOutputPath": "/p/s1/tool-results/b2.txt" } });
    let files: &[(_, &[u8])] = &[("s1/tool-results/b2.txt", b"\xffb")];
    let (result, _) = answer(&json!(note("/x/[removed]")), &details, files);
    assert_eq!(result.output, Json::encode("\u{fffd}b").unwrap());
}

#[test]
fn a_note_stays_where_there_is_no_body() {
    let files: &[(_, &[u8])] = &[
        ("s1/tool-results/b1.txt", b"x"),
        ("s1/secret.txt", b"y"),
        ("../tool-results/other.txt", b"z"),
    ];
    for content in [
        note("/p/s1/tool-results/other.txt"),
        note("/p/s1/tool-results/../secret.txt"),
        note("/p/s1/secret.txt"),
        format!("As I said: {}", note("/p/s1/tool-results/b1.txt")),
    ] {
        let (result, fact) = answer(&json!(content), &json!({}), files);
        assert_eq!(result.output, Json::encode(&*content).unwrap());
        assert_eq!(fact, None);
    }
}
