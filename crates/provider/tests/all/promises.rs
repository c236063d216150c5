//! The promises of the crate's opening doc, each under its own name, over every case.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use quipu_event::payload::Status;
use quipu_event::{Kind, Payload};
use quipu_provider::{KeptBytes, Made, PROVIDERS};

use crate::case;
use crate::reading::{blocks, call_of, lines, payloads, read, read_in_pieces};

/// Returns the foreign bytes kept beside drafts, line by line, and how often each stands there.
pub(crate) fn kept_lines(made: &[Made]) -> BTreeMap<Vec<u8>, usize> {
    let mut kept = BTreeMap::new();
    for raw in made.iter().filter_map(|made| made.draft.raw.as_ref()) {
        for line in raw.bytes().unwrap().split(|byte| *byte == b'\n') {
            *kept.entry(line.trim_ascii().to_vec()).or_default() += 1;
        }
    }
    kept
}

/// Checks that each line of `input` that is an object is kept as often as it stands there.
fn nothing_is_lost(title: &str, input: &[u8], made: &[Made]) {
    let kept = kept_lines(made);
    let mut stands: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for line in input.split(|byte| *byte == b'\n') {
        let line = line.strip_prefix(b"data:").unwrap_or(line).trim_ascii();
        let is_object =
            line.starts_with(b"{") && serde_json::from_slice::<serde_json::Value>(line).is_ok();
        if is_object {
            *stands.entry(line.to_vec()).or_default() += 1;
        }
    }
    for (line, times) in stands {
        let found = kept.get(&line).copied().unwrap_or(0);
        assert!(found >= times, "{title}: {found} of {times}: {}", line.escape_ascii());
    }
}

#[test]
fn every_record_gives_an_event_and_is_kept_to_the_byte() {
    for case in case::all() {
        let (made, tally) = read(case.surface, KeptBytes::Full, &case.input);
        assert!(tally.records > 0, "{} has no records", case.title());
        nothing_is_lost(&case.title(), &case.input, &made);
        let total: usize = kept_lines(&made).values().sum();
        let lines = case.input.split(|byte| *byte == b'\n').count();
        let is_list = case.input.trim_ascii().starts_with(b"[");
        assert!(total <= lines || is_list, "{} keeps something twice", case.title());
    }
}

#[test]
fn bytes_that_nobody_understands_are_kept_even_when_others_are_not() {
    for case in case::all() {
        let strange = b"\n{\"type\":\"from.the.future\",\"method\":\"x/y\",\"n\":1}\nnoise\n";
        let input = [&case.input, strange.as_slice()].concat();
        let (made, tally) = read(case.surface, KeptBytes::Unknown, &input);
        let is_unknown = |made: &&Made| made.draft.kind == Kind::Unknown;
        assert!(tally.unknown() > 0, "{}", case.title());
        assert!(made.iter().filter(is_unknown).all(|made| made.draft.raw.is_some()));
    }
}

#[test]
fn a_run_begins_and_ends_once() {
    for case in case::all() {
        // Noise before the first record is no beginning.
        let input = [b"warming up\n", &*case.input].concat();
        let (made, _) = read(case.surface, KeptBytes::Unknown, &input);
        let of = |kind: Kind| made.iter().filter(|made| made.draft.kind == kind).count();
        assert_eq!((of(Kind::RunStarted), of(Kind::RunCompleted)), (1, 1), "{}", case.title());
        assert_eq!(made.first().unwrap().draft.kind, Kind::RunStarted, "{}", case.title());
        assert_eq!(made.last().unwrap().draft.kind, Kind::RunCompleted, "{}", case.title());
    }
}

#[test]
fn split_messages_of_one_id_are_one_message() {
    for case in case::all() {
        let (made, _) = read(case.surface, KeptBytes::Unknown, &case.input);
        let mut seen = BTreeSet::new();
        for (kind, payload) in payloads(&made) {
            let Payload::Message(message) = payload else { continue };
            if let (Kind::MessageAssistant, Some(id)) = (kind, message.message_id) {
                assert!(seen.insert(id.clone()), "{}: {id} twice", case.title());
            }
        }
    }
}

