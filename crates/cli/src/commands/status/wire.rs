//! Where a run is, as JSON.

use quipu_event::Timestamp;
use serde_json::{Value, json};

use super::Look;

/// Returns all that is known of where a run is.
pub(super) fn value(look: &Look, now: Timestamp) -> Value {
    let course = &look.course;
    let running: Vec<Value> = course
        .open
        .iter()
        .filter(|_| look.is_open())
        .map(|step| {
            json!({
                "path": step.path, "name": step.name, "kind": step.kind, "attempt": step.attempt,
                "started": step.started, "for_ms": now.millis_since(step.started),
                "detail": step.detail,
                "iteration": step.iteration.map(|(index, _)| index),
                "iterations": step.iteration.and_then(|(_, total)| total),
            })
        })
        .collect();
    let end = course.end.as_ref();
    json!({
        "run_id": look.listing.run_id,
        "name": course.name,
        "status": look.word(),
        "path": look.path,
        "started": course.started,
        "duration_ms": look.duration_ms(now),
        "running": running,
        "steps": course.ended,
        "error": end.and_then(|end| end.error.clone()),
        "failed_step": course.failure.as_ref().map(|failure| {
            json!({"path": failure.path, "error": failure.error})
        }),
        "usage": (!course.usage.is_empty()).then_some(course.usage),
        "events": course.seq,
    })
}
