//! What a run leaves in its transcript, and what can be read back from it.

use std::time::Duration;

use proptest::prelude::*;
use quipu_event::payload::TokenCounts;
use quipu_testkit::{SteppingClock, TestStorage, run_id};

use super::*;
use crate::display::NoDisplay;
use crate::driver::Secrets;
use crate::engine::{CallJob, CommandJob, Next, ScriptText, WorkStatus};
use crate::language::ShellScript;
use crate::scribe::Tally;

fn at(path: &str, iteration: u64, attempt: u32) -> Occurrence {
    Occurrence { path: StepPath::from(path), iteration, attempt }
}

fn recording(storage: &TestStorage) -> Recording {
    let scribe = RunScribe::new(
        run_id("r"),
        Some(storage.create("r")),
        Arc::new(NoDisplay),
        Arc::new(Secrets::default()),
        Tally::default(),
    );
    Recording::new(Arc::new(scribe), Arc::new(SteppingClock::default()), "demo", None)
}

fn command(shown: &str) -> Option<Box<Work>> {
    let script = ShellScript { shown: shown.into(), run: shown.into() };
    Some(Box::new(Work::Command(CommandJob {
        script: ScriptText::Shell(script),
        dir: None,
        env: BTreeMap::new(),
        capture: None,
    })))
}

fn call() -> Option<Box<Work>> {
    let inputs = json!({"who": "you", "api_key": "k"});
    Some(Box::new(Work::Call(CallJob {
        workflow: "child".into(),
        inputs: inputs.as_object().unwrap().clone(),
        outputs: BTreeMap::new(),
        child: None,
    })))
}

fn payloads(storage: &TestStorage) -> Vec<(String, String, String)> {
    let events = storage.events("r").into_iter();
    events
        .map(|event| {
            (event.kind.to_string(), event.path.to_string(), event.payload.as_str().to_owned())
        })
        .collect()
}

fn end() -> RunEnd {
    RunEnd {
        deliverables: Vec::new(),
        status: Status::Succeeded,
        error: None,
        message: Some("all done".into()),
        terminal: Some("done".into()),
        exit_status: Some(0),
        outputs: json!({"a": "b"}).as_object().unwrap().clone(),
        step_outputs: BTreeMap::new(),
    }
}

