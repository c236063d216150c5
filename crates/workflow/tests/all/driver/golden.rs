//! Recording changes nothing but that there is a record.

use quipu_event::payload::Status;
use quipu_event::{Kind, RunId};
use quipu_workflow::definition::{AgentMode, AgentStep, PromptText, Skill, StepKind};
use quipu_workflow::display::{Retelling, below, json_line};
use serde_json::json;

use super::fixture::{Bench, call, command, done, step, template, workflow};

fn agent(name: &str, prompt: &str, next: &str) -> quipu_workflow::definition::Step {
    let agent = AgentStep {
        provider: template("stub"),
        command: None,
        prompt: PromptText::Inline(template(prompt)),
        mode: AgentMode::Single,
        system_prompt: None,
        role: None,
        skills: Vec::new(),
        options: Default::default(),
        output_format: None,
        conversation: None,
        mcp_proxy: None,
    };
    step(name, StepKind::Agent(agent), Some(next))
}

/// Runs a workflow with one of everything.
async fn performed(record: bool) -> Bench {
    let mut bench = Bench::new().with(workflow("sub", [command("inner", "echo inside", None)]));
    bench.record = record;
    bench.inputs = json!({"who": "you", "password": "hunter22"}).as_object().unwrap().clone();
    let mut failing = command("failing", "echo oops >&2; exit 4", Some("sub"));
    failing.continue_on_error = true;
    let flow = workflow(
        "demo",
        [
            command("say", "echo hello; echo hunter22", Some("ask")),
            agent("ask", "what is hunter22?", "failing"),
            failing,
            call("sub", "sub", &[], Some("done")),
            done(),
        ],
    );
    let report = bench.run(flow).await;
    assert_eq!(report.status, Status::Succeeded, "{:?}", report.error);
    assert_eq!(bench.dir.path().join("storage").exists(), record);
    bench
}

/// Returns the audit trail and everything that was shown, as bytes.
async fn told(record: bool) -> (String, String) {
    let bench = performed(record).await;
    let audit = std::fs::read_to_string(bench.dir.path().join("audit.jsonl")).unwrap();
    let shown: Vec<_> = bench.seen.events().iter().map(json_line).collect();
    (audit, shown.join("\n"))
}

