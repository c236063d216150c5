//! `quipu show`: a transcript as a person reads it.

use std::fs;

use crate::live::on_a_terminal_of;
use crate::session::Session;
use crate::transcripts::{
    self, AWF, AWF_ID, HOSTILE_ID, LINT_ID, REVIEW, REVIEW_ID, drives_a_terminal,
};

/// Returns the numbers of the events that are shown.
fn numbers(session: &Session, arguments: &[&str]) -> Vec<u64> {
    let all = [&["show", REVIEW_ID, "--json"], arguments].concat();
    let text = session.ok(&all);
    let seq = |line: &str| serde_json::from_str::<serde_json::Value>(line).ok()?["seq"].as_u64();
    text.lines().map(|line| seq(line).expect("each line is an event")).collect()
}

#[test]
fn a_transcript_is_readable() {
    assert_eq!(
        transcripts::session().ok(&["show", REVIEW_ID]),
        "\
── 2026-06-08 UTC ──
10:00:00.000      1  run.started        review (workflow), claude (opus), in /src
10:00:00.100      2  step.started       each  for_each
10:00:00.200      3  step.started       each[0].check  agent
10:00:00.300      4  message.user       each[0].check
      system prompt: Be brief.
      Check main.rs,
      please.
10:00:01.000      5  message.assistant  each[0].check  opus
      thinking: I should read it.
      → Read {\"path\":\"main.rs\"}
10:00:01.100      6  tool.call          each[0].check  Read {\"path\":\"main.rs\"}
10:00:01.107      7  tool.result        each[0].check  Read completed in 7ms
      1
      2
      3
      4
      5
      6
      7
      8
      9
      10
      11
      12
      … 4 more lines (12 B); --full shows all
10:00:02.000      8  usage              each[0].check  opus: 1.2k in, 34 out
10:00:02.200      9  step.completed     each[0].check  succeeded in 2.0s
10:00:02.300     10  step.completed     each  succeeded in 2.2s
10:00:03.000     11  step.call_workflow.started  lint  call_workflow → run 22222222
10:00:04.000     12  step.call_workflow.completed  lint  failed in 1.0s → run 22222222
      error: exit code 1
10:01:05.000     13  run.completed      failed in 1m05s, 1.23k tokens
      error: lint failed
"
    );
}

#[test]
fn a_command_is_shown_with_its_exit_code_and_streams() {
    assert_eq!(
        transcripts::session().ok(&["show", "2222", "--type", "step"]),
        "\
── 2026-06-08 UTC ──
10:00:03.200      2  step.started       clippy  command
      $ cargo clippy
10:00:03.900      3  step.completed     clippy  failed in 700ms (exit code 1)
      error: exit code 1
      stderr: error: no
"
    );
}

#[test]
fn a_hostile_transcript_cannot_drive_the_terminal() {
    let session = transcripts::session();
    let outcome = session.quipu(&["show", HOSTILE_ID]);
    assert_eq!(
        outcome.stdout,
        "\
── 2026-06-07 UTC ──
23:59:59.000      1  run.started        wipe␛[2J (exec)
── 2026-06-08 UTC ──
00:00:00.000      2  message.assistant  a␛[1m
      title ␛]0;mine␇ and <U+009B>31m
      bell␀
✗ damaged: line 3, byte 510: not an event: expected ident at byte 2
✗ damaged: line 4, byte 526: the line is empty
00:00:01.000      3  usage              opus: 5 out
00:00:02.000      4  future.␛kind       ‹subagent:␛7›
      k␛ey: v<U+009B>al
✗ damaged: line 7, byte 926: the last line is torn: 74 bytes without a line feed
"
    );
    assert_eq!(outcome.stderr, "note: 3 lines damaged\nhint: `quipu verify 33333333` says more\n");
    assert_eq!(outcome.code, Some(3));
    for command in ["show", "show --md --full", "tail", "tree", "stats"] {
        let words: Vec<&str> = command.split(' ').chain([HOSTILE_ID]).collect();
        let outcome = session.quipu(&words);
        assert!(!drives_a_terminal(&outcome.stdout), "{command}: {:?}", outcome.stdout);
        assert!(!drives_a_terminal(&outcome.stderr), "{command}: {:?}", outcome.stderr);
        assert_eq!(outcome.code, Some(3), "{command}");
    }
}

#[test]
fn a_file_of_another_writer_is_shown_like_our_own() {
    assert_eq!(
        transcripts::session().ok(&["show", "550e"]),
        "\
── 2026-06-08 UTC ──
08:14:42.123      1  step.started       analyze  agent
08:14:43.500      3  tool.call          Read {\"path\":\"main.go\"}
08:14:43.000      2  message.user       code-review
      Review main.go <now> & fix
08:14:44.000      4  tool.result        Read completed
      package main
08:14:45.000      5  step.completed     analyze  succeeded
08:14:46.000      6  step.completed     loop:1/log_inner  failed
      error: exit code 1
08:14:47.000      7  run.completed
"
    );
}

#[test]
fn a_block_of_an_unknown_type_is_shown_with_what_it_says() {
    let session = Session::new();
    let blocks = [
        r#"{"type":"image","fidelity":"router","content":{"type":"image","url":"cat.png"}}"#
            .to_owned(),
        r#"{"type":"poll","fidelity":"router","question":"tea?","votes":{"yes":3}}"#.to_owned(),
        r#"{"type":"mood","fidelity":"router"}"#.to_owned(),
        format!(r#"{{"type":"blob","fidelity":"router","content":"{}"}}"#, "x".repeat(5000)),
    ];
    let blocks = blocks.join(",");
    let message =
        format!(r#"{{"type":"message.user","payload":{{"role":"user","blocks":[{blocks}]}}}}"#);
    session.quipu_with_input(&["record", "--name", "x", "--id", "x"], &message);
    let shown = session.ok(&["show", "x", "--type", "message"]);
    let shown: Vec<_> = shown.lines().skip(2).map(str::trim_start).collect();
    let blob = format!("{}… 4.4 kB more; --full shows all", "x".repeat(600));
    assert_eq!(
        shown,
        [
            "a block of type image",
            r#"{"type":"image","url":"cat.png"}"#,
            "a block of type poll",
            r#"{"type":"poll","question":"tea?","votes":{"yes":3}}"#,
            "a block of type mood",
            "a block of type blob",
            &blob,
        ]
    );
    let found = session.ok(&["show", "x", "--grep", "TEA?", "--json"]);
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[test]
fn a_run_is_named_by_any_unique_beginning_or_by_last() {
    let session = transcripts::session();
    let whole = session.ok(&["show", REVIEW_ID]);
    // The run that started last was called by this one, so this one is the last.
    for name in ["1", "11111111", "last"] {
        assert_eq!(session.ok(&["show", name]), whole, "{name}");
    }
    transcripts::put(&session, "1234", REVIEW);
    let ambiguous = session.quipu(&["show", "1"]);
    assert_eq!(ambiguous.code, Some(1));
    assert_eq!(
        ambiguous.stderr,
        format!(
            "error: \"1\" could be any of 2 runs: {REVIEW_ID}, 1234\n\
             hint: give more characters of the id\n"
        )
    );
    assert_eq!(session.quipu(&["show", "9"]).code, Some(1));
}

#[test]
fn filters_choose_events_by_type_path_number_and_text() {
    let session = transcripts::session();
    let cases: [(&[&str], &[u64]); 12] = [
        (&["--type", "tool"], &[6, 7]),
        (&["--type", "tool.*", "--type", "usage"], &[6, 7, 8]),
        (&["--type", "step.call_workflow.started"], &[11]),
        (&["--path", "each[0]"], &[3, 4, 5, 6, 7, 8, 9]),
        (&["--path", "each", "--type", "step"], &[2, 3, 9, 10]),
        (&["--from", "11"], &[11, 12, 13]),
        (&["--to", "2"], &[1, 2]),
        (&["--from", "5", "--to", "5"], &[5]),
        (&["--grep", "PLEASE"], &[4]),
        (&["--grep", "main.rs", "--type", "message"], &[4, 5]),
        (&["--grep", "exit code"], &[12]),
        (&["--grep", "nowhere"], &[]),
    ];
    for (arguments, expected) in cases {
        assert_eq!(numbers(&session, arguments), expected, "{arguments:?}");
    }
}

#[test]
fn numbers_choose_events_also_where_they_are_out_of_order() {
    let session = transcripts::session();
    let cases: [(&[&str], &[u64]); 4] = [
        (&["--to", "2"], &[1, 2]),
        (&["--from", "3", "--to", "3"], &[3]),
        (&["--from", "2", "--to", "4"], &[3, 2, 4]),
        (&["--from", "3"], &[3, 4, 5, 6, 7]),
    ];
    for (arguments, expected) in cases {
        let text = session.ok(&[&["show", AWF_ID, "--raw"], arguments].concat());
        let numbers = text.lines().map(|line| line[7..8].parse().unwrap());
        assert_eq!(numbers.collect::<Vec<u64>>(), expected, "{arguments:?}");
        let page = session.ok(&[&["show", AWF_ID], arguments].concat());
        let shown = page.lines().filter_map(|line| line.get(12..19)?.trim().parse().ok());
        assert_eq!(shown.collect::<Vec<u64>>(), expected, "{arguments:?}: {page}");
    }
}

#[test]
fn a_page_is_paged_and_coloured_as_the_terminal_and_its_person_want_it() {
    let session = transcripts::session();
    let (xterm, pager) = (("TERM", "xterm"), ("PAGER", "sed s/^/paged:/"));
    let cases = [
        (&[xterm, pager][..], true, true),
        (&[xterm, pager, ("NO_COLOR", "1")], true, false),
        (&[xterm, ("PAGER", "")], false, true),
        (&[xterm, ("PAGER", "no-such-pager")], false, true),
        (&[("TERM", "dumb"), pager], false, false),
    ];
    for (variables, is_paged, is_coloured) in cases {
        let (code, said) = on_a_terminal_of(&session, &["show", REVIEW_ID], variables);
        assert_eq!(code, Some(0), "{variables:?}");
        assert_eq!(said.contains("paged:"), is_paged, "{variables:?}: {said}");
        assert_eq!(said.contains('\u{1b}'), is_coloured, "{variables:?}: {said}");
    }
}

#[test]
fn json_and_raw_print_the_exact_lines() {
    let session = transcripts::session();
    let exact = AWF.trim_start().replace("RUN", AWF_ID);
    assert_eq!(session.ok(&["show", AWF_ID, "--json"]), exact);
    assert_eq!(session.ok(&["show", AWF_ID, "--raw"]), exact);
    let hostile = fs::read_to_string(session.transcript(HOSTILE_ID)).unwrap();
    let lines: Vec<_> = hostile.split_inclusive('\n').collect();
    let outcome = session.quipu(&["show", HOSTILE_ID, "--raw"]);
    assert_eq!(outcome.stdout, [lines[0], lines[1], lines[4], lines[5]].concat());
    assert_eq!(outcome.code, Some(3));
    assert!(outcome.stderr.starts_with("note: line 3, byte 510: not an event"), "{outcome:?}");
}

#[test]
fn a_text_that_is_looked_for_is_highlighted_and_never_hidden() {
    let session = transcripts::session();
    let arguments = ["show", "last", "--type", "tool.result", "--grep", "15", "--color", "always"];
    let shown = session.ok(&arguments);
    let plain: String = shown.replace("\u{1b}[0m", "");
    assert!(plain.contains("2 more lines (6 B)"), "{plain:?}");
    assert!(plain.contains("\n      \u{1b}[7m15\n"), "{plain:?}");
    assert!(plain.contains("1 more line (3 B)"), "{plain:?}");
}

#[test]
fn a_system_event_without_a_subtype_says_its_facts_alone() {
    let session = Session::new();
    let draft = r#"{"type":"system","payload":{"disk":"full"}}"#;
    session.quipu_with_input(&["record", "--name", "x", "--id", "x"], draft);
    let shown = session.ok(&["show", "x", "--type", "system"]);
    assert!(shown.ends_with("  2  system             disk full\n"), "{shown}");
}

#[test]
fn full_shortens_nothing() {
    let shown = transcripts::session().ok(&["show", "last", "--full", "--type", "tool.result"]);
    assert!(shown.ends_with("      14\n      15\n      16\n"), "{shown}");
}

#[test]
fn nothing_to_show_is_said_aside() {
    let session = transcripts::session();
    for filter in [&["--type", "tool"], &["--from", "60"]] {
        for form in [&["show", LINT_ID][..], &["show", LINT_ID, "--raw"]] {
            let outcome = session.quipu(&[form, filter].concat());
            assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""));
            assert_eq!(outcome.stderr, "note: no event matches\n");
        }
    }
    let zero = session.quipu(&["show", LINT_ID, "--to", "0"]);
    assert_eq!(
        (zero.code, zero.stderr.as_str()),
        (Some(1), "error: there is no event 0: the first is 1\n")
    );
    let swapped = session.quipu(&["show", LINT_ID, "--from", "3", "--to", "2"]);
    assert_eq!(swapped.code, Some(1));
    assert!(swapped.stderr.contains("--to 2 comes before --from 3"), "{swapped:?}");
}

#[test]
fn a_run_whose_file_is_empty_is_said_to_have_no_event() {
    let session = transcripts::session();
    transcripts::put(&session, "void", "");
    for arguments in [&["show"][..], &["show", "--raw"], &["show", "--md"], &["tail"]] {
        let outcome = session.quipu(&[arguments, &["void"]].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{arguments:?}");
        assert_eq!(outcome.stderr, "note: the run has no event yet\n", "{arguments:?}");
    }
}

#[test]
fn a_run_is_printed_as_a_page_of_markdown() {
    let session = transcripts::session();
    let page = session.ok(&["show", REVIEW_ID, "--md"]);
    assert!(page.starts_with("# review\n\n- Run: `"), "{page}");
    for part in [
        "\n### each, iteration 0\n\n#### check\n",
        "<details><summary>System prompt</summary>\n\n> Be brief.\n\n</details>\n\n> Check main.rs,\n> please.\n",
        "\n**→ Read** · 10:00:01 · #6\n\n- path: `main.rs`\n",
        "\nCalls run [`22222222",
        "\n## Outcome\n\n**✗ failed**\n\n> lint failed\n",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    for with in ["--raw", "--json", "--grep=x", "--type=tool", "--path=each", "--from=2", "--to=2"]
    {
        assert_eq!(session.quipu(&["show", REVIEW_ID, "--md", with]).code, Some(1), "{with}");
    }
}