#[test]
fn a_step_leaves_its_command_its_result_and_the_way_taken() {
    let storage = TestStorage::new();
    let mut recording = recording(&storage);
    let place = at("each[1].build", 1, 2);
    let begin = StepBegin {
        at: place.clone(),
        name: "build".into(),
        kind: "command".into(),
        work: command("make all"),
        timeout: Some(Duration::from_millis(1500)),
        env: vec!["MODE".into()],
    };
    recording.step_begins(&begin, None);
    let outcome = Outcome {
        status: WorkStatus::Failed,
        error: Some("exit code 2".into()),
        output: "compiling".into(),
        output_tail: "\n".into(),
        exit_code: Some(2),
        ..Outcome::default()
    };
    recording.step_ends(&StepEnd {
        at: place,
        name: "build".into(),
        kind: "command".into(),
        status: Status::Failed,
        error: Some("exit code 2".into()),
        outcome,
        next: Some(Next { goto: Some("fix".into()), because: "on_failure", when: None }),
    });
    let path = "each[1].build".to_owned();
    assert_eq!(
        payloads(&storage),
        [
            ("step.started".to_owned(), path.clone(), r#"{"name":"build","kind":"command","attempt":2,"blocks":[{"type":"command","fidelity":"router","command":"make all"}],"timeout_ms":1500,"env":["MODE"]}"#.to_owned()),
            ("step.completed".to_owned(), path, r#"{"name":"build","kind":"command","attempt":2,"status":"failed","error":"exit code 2","result":{"stdout":"compiling\n","stderr":"","exit_code":2,"output_tail":1},"duration_ms":1,"next":{"goto":"fix","because":"on_failure"}}"#.to_owned()),
        ]
    );
}

#[test]
fn a_call_names_the_run_it_calls_at_both_ends() {
    let storage = TestStorage::new();
    let mut recording = recording(&storage);
    let place = at("sub", 0, 1);
    let (name, kind) = ("sub".to_owned(), "call_workflow".to_owned());
    let begin = StepBegin {
        at: place.clone(),
        name: name.clone(),
        kind: kind.clone(),
        work: call(),
        timeout: None,
        env: Vec::new(),
    };
    recording.step_begins(&begin, Some(run_id("c")));
    recording.step_ends(&StepEnd {
        at: place,
        name,
        kind,
        status: Status::Succeeded,
        error: None,
        outcome: Outcome { child: Some(run_id("c")), ..Outcome::default() },
        next: None,
    });
    let events = storage.events("r");
    assert_eq!(events[0].kind, Kind::CallWorkflowStarted);
    assert_eq!(events[1].kind, Kind::CallWorkflowCompleted);
    assert!(events.iter().all(|event| event.child_run_id == Some(run_id("c"))));
    assert!(
        events[0]
            .payload
            .as_str()
            .contains(r#""workflow":"child","inputs":{"api_key":"***","who":"you"}"#)
    );
}

#[test]
fn a_run_that_ends_leaves_nothing_open() {
    let storage = TestStorage::new();
    let mut recording = recording(&storage);
    for path in ["outer", "outer.inner"] {
        let begin = StepBegin {
            at: at(path, 0, 1),
            name: path.into(),
            kind: "parallel".into(),
            work: None,
            timeout: None,
            env: Vec::new(),
        };
        recording.step_begins(&begin, None);
    }
    recording.run_ends(&end());
    let left: Vec<_> = payloads(&storage);
    assert_eq!((left[2].0.as_str(), left[2].1.as_str()), ("step.completed", "outer.inner"));
    assert_eq!((left[3].0.as_str(), left[3].1.as_str()), ("step.completed", "outer"));
    assert_eq!(
        left[4].2,
        r#"{"name":"demo","kind":"workflow","status":"succeeded","result":{"exit_status":0,"message":"all done","outputs":{"a":"b"},"terminal":"done"},"duration_ms":5,"counts":{"events":5,"steps":2,"messages":0,"tool_calls":0,"errors":0,"unknown":0,"masked":0}}"#
    );
}

#[test]
fn a_result_that_nests_too_deep_still_ends_its_step() {
    let storage = TestStorage::new();
    let mut recording = recording(&storage);
    let deep = (0..1000).fold(Value::Null, |inner, _| Value::from(vec![inner]));
    let (place, name, kind) = (at("s", 0, 1), "s".to_owned(), "operation".to_owned());
    let begin = StepBegin {
        at: place.clone(),
        name: name.clone(),
        kind: kind.clone(),
        work: None,
        timeout: None,
        env: Vec::new(),
    };
    recording.step_begins(&begin, None);
    recording.step_ends(&StepEnd {
        at: place,
        name,
        kind,
        status: Status::Succeeded,
        error: None,
        outcome: Outcome { output: "said".into(), value: Some(deep), ..Outcome::default() },
        next: None,
    });
    let left = payloads(&storage);
    assert_eq!(left[1].0, "step.completed");
    assert!(left[1].2.contains(r#""result":{"output":"said"}"#), "{}", left[1].2);
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(".{0,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

prop_compose! {
    fn outcomes()(
        status in prop_oneof![
            Just(WorkStatus::Succeeded), Just(WorkStatus::Failed),
            Just(WorkStatus::TimedOut), Just(WorkStatus::Canceled),
        ],
        error in proptest::option::of(".{0,20}"),
        output in "(?s).{0,40}",
        output_tail in "\n{0,3}",
        stderr in "(?s).{0,20}",
        exit_code in proptest::option::of(any::<i64>()),
        value in proptest::option::of(json_value()),
        json in proptest::option::of(json_value()),
        named in proptest::collection::btree_map(".{0,6}", json_value(), 0..3),
        session in proptest::option::of(".{0,8}"),
        model in proptest::option::of(".{0,8}"),
    )(
        truncated in any::<bool>(),
        child in proptest::option::of("[a-z0-9-]{1,8}"),
        exit_status in proptest::option::of(any::<u8>()),
        tokens in proptest::option::of(any::<u64>()),
        status in Just(status), error in Just(error), output in Just(output),
        output_tail in Just(output_tail), stderr in Just(stderr), exit_code in Just(exit_code),
        value in Just(value), json in Just(json), named in Just(named),
        session in Just(session), model in Just(model),
    ) -> Outcome {
        let usage = tokens.map(|n| TokenCounts { input_tokens: Some(n), ..TokenCounts::default() });
        let child = child.map(|id| run_id(&id));
        Outcome {
            status, error, output, output_tail, stderr, exit_code, value, json, named, session,
            model, usage, truncated, child, exit_status,
        }
    }
}

proptest! {
    #[test]
    fn an_outcome_survives_the_way_into_a_transcript_and_back(
        outcome in outcomes(),
        of_command in any::<bool>(),
        step_error in proptest::option::of(".{0,20}"),
        status in prop_oneof![Just(Status::Succeeded), Just(Status::Failed), Just(Status::Canceled)],
    ) {
        let mut payload = StepCompleted { status: Some(status), error: step_error, ..StepCompleted::default() };
        wire::put_outcome(&mut payload, &outcome, of_command).unwrap();
        let line = Json::encode(&payload).unwrap();
        let read: StepCompleted = line.decode().unwrap();
        prop_assert_eq!(outcome_of(&read), outcome);
    }
}
