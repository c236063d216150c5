//! What a run is doing: lines in, one line out.

use quipu_event::{Event, Timestamp};
use quipu_view::Activity;
use quipu_view::activity::Writer;

use super::transcript::events;

/// The beginning of an agent's session, which is collected from a file.
const SESSION: &str = r#"{"type":"run.started","payload":{"name":"claude","kind":"session","cwd":"/home/ada/quipu/","session_id":"s-1","agent":{"provider":"claude","model":"big"}},"origin":{"file":"f","offset":0,"len":1}}"#;
const PROMPT: &str = r#"{"type":"message.user","payload":{"role":"user","blocks":[{"type":"text","fidelity":"agent_emitted","text":"Run the tests.\nAll of them."}]}}"#;
const CALL: &str = r#"{"type":"tool.call","payload":{"name":"Bash","call_id":"1","input":{"description":"Run","command":"cargo test\necho"}}}"#;
const RESULT: &str =
    r#"{"type":"tool.result","payload":{"name":"Bash","call_id":"1","input":{},"output":"ok"}}"#;
const DONE: &str = r#"{"type":"message.assistant","payload":{"role":"assistant","stop_reason":"end_turn","model":"big","blocks":[{"type":"text","fidelity":"agent_emitted","text":"All pass.\n\nShall I commit?"}]}}"#;
const PERMISSION: &str =
    r#"{"type":"system","payload":{"subtype":"permission_requested","tool_id":"1"}}"#;
const COLLECTED_END: &str =
    r#"{"type":"run.completed","payload":{"name":"claude","kind":"session","status":"aborted"}}"#;

fn fold(events: &[Event]) -> Activity {
    let mut activity = Activity::default();
    events.iter().for_each(|event| activity.add(event));
    activity
}

/// Folds `lines` and tells how the run stands `seconds` after its last event.
fn told(lines: &[&str], seconds: i64, writer: Writer) -> String {
    let activity = fold(&events(&lines.join("\n")));
    let now = activity.latest.map_or(0, Timestamp::as_micros) + seconds * 1_000_000;
    let state = activity.state(Timestamp::from_micros(now), writer);
    format!("{}, {}", state.word(), activity.action())
}

