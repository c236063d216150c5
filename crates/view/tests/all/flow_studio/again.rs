//! Runs of Flow Studio: imported, and put back as they were.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use quipu_collect::import::{self, Request, System, find, rehearse};
use quipu_event::{Event, RunId, RunIdentity, Timestamp, decode_line, encode_line};
use quipu_journal::Reader;
use quipu_testkit::TestStorage;

use super::cases::read_tree;
use super::files_of;

type Files = BTreeMap<String, Vec<u8>>;

/// Returns the events that files become, as they would stand in a transcript.
fn imported(files: &Files) -> Vec<Event> {
    let files = files.iter().map(|(name, bytes)| (name.clone(), bytes.clone())).collect();
    let (drafts, _) = rehearse(System::FlowStudio, files).unwrap();
    let run = RunIdentity { run_id: RunId::parse("back").unwrap(), parent_run_id: None };
    let now = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
    let line = |(draft, seq): (quipu_event::Draft, u64)| {
        let mut line = String::new();
        encode_line(&draft.seal(seq, &run, now), &mut line);
        decode_line(line.as_bytes()).unwrap()
    };
    drafts.into_iter().zip(1..).map(line).collect()
}

#[track_caller]
fn assert_back(files: &Files, events: &[Event]) {
    let (tree, losses) = files_of(events);
    let run = events[0].run_id.as_str();
    let found: Files = (tree.0.into_iter())
        .map(|(path, bytes)| (path.strip_prefix(&format!("{run}/")).unwrap().to_owned(), bytes))
        .collect();
    let names = |files: &Files| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(files));
    for (name, bytes) in files {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&found[name]), text(bytes), "{name}");
        assert_eq!(&found[name], bytes, "{name}");
    }
    assert_eq!(losses.total(), 0, "{losses:?}");
}

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/flow_studio_runs")
}

/// Returns a folder of what Flow Studio itself wrote, if there is one beside the project.
fn foreign_samples() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/flow-studio");
    if !path.is_dir() {
        eprintln!("not checked: there are no runs of Flow Studio at {}", path.display());
    }
    path.is_dir().then_some(path)
}

#[test]
fn a_run_that_came_from_flow_studio_goes_back_to_the_byte() {
    for name in ["oldest", "newer"] {
        let files = read_tree(&samples().join(name));
        assert!(files.len() > 4, "{name}");
        assert_back(&files, &imported(&files));
    }
}

#[test]
fn runs_that_flow_studio_wrote_go_back_to_the_byte() {
    let Some(folder) = foreign_samples() else { return };
    for name in ["stepwise-build-claude", "stepwise-build-gemini"] {
        let files = read_tree(&folder.join(name));
        assert_back(&files, &imported(&files));
    }
    let all = read_tree(&folder);
    let newer = [
        ("fs_head_gemini_stub_events.jsonl", "events.jsonl"),
        ("fs_head_gemini_handoff.json", "signal/handoff/normalize.json"),
        ("fs_head_candidates.json", "signal/routing/candidates_step_normalize.json"),
        ("fs_head_meta.json", "meta.json"),
        ("fs_head_run_state.json", "run_state.json"),
        (
            "fs_head_claude_stub_transcript.jsonl",
            "signal/llm/normalize-signal-normalizer-claude.jsonl",
        ),
        ("fs_head_claude_stub_receipt.json", "signal/receipts/normalize-signal-normalizer.json"),
    ];
    let files: Files =
        newer.into_iter().map(|(from, to)| (to.to_owned(), all[from].clone())).collect();
    assert_back(&files, &imported(&files));
}

/// A folder that is imported while it grows.
struct Growing {
    storage: TestStorage,
}

impl Growing {
    fn import(&self, files: &Files) -> Vec<Event> {
        let folder = self.storage.dir().join("theirs");
        for (name, bytes) in files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let found = find(&folder).unwrap();
        let layout = &self.storage.layout;
        let outcome = import::import(layout, &found[0], &Request::default()).unwrap();
        let reader = Reader::open(layout.transcript(&outcome.run_id)).unwrap();
        reader.collect::<Result<_, _>>().unwrap()
    }
}

#[test]
fn a_run_that_grew_between_two_imports_goes_back_as_it_is_now() {
    let desk = Growing { storage: TestStorage::in_memory() };
    let now = read_tree(&samples().join("oldest"));
    let mut before = now.clone();
    // In the middle of a line, with a summary that says less.
    let log = before.get_mut("events.jsonl").unwrap();
    log.truncate(log.len() / 2);
    let meta = String::from_utf8(now["meta.json"].clone()).unwrap();
    before.insert("meta.json".to_owned(), meta.replace("succeeded", "running").into_bytes());
    assert_back(&before, &desk.import(&before));
    let events = desk.import(&now);
    assert_back(&now, &events);
}

