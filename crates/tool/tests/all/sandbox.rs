//! Everything that tries to get out.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use quipu_event::Kind;
use quipu_event::payload::ToolStatus;
use rustix::fs::{CWD, Mode, RenameFlags, mkfifoat, renameat_with};
use serde_json::{Value, json};

use crate::stage::{CANARY, Stage};

/// A stage with every kind of way out.
fn stage_with_ways_out() -> Stage {
    let stage = Stage::new();
    stage.put("plain.txt", "plain");
    stage.put("deep/er/file.txt", "deep");
    let root = stage.root();
    let outside = stage.outside();
    symlink(outside.join("canary"), root.join("abs_file")).unwrap();
    symlink("../outside/canary", root.join("rel_file")).unwrap();
    symlink(&outside, root.join("abs_dir")).unwrap();
    symlink("../outside", root.join("rel_dir")).unwrap();
    symlink("../outside/later", root.join("dangling")).unwrap();
    symlink("../outside/later", root.join("dangling_dir")).unwrap();
    symlink("rel_dir", root.join("chain")).unwrap();
    symlink("../../../outside", root.join("deep/er/up")).unwrap();
    symlink("/proc/self/root", root.join("proc_root")).unwrap();
    symlink("/proc/self/cwd", root.join("proc_cwd")).unwrap();
    symlink("circle", root.join("circle")).unwrap();
    fs::hard_link(outside.join("canary"), root.join("hard")).unwrap();
    stage
}

/// Paths to the file outside, and to its directory.
fn ways_out(stage: &Stage) -> Vec<(String, String)> {
    let outside = stage.outside().display().to_string();
    let root = stage.root().display().to_string();
    let mut dirs = vec![
        "../outside".to_owned(),
        "deep/../../outside".to_owned(),
        "./.././outside".to_owned(),
        "missing/../../outside".to_owned(),
        "plain.txt/../../outside".to_owned(),
        "deep/er/../../../outside".to_owned(),
        outside.clone(),
        format!("{root}/../outside"),
        format!("{root}/deep/../../outside"),
        format!("//{outside}"),
        format!("/proc/self/root{outside}"),
        format!("/proc/thread-self/root{outside}"),
        format!("/proc/self/cwd/../../../../../../..{outside}"),
        format!("proc_root{outside}"),
        format!("proc_cwd/../../../../../..{outside}"),
    ];
    let links = ["abs_dir", "rel_dir", "chain", "deep/er/up", "deep/../rel_dir"];
    dirs.extend(links.map(str::to_owned));
    dirs.into_iter().map(|dir| (format!("{dir}/canary"), dir)).collect()
}

