//! Whatever a line may hold, a fold takes it.

use std::sync::Arc;

use proptest::prelude::*;
use quipu_event::{Event, Kind};
use quipu_view::diff::{Outline, OutlineBuilder, compare};
use quipu_view::receipt::{Receipt, ReceiptBuilder, ReceiptOptions};
use quipu_view::tree::{RenderOptions, render};
use quipu_view::{Activity, FileTree, FileView, HtmlView, MarkdownView, PriceTable};
use serde_json::{Map, Value, json};

use super::transcript::{event, summary, summary_of, tree, tree_of};

#[test]
fn a_payload_that_does_not_decode_is_counted_and_never_fails_a_fold() {
    for kind in Kind::ALL {
        for payload in ["7", "\"text\"", "[1]", "true"] {
            let line = format!(r#"{{"type":"{kind}","path":"a","payload":{payload}}}"#);
            let summary = summary(&line);
            assert_eq!((summary.events, summary.types[kind.as_str()]), (1, 1));
            let facts = kind.as_str().starts_with("memory.")
                || kind.as_str().starts_with("skill.")
                || matches!(kind, Kind::ConfigLoaded | Kind::PromptRendered);
            assert_eq!(summary.undecoded, u64::from(!facts), "{line}");
            assert_eq!(tree(&line).events, 1);
        }
    }
}

#[test]
fn a_step_that_ended_illegibly_has_ended_in_a_way_not_known() {
    let run = tree(r#"{"type":"step.completed","path":"a","payload":{"status":7}}"#);
    let status = run.steps[0].status().expect("it has ended");
    assert!(!status.is_known() && !status.is_failure());
}

#[test]
fn a_path_of_any_length_is_folded_without_exhausting_the_stack() {
    let unit = ["a.", "a[1].", "[1]", "loop:1/", "loop:1/a."];
    for unit in unit {
        let path = unit.repeat(100_000);
        let line = json!({"type": "step.started", "path": path}).to_string();
        let run = tree(&line);
        assert!(render(&run, &RenderOptions::default()).len() < 100, "{unit}");
        assert!(run.to_json().is_object());
        summary(&line);
        let events = [event(1, object(json!({"type": "step.started", "path": path})))];
        assert!(serde_json::to_value(receipt_of(&events, false)).is_ok());
        outline_of(&events);
    }
}

#[test]
fn a_hundred_thousand_iterations_are_a_tree() {
    let mut events = Vec::new();
    for n in 0..100_000_u64 {
        for kind in ["step.started", "tool.call", "step.completed"] {
            let path = format!("each[{n}].check");
            let line = json!({"type": kind, "path": path, "payload": null});
            events.push(event(n, object(line)));
        }
    }
    let run = tree_of(&events);
    assert_eq!(run.steps[0].children.len(), 100_000);
    assert_eq!(run.total_work().tool_calls, 100_000);
    assert_eq!(render(&run, &RenderOptions::default()).len(), 3);
}

#[test]
fn a_hundred_thousand_visits_of_one_step_are_as_many_attempts() {
    let visits = 0..100_000_u64;
    let lines = visits.flat_map(|n| ["step.started", "step.completed"].map(|kind| (n, kind)));
    let events: Vec<Event> =
        lines.map(|(n, kind)| event(n, object(json!({"type": kind, "path": "a"})))).collect();
    assert_eq!(tree_of(&events).steps[0].attempts.len(), 100_000);
}

fn receipt_of(events: &[Event], each: bool) -> Receipt {
    let options = ReceiptOptions { each, ..ReceiptOptions::default() };
    let mut builder = ReceiptBuilder::new(Arc::new(PriceTable::built_in()), options);
    events.iter().for_each(|event| builder.add(event));
    builder.finish().expect("there are events")
}

fn outline_of(events: &[Event]) -> Outline {
    let mut builder = OutlineBuilder::default();
    events.iter().for_each(|event| builder.add(event));
    builder.finish().expect("there are events")
}

fn object(line: Value) -> Map<String, Value> {
    let Value::Object(line) = line else { panic!("not an object: {line}") };
    line
}

fn any_kind() -> impl Strategy<Value = String> {
    let kinds: Vec<String> = Kind::ALL.iter().map(ToString::to_string).collect();
    prop_oneof![9 => prop::sample::select(kinds), 1 => "[a-z.]{0,8}"]
}

fn any_payload() -> impl Strategy<Value = Value> {
    let word =
        prop::sample::select(vec!["succeeded", "failed", "blocked", "for_each", "while", "a"]);
    let value = prop_oneof![
        word.prop_map(|word| json!(word)),
        any::<u64>().prop_map(|n| json!(n)),
        (0_u64..4).prop_map(|n| json!(n)),
        any::<bool>().prop_map(|b| json!(b)),
        Just(Value::Null),
    ];
    let keys =
        ["name", "kind", "attempt", "status", "error", "duration_ms", "call_id", "input_tokens"];
    let fields = prop::collection::btree_map(prop::sample::select(keys.to_vec()), value, 0..6);
    prop_oneof![1 => Just(Value::Null), 5 => fields.prop_map(|fields| json!(fields))]
}

fn any_event() -> impl Strategy<Value = Event> {
    let path = "(loop:[0-2]/){0,2}[ab]?([.][ab]|\\[[0-2]\\]){0,4}";
    let time = "20[0-9]{2}-01-01T00:00:00Z";
    let ids = (prop::sample::select(vec!["r", "s"]), prop::option::of("[rst]"));
    (any_kind(), path, any_payload(), time, ids).prop_map(|(kind, path, payload, time, ids)| {
        let line = json!({
            "type": kind, "path": path, "payload": payload, "timestamp": time,
            "run_id": ids.0, "child_run_id": ids.1,
        });
        event(1, object(line))
    })
}

proptest! {
    #[test]
    fn no_sequence_of_events_fails_a_fold(events in prop::collection::vec(any_event(), 1..60)) {
        let run = tree_of(&events);
        let summary = summary_of(&events);
        render(&run, &RenderOptions { fold_above: 1 });
        prop_assert!(run.to_json().is_object());
        prop_assert!(summary.to_json().is_object());
        let mut twice = summary.clone();
        twice.merge(&summary);
        prop_assert_eq!(twice.events, 2 * events.len() as u64);
        let mut activity = Activity::default();
        events.iter().for_each(|event| activity.add(event));
        prop_assert!(activity.since().is_some());
        prop_assert!(!activity.action().to_string().is_empty());
        for mut page in [Box::<MarkdownView>::default() as Box<dyn FileView>, Box::<HtmlView>::default()] {
            let mut shelf = FileTree::default();
            events.iter().for_each(|event| page.add(event, &mut shelf));
            page.finish(&mut shelf);
            prop_assert_eq!(shelf.0.len(), 1);
        }
        for each in [false, true] {
            let receipt = receipt_of(&events, each);
            prop_assert!(serde_json::to_value(&receipt).is_ok());
            let own = receipt.own().total();
            let own_events = events.iter().filter(|event| event.run_id == events[0].run_id);
            // One that cannot be read was used as well; nobody knows how much.
            let used = own_events.filter(|e| e.kind == Kind::Usage);
            prop_assert!(own.events <= used.count() as u64);
        }
        let outline = outline_of(&events);
        prop_assert!(compare(&outline, &outline).is_equal());
    }
}
