//! Transcripts written by hand, with fixed times, for the commands that read.

use std::fs;

use crate::session::Session;

/// The id of [`REVIEW`].
pub(crate) const REVIEW_ID: &str = "11111111-aaaa-4000-8000-000000000001";
/// The id of [`LINT`].
pub(crate) const LINT_ID: &str = "22222222-bbbb-4000-8000-000000000002";
/// The id of [`HOSTILE`].
pub(crate) const HOSTILE_ID: &str = "33333333-cccc-4000-8000-000000000003";
/// The id of [`AWF`].
pub(crate) const AWF_ID: &str = "550e8400-e29b-41d4-a716-446655440000";

/// A run with a loop, tools, tokens and a called run, which failed.
pub(crate) const REVIEW: &str = r#"
{"seq":1,"run_id":"RUN","type":"run.started","path":"","iteration":0,"timestamp":"2026-06-08T10:00:00.000000Z","payload":{"name":"review","kind":"workflow","format":1,"cwd":"/src","agent":{"provider":"claude","model":"opus"}}}
{"seq":2,"run_id":"RUN","type":"step.started","path":"each","iteration":0,"timestamp":"2026-06-08T10:00:00.100000Z","payload":{"name":"each","kind":"for_each","attempt":1}}
{"seq":3,"run_id":"RUN","type":"step.started","path":"each[0].check","iteration":0,"timestamp":"2026-06-08T10:00:00.200000Z","payload":{"name":"check","kind":"agent","attempt":1}}
{"seq":4,"run_id":"RUN","type":"message.user","path":"each[0].check","iteration":0,"timestamp":"2026-06-08T10:00:00.300000Z","payload":{"role":"user","blocks":[{"type":"text","fidelity":"router","text":"Be brief.","purpose":"system_prompt"},{"type":"text","fidelity":"router","text":"Check main.rs,\nplease."}]}}
{"seq":5,"run_id":"RUN","type":"message.assistant","path":"each[0].check","iteration":0,"timestamp":"2026-06-08T10:00:01.000000Z","payload":{"role":"assistant","blocks":[{"type":"thinking","fidelity":"agent_emitted","thinking":"I should read it."},{"type":"tool_use","fidelity":"agent_emitted","tool_name":"Read","tool_id":"t1","tool_input":{"path":"main.rs"}}],"model":"opus"}}
{"seq":6,"run_id":"RUN","type":"tool.call","path":"each[0].check","iteration":0,"timestamp":"2026-06-08T10:00:01.100000Z","payload":{"name":"Read","call_id":"t1","input":{"path":"main.rs"},"output":null,"fidelity":"router"}}
{"seq":7,"run_id":"RUN","type":"tool.result","path":"each[0].check","iteration":0,"timestamp":"2026-06-08T10:00:01.107000Z","payload":{"name":"Read","call_id":"t1","input":{"path":"main.rs"},"output":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n","fidelity":"router","status":"completed","duration_ms":7}}
{"seq":8,"run_id":"RUN","type":"usage","path":"each[0].check","iteration":0,"timestamp":"2026-06-08T10:00:02.000000Z","payload":{"model":"opus","input_tokens":1200,"output_tokens":34,"scope":"message"}}
{"seq":9,"run_id":"RUN","type":"step.completed","path":"each[0].check","iteration":0,"timestamp":"2026-06-08T10:00:02.200000Z","payload":{"name":"check","kind":"agent","attempt":1,"status":"succeeded","duration_ms":2000}}
{"seq":10,"run_id":"RUN","type":"step.completed","path":"each","iteration":0,"timestamp":"2026-06-08T10:00:02.300000Z","payload":{"name":"each","kind":"for_each","attempt":1,"status":"succeeded","duration_ms":2200}}
{"seq":11,"run_id":"RUN","child_run_id":"22222222-bbbb-4000-8000-000000000002","type":"step.call_workflow.started","path":"lint","iteration":0,"timestamp":"2026-06-08T10:00:03.000000Z","payload":{"name":"lint","kind":"call_workflow","attempt":1}}
{"seq":12,"run_id":"RUN","child_run_id":"22222222-bbbb-4000-8000-000000000002","type":"step.call_workflow.completed","path":"lint","iteration":0,"timestamp":"2026-06-08T10:00:04.000000Z","payload":{"name":"lint","kind":"call_workflow","attempt":1,"status":"failed","error":"exit code 1","duration_ms":1000}}
{"seq":13,"run_id":"RUN","type":"run.completed","path":"","iteration":0,"timestamp":"2026-06-08T10:01:05.000000Z","payload":{"name":"review","kind":"workflow","status":"failed","error":"lint failed","duration_ms":65000,"usage":{"input_tokens":1200,"output_tokens":34},"counts":{"events":13,"agents":{"claude":1}}}}
"#;

/// The run that [`REVIEW`] called.
pub(crate) const LINT: &str = r#"
{"seq":1,"run_id":"RUN","parent_run_id":"11111111-aaaa-4000-8000-000000000001","type":"run.started","path":"","iteration":0,"timestamp":"2026-06-08T10:00:03.100000Z","payload":{"name":"lint","kind":"workflow","format":1}}
{"seq":2,"run_id":"RUN","parent_run_id":"11111111-aaaa-4000-8000-000000000001","type":"step.started","path":"clippy","iteration":0,"timestamp":"2026-06-08T10:00:03.200000Z","payload":{"name":"clippy","kind":"command","attempt":1,"blocks":[{"type":"command","fidelity":"router","command":"cargo clippy"}]}}
{"seq":3,"run_id":"RUN","parent_run_id":"11111111-aaaa-4000-8000-000000000001","type":"step.completed","path":"clippy","iteration":0,"timestamp":"2026-06-08T10:00:03.900000Z","payload":{"name":"clippy","kind":"command","attempt":1,"status":"failed","error":"exit code 1","result":{"stderr":"error: no","exit_code":1},"duration_ms":700}}
{"seq":4,"run_id":"RUN","parent_run_id":"11111111-aaaa-4000-8000-000000000001","type":"run.completed","path":"","iteration":0,"timestamp":"2026-06-08T10:00:04.000000Z","payload":{"name":"lint","kind":"workflow","status":"failed","error":"exit code 1","duration_ms":900}}
"#;

/// A run that tries to drive the terminal, with damage in the middle and a torn tail. Its second
/// line has a raw U+009B, which JSON allows.
pub(crate) const HOSTILE: &str = concat!(
    r#"
{"seq":1,"run_id":"RUN","type":"run.started","path":"","iteration":0,"timestamp":"2026-06-07T23:59:59.000000Z","payload":{"name":"wipe\u001b[2J","kind":"exec","format":1}}
{"seq":2,"run_id":"RUN","type":"message.assistant","path":"a\u001b[1m","iteration":0,"timestamp":"2026-06-08T00:00:00.000000Z","payload":{"role":"assistant","blocks":[{"type":"text","fidelity":"agent_emitted","text":"title \u001b]0;mine\u0007 and "#,
    "\u{9b}",
    r#"31m\r\nbell\u0000"}]}}
not a line [31m

{"seq":3,"run_id":"RUN","type":"usage","path":"","iteration":0,"timestamp":"2026-06-08T00:00:01.000000Z","payload":{"model":"opus","output_tokens":5}}
{"seq":4,"run_id":"RUN","type":"future.\u001bkind","path":"","iteration":0,"timestamp":"2026-06-08T00:00:02.000000Z","payload":{"k\u001bey":"v\u009bal"},"source":"subagent:\u001b7"}
{"seq":5,"run_id":"RUN","type":"run.compl"#
);

/// A run as AWF writes one: no run events, local time, `/` in paths, Go's escapes, PascalCase
/// output, numbers out of order.
pub(crate) const AWF: &str = r#"
{"seq":1,"run_id":"RUN","type":"step.started","path":"analyze","iteration":0,"timestamp":"2026-06-08T10:14:42.123456789+02:00","payload":{"name":"analyze","kind":"agent"}}
{"seq":3,"run_id":"RUN","type":"tool.call","path":"","iteration":0,"timestamp":"2026-06-08T10:14:43.5+02:00","payload":{"name":"Read","call_id":"c1","input":{"path":"main.go"},"output":null,"fidelity":"router"}}
{"seq":2,"run_id":"RUN","type":"message.user","path":"code-review","iteration":0,"timestamp":"2026-06-08T10:14:43+02:00","payload":{"role":"user","blocks":[{"type":"text","fidelity":"router","text":"Review main.go \u003cnow\u003e \u0026 fix"}]}}
{"seq":4,"run_id":"RUN","type":"tool.result","path":"","iteration":0,"timestamp":"2026-06-08T10:14:44+02:00","payload":{"name":"Read","call_id":"c1","input":{"path":"main.go"},"output":{"Content":[{"Type":"text","Text":"package main\n"}],"IsError":false},"fidelity":"router"}}
{"seq":5,"run_id":"RUN","type":"step.completed","path":"analyze","iteration":0,"timestamp":"2026-06-08T10:14:45+02:00","payload":{"name":"analyze","kind":"agent","result":true}}
{"seq":6,"run_id":"RUN","type":"step.completed","path":"loop:1/log_inner","iteration":1,"timestamp":"2026-06-08T10:14:46+02:00","payload":{"name":"log_inner","kind":"command","error":"exit code 1","result":false}}
{"seq":7,"run_id":"RUN","type":"run.completed","path":"","iteration":0,"timestamp":"2026-06-08T10:14:47+02:00","payload":null}
"#;

/// A run as AWF leaves one that was resumed, in a file that is not named after it: nothing marks its
/// beginning or its end, and numbers begin again. `ERROR` in it stands for the last step's error.
pub(crate) const AWF_RESUMED: &str = r#"
{"seq":1,"run_id":"theirs","type":"step.started","path":"plan","iteration":0,"timestamp":"2026-06-08T10:14:42+02:00","payload":{"name":"plan","kind":"command"}}
{"seq":2,"run_id":"theirs","type":"step.completed","path":"plan","iteration":0,"timestamp":"2026-06-08T10:14:43+02:00","payload":{"name":"plan","kind":"command","result":true}}
{"seq":3,"run_id":"theirs","type":"step.started","path":"each","iteration":0,"timestamp":"2026-06-08T10:14:43+02:00","payload":{"name":"each","kind":"for_each"}}
{"seq":4,"run_id":"theirs","type":"step.completed","path":"each","iteration":0,"timestamp":"2026-06-08T10:14:44+02:00","payload":{"name":"each","kind":"for_each","result":true}}
{"seq":1,"run_id":"theirs","type":"step.started","path":"build","iteration":0,"timestamp":"2026-06-08T10:20:00+02:00","payload":{"name":"build","kind":"command"}}
{"seq":2,"run_id":"theirs","type":"step.completed","path":"build","iteration":0,"timestamp":"2026-06-08T10:20:01+02:00","payload":{"name":"build","kind":"command","error":"ERROR","result":true}}
"#;

/// Puts a transcript into the storage of `session`; `RUN` in it stands for `id`.
pub(crate) fn put(session: &Session, id: &str, text: &str) {
    let path = session.transcript(id);
    fs::create_dir_all(path.parent().expect("a transcript has a directory"))
        .expect("a directory can be made");
    let text = text.strip_prefix('\n').unwrap_or(text).replace("RUN", id);
    fs::write(path, text).expect("a transcript can be written");
}

/// Begins with all four runs, at ten minutes past the start of the review.
pub(crate) fn session() -> Session {
    let session = Session::new().with_variable("QUIPU__NOW", "2026-06-08T10:10:00Z");
    put(&session, REVIEW_ID, REVIEW);
    put(&session, LINT_ID, LINT);
    put(&session, HOSTILE_ID, HOSTILE);
    put(&session, AWF_ID, AWF);
    session
}

/// Tells whether a terminal would do something at any character of `text`.
pub(crate) fn drives_a_terminal(text: &str) -> bool {
    text.chars().any(|c| c.is_control() && c != '\n')
}
