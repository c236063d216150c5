//! What happens in the demo: a workflow reviews a small repository called `pocket-ledger`.
//!
//! It has one of everything a run can hold: commands, an agent that thinks and calls tools, a
//! loop, branches side by side, a step that needs a second try, and a run called by a run.

use quipu_event::payload::{
    Definition, Message, RunKind, RunStarted, Status, StepCompleted, StepStarted, Usage, UsageScope,
};
use quipu_event::{BlockContent, ContentBlock, Fidelity, Json, Purpose, RunId, RunIdentity};
use quipu_journal::{Layout, Options, Recorder};
use serde_json::json;

use super::stage::{Call, Stage, StageClock, agent, answered, command, exited};

/// How long the play takes on its own clock, rounded up.
pub(super) const LENGTH_MS: u64 = 31_000;

const REVIEWER: (&str, &str) = ("claude", "claude-sonnet-4-5");
const WRITER: (&str, &str) = ("codex", "gpt-5-codex");

/// Plays the whole script and returns the recorder of its run, closed.
pub(super) fn play(
    layout: &Layout,
    options: &Options,
    clock: &StageClock,
) -> anyhow::Result<Recorder> {
    let run = RunIdentity { run_id: RunId::random(), parent_run_id: None };
    let start = RunStarted {
        version: Some("1.4.0".to_owned()),
        definition: Some(Definition {
            path: "workflows/review.yaml".to_owned(),
            sha256: "9d3c1f6b0a52e84d7c2f9b1e6a0d4c8835f7e21b9c6ad0e4f1b2837a5d6c9e01".to_owned(),
        }),
        inputs: Some(Json::encode(&json!({ "repository": "pocket-ledger", "depth": "full" }))?),
        cwd: Some("/home/ada/pocket-ledger".to_owned()),
        labels: Some([("demo".to_owned(), "true".to_owned())].into()),
        ..RunStarted::new("review-repository", RunKind::Workflow)
    };
    let mut stage = Stage::open(layout, run, options.clone(), clock.clone(), start)?;
    stage.pass(12);
    look_at_history(&mut stage)?;
    outline(&mut stage)?;
    check_each_file(&mut stage)?;
    lint_and_test(&mut stage)?;
    call_summary(&mut stage, layout, options, clock)?;
    stage.pass(3);
    stage.close(json!({ "findings": 2, "verdict": "approve with remarks" }))
}

fn look_at_history(stage: &mut Stage) -> anyhow::Result<()> {
    let step = stage.begin("history", 0, "command", command("git log --oneline -3"))?;
    stage.pass(84);
    let log = "4be19aa ledger: round half to even\n\
               c07d2f1 cli: print balances by month\n\
               8e51c30 first commit\n";
    let next = Some(Json::encode(&json!({ "step": "outline", "why": "exit code 0" }))?);
    stage.end(step, Status::Succeeded, StepCompleted { next, ..exited(0, log, "")? })
}

fn outline(stage: &mut Stage) -> anyhow::Result<()> {
    let step = stage.begin("outline", 0, "agent", agent(REVIEWER.0, REVIEWER.1))?;
    stage.say(
        &step,
        &prompt(
            "You are a careful reviewer. Read before you judge, and quote what you saw.",
            "Which files of pocket-ledger deserve a closer look after the last three commits?",
        ),
    )?;
    stage.pass(2_870);
    let input = json!({ "path": "src", "glob": "*.rs" });
    let reply = Message {
        message_id: Some("msg_01outline".to_owned()),
        model: Some(REVIEWER.1.to_owned()),
        stop_reason: Some("tool_use".to_owned()),
        turn: Some(1),
        ..Message::assistant(vec![
            ContentBlock::thinking(
                Fidelity::AgentEmitted,
                "The rounding commit touches money. I should see which files there are before \
                 I name any.",
            ),
            ContentBlock::text(Fidelity::AgentEmitted, "Let me see what is there first."),
            BlockContent::ToolUse {
                tool_name: "list_files".to_owned(),
                tool_id: "call_list".to_owned(),
                tool_input: Json::encode(&input)?,
            }
            .vouched_by(Fidelity::AgentEmitted),
        ])
    };
    stage.say(&step, &reply)?;
    stage.count(&step, &tokens(REVIEWER.1, "msg_01outline", [1_482, 211, 0, 1_200]))?;
    let files = json!(["src/ledger.rs", "src/money.rs", "src/main.rs"]);
    stage.call(&step, Call { tool: "list_files", id: "call_list", input }, 9, Ok(files))?;
    stage.pass(1_940);
    let answer = "Three: src/money.rs (the rounding), src/ledger.rs (it sums), src/main.rs \
                  (it prints).";
    stage.say(&step, &reply_of("msg_02outline", REVIEWER.1, 2, answer))?;
    stage.count(&step, &tokens(REVIEWER.1, "msg_02outline", [96, 58, 1_650, 0]))?;
    stage.end(step, Status::Succeeded, answered(answer)?)
}

