//! Audit lines, each short enough to be written in one piece.

use jiff::tz::TimeZone;
use quipu_event::Timestamp;

use super::wire::{AuditWire, SCHEMA_VERSION};
use super::{AuditEnd, AuditStart};
use crate::language::Value;

/// The most bytes a line has, line feed included.
pub(super) const LONGEST_LINE: usize = 4096;

/// What stands where something was too long.
const CUT: &str = "…";

/// How much of a text is kept when even that must be cut.
const TEXT_KEPT: usize = 512;

pub(super) fn started(start: &AuditStart<'_>, zone: &TimeZone) -> String {
    let inputs = (!start.inputs.is_empty()).then(|| start.inputs.clone());
    fit(AuditWire {
        event: "workflow.started",
        execution_id: start.run.to_string(),
        timestamp: local_time(start.time, zone),
        user: start.user.to_owned(),
        workflow_name: start.workflow.to_owned(),
        inputs,
        schema_version: SCHEMA_VERSION,
        ..AuditWire::default()
    })
}

pub(super) fn completed(end: &AuditEnd<'_>, zone: &TimeZone) -> String {
    fit(AuditWire {
        event: "workflow.completed",
        execution_id: end.run.to_string(),
        timestamp: local_time(end.time, zone),
        user: end.user.to_owned(),
        workflow_name: end.workflow.to_owned(),
        status: Some(if end.success { "success" } else { "failure" }),
        exit_code: Some(end.exit_code),
        duration_ms: Some(end.duration_ms),
        error: end.error.map(str::to_owned),
        schema_version: SCHEMA_VERSION,
        ..AuditWire::default()
    })
}

/// Returns the time to the millisecond with the zone's offset, `Z` where there is none.
fn local_time(time: Timestamp, zone: &TimeZone) -> String {
    let moment = jiff::Timestamp::from_microsecond(time.as_micros()).unwrap_or_default();
    let format = match zone.to_offset(moment).is_zero() {
        true => "%Y-%m-%dT%H:%M:%S.%3fZ",
        false => "%Y-%m-%dT%H:%M:%S.%3f%:z",
    };
    moment.to_zoned(zone.clone()).strftime(format).to_string()
}

/// Returns the line, with as little cut as makes it fit: the longest inputs first, each once.
fn fit(mut wire: AuditWire) -> String {
    let mut line = wire.line();
    while line.len() > LONGEST_LINE && cut_longest_input(&mut wire) {
        line = wire.line();
    }
    if line.len() > LONGEST_LINE && wire.inputs.take().is_some() {
        // So many inputs that their names alone are too long.
        wire.inputs_truncated = true;
        wire.inputs = Some([(CUT.to_owned(), Value::from(CUT))].into_iter().collect());
        line = wire.line();
    }
    if line.len() > LONGEST_LINE {
        cut_texts(&mut wire);
        line = wire.line();
    }
    line
}

/// Replaces the input that takes the most room; false when none is left that is worth it.
fn cut_longest_input(wire: &mut AuditWire) -> bool {
    let Some(inputs) = &mut wire.inputs else { return false };
    let length = |value: &Value| value.to_string().len();
    let Some(longest) = inputs.values_mut().max_by_key(|value| length(value)) else { return false };
    if length(longest) <= CUT.len() + 2 {
        return false;
    }
    *longest = Value::from(CUT);
    wire.inputs_truncated = true;
    true
}