#[tokio::test]
async fn audit_and_display_are_the_same_with_recording_on_or_off() {
    let (on, off) = (told(true).await, told(false).await);
    assert_eq!(on, off);
    assert!(!on.0.contains("hunter22") && !on.1.contains("hunter22"));
    let audit = r#"{"event":"workflow.started","execution_id":"main","timestamp":"2026-02-20T22:15:42.123Z","user":"tester","workflow_name":"demo","inputs":{"password":"***","who":"you"},"schema_version":1}
{"event":"workflow.started","execution_id":"child-0","timestamp":"2026-02-20T22:15:42.123Z","user":"tester","workflow_name":"sub","schema_version":1}
{"event":"workflow.completed","execution_id":"child-0","timestamp":"2026-02-20T22:15:42.123Z","user":"tester","workflow_name":"sub","status":"success","exit_code":0,"duration_ms":0,"schema_version":1}
{"event":"workflow.completed","execution_id":"main","timestamp":"2026-02-20T22:15:42.123Z","user":"tester","workflow_name":"demo","status":"success","exit_code":0,"duration_ms":0,"schema_version":1}
"#;
    assert_eq!(on.0, audit);
    let shown = r#"{"event":"run.started","run":"main","name":"demo"}
{"event":"step.started","path":"say","iteration":0,"attempt":1,"name":"say","kind":"command","detail":"echo hello; echo ***secret:password***"}
{"event":"command.output","path":"say","iteration":0,"attempt":1,"stream":"stdout","text":"hello\n"}
{"event":"command.output","path":"say","iteration":0,"attempt":1,"stream":"stdout","text":"***secret:password***\n"}
{"event":"step.completed","path":"say","iteration":0,"attempt":1,"name":"say","kind":"command","status":"succeeded","duration_ms":0}
{"event":"step.started","path":"ask","iteration":0,"attempt":1,"name":"ask","kind":"agent","detail":"stub"}
{"event":"agent.text","path":"ask","iteration":0,"attempt":1,"text":"I was asked: what is ***secret:password***?","delta":false}
{"event":"step.completed","path":"ask","iteration":0,"attempt":1,"name":"ask","kind":"agent","status":"succeeded","duration_ms":0}
{"event":"step.started","path":"failing","iteration":0,"attempt":1,"name":"failing","kind":"command","detail":"echo oops >&2; exit 4"}
{"event":"command.output","path":"failing","iteration":0,"attempt":1,"stream":"stderr","text":"oops\n"}
{"event":"step.completed","path":"failing","iteration":0,"attempt":1,"name":"failing","kind":"command","status":"failed","error":"exit code 4","duration_ms":0}
{"event":"step.started","path":"sub","iteration":0,"attempt":1,"name":"sub","kind":"call_workflow","detail":"sub"}
{"event":"run.started","run":"child-0","name":"sub"}
{"event":"step.started","path":"sub.inner","iteration":0,"attempt":1,"name":"inner","kind":"command","detail":"echo inside"}
{"event":"command.output","path":"sub.inner","iteration":0,"attempt":1,"stream":"stdout","text":"inside\n"}
{"event":"step.completed","path":"sub.inner","iteration":0,"attempt":1,"name":"inner","kind":"command","status":"succeeded","duration_ms":0}
{"event":"run.completed","run":"child-0","status":"succeeded","duration_ms":0}
{"event":"step.completed","path":"sub","iteration":0,"attempt":1,"name":"sub","kind":"call_workflow","status":"succeeded","duration_ms":0}
{"event":"step.started","path":"done","iteration":0,"attempt":1,"name":"done","kind":"terminal"}
{"event":"step.completed","path":"done","iteration":0,"attempt":1,"name":"done","kind":"terminal","status":"succeeded","duration_ms":0}
{"event":"run.completed","run":"main","status":"succeeded","message":"all done","duration_ms":0}"#;
    assert_eq!(on.1, shown);
}

#[tokio::test]
async fn a_skill_that_stands_before_a_prompt_is_recorded() {
    let mut bench = Bench::new();
    let file = bench.dir.path().join("tidy/SKILL.md");
    std::fs::create_dir(bench.dir.path().join("tidy")).unwrap();
    std::fs::write(&file, "---\nname: tidy\n---\nPut things away.\n").unwrap();
    let mut asking = agent("ask", "Go.", "done");
    if let StepKind::Agent(agent) = &mut asking.kind {
        agent.skills = vec![Skill::At(template(file.to_str().unwrap()))];
    }
    let report = bench.run(workflow("demo", [asking, done()])).await;
    assert_eq!(report.status, Status::Succeeded, "{:?}", report.error);
    let events = bench.events("main");
    let at = events.iter().position(|event| event.kind == Kind::SkillLoaded).unwrap();
    assert_eq!(events[at - 1].kind, Kind::StepStarted);
    assert_eq!(events[at].path.as_str(), "ask");
    let facts: serde_json::Value = events[at].payload.decode().unwrap();
    assert_eq!(facts, json!({"name": "tidy", "file": file, "bytes": 16}));
}

#[tokio::test]
async fn a_run_told_again_from_its_transcript_is_seen_as_it_was() {
    let bench = performed(true).await;
    let told = |run: &str| {
        let mut retelling = Retelling::new(RunId::parse(run).unwrap());
        bench.events(run).iter().map(|event| retelling.tell(event)).collect::<Vec<_>>()
    };
    let mut seen = Vec::new();
    for (event, shown) in bench.events("main").iter().zip(told("main")) {
        seen.extend(shown);
        if event.child_run_id.is_some() && event.kind == Kind::CallWorkflowStarted {
            let inside = told("child-0").into_iter().flatten();
            seen.extend(inside.map(|shown| below(&event.path, shown)));
        }
    }
    assert_eq!(seen, bench.seen.events());
}