#[test]
fn each_call_is_counted_once_and_stands_before_its_result() {
    for case in case::all() {
        let (made, _) = read(case.surface, KeptBytes::Unknown, &case.input);
        let (mut calls, mut results) = (BTreeSet::new(), BTreeSet::new());
        for (_, payload) in payloads(&made) {
            match payload {
                Payload::ToolCall(call) => {
                    assert!(!results.contains(&call.call_id), "{}: result first", case.title());
                    assert!(calls.insert(call.call_id), "{}: a call twice", case.title());
                }
                Payload::ToolResult(result) => {
                    if calls.contains(&result.call_id) {
                        assert!(!result.name.is_empty(), "{}: a nameless result", case.title());
                    }
                    assert!(results.insert(result.call_id), "{}: a result twice", case.title());
                }
                _ => {}
            }
        }
        for block in blocks(&made, &Kind::MessageAssistant) {
            // Half a call, cut off while it was being said, was never made.
            if let Some(id) = call_of(&block).filter(|_| has_succeeded(&made)) {
                assert!(calls.contains(id), "{}: {id} was never called", case.title());
            }
        }
    }
}

fn has_succeeded(made: &[Made]) -> bool {
    payloads(made).iter().any(|(_, payload)| match payload {
        Payload::RunCompleted(end) => end.status == Some(Status::Succeeded),
        _ => false,
    })
}

#[test]
fn a_stream_that_ends_early_yields_what_it_had() {
    for case in case::all() {
        let (whole, _) = read(case.surface, KeptBytes::Full, &case.input);
        assert!(!whole.is_empty());
        for end in (0..case.input.len()).step_by(1 + case.input.len() / 40) {
            let cut = &case.input[..end];
            let (made, _) = read(case.surface, KeptBytes::Full, cut);
            nothing_is_lost(&case.title(), cut, &made);
        }
    }
}

#[test]
fn the_sum_in_the_end_is_the_sum_of_the_usage_events() {
    for case in case::all() {
        let (made, tally) = read(case.surface, KeptBytes::Unknown, &case.input);
        let mut sum = quipu_event::payload::TokenCounts::default();
        for (_, payload) in payloads(&made) {
            match payload {
                Payload::Usage(usage) => sum.add(&usage.tokens()),
                Payload::RunCompleted(end) => {
                    assert_eq!(end.usage.unwrap_or_default(), sum, "{}", case.title());
                }
                _ => {}
            }
        }
        assert_eq!(tally.total_usage(), sum, "{}", case.title());
    }
}

/// Other readers tell payloads apart by these keys.
#[test]
fn facts_of_the_system_are_not_mistaken_for_other_payloads() {
    for case in case::all() {
        let (made, _) = read(case.surface, KeptBytes::Unknown, &case.input);
        for (_, payload) in payloads(&made) {
            let Payload::System(system) = payload else { continue };
            for key in ["role", "kind", "call_id"] {
                assert!(!system.facts.contains_key(key), "{}: {system:?}", case.title());
            }
        }
    }
}

#[test]
fn what_is_known_of_one_provider_stays_in_its_folder() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        // The list of providers and the list of modules name them; nobody else does.
        if !path.is_file() || name == "registry.rs" || name == "lib.rs" {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap().to_lowercase();
        for provider in PROVIDERS {
            let is_named = text.split(|c: char| !c.is_alphanumeric()).any(|w| w == provider.name);
            assert!(!is_named, "{name} names {}", provider.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Cases with bytes changed, removed and put in, against every surface and any split.
    #[test]
    fn nothing_panics_and_nothing_is_lost_whatever_the_bytes(
        pick in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..4), 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let cases = case::all();
        let case = &cases[pick.index(cases.len())];
        let mut input = case.input.clone();
        for (place, byte, edit) in edits {
            let at = place.index(input.len().max(1));
            match edit {
                0 if at < input.len() => input[at] = byte,
                1 if at < input.len() => drop(input.remove(at)),
                2 => input.truncate(at),
                _ => input.insert(at.min(input.len()), byte),
            }
        }
        for surface in case.provider.surfaces {
            let (whole, tally) = read(surface, KeptBytes::Full, &input);
            nothing_is_lost(&case.title(), &input, &whole);
            let (left, right) = input.split_at(cut.index(input.len() + 1));
            let (pieces, pieces_tally) = read_in_pieces(surface, KeptBytes::Full, [left, right]);
            prop_assert_eq!(lines(&pieces), lines(&whole));
            prop_assert_eq!(pieces_tally, tally);
        }
    }
}