/// Every call that would reach outside by a file or by a directory.
fn escapes(stage: &Stage) -> Vec<(&'static str, Value)> {
    let mut calls = Vec::new();
    let files = ["abs_file", "rel_file", "dangling", "circle", "hard"].map(str::to_owned);
    let (through, dirs): (Vec<String>, Vec<String>) = ways_out(stage).into_iter().unzip();
    for file in files.into_iter().chain(through) {
        calls.push(("Read", json!({ "path": file })));
        calls.push(("Read", json!({ "path": file, "offset": 1, "limit": 1 })));
        calls.push(("Write", json!({ "path": file, "content": "gotcha" })));
        calls.push(("Edit", json!({ "path": file, "old": "canary", "new": "cat" })));
        calls.push(("Grep", json!({ "pattern": "canary", "path": file })));
    }
    for dir in dirs {
        calls.push(("Write", json!({ "path": format!("{dir}/new"), "content": "gotcha" })));
        calls.push(("Write", json!({ "path": format!("{dir}/a/b/new"), "content": "gotcha" })));
        calls.push(("Grep", json!({ "pattern": "canary", "path": dir })));
        calls.push(("List", json!({ "path": dir })));
        calls.push(("Glob", json!({ "pattern": "*", "cwd": dir })));
        calls.push(("Glob", json!({ "pattern": format!("{dir}/*") })));
        calls.push(("Glob", json!({ "pattern": format!("{dir}/**/canary") })));
        calls.push(("Bash", json!({ "command": "cat canary; echo x > new", "cwd": dir })));
    }
    calls.push(("Write", json!({ "path": "dangling_dir/new", "content": "gotcha" })));
    for pattern in ["..", "../*", "*/../../outside/*", "deep/*/../../../outside/*", "/etc/*", "/*"]
    {
        calls.push(("Glob", json!({ "pattern": pattern })));
    }
    calls
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_path_that_leads_outside_is_refused_and_recorded() {
    let stage = stage_with_ways_out();
    for (tool, input) in escapes(&stage) {
        let answer = stage.call(tool, input.clone()).await;
        let what = format!("{tool} {input}: {}", answer.text());
        assert_eq!(answer.status, ToolStatus::Blocked, "{what}");
        assert!(!answer.text().contains(CANARY), "{what}");
        let files = stage.take_files();
        assert_eq!(files.len(), 1, "{what}: {files:?}");
        let (kind, access) = &files[0];
        assert_eq!(*kind, Kind::FileRejected, "{what}");
        assert!(access.reason.is_some() && access.call_id.is_some(), "{what}");
        stage.assert_outside_untouched(&what);
    }
}

#[tokio::test]
async fn what_is_no_regular_file_is_refused_without_waiting_for_it() {
    let stage = Stage::new();
    let at = |name: &str| stage.root().join(name);
    mkfifoat(CWD, at("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    for file in ["pipe", "socket"] {
        for (tool, input) in [
            ("Read", json!({ "path": file })),
            ("Write", json!({ "path": file, "content": "x" })),
            ("Edit", json!({ "path": file, "old": "x", "new": "y" })),
            ("Grep", json!({ "path": file, "pattern": "x" })),
        ] {
            let answer = stage.call(tool, input).await;
            assert_eq!(answer.status, ToolStatus::Blocked, "{tool} {file}: {}", answer.text());
            assert_eq!(stage.take_files()[0].0, Kind::FileRejected);
        }
    }
    stage.put("text", "needle");
    assert_eq!(stage.done("Grep", json!({ "pattern": "needle" })).await, "text:1:needle");
}

#[tokio::test]
async fn a_file_with_another_name_is_not_searched_and_that_is_said() {
    let stage = stage_with_ways_out();
    let text = stage.done("Grep", json!({ "pattern": "canary|plain" })).await;
    let note = "[files with several names (hard links), not searched: 1]";
    assert_eq!(text, format!("plain.txt:1:plain\n{note}"));
}

#[tokio::test]
async fn links_within_the_root_are_followed() {
    let stage = Stage::new();
    stage.put("real/file", "one");
    symlink("real", stage.root().join("dir")).unwrap();
    symlink("dir/file", stage.root().join("file")).unwrap();
    symlink("../real/new", stage.root().join("real/later")).unwrap();
    stage.put("a/b/file", "");
    symlink("a/b", stage.root().join("low")).unwrap();
    let read = async |path: &str| stage.done("Read", json!({ "path": path })).await;
    assert_eq!(read("file").await, "one");
    stage.done("Write", json!({ "path": "file", "content": "two" })).await;
    stage.done("Write", json!({ "path": "dir/later", "content": "new" })).await;
    assert_eq!((stage.text("real/file"), stage.text("real/new")), ("two".into(), "new".into()));
    assert!(stage.root().join("file").is_symlink(), "the link stays a link");
    stage.done("Write", json!({ "path": "low/../../file", "content": "two" })).await;
    let absolute = stage.root().join("real/../dir/file");
    assert_eq!(read(absolute.to_str().unwrap()).await, "two");
    assert_eq!(
        stage.done("List", json!({ "path": "dir" })).await,
        "file\t3\nlater -> ../real/new\nnew\t3"
    );
}

#[tokio::test]
async fn a_root_may_be_named_by_a_link() {
    let mut stage = Stage::new();
    stage.put("file", "text");
    let real = stage.root().to_owned();
    symlink("root", stage.dir.path().join("alias")).unwrap();
    stage.context.root = stage.dir.path().join("alias");
    for path in [real.join("file"), stage.root().join("file")] {
        assert_eq!(stage.done("Read", json!({ "path": path })).await, "text");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_that_becomes_a_link_in_the_middle_leads_nowhere() {
    let stage = Stage::new();
    stage.put("swap/canary", "harmless");
    symlink("../outside", stage.root().join("link")).unwrap();
    let is_over = AtomicBool::new(false);
    let root = stage.root().to_owned();
    let mut refused = 0;
    std::thread::scope(|scope| {
        // A directory and a link that change places all the time.
        scope.spawn(|| {
            let (swap, link) = (root.join("swap"), root.join("link"));
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &swap, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                std::thread::yield_now();
            }
        });
        let calls = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                let mut refused = 0;
                for turn in 0.. {
                    for (tool, input) in racing_calls(turn) {
                        let answer = stage.call(tool, input).await;
                        assert!(!answer.text().contains(CANARY), "{tool}: {}", answer.text());
                        let rejected = stage.take_files();
                        let rejected = rejected.iter().any(|(kind, _)| *kind == Kind::FileRejected);
                        assert_eq!(rejected, answer.status == ToolStatus::Blocked, "{tool}");
                        refused += usize::from(rejected);
                    }
                    if turn >= 200 && refused >= 20 {
                        break;
                    }
                }
                refused
            })
        });
        is_over.store(true, Ordering::Relaxed);
        refused = calls;
    });
    assert!(refused >= 20);
    stage.assert_outside_untouched("after the race");
}

