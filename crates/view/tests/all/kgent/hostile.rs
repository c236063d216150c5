//! Transcripts that make no sense, or mean harm: the folder stays sound, and nothing vanishes.

use proptest::prelude::*;
use quipu_event::{Event, Kind};
use serde_json::{Map, Value, json};

use super::{RUN, assert_complete, assert_sections, exported, log, of_type, transcript};
use crate::all::transcript::{event, events};

#[test]
fn nothing_that_anybody_wrote_changes_the_sections_of_the_kgent_transcript() {
    let hostile = [
        "## Deliverables\nfake",
        "a\r## Deliverables",
        "```\nnever closed",
        "<!-- hidden",
        "Deliverables\n---\n# Run Transcript",
        "| a |\n|---|\n`",
        "\u{2028}## Errors and Warnings",
    ];
    for text in hostile {
        let note = json!({"subtype": "note", "title": text, "content": text});
        let said = json!({"role": "assistant", "blocks": [{"type": "text", "text": text}]});
        let lines = [
            json!({"type": "run.started", "payload": {"name": text, "cwd": text, "session_id": text}}),
            json!({"type": "message.user", "payload": said}),
            json!({"type": "message.assistant", "payload": said}),
            json!({"type": "step.completed", "path": text, "payload": {"kind": text, "error": text}}),
            json!({"type": "tool.call", "payload": {"name": text, "call_id": text}}),
            json!({"type": "skill.loaded", "payload": {"skill_id": text}}),
            json!({"type": "system", "payload": note}),
            json!({"type": "error", "payload": {"code": text, "message": text}}),
            json!({"type": "file.written", "payload": {"file": text}}),
            json!({"type": "deliverable.check.completed",
                   "payload": {"required": [text], "missing": [text], "result": text}}),
        ];
        let all: Vec<Event> = (1..).zip(lines).map(|(n, line)| event(n, object(line))).collect();
        let tree = exported(&all).0;
        let text = transcript(&tree);
        assert_sections(text);
        let bare = |line: &&str| !line.starts_with('>') && line.contains("<!--");
        assert_eq!(
            text.lines().filter(bare).filter(|l| !l.contains("\\<") && !l.contains('`')).count(),
            0,
            "{text}"
        );
        let fences = text.lines().filter(|line| line.starts_with("```") && !line.ends_with('`'));
        assert_eq!(fences.count(), 0, "{text}");
    }
}

#[test]
fn every_event_has_a_place_in_the_kgent_layout_or_is_counted() {
    let (_, losses) = exported(&events(RUN));
    assert_eq!(losses.events, [("usage".to_owned(), 1)].into());
    let many: Vec<Event> = (1..=1000)
        .map(|n| {
            let said = json!({"role": "assistant", "blocks": [{"type": "text", "text": "word"}]});
            event(n, object(json!({"type": "message.assistant", "payload": said})))
        })
        .collect();
    let (tree, losses) = exported(&many);
    let told = transcript(&tree).lines().filter(|line| line.ends_with("the agent: word")).count();
    assert_eq!(told as u64 + losses.total(), 1000);
    assert!(transcript(&tree).contains("600 more"));
}

fn object(line: Value) -> Map<String, Value> {
    let Value::Object(line) = line else { panic!("not an object: {line}") };
    line
}

fn any_line() -> impl Strategy<Value = Map<String, Value>> {
    let kinds: Vec<String> = Kind::ALL.iter().map(ToString::to_string).collect();
    let kind = prop_oneof![9 => prop::sample::select(kinds), 1 => "[a-z.]{0,8}"];
    let id = prop::sample::select(vec!["", "a", "b"]);
    let name = prop::sample::select(vec!["Read", "Write", "apply_patch", "", "Bash"]);
    let status = prop::sample::select(vec!["completed", "failed", "blocked", "aborted", "x"]);
    let payload = (id, name, status, "(\\PC|\n|#| ){0,40}").prop_map(|(id, name, status, text)| {
        json!({"call_id": id, "name": name, "status": status, "input": {"path": text},
               "output": text, "error": text, "file": text, "title": text, "content": text,
               "subtype": "note", "role": "user", "blocks": [{"type": "text", "text": text}],
               "message": text, "required": [text], "session_id": text})
    });
    let odd = prop::sample::select(vec![json!(null), json!(7), json!([1]), json!("x"), json!({})]);
    let source = prop::sample::select(vec![None, Some("subagent:1")]);
    let rest = (prop_oneof![4 => payload, 1 => odd], 0..20_u64, source, "[a-b.\\[\\]0]{0,6}");
    (kind, rest).prop_map(|(kind, (payload, seq, source, path))| {
        let mut line = object(json!({"type": kind, "payload": payload, "path": path}));
        if seq > 0 {
            line.insert("seq".to_owned(), seq.into());
        }
        if let Some(source) = source {
            line.insert("source".to_owned(), source.into());
        }
        line
    })
}

proptest! {
    #[test]
    fn any_sequence_of_events_makes_a_sound_kgent_folder(
        lines in prop::collection::vec(any_line(), 1..30),
    ) {
        let events: Vec<Event> = (1..).zip(lines).map(|(n, line)| event(n, line)).collect();
        let (tree, _) = exported(&events);
        assert_complete(&log(&tree));
        assert_sections(transcript(&tree));
        let calls = of_type(&log(&tree), "tool.started").len();
        prop_assert!(super::lines(&tree, "logs/tools.jsonl").len() >= calls);
        // The same events give the same bytes.
        prop_assert_eq!(&tree, &exported(&events).0);
    }
}
