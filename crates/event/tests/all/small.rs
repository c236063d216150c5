//! Ids, paths, times, words and sums.

use std::collections::BTreeMap;

use quipu_event::payload::{Agent, Status, TokenCounts, Usage};
use quipu_event::{
    Draft, EncodeError, Fidelity, Json, Kind, RunId, RunIdentity, Segment, StepPath, Timestamp,
};
use serde_json::json;

#[test]
fn a_run_id_can_neither_leave_its_directory_nor_break_a_line() {
    for good in ["a", "..a", "A-z.0_9:", "...", &"x".repeat(128)] {
        assert_eq!(RunId::parse(good).unwrap().as_str(), good);
    }
    for bad in ["", ".", "..", "a/b", "a b", "a\0", "a\n", "é", "\"", &"x".repeat(129)] {
        let error = bad.parse::<RunId>().unwrap_err();
        assert!(error.to_string().contains("is not a run id"), "{bad:?}");
    }
    assert_ne!(RunId::random(), RunId::random());
    assert_eq!(RunId::random().as_str().len(), 36);
}

#[test]
fn a_path_is_walked_from_the_outside_in() {
    let path = StepPath::root().child("each").iteration(3).child("fan[x]").child("lint");
    assert_eq!(path.as_str(), "each[3].fan[x].lint");
    let segment = |name, index| Segment { name, index };
    let walked: Vec<_> = path.segments().collect();
    assert_eq!(walked, [segment("each", Some(3)), segment("fan[x]", None), segment("lint", None)]);
    assert!(StepPath::root().is_root());
    assert_eq!(StepPath::root().segments().count(), 0);
    assert_eq!(StepPath::from("loop:1/x").segments().next(), Some(segment("loop:1/x", None)));
}