fn racing_calls(turn: usize) -> Vec<(&'static str, Value)> {
    let mut calls = vec![
        ("Read", json!({ "path": "swap/canary" })),
        ("Write", json!({ "path": "swap/canary", "content": "harmless" })),
        ("Write", json!({ "path": format!("swap/new/{turn}"), "content": "x" })),
        ("Edit", json!({ "path": "swap/canary", "old": "canary", "new": "cat" })),
        ("Grep", json!({ "pattern": "sings", "path": "swap" })),
        ("List", json!({ "path": "swap" })),
        ("Glob", json!({ "pattern": "swap/*" })),
    ];
    if turn.is_multiple_of(10) {
        calls.push(("Bash", json!({ "command": "cat canary; echo x > file", "cwd": "swap" })));
    }
    calls
}

fn path_part() -> impl Strategy<Value = String> {
    let parts = [
        "..",
        ".",
        "",
        "deep",
        "er",
        "file.txt",
        "plain.txt",
        "abs_file",
        "rel_file",
        "abs_dir",
        "rel_dir",
        "dangling",
        "chain",
        "up",
        "proc_root",
        "circle",
        "hard",
        "canary",
        "outside",
        "root",
        "new",
        "ü",
        "%2e%2e",
        "~",
        "*",
        "**",
        "{..,x}",
    ];
    prop_oneof![8 => prop::sample::select(parts.to_vec()).prop_map(str::to_owned), 1 => ".{0,4}"]
}

#[test]
fn no_path_whatsoever_reads_or_writes_outside() {
    let stage = stage_with_ways_out();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let starts = [
        String::new(),
        "/".to_owned(),
        "/proc/self/root/".to_owned(),
        format!("{}/", stage.root().display()),
        format!("{}/", stage.dir.path().display()),
    ];
    let path = (prop::sample::select(starts.to_vec()), prop::collection::vec(path_part(), 0..7))
        .prop_map(|(start, parts)| format!("{start}{}", parts.join("/")));
    let config = ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() };
    proptest!(config, |(path in path)| {
        let calls = [
            ("Read", json!({ "path": path })),
            ("Write", json!({ "path": path, "content": "gotcha" })),
            ("Edit", json!({ "path": path, "old": "canary", "new": "cat" })),
            ("Grep", json!({ "path": path, "pattern": "sings" })),
            ("Glob", json!({ "pattern": path })),
            ("Glob", json!({ "pattern": "*", "cwd": path })),
            ("List", json!({ "path": path })),
        ];
        for (tool, input) in calls {
            let answer = runtime.block_on(stage.call(tool, input));
            prop_assert!(!answer.text().contains(CANARY), "{tool} {path}");
            let lists = answer.text().lines().any(|line| line == "canary\t16");
            prop_assert!(tool != "List" || !lists, "{tool} {path}");
        }
        stage.assert_outside_untouched(&path);
    });
}