fn cut_texts(wire: &mut AuditWire) {
    let texts = [Some(&mut wire.user), Some(&mut wire.workflow_name), wire.error.as_mut()];
    for text in texts.into_iter().flatten() {
        // What JSON must escape takes up to six bytes a byte.
        if text.len() > TEXT_KEPT || Value::from(text.as_str()).to_string().len() > TEXT_KEPT {
            let mut end = TEXT_KEPT.min(text.len());
            while !text.is_char_boundary(end)
                || Value::from(&text[..end]).to_string().len() > TEXT_KEPT + 2
            {
                end -= 1;
            }
            text.truncate(end);
            text.push_str(CUT);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use quipu_event::RunId;
    use serde_json::{Map, json};

    use super::*;

    fn zone(hours: i8) -> TimeZone {
        TimeZone::fixed(jiff::tz::offset(hours))
    }

    fn run() -> RunId {
        RunId::parse("550e8400").unwrap()
    }

    fn time() -> Timestamp {
        Timestamp::parse("2026-02-20T22:15:42.123456Z").unwrap()
    }

    fn start_line(inputs: &Map<String, Value>) -> String {
        let run = run();
        let start = AuditStart {
            run: &run,
            time: time(),
            user: "deploy-bot",
            workflow: "deploy-app",
            inputs,
        };
        started(&start, &zone(1))
    }

    fn end_line(success: bool, exit_code: u8, error: Option<&str>) -> String {
        let run = run();
        let end = AuditEnd {
            run: &run,
            time: time(),
            user: "deploy-bot",
            workflow: "deploy-app",
            success,
            exit_code,
            duration_ms: 30333,
            error,
        };
        completed(&end, &zone(0))
    }

    #[test]
    fn lines_have_the_documented_shape() {
        let inputs = json!({"env": "staging", "api_key": "***"});
        assert_eq!(
            start_line(inputs.as_object().unwrap()),
            "{\"event\":\"workflow.started\",\"execution_id\":\"550e8400\",\
             \"timestamp\":\"2026-02-20T23:15:42.123+01:00\",\"user\":\"deploy-bot\",\
             \"workflow_name\":\"deploy-app\",\"inputs\":{\"api_key\":\"***\",\"env\":\"staging\"},\
             \"schema_version\":1}\n"
        );
        assert_eq!(
            end_line(false, 3, Some("step 'deploy' failed: connection timeout")),
            "{\"event\":\"workflow.completed\",\"execution_id\":\"550e8400\",\
             \"timestamp\":\"2026-02-20T22:15:42.123Z\",\"user\":\"deploy-bot\",\
             \"workflow_name\":\"deploy-app\",\"status\":\"failure\",\"exit_code\":3,\
             \"duration_ms\":30333,\"error\":\"step 'deploy' failed: connection timeout\",\
             \"schema_version\":1}\n"
        );
    }

    #[test]
    fn the_longest_inputs_are_cut_first() {
        let inputs = json!({"a": "x".repeat(3000), "b": "y".repeat(2000), "c": "z"});
        let line: Value = serde_json::from_str(&start_line(inputs.as_object().unwrap())).unwrap();
        assert_eq!(line["inputs"], json!({"a": "…", "b": "y".repeat(2000), "c": "z"}));
        assert_eq!(line["inputs_truncated"], json!(true));
    }

    #[test]
    fn a_long_error_is_cut() {
        for error in ["e".repeat(10_000), "\u{1}".repeat(10_000), "é".repeat(5_000)] {
            let line = end_line(false, 3, Some(&error));
            assert!(line.len() <= LONGEST_LINE, "{}", line.len());
            serde_json::from_str::<Value>(&line).unwrap();
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            "\\PC{0,40}".prop_map(Value::from),
            (0usize..6000).prop_map(|n| Value::from("\u{1}\"é…".repeat(n / 4))),
            any::<u64>().prop_map(Value::from),
            proptest::collection::vec(any::<u32>(), 0..2000).prop_map(Value::from),
            Just(json!("…")),
            Just(Value::Null),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_line_fits_whatever_the_inputs_are(
            inputs in proptest::collection::btree_map("\\PC{0,60}", value(), 0..120)
        ) {
            let inputs: Map<String, Value> = inputs.into_iter().collect();
            let line = start_line(&inputs);
            prop_assert!(line.len() <= LONGEST_LINE);
            prop_assert_eq!(line.matches('\n').count(), 1);
            let read: Value = serde_json::from_str(&line).unwrap();
            if read.get("inputs_truncated").is_none() && !inputs.is_empty() {
                prop_assert_eq!(&read["inputs"], &Value::Object(inputs));
            }
        }
    }
}
