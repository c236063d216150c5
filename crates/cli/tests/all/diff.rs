//! `quipu diff`: where two runs part.

use serde_json::{Value, json};

use crate::session::Session;
use crate::transcripts::{self, AWF_ID, HOSTILE_ID, LINT, LINT_ID, REVIEW, REVIEW_ID};

const OTHER_ID: &str = "44444444-aaaa-4000-8000-000000000001";
const OTHER_LINT: &str = "55555555-bbbb-4000-8000-000000000002";

/// Both runs of [`transcripts`] a second time, a little different, called by each other's twins.
fn session(change: &[(&str, &str)]) -> Session {
    let session = transcripts::session();
    let mut review = REVIEW.replace(LINT_ID, OTHER_LINT).replace("\"t1\"", "\"t7\"");
    review = review.replace("2026-06-08T10", "2026-06-08T11").replace("_ms\":2000", "_ms\":2500");
    let mut lint = LINT.replace(REVIEW_ID, OTHER_ID);
    for (from, to) in change {
        review = review.replace(from, to);
        lint = lint.replace(from, to);
    }
    transcripts::put(&session, OTHER_ID, &review);
    transcripts::put(&session, OTHER_LINT, &lint);
    session
}

#[test]
fn runs_that_did_the_same_have_no_difference_but_their_times() {
    assert_eq!(
        session(&[]).ok(&["diff", REVIEW_ID, OTHER_ID]),
        concat!(
            "   RUN       NAME    STATUS   TIME\n",
            "\
a  11111111  review  failed  1m05s
b  44444444  review  failed  1m05s

no difference: 17 things said and done the same

TIME              A     B
each[0].check  2.0s  2.5s
"
        )
    );
}

#[test]
fn a_called_run_that_is_missing_is_told() {
    let session = session(&[]);
    std::fs::remove_file(session.transcript(OTHER_LINT)).unwrap();
    let outcome = session.quipu(&["diff", REVIEW_ID, OTHER_ID]);
    let told = format!("{OTHER_LINT} was called and is not in the storage");
    assert!(outcome.stderr.contains(&told), "{outcome:?}");
    let alone = session.quipu(&["diff", REVIEW_ID, OTHER_ID, "--no-children"]);
    assert_eq!(alone.stderr, "", "nobody asked for it");
}

#[test]
fn runs_whose_ids_begin_alike_are_told_apart() {
    let session = transcripts::session();
    for id in ["session-long-a", "session-long-b"] {
        transcripts::put(&session, id, LINT);
    }
    let told = session.ok(&["diff", "session-long-a", "session-long-b"]);
    assert!(told.contains("a  session-long-a ") && told.contains("b  session-long-b "), "{told}");
}

#[test]
fn the_place_where_runs_part_comes_first() {
    let session = session(&[
        ("1\\n2\\n3\\n4\\n5\\n6\\n7", "1\\n2\\n3\\n4\\nfive\\n6\\n7"),
        ("\"status\":\"failed\",\"error\":\"lint failed\"", "\"status\":\"succeeded\""),
        ("\"output_tokens\":34", "\"output_tokens\":35"),
    ]);
    let outcome = session.quipu(&["diff", REVIEW_ID, OTHER_ID]);
    assert_eq!(outcome.code, Some(1), "as `diff` has it");
    assert_eq!(
        outcome.stdout,
        concat!(
            "   RUN       NAME    STATUS      TIME\n",
            "\
a  11111111  review  failed     1m05s
b  44444444  review  succeeded  1m05s

first divergence in each[0].check: tool Read, another outcome
  a    #6  completed: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
  b    #6  completed: 1 2 3 4 five 6 7 8 9 10 11 12 13 14 15 16

each[0].check
~ tool Read, another outcome
    a #6  completed: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
    b #6  completed: 1 2 3 4 five 6 7 8 9 10 11 12 13 14 15 16

the run itself
~ end run
    a #13  failed: lint failed
    b #13  succeeded

TOKENS  KIND   A   B
opus    out   34  35

TIME              A     B
each[0].check  2.0s  2.5s
"
        )
    );
}

