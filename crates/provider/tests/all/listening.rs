//! A program that is listened to while it works.

use quipu_event::{Kind, Timestamp};
use quipu_provider::{KeptBytes, Listener, find_provider};

fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(second * 1_000_000)
}

#[test]
fn what_was_held_back_has_the_time_when_it_came() {
    let claude = find_provider("claude").unwrap();
    let surface = claude.surfaces.iter().find(|surface| surface.name == "stream").unwrap();
    let mut listener = Listener::new(claude, surface, KeptBytes::Unknown);
    let lines = [
        r#"{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}"#,
        r#"{"type":"assistant","message":{"id":"a","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]},"session_id":"s"}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]},"session_id":"s"}"#,
    ];
    let mut drafts = Vec::new();
    listener.take(format!("{}\n", lines[0]).as_bytes(), at(1), &mut drafts);
    listener.take(format!("{}\n", lines[1]).as_bytes(), at(2), &mut drafts);
    assert!(drafts.iter().all(|draft| draft.kind != Kind::ToolCall), "{drafts:?}");
    listener.settle(&mut drafts);
    listener.take(format!("{}\n", lines[2]).as_bytes(), at(9), &mut drafts);
    let time_of = |kind| drafts.iter().find(|draft| draft.kind == kind).unwrap().timestamp;
    assert_eq!(time_of(Kind::MessageAssistant), Some(at(2)));
    assert_eq!(time_of(Kind::ToolCall), Some(at(2)));
    assert_eq!(time_of(Kind::ToolResult), None, "it is told when it comes");
}
