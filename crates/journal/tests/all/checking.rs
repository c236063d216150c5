//! Each kind of damage that `verify_run` finds.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use quipu_event::payload::Status;
use quipu_event::{Draft, Kind};
use quipu_journal::verify_run;
use quipu_testkit::{
    TestStorage, run_completed, run_id, run_started, step_completed, step_started, tool_call,
    tool_result,
};
use serde_json::json;

fn calling(kind: Kind) -> Draft {
    let payload = json!({ "name": "c", "kind": "call_workflow" });
    Draft::new(kind, &payload).unwrap().at("c".into(), 0).calling(run_id("child"))
}

/// A parent `r` and its child, both sound.
fn sound() -> TestStorage {
    let storage = TestStorage::new();
    storage.record(
        "r",
        [
            run_started("x"),
            step_started("a"),
            tool_call("1"),
            tool_result("1"),
            tool_call("dangling"),
            step_completed("a", Status::Succeeded),
            calling(Kind::CallWorkflowStarted),
            calling(Kind::CallWorkflowCompleted),
            run_completed("x", Status::Succeeded),
        ],
    );
    let child = storage.create_child("child", "r");
    child.record(run_started("child")).unwrap();
    child.record(run_completed("child", Status::Succeeded)).unwrap();
    child.close().unwrap();
    storage
}

/// Rewrites the lines of a run.
fn rewrite(storage: &TestStorage, id: &str, change: impl FnOnce(&mut Vec<String>)) {
    let text = String::from_utf8(storage.bytes(id)).unwrap();
    let mut lines = text.split_inclusive('\n').map(str::to_owned).collect();
    change(&mut lines);
    std::fs::write(storage.path(id), lines.concat()).unwrap();
}

fn replace(storage: &TestStorage, id: &str, line: usize, from: &str, to: &str) {
    rewrite(storage, id, |lines| {
        assert!(lines[line - 1].contains(from), "{}", lines[line - 1]);
        lines[line - 1] = lines[line - 1].replace(from, to);
    });
}

/// Changes every number from line `line` on, as if that line had not been there before.
fn renumber(lines: &mut [String]) {
    for (seq, line) in (1..).zip(lines) {
        let rest = line.split_once(',').unwrap().1.to_owned();
        *line = format!("{{\"seq\":{seq},{rest}");
    }
}

fn without(storage: &TestStorage, line: usize) {
    rewrite(storage, "r", |lines| {
        lines.remove(line - 1);
        renumber(lines);
    });
}