#[test]
fn a_session_is_told_by_what_happened_last() {
    let text = |kind: &str, more: &str| {
        format!(
            r#"{{"type":"message.{kind}","payload":{{"role":"{kind}","blocks":[{{"type":"text","fidelity":"agent_emitted","text":"Look."}}]{more}}}}}"#
        )
    };
    let system = |facts: &str| format!(r#"{{"type":"system","payload":{{"subtype":{facts}}}}}"#);
    let (spoke, speaks_on) =
        (text("assistant", ""), text("assistant", r#","stop_reason":"tool_use""#));
    let ask = r#"{"type":"tool.call","payload":{"name":"AskUserQuestion","call_id":"2","input":{"questions":[{"header":"DB","question":"Which database?"}]}}}"#;
    let plan = r#"{"type":"tool.call","payload":{"name":"ExitPlanMode","call_id":"2","input":{}}}"#;
    let shell = r#"{"type":"tool.call","payload":{"name":"shell","call_id":"2","input":{"command":["bash","-lc","ls"]}}}"#;
    let other = r#"{"type":"tool.call","payload":{"name":"mcp__x","call_id":"2","input":{"n":1,"who":["me","you"]}}}"#;
    let sub = r#"{"type":"tool.call","source":"subagent:a","payload":{"name":"Grep","call_id":"3","input":{"pattern":"fn main"}}}"#;
    let sub_done = DONE.replacen("{", r#"{"source":"subagent:a","#, 1);
    let error = |retryable: bool| {
        format!(
            r#"{{"type":"error","payload":{{"code":"e","category":"api","message":"overloaded","retryable":{retryable}}}}}"#
        )
    };
    let (requested, granted) = (
        system(r#""permission_requested","tool_id":"1""#),
        system(r#""permission_granted","tool_id":"1""#),
    );
    let (turn, interrupted, over) =
        (system(r#""turn_completed""#), system(r#""interrupted""#), system(r#""session_ended""#));
    let wanted = system(r#""input_requested","message":"Your name?""#);
    let (final_error, passing_error) = (error(false), error(true));
    let cases: &[(&[&str], i64, &str)] = &[
        (&[], 0, "working, started"),
        (&[PROMPT], 0, "working, thinking: Run the tests."),
        (&[PROMPT], 400, "idle, thinking: Run the tests."),
        (&[PROMPT, &speaks_on], 60, "working, wrote: Look."),
        (&[PROMPT, CALL], 0, "working, running Bash: cargo test"),
        (&[PROMPT, CALL], 9_000, "working, running Bash: cargo test"),
        (&[PROMPT, CALL, RESULT], 0, "working, thinking after Bash: cargo test"),
        (&[PROMPT, CALL, RESULT, DONE], 0, "working, wrote: Shall I commit?"),
        (&[PROMPT, CALL, RESULT, DONE], 3, "waiting, wrote: Shall I commit?"),
        (&[PROMPT, DONE], 400, "idle, wrote: Shall I commit?"),
        (&[PROMPT, DONE, PROMPT], 3, "working, thinking: Run the tests."),
        // Some agents do not say that they have done.
        (&[PROMPT, &spoke], 3, "working, wrote: Look."),
        (&[PROMPT, &spoke], 30, "waiting, wrote: Look."),
        (&[PROMPT, &spoke, &turn], 3, "waiting, wrote: Look."),
        (&[PROMPT, CALL, &interrupted], 3, "waiting, was interrupted"),
        // A call that nobody answered is over when the next prompt comes.
        (&[PROMPT, CALL, PROMPT], 3, "working, thinking: Run the tests."),
        (&[PROMPT, ask], 0, "waiting, asks: Which database?"),
        (&[PROMPT, ask], 9_000, "waiting, asks: Which database?"),
        (&[PROMPT, plan], 0, "waiting, asks"),
        (&[PROMPT, CALL, &requested], 0, "waiting, asks to run Bash: cargo test"),
        (&[PROMPT, CALL, &requested, &granted], 0, "working, running Bash: cargo test"),
        (&[PROMPT, &wanted], 0, "waiting, asks for permission: Your name?"),
        (&[PROMPT, &wanted, &spoke], 0, "working, wrote: Look."),
        (&[PROMPT, shell], 0, "working, running shell: ls"),
        (&[PROMPT, other], 0, "working, running mcp__x: me you"),
        // A subagent's end is not the end of the turn.
        (&[PROMPT, CALL, sub], 0, "working, running Grep: fn main"),
        (&[PROMPT, CALL, &sub_done], 60, "working, running Bash: cargo test"),
        (&[PROMPT, &passing_error], 3, "working, error: overloaded"),
        (&[PROMPT, &final_error], 3, "waiting, error: overloaded"),
        // The end of a collected run is only the end of listening to it.
        (&[PROMPT, CALL, COLLECTED_END], 3, "working, running Bash: cargo test"),
        (&[PROMPT, DONE, COLLECTED_END], 3, "waiting, wrote: Shall I commit?"),
        (&[PROMPT, DONE, &over], 3, "ended, wrote: Shall I commit?"),
        (&[PROMPT, DONE, &over, PROMPT], 3, "working, thinking: Run the tests."),
    ];
    for (lines, seconds, expected) in cases {
        let lines: Vec<&str> = std::iter::once(SESSION).chain(lines.iter().copied()).collect();
        assert_eq!(told(&lines, *seconds, Writer::Gone), *expected, "{lines:#?} after {seconds} s");
    }
}

#[test]
fn a_workflow_is_told_by_the_steps_that_run() {
    let step = |kind: &str, path: &str, more: &str| {
        format!(
            r#"{{"type":"step.{kind}","path":"{path}","payload":{{"name":"{path}","kind":"command"{more}}}}}"#
        )
    };
    let run =
        r#"{"type":"run.started","payload":{"name":"review","kind":"workflow","cwd":"/tmp/x"}}"#;
    let end = |status: &str| {
        format!(
            r#"{{"type":"run.completed","payload":{{"name":"review","kind":"workflow",{status}}}}}"#
        )
    };
    let build = step(
        "started",
        "build",
        r#","blocks":[{"type":"command","fidelity":"router","command":"make all"}]"#,
    );
    let ask = step("started", "ask", r#","agent":{"provider":"codex"}"#);
    let built = step("completed", "build", r#","status":"failed""#);
    let said = DONE.replacen("{", r#"{"path":"ask","#, 1);
    let (good, bad) =
        (end(r#""status":"succeeded""#), end(r#""status":"failed","error":"step build""#));
    let at = |path: &str, line: &str| line.replacen('{', &format!(r#"{{"path":"{path}","#), 1);
    let (here, there) = (at("ask", CALL), at("two", &CALL.replace("cargo test", "make")));
    let (answered, asks) = (at("ask", RESULT), at("ask", PERMISSION));
    use Writer::{Gone, There};
    let cases: &[(&[&str], Writer, &str)] = &[
        (&[run], There, "working, started"),
        (&[run, &build], There, "working, step build: make all"),
        (&[run, &build], Gone, "interrupted, step build: make all"),
        (&[run, &build, &ask, &built], There, "working, step ask: codex"),
        (&[run, &build, &built], There, "working, step build failed"),
        // An agent that is a step waits for nobody.
        (&[run, &ask, &said], There, "working, wrote: Shall I commit?"),
        // Two agents at a time may give their calls the same id.
        (&[run, &here, &there], There, "working, running Bash: make"),
        (&[run, &here, &there, &answered], There, "working, running Bash: make"),
        (&[run, &here, &there, &asks], There, "waiting, asks to run Bash: cargo test"),
        (&[run, &build, &bad], Gone, "failed, error: step build"),
        (&[run, &build, &built, &good], Gone, "ended, step build failed"),
        (&[run, &good, run, &build], There, "working, step build: make all"),
    ];
    for (lines, writer, expected) in cases {
        assert_eq!(told(lines, 30, *writer), *expected, "{lines:#?}");
    }
    let activity = fold(&events(&[run, &ask].join("\n")));
    assert_eq!((activity.project(), activity.agent.as_deref()), (Some("review"), Some("codex")));
}

#[test]
fn who_works_where_and_at_what_price() {
    let usage = |more: &str| {
        format!(r#"{{"type":"usage","payload":{{"input_tokens":10,"output_tokens":5{more}}}}}"#)
    };
    let lines =
        [SESSION, PROMPT, &usage(r#","model":"bigger""#), &usage(r#","model":"<synthetic>""#)];
    let activity = fold(&events(&lines.join("\n")));
    assert_eq!(activity.project(), Some("quipu"));
    assert_eq!(activity.agent.as_deref(), Some("claude"));
    assert_eq!(activity.model.as_deref(), Some("bigger"));
    assert_eq!(activity.usage.total(), Some(30));
    assert_eq!(activity.usage.cost_usd, None, "a price that nobody named is not nought");
    let priced = [SESSION, &usage(r#","cost_usd":0.1"#), &usage(r#","cost_usd":0.2"#)];
    assert_eq!(fold(&events(&priced.join("\n"))).usage.cost_usd, Some(0.3));
}

#[test]
fn a_live_fold_and_a_replay_give_the_same_activity() {
    let lines = [SESSION, PROMPT, CALL, RESULT, DONE, COLLECTED_END, SESSION, PROMPT, CALL];
    let events = events(&lines.join("\n"));
    let mut live = Activity::default();
    for (n, event) in events.iter().enumerate() {
        live.add(event);
        assert_eq!(live, fold(&events[..=n]));
    }
}

#[test]
fn an_activity_does_not_grow_with_the_run() {
    let long = PROMPT.replace("Run", &"ü".repeat(100_000));
    let mut activity = fold(&events(&[SESSION, &long].join("\n")));
    assert!(activity.action().to_string().len() < 1_000);
    for n in 0..5_000 {
        let call = CALL.replace(r#""1""#, &format!(r#""{n}""#));
        events(&call).iter().for_each(|event| activity.add(event));
    }
    assert!(format!("{activity:?}").len() < 100_000);
}
