//! Files that those recorders have really written, where they are at hand.

use std::path::{Path, PathBuf};

use quipu_collect::import::Done;
use quipu_event::Kind;

use super::{Desk, files_in, payloads, rebuilt};

/// Returns a folder of samples, if there is one beside the project.
fn samples(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures").join(name);
    path.is_dir().then_some(path)
}

#[test]
fn runs_of_flow_studio_are_sound_and_whole() {
    let Some(folder) = samples("flow-studio") else { return };
    for (name, starts, usage) in
        [("stepwise-build-claude", 47, 0), ("stepwise-build-gemini", 47, 0)]
    {
        let desk = Desk::new();
        let path = folder.join(name);
        let outcome = desk.import_one(&path);
        assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
        let events = desk.events(&outcome.run_id);
        assert_eq!(payloads(&events, Kind::StepStarted).len(), starts, "{name}");
        assert_eq!(payloads(&events, Kind::Usage).len(), usage, "{name}");
        assert_eq!(rebuilt(&events), files_in(&path));
        assert_eq!(desk.import_one(&path).done, Done::AlreadyThere);
    }
}

#[test]
fn newer_logs_of_flow_studio_are_read() {
    let Some(folder) = samples("flow-studio") else { return };
    let desk = Desk::new();
    let copy = |from: &str, to: &str| {
        desk.put(to, std::fs::read(folder.join(from)).unwrap());
    };
    copy("fs_head_gemini_stub_events.jsonl", "head/events.jsonl");
    copy("fs_head_gemini_handoff.json", "head/signal/handoff/normalize.json");
    copy("fs_head_candidates.json", "head/signal/routing/candidates_step_normalize.json");
    let outcome = desk.import_one(&desk.path("head"));
    let events = desk.events(&outcome.run_id);
    assert_eq!(payloads(&events, Kind::StepCompleted).len(), 7);
    assert_eq!(rebuilt(&events), files_in(&desk.path("head")));

    copy("fs_head_meta.json", "stub/meta.json");
    copy("fs_head_run_state.json", "stub/run_state.json");
    let transcript = "stub/signal/llm/normalize-signal-normalizer-claude.jsonl";
    copy("fs_head_claude_stub_transcript.jsonl", transcript);
    copy(
        "fs_head_claude_stub_receipt.json",
        "stub/signal/receipts/normalize-signal-normalizer.json",
    );
    let outcome = desk.import_one(&desk.path("stub"));
    let events = desk.events(&outcome.run_id);
    assert_eq!(payloads(&events, Kind::RunCompleted)[0]["status"], "failed");
    assert_eq!(payloads(&events, Kind::RunStarted)[0]["labels"]["stub"], "true");
    assert_eq!(rebuilt(&events), files_in(&desk.path("stub")));
}

#[test]
fn a_bundle_of_wink_is_sound_and_whole() {
    let Some(folder) = samples("wink") else { return };
    let desk = Desk::new();
    let outcome = desk.import_one(&folder);
    let events = desk.events(&outcome.run_id);
    assert_eq!(payloads(&events, Kind::ToolCall).len(), 3);
    let mut kept = rebuilt(&events);
    let mut theirs = files_in(&folder.join("debug_bundle"));
    assert!(kept.remove("transcript.jsonl").is_some_and(|whole| whole.is_empty()));
    theirs.remove("transcript.jsonl");
    assert_eq!(kept, theirs);
    assert_eq!(desk.import_one(&folder).done, Done::AlreadyThere);
}
