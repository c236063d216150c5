//! Where two runs part.

use proptest::prelude::*;
use quipu_event::{Event, RunId};
use quipu_view::diff::{
    Change, Comparison, Outline, OutlineBuilder, Report, What, compare, compare_all,
    first_difference, text_at,
};
use serde_json::json;

use super::transcript::events;

fn outline_of(events: &[Event]) -> Outline {
    let mut builder = OutlineBuilder::default();
    events.iter().for_each(|event| builder.add(event));
    builder.finish().expect("a test's run has events")
}

fn outline(lines: &str) -> Outline {
    outline_of(&events(lines))
}

fn compared(a: &str, b: &str) -> Comparison {
    compare(&outline(a), &outline(b))
}

const RUN: &str = r#"
    {"type":"run.started","payload":{"name":"w","kind":"workflow","inputs":{"n":1,"m":2}}}
    {"type":"step.started","path":"ask","payload":{"kind":"agent","attempt":1,"agent":{"provider":"claude"}}}
    {"type":"message.user","path":"ask","payload":{"blocks":[{"type":"text","text":"Fix it."}]}}
    {"type":"message.assistant","path":"ask","payload":{"message_id":"m1","blocks":[{"type":"thinking","thinking":"Hm.","signature":"s1"},{"type":"tool_use","tool_name":"Read","tool_id":"t1","tool_input":{"path":"a.rs","from":1}}]}}
    {"type":"tool.call","path":"ask","payload":{"name":"Read","call_id":"t1","input":{"path":"a.rs","from":1}}}
    {"type":"tool.result","path":"ask","payload":{"name":"Read","call_id":"t1","output":"fn main() {}","status":"completed","duration_ms":5}}
    {"type":"usage","path":"ask","payload":{"model":"m","input_tokens":10,"output_tokens":2,"cost_usd":0.5}}
    {"type":"message.assistant","path":"ask","payload":{"blocks":[{"type":"text","text":"Done."}]}}
    {"type":"step.completed","path":"ask","payload":{"status":"succeeded","attempt":1,"result":{"session":"s-1","output":"Done.","duration_ms":3},"duration_ms":900}}
    {"type":"run.completed","payload":{"status":"succeeded","duration_ms":1000,"result":{"session_id":"x"}}}
"#;

#[test]
fn runs_part_first_where_they_do_however_much_the_second_notes_before_that() {
    let a = r#"
        {"type":"run.started","payload":{"name":"w","kind":"session"}}
        {"type":"message.assistant","payload":{"blocks":[{"type":"text","text":"one"}]}}
        {"type":"message.assistant","payload":{"blocks":[{"type":"text","text":"two"}]}}
        {"type":"message.assistant","payload":{"blocks":[{"type":"text","text":"three"}]}}
    "#;
    let note = "{\"type\":\"system\",\"payload\":{\"subtype\":\"note\"}}\n";
    let extra =
        r#"{"type":"message.assistant","payload":{"blocks":[{"type":"text","text":"extra"}]}}"#;
    let one = r#"{"type":"message.assistant","payload":{"blocks":[{"type":"text","text":"one"}]}}"#;
    let said = format!("{}{extra}\n{one}", note.repeat(20));
    let inside = a.replace(one, &said).replace("three", "drei");
    let step = r#"{"type":"step.started","path":"s","payload":{"kind":"agent"}}"#;
    let own = format!("{}{step}\n{one}", note.repeat(20));
    let apart = a.replace(one, &own).replace("three", "drei");
    for b in [inside, apart] {
        let comparison = compared(a, &b);
        let changes: Vec<_> = comparison.differences.iter().map(|found| found.change).collect();
        assert_eq!(changes, [Change::OnlyB, Change::Said], "{b}");
    }
}