#[test]
fn runs_that_were_called_are_compared_too() {
    let session = session(&[("cargo clippy", "cargo clippy --all")]);
    let outcome = session.quipu(&["diff", REVIEW_ID, OTHER_ID]);
    assert_eq!(outcome.code, Some(1));
    let first = "first divergence in lint → clippy: start step\n";
    assert!(outcome.stdout.contains(first), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("\ncalled at lint: 22222222 and 55555555\n"), "{outcome:?}");
    assert_eq!(session.quipu(&["diff", REVIEW_ID, OTHER_ID, "--no-children"]).code, Some(0));
}

#[test]
fn json_says_where_and_what() {
    let session = session(&[("\"path\":\"main.rs\"", "\"path\":\"lib.rs\"")]);
    let told = session.quipu(&["diff", REVIEW_ID, OTHER_ID, "--json"]).json();
    let first = &told["first_divergence"];
    assert_eq!((&told["equal"], &first["path"]), (&json!(false), &json!("each[0].check")));
    assert_eq!((&first["what"], &first["change"]), (&json!("tool"), &json!("changed")));
    assert!(first["a_said"].as_str().unwrap().contains("main.rs"), "{first}");
    assert!(first["b_said"].as_str().unwrap().contains("lib.rs"), "{first}");
    assert_eq!(told["runs"][0]["run_ids"]["b"], json!(OTHER_ID));
    assert_eq!(told["runs"][0]["differences"].as_array().unwrap().len(), 1);
    let same = self::session(&[]).quipu(&["diff", REVIEW_ID, OTHER_ID, "--json"]).json();
    assert_eq!((&same["equal"], &same["first_divergence"]), (&json!(true), &json!(null)));
}

#[test]
fn a_run_never_differs_from_itself_whoever_wrote_it() {
    let session = transcripts::session();
    for run in [REVIEW_ID, LINT_ID, AWF_ID] {
        assert_eq!(session.quipu(&["diff", run, run]).code, Some(0), "{run}");
    }
}

#[test]
fn damaged_and_hostile_runs_are_compared_as_far_as_they_go() {
    let session = transcripts::session();
    let outcome = session.quipu(&["diff", HOSTILE_ID, REVIEW_ID]);
    assert_eq!(outcome.code, Some(3));
    assert!(outcome.stdout.contains("first divergence"), "{outcome:?}");
    assert!(!transcripts::drives_a_terminal(&outcome.stdout), "{outcome:?}");
}

