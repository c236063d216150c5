//! The door, with tools that behave and tools that do not.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use quipu_event::payload::{ToolCall, ToolResult, ToolStatus};
use quipu_event::{Draft, Fidelity, Kind, Payload, StepPath};
use quipu_process::StopReason;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::*;
use crate::Witness;

/// A tool that does what its input says.
struct Moody(ToolSpec);

impl Moody {
    fn named(name: &str, provider: &str) -> Arc<dyn Tool> {
        Arc::new(Moody(ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            input_schema: json!({ "type": "object" }),
            provider: provider.to_owned(),
            is_read_only: true,
        }))
    }
}

impl Tool for Moody {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(&'a self, input: Value, context: &'a CallContext) -> Calling<'a> {
        assert_ne!(input["mood"], "panics at once");
        Box::pin(async move {
            match input["mood"].as_str() {
                Some("panics") => panic!("of {}", "rage"),
                Some("hangs") => std::future::pending().await,
                Some("refuses") => Answer::blocked("not this one"),
                Some("notes") => {
                    context.note("mood", json!({ "call": context.call_id }));
                    Answer::completed("noted")
                }
                _ => Answer::completed(json!({ "at": context.path.to_string() })),
            }
        })
    }
}

#[derive(Default)]
struct Seen(Mutex<Vec<Draft>>);

impl Witness for Seen {
    fn record(&self, draft: Draft) {
        self.0.lock().unwrap().push(draft);
    }
}

impl Seen {
    fn pairs(&self) -> Vec<(ToolCall, ToolResult)> {
        let drafts = self.0.lock().unwrap();
        let decode = |kind: Kind| {
            let drafts = drafts.iter().filter(move |draft| draft.kind == kind);
            drafts.map(|draft| Payload::decode(&draft.kind, &draft.payload).unwrap())
        };
        let results = decode(Kind::ToolResult).map(|payload| match payload {
            Payload::ToolResult(result) => *result,
            other => panic!("{other:?}"),
        });
        let results: Vec<ToolResult> = results.collect();
        let calls = decode(Kind::ToolCall).map(|payload| match payload {
            Payload::ToolCall(call) => *call,
            other => panic!("{other:?}"),
        });
        let calls: Vec<ToolCall> = calls.collect();
        assert_eq!(calls.len(), results.len(), "every call leaves exactly one call and one result");
        let result = |call: &ToolCall| {
            let mut found = results.iter().filter(|result| result.call_id == call.call_id);
            found.next().cloned().expect("a call without a result")
        };
        calls.iter().map(|call| (call.clone(), result(call))).collect()
    }
}

struct Stage {
    seen: Arc<Seen>,
    stop: watch::Sender<Option<StopReason>>,
    context: CallContext,
    router: Router,
}

fn stage() -> Stage {
    let seen = Arc::new(Seen::default());
    let (stop, signal) = watch::channel(None);
    let context = CallContext {
        witness: seen.clone(),
        path: StepPath::from("fan_out.each[2].ask"),
        iteration: 2,
        root: "/".into(),
        stop: signal,
        timeout: CallContext::TIMEOUT,
        call_id: String::new(),
        marks: Arc::default(),
    };
    let mut router = Router::default();
    router.register(Moody::named("moody", "builtin")).unwrap();
    Stage { seen, stop, context, router }
}

fn moody(mood: &str) -> Call {
    let input = json!({ "mood": mood });
    Call { name: "moody".to_owned(), input, call_id: Some("c1".to_owned()), timeout: None }
}

