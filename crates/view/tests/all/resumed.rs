//! A run that was taken up again: every view says the same of how long it took and how it ended.

use std::sync::Arc;

use quipu_event::Event;
use quipu_event::payload::Status;
use quipu_view::receipt::{Receipt, ReceiptBuilder, ReceiptOptions};
use quipu_view::{AtifView, MarkdownView};

use super::random_run::fold;
use super::transcript::{events, summary_of, tree_of};

/// A run that failed after 10 seconds, was resumed after an hour, and then took half a second,
/// which is all that its last end speaks of.
const RESUMED: &str = r#"
    {"type":"run.started","timestamp":"2026-01-01T10:00:00Z","payload":{"name":"w","kind":"workflow"}}
    {"type":"run.completed","timestamp":"2026-01-01T10:00:10Z","payload":{"name":"w","status":"failed","error":"no","duration_ms":10000}}
    {"type":"run.started","timestamp":"2026-01-01T11:00:00Z","payload":{"name":"w","kind":"workflow"}}
    {"type":"run.completed","timestamp":"2026-01-01T11:00:01Z","payload":{"name":"w","status":"succeeded","duration_ms":500}}
"#;
const WHOLE_MS: u64 = 3_601_000;

fn receipt_of(events: &[Event]) -> Receipt {
    let mut builder = ReceiptBuilder::new(Arc::default(), ReceiptOptions::default());
    events.iter().for_each(|event| builder.add(event));
    builder.finish().expect("a test's run has events")
}

#[test]
fn a_resumed_run_took_as_long_as_from_its_first_event_to_its_last_end() {
    let events = events(RESUMED);
    assert_eq!(summary_of(&events).duration_ms(), Some(WHOLE_MS));
    assert_eq!(tree_of(&events).duration_ms, WHOLE_MS);
    assert_eq!(receipt_of(&events).duration_ms, WHOLE_MS);
    let told = [
        (fold(AtifView::new(), &events), "run.atif.json", "\"duration_ms\":3601000"),
        (fold(MarkdownView::default(), &events), "run.md", ": 1 h 0 min\n"),
    ];
    for (tree, path, expected) in told {
        let text = tree.text(path).unwrap_or_else(|| panic!("{path} is not among {tree:?}"));
        assert!(text.contains(expected), "{path} lacks {expected}: {text}");
    }
}

#[test]
fn a_run_that_is_taken_up_again_has_not_ended() {
    let mut events = events(RESUMED);
    events.pop();
    let (summary, tree, receipt) = (summary_of(&events), tree_of(&events), receipt_of(&events));
    assert_eq!((summary.status, summary.error, summary.ended), (None, None, None));
    assert_eq!((tree.status, tree.error), (None, None));
    assert_eq!((receipt.status, receipt.error), (None, None));
    assert_eq!((tree.duration_ms, receipt.duration_ms), (3_600_000, 3_600_000));
}

#[test]
fn a_run_that_was_put_in_order_late_took_as_long_as_it_was_heard_of() {
    let events = events(
        r#"
        {"type":"run.started","timestamp":"2026-01-01T10:00:00Z","payload":{"name":"w"}}
        {"type":"run.completed","timestamp":"2026-02-01T10:00:00Z","payload":{"name":"w","status":"aborted","duration_ms":500}}
        "#,
    );
    assert_eq!(summary_of(&events).duration_ms(), Some(500));
    assert_eq!((tree_of(&events).duration_ms, receipt_of(&events).duration_ms), (500, 500));
    assert_eq!(tree_of(&events).status, Some(Status::Aborted));
}
