//! Where two runs part.

use proptest::prelude::*;
use quipu_event::{Event, RunId};
use quipu_view::diff::{
    Change, Comparison, Item, Outline, OutlineBuilder, Report, What, compare, compare_all,
    first_difference, parted, words_at,
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
    let said = |item: &Option<Item>| {
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
    assert_eq!(
        sides(RUN, &other),
        [(
            r#"succeeded {"output":"Done."}"#.to_owned(),
            r#"succeeded {"output":"No."}"#.to_owned()
        )]
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
    let unclear = [
        ("x\u{200b}y", "xy", "x\u{200b}⟨U+200B⟩y", "xy"),
        ("caf\u{e9}", "cafe\u{301}", "caf\u{e9}⟨U+00E9⟩", "cafe\u{301}"),
        ("p\u{430}y", "pay", "p\u{430}⟨U+0430⟩y", "pay"),
        ("a\u{200b}é", "aé", "a\u{200b}⟨U+200B⟩é", "aé⟨U+00E9⟩"),
    ];
    for (a, b, shown_a, shown_b) in unclear {
        let said = |text: &str| {
            format!(
                r#"{{"type":"message.user","payload":{{"blocks":[{{"type":"text","text":"{text}"}}]}}}}"#
            )
        };
        let shown = (shown_a.to_owned(), shown_b.to_owned());
        assert_eq!(first_difference(a, b), shown);
        assert_eq!(sides(&said(a), &said(b)), [shown]);
    }
}

/// Returns what is shown of each difference, once events were read again where that is needed.
fn sides(a: &str, b: &str) -> Vec<(String, String)> {
    let (events_a, events_b) = (events(a), events(b));
    let comparison = compare(&outline_of(&events_a), &outline_of(&events_b));
    let mut shown = Vec::new();
    for mut difference in comparison.differences {
        let part = difference.part();
        let words = |events: &[Event], item: &Option<Item>| {
            let item = item.as_ref()?;
            let seq = item.seq_of(part)?;
            let event = events.iter().find(|event| event.seq == seq)?;
            Some(words_at(event, item, part))
        };
        let both = words(&events_a, &difference.a).zip(words(&events_b, &difference.b));
        if let Some((a, b)) = &both {
            let (first_a, first_b) = parted(a, b);
            assert_ne!(first_a, first_b, "where runs part, both sides are shown");
        }
        if let Some((a, b)) = both.filter(|_| difference.is_hidden()) {
            difference.reveal(&a, &b);
        }
        let is_outcome = difference.change == Change::Outcome;
        let text = |item: Option<Item>| match item {
            Some(item) if is_outcome => item.outcome_excerpt.unwrap_or("no result".into()).into(),
            Some(item) => item.excerpt.into(),
            None => String::new(),
        };
        shown.push((text(difference.a), text(difference.b)));
    }
    shown
}

/// One event, what to put for `@` in both runs, and what is shown then.
const FACTS: &[(&str, &str, &str, &str, &str)] = &[
    (
        r#"{"type":"run.started","payload":{"kind":"@","inputs":{"a":1}}}"#,
        "workflow",
        "exec",
        r#"kind: "workflow""#,
        r#"kind: "exec""#,
    ),
    (
        r#"{"type":"run.started","payload":{"agent":{"provider":"@"}}}"#,
        "claude",
        "codex",
        r#"agent.provider: "claude""#,
        r#"agent.provider: "codex""#,
    ),
    (
        r#"{"type":"run.started","payload":{"agent":{"model":"@"}}}"#,
        "opus",
        "haiku",
        r#"agent.model: "opus""#,
        r#"agent.model: "haiku""#,
    ),
    (
        r#"{"type":"run.started","payload":{"definition":{"path":"w","sha256":"@"}}}"#,
        "ab",
        "cd",
        r#"definition.sha256: "ab""#,
        r#"definition.sha256: "cd""#,
    ),
    (
        r#"{"type":"step.started","path":"s","payload":{"kind":"agent","agent":{"provider":"@"}}}"#,
        "claude",
        "codex",
        "agent claude",
        "agent codex",
    ),
    (
        r#"{"type":"step.started","path":"s","payload":{"kind":"agent","agent":{"model":"@"}}}"#,
        "opus",
        "haiku",
        r#"model: "opus""#,
        r#"model: "haiku""#,
    ),
    (
        r#"{"type":"step.completed","path":"s","payload":{"next":{"goto":"@","because":"x"}}}"#,
        "fix",
        "end",
        r#"next.goto: "fix""#,
        r#"next.goto: "end""#,
    ),
    (
        r#"{"type":"step.completed","path":"s","payload":{"next":{"goto":"x","because":"@"}}}"#,
        "on_failure",
        "on_success",
        r#"next.because: "on_failure""#,
        r#"next.because: "on_success""#,
    ),
    (
        r#"{"type":"message.assistant","payload":{"model":"@","blocks":[{"type":"text","text":"x"}]}}"#,
        "opus",
        "haiku",
        "opus",
        "haiku",
    ),
    (
        r#"{"type":"message.assistant","payload":{"stop_reason":"@","blocks":[]}}"#,
        "end_turn",
        "max_tokens",
        "end_turn",
        "max_tokens",
    ),
    (
        r#"{"type":"message.user","payload":{"blocks":[{"type":"text","text":"x","purpose":"@"}]}}"#,
        "prompt",
        "system_prompt",
        r#"purpose: "prompt""#,
        r#"purpose: "system_prompt""#,
    ),
    (
        r#"{"type":"message.assistant","payload":{"blocks":[{"type":"image","source":{"data":"@"}}]}}"#,
        "A",
        "B",
        r#"{"source":{"data":"A"},"type":"image"}"#,
        r#"{"source":{"data":"B"},"type":"image"}"#,
    ),
    (
        r#"{"type":"message.assistant","payload":{"blocks":[{"type":"image","content":1,"fidelity":"router","alt":"@"}]}}"#,
        "A",
        "B",
        r#"{"alt":"A","content":1,"type":"image"}"#,
        r#"{"alt":"B","content":1,"type":"image"}"#,
    ),
    (
        r#"{"type":"memory.recall.completed","payload":{"hits":@}}"#,
        "0",
        "3",
        r#"{"hits":0}"#,
        r#"{"hits":3}"#,
    ),
    (
        r#"{"type":"memory.recall.started","payload":{"query":"@"}}"#,
        "a",
        "b",
        r#"{"query":"a"}"#,
        r#"{"query":"b"}"#,
    ),
    (
        r#"{"type":"skill.loaded","payload":{"name":"@"}}"#,
        "a",
        "b",
        r#"{"name":"a"}"#,
        r#"{"name":"b"}"#,
    ),
    (
        r#"{"type":"file.written","payload":{"file":"f","sha256":"@"}}"#,
        "a",
        "b",
        r#"{"file":"f","sha256":"a"}"#,
        r#"{"file":"f","sha256":"b"}"#,
    ),
    (
        r#"{"type":"config.loaded","payload":{"keys":["@"]}}"#,
        "a",
        "b",
        r#"{"keys":["a"]}"#,
        r#"{"keys":["b"]}"#,
    ),
    (
        r#"{"type":"prompt.rendered","payload":{"template":"@"}}"#,
        "a",
        "b",
        r#"{"template":"a"}"#,
        r#"{"template":"b"}"#,
    ),
    (
        r#"{"type":"error","payload":{"code":"c","message":"m","retryable":@}}"#,
        "true",
        "false",
        "retryable: true",
        "retryable: false",
    ),
    (
        r#"{"type":"tool.result","payload":{"name":"T","error":"no","status":"completed","output":@}}"#,
        r#""x""#,
        r#"{"a":"x"}"#,
        r#"output: "x""#,
        r#"output: {"a":"x"}"#,
    ),
    (
        r#"{"type":"tool.result","payload":{"name":"T","output":@}}"#,
        r#""1""#,
        "1",
        r#"output: "1""#,
        "output: 1",
    ),
    (
        r#"{"type":"message.user","payload":{"blocks":[{"type":"text","text":"@"}]}}"#,
        "é  b",
        "é b",
        r#""é \u0020b""#,
        r#""é b""#,
    ),
];

#[test]
fn a_fact_that_differs_is_shown_on_both_sides() {
    for (line, a, b, shown_a, shown_b) in FACTS {
        let shown = sides(&line.replace('@', a), &line.replace('@', b));
        assert_eq!(shown, [((*shown_a).to_owned(), (*shown_b).to_owned())], "{line}");
        assert_eq!(sides(&line.replace('@', a), &line.replace('@', a)), [], "{line}");
    }
}

#[test]
fn what_any_two_runs_have_different_is_no_difference() {
    let cases = [
        r#"{"type":"run.started","payload":{"name":"@","cwd":"@","session_id":"@","task_id":"@","labels":{"l":"@"},"definition":{"path":"@","sha256":"s"}}}"#,
        r#"{"type":"run.created","payload":{"name":"@"}}"#,
        r#"{"type":"memory.recall.completed","payload":{"hits":1,"duration_ms":"@","run_id":"@"}}"#,
        r#"{"type":"message.assistant","payload":{"message_id":"@","model":"m","blocks":[{"type":"thinking","thinking":"t","signature":"@"}]}}"#,
        r#"{"type":"step.completed","path":"s","payload":{"result":{"session_id":"@"}}}"#,
        r#"{"type":"system","payload":{"subtype":"@"}}"#,
        r#"{"type":"unknown","payload":{"reason":"@"}}"#,
    ];
    for line in cases {
        assert_eq!(sides(&line.replace('@', "a"), &line.replace('@', "b")), [], "{line}");
    }
}

#[test]
fn a_model_is_told_once_until_another_speaks() {
    let said = |models: [&str; 4]| {
        let line = |(n, model)| {
            format!(
                r#"{{"type":"message.assistant","payload":{{"model":"{model}","blocks":[{{"type":"text","text":"{n}"}}]}}}}"#
            )
        };
        models.into_iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    };
    let shown = sides(&said(["opus"; 4]), &said(["haiku", "haiku", "haiku", "opus"]));
    let expected = [("opus", "haiku"), ("", "opus")];
    assert_eq!(shown, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
}

#[test]
fn texts_that_differ_late_are_shown_there_wherever_they_stand() {
    let said = |last: &str| {
        let text = format!("{}{last}", "é".repeat(300));
        [
            format!(
                r#"{{"type":"message.user","payload":{{"blocks":[{{"type":"text","text":"{text}"}}]}}}}"#
            ),
            format!(r#"{{"type":"tool.call","payload":{{"name":"T","call_id":"1","input":"{text}"}}}}"#),
            r#"{"type":"tool.call","payload":{"name":"U","call_id":"2","input":1}}"#.to_owned(),
            format!(r#"{{"type":"tool.result","payload":{{"call_id":"2","output":"{text}"}}}}"#),
            format!(r#"{{"type":"error","payload":{{"message":"{text}"}}}}"#),
            format!(r#"{{"type":"file.read","payload":{{"file":"{text}"}}}}"#),
            format!(r#"{{"type":"run.completed","payload":{{"result":"{text}"}}}}"#),
        ]
        .join("\n")
    };
    let shown = sides(&said("x"), &said("y"));
    assert_eq!(shown.len(), 6);
    for (a, b) in shown {
        assert!(a.starts_with('…') && a.contains("éx"), "{a}");
        assert!(b.starts_with('…') && b.contains("éy"), "{b}");
    }
}

proptest! {
    #[test]
    fn two_sides_that_differ_are_never_shown_alike(
        line in 0..FACTS.len(),
        a in "[xé \\t\\n\u{3000}]{0,6}",
        b in "[xé \\t\\n\u{3000}]{0,6}",
        before in 0usize..220,
    ) {
        let (line, ..) = FACTS[line];
        let put = |text: &str| {
            let text = json!(format!("{}{text}", "w ".repeat(before))).to_string();
            line.replace("\"@\"", "@").replace('@', &text)
        };
        for (a, b) in sides(&put(&a), &put(&b)) {
            prop_assert_ne!(a, b);
        }
    }

    #[test]
    fn a_run_never_differs_from_itself(order in proptest::collection::vec(0usize..8, 1..40)) {
        let lines: Vec<&str> = RUN.trim().lines().collect();
        let shuffled: Vec<&str> = order.into_iter().map(|at| lines[at]).collect();
        let text = shuffled.join("\n");
        prop_assert!(compared(&text, &text).is_equal());
    }
}