fn check_each_file(stage: &mut Stage) -> anyhow::Result<()> {
    let files = [
        ("src/money.rs", 3_120, "Rounds half to even, as the commit says. Correct."),
        ("src/ledger.rs", 4_480, "Sums before it rounds. Good. There is no test for a zero day."),
        ("src/main.rs", 2_260, "Prints a month without bookings as an empty line. Worth a remark."),
    ];
    let each = stage.begin("each_file", 0, "for_each", StepStarted::default())?;
    for (index, (file, millis, verdict)) in (0..).zip(files) {
        let path = format!("each_file[{index}].check");
        let step = stage.begin(&path, index, "agent", agent(REVIEWER.0, REVIEWER.1))?;
        let request = format!("Review {file}. Two sentences at most.");
        stage.say(&step, &prompt("You are a careful reviewer.", &request))?;
        let read = format!("call_read_{index}");
        let input = json!({ "path": file });
        let source = json!({ "bytes": 1_840 + 611 * index, "text": format!("// {file}\n…") });
        stage.call(&step, Call { tool: "read_file", id: &read, input }, 6 + index, Ok(source))?;
        if index == 1 {
            let input = json!({ "pattern": "#[test]", "path": "tests/zero_day.rs" });
            let call = Call { tool: "grep", id: "call_grep", input };
            stage.call(&step, call, 4, Err("tests/zero_day.rs: no such file"))?;
        }
        stage.pass(millis);
        let message = format!("msg_check_{index}");
        stage.say(&step, &reply_of(&message, REVIEWER.1, 1, verdict))?;
        stage.count(&step, &tokens(REVIEWER.1, &message, [640 + 97 * index, 74, 2_048, 0]))?;
        stage.end(step, Status::Succeeded, answered(verdict)?)?;
    }
    stage.end(each, Status::Succeeded, StepCompleted::default())
}

fn lint_and_test(stage: &mut Stage) -> anyhow::Result<()> {
    let both = stage.begin("fan_out", 0, "parallel", StepStarted::default())?;
    let lint = stage.begin("fan_out.lint", 0, "command", command("cargo clippy -- -D warnings"))?;
    let test = stage.begin("fan_out.test", 0, "command", command("cargo test"))?;
    stage.pass(2_310);
    stage.end(lint, Status::Succeeded, exited(0, "", "    Finished in 2.28s\n")?)?;
    stage.pass(1_730);
    let output = "test ledger::sums_a_month ... ok\ntest prints_balances ... FAILED\n";
    let failed = exited(101, output, "error: connection to the test database refused\n")?;
    stage.end(test, Status::Failed, failed)?;
    let facts = json!({ "step": "test", "attempt": 2, "delay_ms": 500, "why": "exit code 101" });
    stage.system(&both, "retry", facts)?;
    stage.pass(500);
    let again = stage.begin_attempt("fan_out.test", 0, "command", 2, command("cargo test"))?;
    stage.pass(3_950);
    let output = "test ledger::sums_a_month ... ok\ntest prints_balances ... ok\n";
    stage.end(again, Status::Succeeded, exited(0, output, "")?)?;
    stage.end(both, Status::Succeeded, StepCompleted::default())
}

fn call_summary(
    stage: &mut Stage,
    layout: &Layout,
    options: &Options,
    clock: &StageClock,
) -> anyhow::Result<()> {
    let child = RunId::random();
    let call = stage.begin_call("summary", &child)?;
    stage.pass(7);
    let parent_run_id = Some(stage.run_id().clone());
    let run = RunIdentity { run_id: child, parent_run_id };
    let start = RunStarted::new("write-summary", RunKind::Workflow);
    write_summary(Stage::open(layout, run, options.clone(), clock.clone(), start)?)?;
    stage.pass(5);
    stage.end(call, Status::Succeeded, answered("review.md, 2 findings")?)
}

/// The run that is called.
fn write_summary(mut stage: Stage) -> anyhow::Result<()> {
    let draft = stage.begin("draft", 0, "agent", agent(WRITER.0, WRITER.1))?;
    stage.say(
        &draft,
        &prompt(
            "You write short, factual reports.",
            "Turn the remarks on three files into a review of ten lines.",
        ),
    )?;
    stage.pass(7_640);
    let text = "# Review of pocket-ledger\n\nThe rounding is right. Two remarks: a day without \
                bookings has no test, and a month without bookings prints as an empty line.\n";
    stage.say(&draft, &reply_of("resp_draft", WRITER.1, 1, text))?;
    let usage = Usage {
        reasoning_tokens: Some(384),
        ..tokens(WRITER.1, "resp_draft", [2_210, 902, 512, 0])
    };
    stage.count(&draft, &usage)?;
    stage.end(draft, Status::Succeeded, answered(text)?)?;
    let write = stage.begin("write", 0, "operation", StepStarted::default())?;
    let input = json!({ "path": "review.md", "text": text });
    let written = json!({ "bytes": text.len() });
    stage.call(&write, Call { tool: "write_file", id: "call_write", input }, 3, Ok(written))?;
    stage.end(write, Status::Succeeded, answered("review.md")?)?;
    stage.close(json!({ "file": "review.md" }))?;
    Ok(())
}

fn prompt(system: &str, request: &str) -> Message {
    let block = |text, purpose| ContentBlock::text(Fidelity::Router, text).with_purpose(purpose);
    Message::user(vec![block(system, Purpose::SystemPrompt), block(request, Purpose::Prompt)])
}

fn reply_of(message_id: &str, model: &str, turn: u64, text: &str) -> Message {
    Message {
        message_id: Some(message_id.to_owned()),
        model: Some(model.to_owned()),
        stop_reason: Some("end_turn".to_owned()),
        turn: Some(turn),
        ..Message::assistant(vec![ContentBlock::text(Fidelity::AgentEmitted, text)])
    }
}

/// Counts of input, output, input read from a cache and input written to it.
fn tokens(model: &str, message_id: &str, counts: [u64; 4]) -> Usage {
    let [input, output, read, written] = counts;
    let given = |count| (count > 0).then_some(count);
    Usage {
        model: Some(model.to_owned()),
        input_tokens: given(input),
        output_tokens: given(output),
        cache_read_tokens: given(read),
        cache_write_tokens: given(written),
        scope: Some(UsageScope::Message),
        message_id: Some(message_id.to_owned()),
        ..Usage::default()
    }
}