#[test]
fn a_time_is_utc_with_microseconds_whatever_it_was() {
    let cases = [
        ("2026-06-08T10:14:42Z", "2026-06-08T10:14:42.000000Z"),
        ("2026-06-08T10:14:42.123456+02:00", "2026-06-08T08:14:42.123456Z"),
        ("2026-06-08T10:14:42.123456789-00:30", "2026-06-08T10:44:42.123456789Z"),
        ("2026-06-08t10:14:42.1z", "2026-06-08T10:14:42.100000Z"),
        ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
        ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z"),
        ("2026-06-08T10:14:42.1234567Z", "2026-06-08T10:14:42.123456700Z"),
        ("2026-06-08T10:14:42.123456789987654321Z", "2026-06-08T10:14:42.123456789Z"),
        ("1969-12-31T23:59:59.9999995Z", "1969-12-31T23:59:59.999999500Z"),
        // A leap second has no number of its own.
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.000000Z"),
        ("2016-12-31T23:59:60.123456Z", "2016-12-31T23:59:59.123456Z"),
        // The whole of RFC 3339, and times for which UTC has no year.
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000000Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ("9999-12-31T23:59:60.999999999Z", "9999-12-31T23:59:59.999999999Z"),
        ("9999-12-31T23:59:59-01:00", "9999-12-31T01:00:59.000000-23:59"),
        ("9999-12-31T23:59:59.5-23:59", "9999-12-31T23:59:59.500000-23:59"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"),
        ("0000-01-01T00:00:00+23:59", "0000-01-01T00:00:00.000000+23:59"),
        // Beside it, what others write.
        ("2026-06-08 10:14:42Z", "2026-06-08T10:14:42.000000Z"),
        ("20260608T101442,5+0200", "2026-06-08T08:14:42.500000Z"),
        ("2026-06-08T10:14:42+02:00[Europe/Paris]", "2026-06-08T08:14:42.000000Z"),
        ("-000001-06-08T10:14:42.0000005Z", "-000001-06-08T10:14:42.000000500Z"),
    ];
    for (text, expected) in cases {
        let time = Timestamp::parse(text).unwrap();
        assert_eq!(time.to_string(), expected, "{text}");
        assert_eq!(Timestamp::parse(expected).unwrap(), time, "{text}");
    }
    for bad in [
        "",
        "noon",
        "2026-06-08",
        "2026-06-08T10:14:42",
        "2026-13-08T10:14:42Z",
        "2026-02-29T10:14:42Z",
        "2026-06-00T10:14:42Z",
        "2026-06-08T24:00:00Z",
        "2026-06-08T10:60:00Z",
        "2026-06-08T10:14:61Z",
        "2026-06-08T10:14:42.Z",
        "2026-06-08T10:14:42.5",
        "2026-06-08T10:14:42+2:00",
        "2026-06-08T10:14:42+02:60",
        "2026-06-08T10:14:42Zulu",
        "10000-01-01T00:00:00Z",
    ] {
        assert!(Timestamp::parse(bad).unwrap_err().to_string().contains("is not a time"), "{bad}");
    }
}

#[test]
fn times_beyond_the_calendar_are_held_at_its_edge() {
    for micros in [i64::MIN, i64::MAX] {
        let edge = Timestamp::from_micros(micros);
        assert_eq!(Timestamp::parse(&edge.to_string()).unwrap(), edge);
        assert_eq!(edge.as_micros().signum(), micros.signum());
    }
    let (early, late) = (Timestamp::from_micros(1_000), Timestamp::from_micros(4_999));
    assert_eq!((late.millis_since(early), early.millis_since(late)), (3, 0));
}

#[test]
fn a_word_from_the_future_stays_what_it_was() {
    for kind in Kind::ALL {
        assert!(kind.is_known());
        assert_eq!(&Kind::from(kind.as_str()), kind);
    }
    let word: Fidelity = serde_json::from_str("\"oracle\"").unwrap();
    assert!(!word.is_known());
    assert_eq!(serde_json::to_string(&word).unwrap(), "\"oracle\"");
    assert_eq!(format!("{word:>8}"), "  oracle");
    assert!(serde_json::from_str::<Fidelity>("7").is_err());
}

#[test]
fn every_type_that_starts_something_names_what_ends_it() {
    for kind in Kind::ALL {
        let expected =
            kind.as_str().strip_suffix(".started").map(|stem| format!("{stem}.completed"));
        assert_eq!(kind.completion().map(|end| end.to_string()), expected);
        assert_eq!(kind.is_completion(), kind.as_str().ends_with(".completed"));
    }
    assert!(Status::Aborted.is_failure() && !Status::Skipped.is_failure());
}

#[test]
fn what_nobody_counted_stays_absent_in_a_sum() {
    let mut sum = TokenCounts::default();
    assert!(sum.is_empty() && sum.total().is_none());
    let one = Usage {
        input_tokens: Some(3),
        output_tokens: Some(4),
        reasoning_tokens: Some(2),
        cost_usd: Some(0.5),
        ..Usage::default()
    };
    sum.add(&one.tokens());
    sum.add(&one.tokens());
    assert_eq!((sum.input_tokens, sum.cache_read_tokens), (Some(6), None));
    assert_eq!((sum.total(), sum.cost_usd), (Some(14), Some(1.0)));
}

#[test]
fn an_agent_goes_by_the_shortest_name_there_is() {
    let named = |p: Option<&str>, m: Option<&str>| Agent {
        provider: p.map(Into::into),
        model: m.map(Into::into),
        ..Agent::default()
    };
    assert_eq!(named(Some("claude"), Some("opus")).label(), Some("claude"));
    assert_eq!(named(None, Some("opus")).label(), Some("opus"));
    assert_eq!(named(None, None).label(), None);
}

#[test]
fn the_recorder_dates_only_what_has_no_date() {
    let run = RunIdentity { run_id: RunId::parse("r").unwrap(), parent_run_id: None };
    let (then, now) = (Timestamp::from_micros(1), Timestamp::from_micros(2));
    let draft = Draft::system("x", json!({})).unwrap();
    assert_eq!(draft.clone().seal(1, &run, now).timestamp, now);
    assert_eq!(draft.dated(then).seal(1, &run, now).timestamp, then);
}

#[test]
fn facts_that_are_no_object_are_kept_under_a_name() {
    let payload = |facts| Draft::system("x", facts).unwrap().payload;
    assert_eq!(payload(json!(null)).as_str(), r#"{"subtype":"x"}"#);
    assert_eq!(payload(json!([1])).as_str(), r#"{"subtype":"x","facts":[1]}"#);
    assert_eq!(payload(json!({"subtype":"y","a":1})).as_str(), r#"{"subtype":"x","a":1}"#);
}

/// Every shape a value can have for a serialiser; `serde_json` says what is expected.
#[derive(serde::Serialize)]
enum Shape {
    Unit,
    One(i8),
    Two(u16, f32),
    Named { a: Option<char>, b: () },
}

#[test]
fn every_shape_of_value_is_written_as_serde_json_writes_it() {
    let numbers: BTreeMap<u8, (i16, i32, u8, u32)> = [(7, (-1, -2, 3, 4))].into();
    let shapes = (
        [Shape::Unit, Shape::One(-8), Shape::Two(9, 0.1), Shape::Named { a: Some('"'), b: () }],
        Shape::Named { a: None, b: () },
        numbers,
        BTreeMap::from([(true, f64::NAN)]),
        (u64::MAX, i64::MIN, 1e300, f32::INFINITY),
        (i128::from(i64::MAX), u128::from(u64::MAX)),
        std::time::Duration::from_millis(1500),
    );
    let written = Json::encode(&shapes).unwrap();
    assert_eq!(written.as_str(), serde_json::to_string(&shapes).unwrap());
    let bad = BTreeMap::from([(vec![1], 2)]);
    assert_eq!(Json::encode(&bad), Err(EncodeError::BadKey));
}
