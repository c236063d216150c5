//! Arbitrary bytes against what reads the files of other recorders.
//!
//! Whatever a file holds, it becomes drafts that can be recorded; each line and each document is kept
//! to the byte, once.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quipu_collect::import::{System, rehearse};
use quipu_event::{RunId, RunIdentity, Timestamp, decode_line, encode_line};

/// The names under which each system's files are understood.
const FILES: [(System, &[&str]); 4] = [
    (System::Awf, &["run.jsonl"]),
    (
        System::FlowStudio,
        &["events.jsonl", "build/llm/a-b-claude.jsonl", "build/receipts/a-b.json", "meta.json"],
    ),
    (System::Kgent, &["events.jsonl", "logs/tools.jsonl", "logs/errors.jsonl", "run.json"]),
    (
        System::Wink,
        &["logs/app.jsonl", "transcript.jsonl", "metrics.json", "error.json", "manifest.json"],
    ),
];

fuzz_target!(|bytes: &[u8]| {
    // A zero byte begins the next file.
    let pieces: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
    for (system, names) in FILES {
        let files =
            names.iter().zip(&pieces).map(|(name, piece)| ((*name).to_owned(), piece.to_vec()));
        let (drafts, _) = rehearse(system, files.collect()).expect("memory can be read");
        let run = RunIdentity { run_id: RunId::parse("fuzz").expect("an id"), parent_run_id: None };
        for (at, draft) in drafts.into_iter().enumerate() {
            let event = draft.seal(at as u64 + 1, &run, Timestamp::from_micros(0));
            let mut line = String::new();
            encode_line(&event, &mut line);
            let again = decode_line(line.as_bytes()).expect("what was encoded decodes");
            assert_eq!(again, event);
            again.decode_payload().expect("a payload of our own has its shape");
        }
    }
});