#[test]
fn two_runs_that_did_the_same_do_not_differ() {
    let other = RUN
        .replace("\"t1\"", "\"t99\"")
        .replace("\"m1\"", "\"m7\"")
        .replace("\"s1\"", "\"s2\"")
        .replace("\"cost_usd\":0.5", "\"cost_usd\":0.7")
        .replace(":900}", ":1234}")
        .replace("\"duration_ms\":3}", "\"duration_ms\":4}")
        .replace("\"s-1\"", "\"s-2\"")
        .replace("\"session_id\":\"x\"", "\"session_id\":\"y\"")
        .replace(r#"{"path":"a.rs","from":1}"#, r#"{"from":1,"path":"a.rs"}"#)
        .replace("\"type\":\"usage\"", "\"timestamp\":\"2026-03-03T00:00:00Z\",\"type\":\"usage\"");
    let mut events = events(&other);
    for event in &mut events {
        event.run_id = RunId::parse("other").expect("a run id");
        event.seq += 100;
    }
    let comparison = compare(&outline(RUN), &outline_of(&events));
    assert!(comparison.is_equal(), "{comparison:?}");
    assert_eq!(comparison.same, 8, "a tool call and what the message says of it are one thing");
    assert_eq!(comparison.steps[0].a_ms.zip(comparison.steps[0].b_ms), Some((900, 1234)));
}

#[test]
fn every_change_that_matters_is_found_where_it_is() {
    let cases = [
        ("Fix it.", "Mend it.", Change::Said, What::User),
        ("Hm.", "Hm!", Change::Said, What::Assistant),
        ("\"from\":1}}}", "\"from\":2}}}", Change::Said, What::Tool),
        ("fn main() {}", "fn main() { }", Change::Outcome, What::Tool),
        ("\"status\":\"completed\"", "\"status\":\"failed\"", Change::Outcome, What::Tool),
        (r#""text":"Done.""#, r#""text":"Done!""#, Change::Said, What::Assistant),
        (r#""output":"Done.""#, r#""output":"Done!""#, Change::Said, What::End),
        (r#""n":1"#, r#""n":3"#, Change::Said, What::Start),
        (r#""provider":"claude""#, r#""provider":"codex""#, Change::Said, What::Start),
    ];
    for (from, to, change, what) in cases {
        let comparison = compared(RUN, &RUN.replace(from, to));
        let told: Vec<_> = comparison.differences.iter().map(|d| d.change).collect();
        assert_eq!(told, [change], "{from} → {to}: {comparison:?}");
        let first = comparison.first().and_then(|first| first.a.as_ref());
        assert_eq!(first.map(|item| item.what), Some(what), "{from} → {to}");
    }
}

#[test]
fn the_first_divergence_is_the_earliest_difference() {
    let other =
        RUN.replace("fn main() {}", "mod a;").replace(r#""text":"Done.""#, r#""text":"Ok.""#);
    let comparison = compared(RUN, &other);
    assert_eq!(comparison.differences.len(), 2);
    let first = comparison.first().unwrap();
    assert_eq!(first.change, Change::Outcome);
    assert_eq!(first.step.path, "ask");
    let said = |item: &Option<quipu_view::diff::Item>| {
        item.as_ref().and_then(|item| item.outcome_excerpt.clone()).unwrap().to_string()
    };
    assert_eq!(
        (said(&first.a), said(&first.b)),
        ("completed: fn main() {}".to_owned(), "completed: mod a;".to_owned())
    );
}

#[test]
fn calls_that_only_one_run_has_do_not_shift_the_others() {
    let call = |name: &str, n: u32| {
        format!(
            r#"{{"type":"tool.call","path":"a","payload":{{"name":"{name}","call_id":"{n}","input":{n}}}}}
               {{"type":"tool.result","path":"a","payload":{{"name":"{name}","call_id":"{n}","output":{n},"status":"completed"}}}}"#
        )
    };
    let a: Vec<String> = (0..6).map(|n| call("Read", n)).collect();
    let mut b = a.clone();
    b.insert(2, call("Bash", 99));
    b.remove(5);
    let comparison = compared(&a.join("\n"), &b.join("\n"));
    let told: Vec<_> = comparison.differences.iter().map(|d| d.change).collect();
    assert_eq!(told, [Change::OnlyB, Change::OnlyA]);
    assert_eq!(comparison.same, 5);
    assert_eq!(comparison.tools["Bash"], (0, 1));
    assert_eq!(comparison.tools["Read"], (6, 5));
}

#[test]
fn steps_are_aligned_by_path_and_attempt() {
    let step = |path: &str, attempt: u32, said: &str| {
        format!(
            r#"{{"type":"step.started","path":"{path}","payload":{{"kind":"command","attempt":{attempt}}}}}
               {{"type":"message.assistant","path":"{path}","payload":{{"blocks":[{{"type":"text","text":"{said}"}}]}}}}
               {{"type":"step.completed","path":"{path}","payload":{{"status":"succeeded","attempt":{attempt}}}}}"#
        )
    };
    // Branches may begin in another order, and one run may loop once more and try twice.
    let a = [step("fan.a", 1, "a"), step("fan.b", 1, "b"), step("each[0].x", 1, "x")];
    let b = [
        step("fan.b", 1, "b"),
        step("fan.a", 1, "a"),
        step("each[0].x", 1, "x"),
        step("each[0].x", 2, "x"),
        step("each[1].x", 1, "x"),
    ];
    let comparison = compared(&a.join("\n"), &b.join("\n"));
    let places: std::collections::BTreeSet<_> = comparison
        .differences
        .iter()
        .map(|d| (d.step.path.clone(), d.step.attempt, d.change == Change::OnlyB))
        .collect();
    let expected = [("each[0].x".to_owned(), 2, true), ("each[1].x".to_owned(), 1, true)];
    assert_eq!(places, expected.into_iter().collect());
}

#[test]
fn subagents_are_compared_in_the_order_of_their_first_words() {
    let said = |id: &str, text: &str| {
        format!(
            r#"{{"type":"message.assistant","source":"subagent:{id}","payload":{{"blocks":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let a = [said("x1", "one"), said("x2", "two"), said("x1", "three")].join("\n");
    let b = [said("y9", "one"), said("y9", "three"), said("y4", "two")].join("\n");
    assert!(compared(&a, &b).is_equal());
}

#[test]
fn tokens_make_a_difference_and_time_makes_none() {
    let usage = |tokens: u64, day: u32| {
        format!(
            r#"{{"type":"usage","timestamp":"2026-01-0{day}T00:00:00Z","payload":{{"model":"m","input_tokens":{tokens}}}}}"#
        )
    };
    assert!(compared(&usage(5, 1), &usage(5, 2)).is_equal());
    let comparison = compared(&usage(5, 1), &usage(6, 1));
    assert!(!comparison.is_equal());
    let (a, b) = comparison.tokens["m"];
    assert_eq!((a.input_tokens, b.input_tokens), (Some(5), Some(6)));
}

#[test]
fn called_runs_are_compared_step_by_step() {
    let caller = |child: &str| {
        format!(
            r#"{{"type":"step.call_workflow.started","child_run_id":"{child}","path":"call","payload":{{"kind":"call_workflow","attempt":1}}}}
               {{"type":"step.call_workflow.completed","child_run_id":"{child}","path":"call","payload":{{"status":"STATUS","attempt":1}}}}"#
        )
    };
    let child = |id: &str, said: &str| {
        let mut events = events(&format!(
            r#"{{"type":"message.assistant","path":"in","payload":{{"blocks":[{{"type":"text","text":"{said}"}}]}}}}
               {{"type":"step.call_workflow.started","child_run_id":"{id}","path":"again","payload":{{"attempt":1}}}}"#
        ));
        events.iter_mut().for_each(|event| event.run_id = RunId::parse(id).expect("a run id"));
        outline_of(&events)
    };
    let a = outline(&caller("one").replace("STATUS", "succeeded"));
    let b = outline(&caller("two").replace("STATUS", "failed"));
    let all = compare_all(&a, &b, &mut |id| match id.as_str() {
        "one" => Some(child("one", "yes")),
        "two" => Some(child("two", "no")),
        _ => None,
    });
    assert_eq!(all.len(), 2, "a circle comes to an end");
    let (where_, first) = Report(&all).first().unwrap();
    assert_eq!(where_.called_at, ["call"], "the call began before it ended");
    assert_eq!(first.step.path, "in");
    let told = Report(&all).to_json(Some(&("yes".into(), "no".into())));
    assert_eq!(told["equal"], json!(false));
    assert_eq!(told["first_divergence"]["a_said"], json!("yes"));
    assert_eq!(told["runs"].as_array().map(Vec::len), Some(2));
}

#[test]
fn what_came_of_a_step_is_shown_without_what_always_differs() {
    let other =
        RUN.replace("\"s-1\"", "\"s-2\"").replace(r#""output":"Done.""#, r#""output":"No.""#);
    let text = |run: &str| {
        let events = events(run);
        let end = events.iter().find(|event| event.kind.as_str() == "step.completed");
        text_at(end.expect("the step ends"), None)
    };
    let (a, b) = first_difference(&text(RUN), &text(&other));
    assert_eq!(
        (a.as_str(), b.as_str()),
        (r#"succeeded {"output":"Done."}"#, r#"succeeded {"output":"No."}"#)
    );
}

#[test]
fn blocks_that_no_event_repeats_are_compared() {
    let used = |id: &str, input: u32| {
        format!(
            r#"{{"type":"message.assistant","payload":{{"blocks":[{{"type":"tool_use","tool_name":"Read","tool_id":"{id}","tool_input":{input}}}]}}}}"#
        )
    };
    assert!(compared(&used("1", 5), &used("2", 5)).is_equal());
    assert!(!compared(&used("1", 5), &used("1", 6)).is_equal());
}

#[test]
fn two_texts_are_shown_where_they_part() {
    let long = "word ".repeat(100);
    let (a, b) = first_difference(&format!("{long}é one"), &format!("{long}é two"));
    assert!(a.starts_with('…') && a.ends_with("é one"), "{a}");
    assert!(b.ends_with("é two"), "{b}");
    assert_eq!(first_difference("", "x"), (String::new(), "x".to_owned()));
    assert_eq!(first_difference("é", "è"), ("é".to_owned(), "è".to_owned()));
}

proptest! {
    #[test]
    fn a_run_never_differs_from_itself(order in proptest::collection::vec(0usize..8, 1..40)) {
        let lines: Vec<&str> = RUN.trim().lines().collect();
        let shuffled: Vec<&str> = order.into_iter().map(|at| lines[at]).collect();
        let text = shuffled.join("\n");
        prop_assert!(compared(&text, &text).is_equal());
    }
}