type Mutation = (&'static str, fn(&TestStorage), &'static [&'static str]);

/// One change to a sound run, and every finding it leads to.
const MUTATIONS: &[Mutation] = &[
    ("nothing", |_| {}, &[]),
    (
        "a torn tail",
        |s| rewrite(s, "r", |l| l.push("{\"seq\":10".into())),
        &["line 10, byte #: the last line is torn: 9 bytes without a line feed"],
    ),
    (
        "an empty line",
        |s| rewrite(s, "r", |l| l.insert(1, "\n".into())),
        &["line 2, byte #: the line is empty"],
    ),
    (
        "a line that is no event",
        |s| rewrite(s, "r", |l| l[3] = "{}\n".into()),
        &["line 4, byte #: not an event: missing field `seq` at byte 2"],
    ),
    (
        "two lines that are no events, one of which never was",
        |s| {
            rewrite(s, "r", |l| {
                l[4] = "{}\n".into();
                l.insert(5, "\n".into());
            })
        },
        &[
            "line 5, byte #: not an event: missing field `seq` at byte 2",
            "line 6, byte #: the line is empty",
        ],
    ),
    (
        "a missing line behind one that is no event",
        |s| {
            rewrite(s, "r", |l| {
                l[3] = "{}\n".into();
                l.remove(4);
            })
        },
        &[
            "line 4, byte #: not an event: missing field `seq` at byte 2",
            "line 5, byte #: seq is 6, expected 5",
        ],
    ),
    (
        "a step that starts twice",
        |s| {
            rewrite(s, "r", |l| {
                l.insert(2, l[1].clone());
                l.insert(6, l[6].clone());
                renumber(l);
            })
        },
        &["line 3, byte #: step.started at \"a\" while that of line 2 is still open"],
    ),
    (
        "a step that starts again after its end",
        |s| {
            rewrite(s, "r", |l| {
                l.splice(6..6, [l[1].clone(), l[5].clone()]);
                renumber(l);
            })
        },
        &[
            "line 7, byte #: step.started (seq 7) at \"a\" is attempt 1 once more: it started on line 2 (seq 2) and has ended",
        ],
    ),
    (
        "a step that starts again behind damage, and a third time",
        |s| {
            rewrite(s, "r", |l| {
                l.splice(6..6, [l[1].clone(), l[5].clone(), l[1].clone(), l[5].clone()]);
                renumber(l);
                l.insert(0, "x\n".into());
            })
        },
        &[
            "line 1, byte 0: not an event: expected value at byte 1",
            "line 8, byte #: step.started (seq 7) at \"a\" is attempt 1 once more: it started on line 3 (seq 2) and has ended",
            "line 10, byte #: step.started (seq 9) at \"a\" is attempt 1 once more: it started on line 3 (seq 2) and has ended",
        ],
    ),
    (
        "a call that is made again after its end",
        |s| {
            rewrite(s, "r", |l| {
                l.splice(8..8, [l[6].clone(), l[7].clone()]);
                renumber(l);
            })
        },
        &[
            "line 9, byte #: step.call_workflow.started (seq 9) at \"c\" is attempt 1 once more: it started on line 7 (seq 7) and has ended",
        ],
    ),
    (
        "a step that starts again as a call of a run",
        |s| {
            rewrite(s, "r", |l| {
                for call in [6, 7] {
                    l[call] = l[call].replace("\"path\":\"c\"", "\"path\":\"a\"");
                }
            })
        },
        &[
            "line 7, byte #: step.call_workflow.started (seq 7) at \"a\" is attempt 1 once more: it started on line 2 (seq 2) and has ended",
        ],
    ),
    (
        "another attempt",
        |s| {
            rewrite(s, "r", |l| {
                let again = |line: &String| line.replace("\"attempt\":1", "\"attempt\":2");
                l.splice(6..6, [again(&l[1]), again(&l[5])]);
                renumber(l);
            })
        },
        &[],
    ),
    (
        "a step that starts again where nobody counts attempts",
        |s| {
            rewrite(s, "r", |l| {
                l.splice(6..6, [l[1].clone(), l[5].clone()]);
                l[0] = l[0].replace("\"format\":1", "\"version\":\"1\"");
                for line in l.iter_mut() {
                    *line = line.replace(",\"attempt\":1", "");
                }
                renumber(l);
            })
        },
        &[],
    ),
    (
        "a step that starts again in a run that was imported",
        |s| {
            rewrite(s, "r", |l| {
                l.splice(6..6, [l[1].clone(), l[5].clone()]);
                l[0] = l[0]
                    .replace("\"format\":1", "\"format\":1,\"labels\":{\"imported_from\":\"awf\"}");
                renumber(l);
            })
        },
        &[],
    ),
    (
        "steps that do not say where they are",
        |s| {
            rewrite(s, "r", |l| {
                l.splice(6..6, [l[1].clone(), l[5].clone()]);
                for line in l.iter_mut() {
                    *line = line.replace("\"path\":\"a\"", "\"path\":\"\"");
                }
                renumber(l);
            })
        },
        &[],
    ),
    (
        "a call inside the step that makes it",
        |s| {
            rewrite(s, "r", |l| {
                let calls = l.drain(6..8).map(|l| l.replace("\"path\":\"c\"", "\"path\":\"a\""));
                let calls: Vec<_> = calls.collect();
                l.splice(5..5, calls);
                renumber(l);
            })
        },
        &[],
    ),
    (
        "a call that names no child",
        |s| replace(s, "r", 8, "\"child_run_id\":\"child\",", ""),
        &["line 8, byte #: step.call_workflow.completed at \"c\" names no child_run_id"],
    ),
    (
        "a call that ends with another child",
        |s| replace(s, "r", 8, "\"child\"", "\"other\""),
        &["line 8, byte #: child_run_id is other, expected child as on line 7"],
    ),
    (
        "a missing line",
        |s| rewrite(s, "r", |l| drop(l.remove(4))),
        &["line 5, byte #: seq is 6, expected 5"],
    ),
    (
        "a repeated line",
        |s| rewrite(s, "r", |l| l.insert(5, l[4].clone())),
        &[
            "line 6, byte #: seq is 5, expected 6",
            "line 6, byte #: tool call \"dangling\" stands twice",
        ],
    ),
    (
        "a line of another run",
        |s| replace(s, "r", 3, "\"run_id\":\"r\"", "\"run_id\":\"q\""),
        &["line 3, byte #: run_id is q, not that of the file"],
    ),
    (
        "another parent",
        |s| replace(s, "r", 3, "\"type\"", "\"parent_run_id\":\"q\",\"type\""),
        &["line 3, byte #: parent_run_id differs from that of line 1"],
    ),
    (
        "a payload of the wrong shape",
        |s| replace(s, "r", 3, "\"call_id\":\"1\"", "\"call_id\":7"),
        &[
            "line 3, byte #: payload does not have the shape of tool.call: invalid type: integer `7`, expected a string at byte 26 of it",
            "line 4, byte #: tool result \"1\" answers no open call",
        ],
    ),
    (
        "a line without its path and payload",
        |s| {
            rewrite(s, "r", |l| {
                let (head, rest) = l[4].split_once(",\"path\":").unwrap();
                let iteration = rest.split_once(",\"iteration\"").unwrap().1;
                let iteration = iteration.split_once(",\"payload\"").unwrap().0;
                l[4] = format!("{head},\"iteration\"{iteration}}}\n");
            })
        },
        &["line 5, byte #: `path` is missing", "line 5, byte #: `payload` is missing"],
    ),
    (
        "a step without its name",
        |s| replace(s, "r", 2, "\"name\":\"a\"", "\"name\":\"\""),
        &["line 2, byte #: step.started: `name` is missing"],
    ),
    (
        "an end of no known sort",
        |s| replace(s, "r", 9, "\"succeeded\"", "\"bogus\""),
        &[
            "line 9, byte #: run.completed: `status` is \"bogus\", which is not a word of the format",
        ],
    ),
    (
        "an end without its start",
        |s| without(s, 2),
        &["line 5, byte #: step.completed at \"a\" without its step.started"],
    ),
    (
        "a start without its end",
        |s| without(s, 6),
        &["line 2: step.started at \"a\" never completed"],
    ),
    (
        "a start without its end behind damage",
        |s| {
            without(s, 6);
            rewrite(s, "r", |l| l.insert(0, "x\n".into()));
        },
        &[
            "line 1, byte 0: not an event: expected value at byte 1",
            "line 3: step.started at \"a\" never completed",
        ],
    ),
    (
        "starts without their ends where numbers begin again",
        |s| {
            rewrite(s, "r", |l| {
                l.truncate(2);
                l.extend(l.clone());
            })
        },
        &[
            "line 3, byte #: seq is 1, expected 3",
            "line 4, byte #: step.started at \"a\" while that of line 2 is still open",
            "line 4: step.started at \"a\" never completed",
            "line 3: run.started at \"\" never completed",
            "line 2: step.started at \"a\" never completed",
            "line 1: run.started at \"\" never completed",
        ],
    ),
    (
        "the end of another try",
        |s| replace(s, "r", 6, "\"attempt\":1", "\"attempt\":2"),
        &[
            "line 6, byte #: step.completed at \"a\" without its step.started",
            "line 2: step.started at \"a\" never completed",
        ],
    ),
    (
        "an event after the end",
        |s| {
            rewrite(s, "r", |l| {
                let late = l.remove(4);
                l.push(late);
                renumber(l);
            })
        },
        &["line 9, byte #: tool.call after the run's end"],
    ),
    (
        "a call that stands twice",
        |s| replace(s, "r", 5, "\"dangling\"", "\"1\""),
        &["line 5, byte #: tool call \"1\" stands twice"],
    ),
    (
        "a result without a call",
        |s| without(s, 3),
        &["line 3, byte #: tool result \"1\" answers no open call"],
    ),
    (
        "a call answered twice",
        |s| {
            rewrite(s, "r", |l| {
                l.insert(4, l[3].clone());
                renumber(l);
            })
        },
        &["line 5, byte #: tool result \"1\" answers no open call"],
    ),
    (
        "a child that is not there",
        |s| std::fs::remove_file(s.path("child")).unwrap(),
        &["line 7: called run child has no transcript"],
    ),
    (
        "a child of somebody else",
        |s| replace(s, "child", 1, "\"parent_run_id\":\"r\"", "\"parent_run_id\":\"q\""),
        &["line 7: called run child names q as its parent"],
    ),
    (
        "a child of nobody",
        |s| replace(s, "child", 1, "\"parent_run_id\":\"r\",", ""),
        &["line 7: called run child names nobody as its parent"],
    ),
    (
        "a file open to others",
        |s| {
            std::fs::set_permissions(s.path("r"), Permissions::from_mode(0o640)).unwrap();
        },
        &["#/r.jsonl has mode 0640, wider than 0600"],
    ),
    (
        "a directory open to others",
        |s| {
            std::fs::set_permissions(s.layout.transcripts(), Permissions::from_mode(0o755))
                .unwrap();
        },
        &["#/transcripts has mode 0755, wider than 0700"],
    ),
    (
        "a storage open to others",
        |s| {
            std::fs::set_permissions(s.layout.storage(), Permissions::from_mode(0o755)).unwrap();
        },
        &["# has mode 0755, wider than 0700"],
    ),
    (
        "torn bytes open to others",
        |s| {
            let torn = s.layout.torn(&run_id("r"));
            std::fs::write(&torn, "x").unwrap();
            std::fs::set_permissions(&torn, Permissions::from_mode(0o644)).unwrap();
        },
        &["#/r.torn has mode 0644, wider than 0600"],
    ),
];

/// Same words, with `#` for places that the test does not spell out.
fn is_like(found: &str, expected: &str) -> bool {
    match expected.split_once('#') {
        Some((before, after)) => found.starts_with(before) && found.ends_with(after),
        None => found == expected,
    }
}

fn check(name: &str, storage: &TestStorage, id: &str, expected: &[&str]) {
    let report = verify_run(&storage.layout, &run_id(id)).unwrap();
    let found: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
    let alike = found.len() == expected.len()
        && found.iter().zip(expected).all(|(found, expected)| is_like(found, expected));
    assert!(alike, "{name}: {found:#?}");
    assert_eq!((report.is_sound(), report.more), (expected.is_empty(), 0));
}

#[test]
fn verify_finds_each_kind_of_damage() {
    for (name, mutate, expected) in MUTATIONS {
        let storage = sound();
        mutate(&storage);
        check(name, &storage, "r", expected);
    }
    links_from_the_child();
}

fn links_from_the_child() {
    let storage = sound();
    check("a sound child", &storage, "child", &[]);
    let silent = "parent run r never calls this run";
    rewrite(&storage, "r", |lines| {
        lines.iter_mut().for_each(|line| *line = line.replace("\"child\"", "\"other\""));
    });
    check("a workflow that calls others", &storage, "child", &[silent]);
    let check_noted = |name: &str| {
        check(name, &storage, "child", &[]);
        let report = verify_run(&storage.layout, &run_id("child")).unwrap();
        assert_eq!(report.notes.iter().map(ToString::to_string).collect::<Vec<_>>(), [silent]);
    };
    let respell = |from: &'static str, to: &'static str| {
        rewrite(&storage, "child", |lines| {
            lines.iter_mut().for_each(|line| *line = line.replace(from, to));
        });
    };
    respell("\"workflow\"", "\"exec\"");
    check_noted("a program beside the workflows that are called");
    respell("\"exec\"", "\"workflow\"");
    rewrite(&storage, "r", |lines| lines.truncate(6));
    check_noted("a parent that calls nobody");
    std::fs::remove_file(storage.path("r")).unwrap();
    check("no parent", &storage, "child", &["parent run r has no transcript"]);
}

#[test]
fn an_empty_file_is_noted() {
    let storage = sound();
    std::fs::write(storage.path("r"), "").unwrap();
    let report = verify_run(&storage.layout, &run_id("r")).unwrap();
    assert!(report.is_sound(), "a recorder that is killed early leaves one: {report:?}");
    assert_eq!(report.notes.iter().map(ToString::to_string).collect::<Vec<_>>(), ["no event"]);
}

#[test]
fn the_byte_of_a_finding_is_where_its_line_begins() {
    let storage = sound();
    rewrite(&storage, "r", |lines| lines[2] = "x\n".into());
    let offset: usize =
        storage.bytes("r").split_inclusive(|&byte| byte == b'\n').take(2).map(<[u8]>::len).sum();
    let report = verify_run(&storage.layout, &run_id("r")).unwrap();
    let first = &report.findings[0];
    assert_eq!((first.line, first.offset), (Some(3), Some(offset as u64)));
}

#[test]
fn what_is_still_being_written_is_not_damage() {
    let storage = TestStorage::new();
    let recorder = storage.create("r");
    recorder.record(run_started("x")).unwrap();
    recorder.record(step_started("a")).unwrap();
    let mut bytes = storage.bytes("r");
    bytes.extend_from_slice(b"{\"seq\":3");
    std::fs::write(storage.path("r"), bytes).unwrap();
    check("live", &storage, "r", &[]);
    recorder.close().unwrap();
    check(
        "dead",
        &storage,
        "r",
        &[
            "line 3, byte #: the last line is torn: 8 bytes without a line feed",
            "line 2: step.started at \"a\" never completed",
            "line 1: run.started at \"\" never completed",
        ],
    );
}

#[test]
fn beyond_a_thousand_findings_are_only_counted() {
    let storage = sound();
    std::fs::write(storage.path("r"), "x\n".repeat(1234)).unwrap();
    let report = verify_run(&storage.layout, &run_id("r")).unwrap();
    assert_eq!((report.findings.len(), report.more, report.events), (1000, 234, 0));
    assert!(!report.is_sound());
}

#[test]
fn agents_may_number_their_calls_alike() {
    let at = |draft: Draft, path: &str| draft.at(path.into(), 0);
    let ask = || Draft::new(Kind::MessageUser, &json!({ "role": "user", "blocks": [] })).unwrap();
    let storage = TestStorage::new();
    let mut drafts = vec![run_started("x")];
    for path in ["left", "right", "middle"] {
        drafts.extend([
            step_started(path),
            at(tool_call("item_0"), path),
            at(tool_result("item_0"), path),
            at(ask(), path),
            at(tool_call("item_0"), path),
            at(tool_result("item_0"), path),
            step_completed(path, Status::Succeeded),
        ]);
    }
    drafts.push(run_completed("x", Status::Succeeded));
    storage.record("r", drafts);
    check("the same ids in other steps, attempts and turns", &storage, "r", &[]);

    rewrite(&storage, "r", |lines| {
        lines.insert(3, lines[2].clone());
        renumber(lines);
    });
    let twice = "line 4, byte #: tool call \"item_0\" stands twice";
    check("the same id in one turn", &storage, "r", &[twice]);
}