#[test]
fn a_transcript_that_was_written_over_between_two_imports_is_kept() {
    let desk = Growing { storage: TestStorage::in_memory() };
    let before = read_tree(&samples().join("oldest"));
    desk.import(&before);
    let mut now = before.clone();
    let (transcript, receipt) =
        ("plan/llm/draft-plan-writer-claude.jsonl", "plan/receipts/draft-plan-writer.json");
    for name in [transcript, receipt] {
        let text = String::from_utf8(now[name].clone()).unwrap();
        now.insert(name.to_owned(), text.replace("2025-01-02", "2025-02-03").into_bytes());
    }
    let events = desk.import(&now);
    let earlier = [
        ("plan/llm_earlier/draft-plan-writer-claude.iter0.jsonl", transcript),
        ("plan/receipts_earlier/draft-plan-writer.iter0.json", receipt),
    ];
    for (to, from) in earlier {
        now.insert(to.to_owned(), before[from].clone());
    }
    assert_back(&now, &events);
}

/// Returns the lines of a transcript that says `texts`.
fn lines(texts: &[&str]) -> String {
    let line = |text: &&str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n");
    texts.iter().map(line).collect()
}

#[test]
fn every_version_of_a_transcript_is_kept_whole() {
    let a = lines(&["same", "go 0", "a0"]);
    for (what, later) in [
        ("its end is another", vec![lines(&["same", "go 1", "a1"])]),
        ("its middle is another", vec![lines(&["same", "go 1", "a0"])]),
        ("its beginning is another", vec![lines(&["new", "go 0", "a0"])]),
        ("it is shorter", vec![lines(&["same"])]),
        ("it is another and then the first again", vec![lines(&["same", "go 1"]), a.clone()]),
        ("it ends without a line feed", vec![a.replace("a0", "a1").trim_end().to_owned()]),
        ("it is empty", vec![String::new()]),
    ] {
        let desk = Growing { storage: TestStorage::in_memory() };
        let name = "f/llm/s-coder-claude.jsonl".to_owned();
        let meta = br#"{"id":"r","spec":{},"status":"succeeded"}"#.to_vec();
        let mut files =
            Files::from([("meta.json".to_owned(), meta), (name.clone(), a.clone().into_bytes())]);
        desk.import(&files);
        let mut earlier = Files::new();
        for version in later {
            let old = files.insert(name.clone(), version.into_bytes()).unwrap();
            let number = earlier.len();
            earlier.insert(format!("f/llm_earlier/s-coder-claude.iter{number}.jsonl"), old);
            let events = desk.import(&files);
            let mut expected = files.clone();
            expected.append(&mut earlier.clone());
            eprintln!("{what}");
            assert_back(&expected, &events);
            assert_eq!(desk.import(&files).len(), events.len(), "{what}");
        }
    }
}

#[test]
fn executions_that_came_as_earlier_ones_are_not_written_over() {
    let now = ["f/llm/s-coder-claude.jsonl", "f/receipts/s-coder.json"];
    let earlier = |n: u8| {
        [
            format!("f/llm_earlier/s-coder-claude.iter{n}.jsonl"),
            format!("f/receipts_earlier/s-coder.iter{n}.json"),
        ]
    };
    let receipt = |n: u8| format!("{{\"step_id\":\"s\",\"flow_key\":\"f\",\"attempt\":{n}}}");
    let put = |files: &mut Files, names: &[String], n: u8| {
        files.insert(names[0].clone(), lines(&[&format!("go {n}")]).into_bytes());
        files.insert(names[1].clone(), receipt(n).into_bytes());
    };
    for comes_late in [false, true] {
        let desk = Growing { storage: TestStorage::in_memory() };
        let mut files = Files::new();
        put(&mut files, &now.map(str::to_owned), 7);
        if !comes_late {
            put(&mut files, &earlier(0), 0);
            put(&mut files, &earlier(1), 1);
        }
        desk.import(&files);
        put(&mut files, &earlier(0), 0);
        put(&mut files, &earlier(1), 1);
        put(&mut files, &now.map(str::to_owned), 8);
        let events = desk.import(&files);
        put(&mut files, &earlier(2), 7);
        eprintln!("they come late: {comes_late}");
        assert_back(&files, &events);
    }
}

#[test]
fn files_of_nothing_but_line_feeds_go_back_to_the_byte() {
    for text in ["", "\n", "\n\n", "\n\n\n", "\n{}\n", "{}\n\n"] {
        let files = Files::from([
            ("f/llm/a-b-claude.jsonl".to_owned(), text.into()),
            ("events.jsonl".to_owned(), text.into()),
        ]);
        assert_back(&files, &imported(&files));
    }
}

#[test]
fn an_exported_run_can_be_imported_and_exported_again() {
    let (tree, _) = files_of(&super::cases::case("workflow"));
    let files: Files = (tree.0.into_iter())
        .map(|(path, bytes)| (path.strip_prefix("run/").unwrap().to_owned(), bytes))
        .collect();
    assert_back(&files, &imported(&files));
}