#[tokio::test]
async fn every_call_leaves_exactly_one_call_and_one_result() {
    let stage = stage();
    let answer = stage.router.call(moody("good"), &stage.context).await;
    assert!(answer.is_completed());
    let pairs = stage.seen.pairs();
    let (call, result) = &pairs[0];
    assert_eq!(pairs.len(), 1);
    assert_eq!((call.name.as_str(), call.call_id.as_str()), ("moody", "c1"));
    assert_eq!(call.fidelity, Fidelity::Router);
    assert_eq!(call.provider.as_deref(), Some("builtin"));
    assert_eq!(call.input, result.input);
    assert_eq!(result.status, Some(ToolStatus::Completed));
    assert!(result.duration_ms.is_some());
    assert_eq!(result.output.as_str(), r#"{"at":"fan_out.each[2].ask"}"#);
    for draft in stage.seen.0.lock().unwrap().iter() {
        let at = (draft.path.to_string(), draft.iteration);
        assert_eq!(at, ("fan_out.each[2].ask".to_owned(), 2));
    }
}

#[tokio::test]
async fn a_name_that_nobody_has_is_a_failed_call() {
    let stage = stage();
    let call = Call { name: "mody".to_owned(), ..moody("good") };
    let answer = stage.router.call(call, &stage.context).await;
    assert_eq!(answer.text(), "there is no tool `mody`; there are moody");
    let (call, result) = stage.seen.pairs().remove(0);
    assert_eq!((call.name.as_str(), call.provider), ("mody", None));
    assert_eq!(result.status, Some(ToolStatus::Failed));
}

#[tokio::test]
async fn a_tool_that_panics_fails_its_call_only() {
    let stage = stage();
    for mood in ["panics", "panics at once"] {
        let answer = stage.router.call(moody(mood), &stage.context).await;
        assert_eq!(answer.status, ToolStatus::Failed);
        assert!(answer.text().starts_with("the tool broke down: "), "{}", answer.text());
        assert!(stage.router.call(moody("good"), &stage.context).await.is_completed());
    }
    assert_eq!(stage.seen.0.lock().unwrap().len(), 8);
}

#[tokio::test]
async fn a_call_that_takes_too_long_or_is_canceled_has_a_result() {
    let stage = stage();
    let soon = Some(Duration::from_millis(1));
    let late = Call { timeout: soon, ..moody("hangs") };
    assert_eq!(stage.router.call(late, &stage.context).await.text(), "timed out after 1ms");
    let hanging = stage.router.call(moody("hangs"), &stage.context);
    let cancel = async { stage.stop.send_replace(Some(StopReason::Canceled)) };
    let (answer, _) = tokio::join!(hanging, cancel);
    assert_eq!((answer.status, answer.error.as_deref()), (ToolStatus::Failed, Some("canceled")));
    assert_eq!(stage.seen.pairs().len(), 2);
}

#[tokio::test]
async fn a_call_that_is_dropped_has_a_result() {
    let stage = stage();
    let call = stage.router.call(moody("hangs"), &stage.context);
    let dropped = tokio::time::timeout(Duration::from_millis(1), call).await;
    assert!(dropped.is_err());
    let (_, result) = stage.seen.pairs().remove(0);
    assert_eq!(result.status, Some(ToolStatus::Failed));
    assert_eq!(result.error.as_deref(), Some("the call was given up before it had a result"));
}

#[tokio::test]
async fn two_tools_of_one_name_are_refused() {
    let mut stage = stage();
    let taken = stage.router.register(Moody::named("moody", "mcp:other")).unwrap_err();
    let told = "the tool name `moody` is taken: mcp:other has one, and so has builtin";
    assert_eq!(taken.to_string(), told);
    stage.router.register(Moody::named("mild", "mcp:other")).unwrap();
    let names: Vec<&str> = stage.router.specs().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["mild", "moody"]);
}

#[tokio::test]
async fn calls_at_the_same_time_keep_their_own_ids_and_places() {
    let stage = stage();
    let calls = (0..50).map(|index| {
        let path = StepPath::from(format!("each[{index}].ask").as_str());
        let context = CallContext { path, iteration: index, ..stage.context.clone() };
        let router = stage.router.clone();
        let call = Call { call_id: None, ..moody("notes") };
        tokio::spawn(async move { router.call(call, &context).await })
    });
    for call in calls.collect::<Vec<_>>() {
        assert!(call.await.unwrap().is_completed());
    }
    assert_eq!(stage.seen.pairs().len(), 50);
    let drafts = stage.seen.0.lock().unwrap();
    for call in drafts.iter().filter(|draft| draft.kind == Kind::ToolCall) {
        let id = call.payload.decode::<ToolCall>().unwrap().call_id;
        let own = drafts.iter().filter(|draft| draft.payload.as_str().contains(&id));
        let own: Vec<_> = own.map(|draft| (draft.path.clone(), draft.iteration)).collect();
        assert_eq!(own, vec![(call.path.clone(), call.iteration); 3]);
    }
}

#[tokio::test]
async fn a_refusal_is_a_result_of_its_own_kind() {
    let stage = stage();
    stage.router.call(moody("refuses"), &stage.context).await;
    let (_, result) = stage.seen.pairs().remove(0);
    assert_eq!(result.status, Some(ToolStatus::Blocked));
    assert_eq!(result.error.as_deref(), Some("not this one"));
}