#[test]
fn a_run_that_is_not_there_is_the_users_mistake() {
    let outcome = transcripts::session().quipu(&["diff", REVIEW_ID, "nosuch"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
    assert!(outcome.stderr.contains("no run \"nosuch\""), "{outcome:?}");
}

#[test]
fn long_lists_of_differences_are_cut_unless_all_are_asked_for() {
    let session = Session::new();
    let said = |text: &str| {
        let line = |n: usize| {
            format!(
                r#"{{"seq":{n},"run_id":"RUN","type":"message.user","path":"","iteration":0,"timestamp":"2026-06-08T10:00:00.000000Z","payload":{{"role":"user","blocks":[{{"type":"text","fidelity":"router","text":"{text} {n}"}}]}}}}"#
            )
        };
        (1..=50).map(line).collect::<Vec<_>>().join("\n") + "\n"
    };
    transcripts::put(&session, "one", &said("yes"));
    transcripts::put(&session, "two", &said("no"));
    let cut = session.quipu(&["diff", "one", "two"]).stdout;
    assert!(cut.contains("… 20 more differences; --all shows them"), "{cut}");
    let all = session.quipu(&["diff", "one", "two", "--all"]).stdout;
    assert!(all.contains("yes 50") && !all.contains("--all"), "{all}");
}

#[test]
fn two_real_runs_of_one_workflow_do_not_differ() {
    let session = Session::new();
    let demo = || {
        session.ok(&["demo", "--json"]);
        let listed = session.ok(&["ls", "--json"]);
        let runs = listed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut names = runs.filter(|run| run["name"] == "review-repository");
        names.next().expect("the newest demo run")["run_id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (demo(), demo());
    assert_ne!(first, second);
    let outcome = session.quipu(&["diff", &first, &second]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stdout);
}

#[test]
fn a_tool_that_was_never_answered_has_no_result() {
    let session = transcripts::session();
    let call = r#"{"v":1,"run_id":"ID","seq":1,"timestamp":"2026-06-08T10:00:00Z","type":"tool.call","path":"","payload":{"name":"T","call_id":"1","input":{"n":1}}}"#;
    let result = r#"{"v":1,"run_id":"ID","seq":2,"timestamp":"2026-06-08T10:00:01Z","type":"tool.result","path":"","payload":{"name":"T","call_id":"1","status":"completed","output":"yes"}}"#;
    transcripts::put(&session, OTHER_ID, &format!("{call}\n{result}\n").replace("ID", OTHER_ID));
    transcripts::put(&session, OTHER_LINT, &format!("{call}\n").replace("ID", OTHER_LINT));
    let shown = session.quipu(&["diff", OTHER_ID, OTHER_LINT]).stdout;
    assert!(shown.contains("  a    #1  completed: yes\n  b    #1  no result\n"), "{shown}");
    assert!(shown.contains("    a #1  completed: yes\n    b #1  no result\n"), "{shown}");
}

#[test]
fn every_entry_shows_both_sides_where_they_differ() {
    let long = "é".repeat(300);
    let cases = [
        ("message.user", format!(r#"{{"blocks":[{{"type":"text","text":"{long}@"}}]}}"#)),
        ("tool.call", format!(r#"{{"name":"T","call_id":"1","input":{{"text":"{long}@"}}}}"#)),
        ("run.started", r#"{"kind":"@","inputs":{"a":1}}"#.to_owned()),
        ("run.started", r#"{"kind":"exec","definition":{"path":"w","sha256":"@"}}"#.to_owned()),
        (
            "tool.result",
            r#"{"name":"T","status":"completed","error":"no","output":"@"}"#.to_owned(),
        ),
        ("memory.recall.completed", r#"{"hits":"@"}"#.to_owned()),
    ];
    for (kind, payload) in cases {
        let session = Session::new();
        for (run, value) in [("one", "x1"), ("two", "y2")] {
            let payload = payload.replace('@', value);
            let line = |seq: u32, kind: &str, payload: &str| {
                format!(
                    r#"{{"v":1,"run_id":"{run}","seq":{seq},"timestamp":"2026-06-08T10:00:00Z","type":"{kind}","path":"","payload":{payload}}}"#
                )
            };
            // The difference in question is not the first, which is told at length anyway.
            let error = format!(r#"{{"code":"{value}","message":"m"}}"#);
            let lines = [line(1, "error", &error), line(2, kind, &payload)];
            transcripts::put(&session, run, &(lines.join("\n") + "\n"));
        }
        let outcome = session.quipu(&["diff", "one", "two"]);
        assert_eq!(outcome.code, Some(1), "{kind}");
        let side = |letter: &str| {
            let start = format!("    {letter} #2  ");
            let found = outcome.stdout.lines().find_map(|line| line.strip_prefix(&start));
            found.unwrap_or_else(|| panic!("{}", outcome.stdout)).to_owned()
        };
        assert!(side("a").contains("x1") && side("b").contains("y2"), "{}", outcome.stdout);
        let told = session.quipu(&["diff", "one", "two", "--json"]).json();
        let found = &told["runs"][0]["differences"][1];
        let shown = if found["change"] == "other_outcome" { "outcome" } else { "excerpt" };
        assert_eq!(found["a"][shown], json!(side("a")), "{found}");
        assert_eq!(found["b"][shown], json!(side("b")), "{found}");
    }
}
