//! OpenTelemetry spans, read back by a reader as strict as OTLP's JSON.

#![expect(clippy::unwrap_used, reason = "a test may fail wherever it likes")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use quipu_event::RunId;
use quipu_view::{FileTree, OtlpView, SpokenContent};
use serde_json::{Value, json};

use super::random_run::{any_run, fold};
use super::transcript::events;

const RUN: &str = r#"
    {"type":"run.started","payload":{"name":"w","kind":"workflow"}}
    {"type":"step.started","path":"ask","payload":{"name":"ask","kind":"agent","attempt":1,"agent":{"provider":"claude","model":"claude-x"}}}
    {"type":"message.user","path":"ask","payload":{"blocks":[{"type":"text","text":"Brief.","purpose":"system_prompt"},{"type":"text","text":"Fix it."}]}}
    {"type":"message.assistant","path":"ask","payload":{"message_id":"m1","model":"claude-x","stop_reason":"tool_use","blocks":[{"type":"text","text":"Looking."},{"type":"tool_use","tool_name":"Read","tool_id":"t1","tool_input":{"f":1}}]}}
    {"type":"tool.call","path":"ask","payload":{"name":"Read","call_id":"t1","input":{"f":1},"provider":"mcp:files"}}
    {"type":"usage","path":"ask","payload":{"scope":"message","message_id":"m1","input_tokens":10,"cache_read_tokens":5,"output_tokens":3,"cost_usd":0.5}}
    {"type":"tool.result","path":"ask","payload":{"name":"Read","call_id":"t1","output":"no","error":"gone","status":"failed"}}
    {"type":"error","path":"ask","payload":{"code":"E7","message":"m"}}
    {"type":"step.completed","path":"ask","payload":{"name":"ask","kind":"agent","status":"failed","error":"gone"}}
    {"type":"step.call_workflow.started","path":"c","child_run_id":"kid","payload":{"name":"c","kind":"call_workflow"}}
    {"type":"step.call_workflow.completed","path":"c","child_run_id":"kid","payload":{"name":"c","status":"succeeded"}}
    {"type":"run.completed","payload":{"name":"w","status":"failed","error":"gone"}}
"#;

fn view(root: &str, content: SpokenContent) -> OtlpView {
    OtlpView::new(&RunId::parse(root).unwrap(), content)
}

fn spans(tree: &FileTree, run: &str) -> Vec<Value> {
    let lines = tree.text(&format!("{run}.otlp.jsonl")).expect("a run has spans").lines();
    let requests = lines.map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
    requests.flat_map(|request| check(&request)).collect()
}

fn attribute<'a>(span: &'a Value, key: &str) -> &'a Value {
    let all = span["attributes"].as_array().unwrap();
    all.iter()
        .find(|attribute| attribute["key"] == key)
        .map_or(&Value::Null, |found| &found["value"])
}

fn named<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("no span {name}"))
}

#[test]
fn spans_speak_the_conventions_for_generative_ai() {
    let spans = spans(&fold(view("run", SpokenContent::LeftOut), &events(RUN)), "run");
    let names: Vec<_> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    let order = [
        "execute_tool Read",
        "chat claude-x",
        "invoke_agent claude",
        "step c",
        "invoke_workflow w",
    ];
    assert_eq!(names, order);
    let chat = named(&spans, "chat claude-x");
    assert_eq!(chat["kind"], 3);
    for (key, value) in [
        ("gen_ai.operation.name", json!({"stringValue": "chat"})),
        ("gen_ai.provider.name", json!({"stringValue": "anthropic"})),
        ("gen_ai.response.model", json!({"stringValue": "claude-x"})),
        ("gen_ai.response.id", json!({"stringValue": "m1"})),
        ("gen_ai.usage.input_tokens", json!({"intValue": "15"})),
        ("gen_ai.usage.output_tokens", json!({"intValue": "3"})),
        ("gen_ai.conversation.id", json!({"stringValue": "run"})),
        ("quipu.usage.cost_usd", json!({"doubleValue": 0.5})),
    ] {
        assert_eq!(*attribute(chat, key), value, "{key}");
    }
    let tool = named(&spans, "execute_tool Read");
    assert_eq!(tool["status"], json!({"code": 2, "message": "gone"}));
    assert_eq!(attribute(tool, "error.type")["stringValue"], "failed");
    assert_eq!(attribute(tool, "gen_ai.tool.type")["stringValue"], "extension");
    let agent = named(&spans, "invoke_agent claude");
    assert_eq!(chat["parentSpanId"], agent["spanId"]);
    assert_eq!(agent["parentSpanId"], named(&spans, "invoke_workflow w")["spanId"]);
    let happened = agent["events"].as_array().unwrap();
    assert!(happened.iter().any(|event| event["name"] == "exception"));
}

#[test]
fn a_subagent_belongs_to_the_call_that_started_it_also_if_that_is_told_late() {
    let begin = r#"{"type":"run.started","payload":{"name":"s","kind":"session"}}"#;
    let call = r#"{"type":"tool.call","payload":{"name":"Task","call_id":"c1","input":{}}}"#;
    let answer = r#"{"type":"tool.result","payload":{"name":"Task","call_id":"c1","input":{},"output":"ok"}}"#;
    let told = r#"{"type":"system","payload":{"subtype":"subagent_started","agent_id":"7","tool_id":"c1","name":"looker"}}"#;
    let said = r#"{"type":"message.assistant","source":"subagent:7","payload":{"blocks":[{"type":"text","text":"I look."}]}}"#;
    for lines in [[begin, call, told, answer, said], [begin, call, answer, told, said]] {
        let tree = fold(view("run", SpokenContent::LeftOut), &events(&lines.join("\n")));
        let spans = spans(&tree, "run");
        let parent = &named(&spans, "invoke_agent looker")["parentSpanId"];
        assert_eq!(*parent, named(&spans, "execute_tool Task")["spanId"], "{lines:?}");
    }
}

#[test]
fn what_was_said_is_carried_only_if_asked_for() {
    let keys = ["gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages"];
    let without = spans(&fold(view("run", SpokenContent::LeftOut), &events(RUN)), "run");
    keys.iter().for_each(|key| assert!(attribute(named(&without, "chat claude-x"), key).is_null()));
    let with = spans(&fold(view("run", SpokenContent::Carried), &events(RUN)), "run");
    let said = |key: &str| {
        let text = attribute(named(&with, "chat claude-x"), key)["stringValue"].as_str();
        serde_json::from_str::<Value>(text.expect(key)).expect("messages are JSON")
    };
    assert_eq!(said(keys[0]), json!([{"type": "text", "content": "Brief."}]));
    let asked = json!([{"role": "user", "parts": [{"type": "text", "content": "Fix it."}]}]);
    assert_eq!(said(keys[1]), asked);
    let answered = json!([{"role": "assistant", "finish_reason": "tool_use", "parts": [
        {"type": "text", "content": "Looking."},
        {"type": "tool_call", "id": "t1", "name": "Read", "arguments": {"f": 1}}]}]);
    assert_eq!(said(keys[2]), answered);
    let tool = named(&with, "execute_tool Read");
    assert_eq!(attribute(tool, "gen_ai.tool.call.arguments")["stringValue"], r#"{"f":1}"#);
}

#[test]
fn what_tools_answered_is_a_part_of_what_the_next_reply_was_given() {
    let said = r#"{"type":"message.assistant","payload":{"model":"m","blocks":[]}}"#;
    let call = r#"{"type":"tool.call","payload":{"name":"Read","call_id":"t1"}}"#;
    let answer = r#"{"type":"tool.result","payload":{"name":"Read","call_id":"t1","output":"a"}}"#;
    let again = r#"{"type":"message.user","payload":{"blocks":[{"type":"tool_result","tool_id":"t1","tool_content":"a"}]}}"#;
    let failed = r#"{"type":"tool.result","payload":{"name":"Read","call_id":"t1","error":"no"}}"#;
    let given = |response: &str| {
        json!([{"role": "tool", "parts": [
            {"type": "tool_call_response", "id": "t1", "response": response}]}])
    };
    for (lines, response) in [
        (vec![said, call, answer, said], "a"),
        (vec![said, call, answer, again, said], "a"),
        (vec![said, call, again, answer, said], "a"),
        (vec![said, call, failed, said], "no"),
    ] {
        let tree = fold(view("run", SpokenContent::Carried), &events(&lines.join("\n")));
        let spans = spans(&tree, "run");
        let mut replies: Vec<_> = spans.iter().filter(|span| span["name"] == "chat m").collect();
        replies.sort_by_key(|span| span["endTimeUnixNano"].to_string());
        let input = |at: usize| {
            let text = attribute(replies[at], "gen_ai.input.messages")["stringValue"].as_str();
            text.map(|text| serde_json::from_str::<Value>(text).expect("messages are JSON"))
        };
        assert_eq!((input(0), input(1)), (None, Some(given(response))), "{lines:?}");
    }
}

#[test]
fn a_cost_that_a_session_names_at_its_end_is_that_of_the_run() {
    let lines = r#"
        {"type":"run.started","payload":{"name":"s","kind":"session","agent":{"provider":"p"}}}
        {"type":"usage","payload":{"scope":"session","output_tokens":5}}
        {"type":"run.completed","payload":{"name":"s","status":"succeeded","result":{"cost_usd":0.5}}}
    "#;
    let spans = spans(&fold(view("run", SpokenContent::LeftOut), &events(lines)), "run");
    let run = named(&spans, "invoke_agent p");
    assert_eq!(attribute(run, "quipu.usage.cost_usd")["doubleValue"], 0.5);
}

#[test]
fn ids_of_spans_follow_from_the_ids_of_runs_alone() {
    let caller = spans(&fold(view("run", SpokenContent::LeftOut), &events(RUN)), "run");
    let lines = r#"{"type":"run.started","run_id":"kid","parent_run_id":"run","payload":{"name":"k","kind":"workflow"}}"#;
    let called = spans(&fold(view("run", SpokenContent::LeftOut), &events(lines)), "kid");
    assert_eq!(called[0]["traceId"], caller[0]["traceId"]);
    assert_eq!(called[0]["parentSpanId"], named(&caller, "step c")["spanId"]);
    assert_eq!(*attribute(&called[0], "quipu.incomplete"), json!({"boolValue": true}));
    assert_eq!(called[0]["status"], json!({}));
}

#[test]
fn a_span_has_no_more_events_than_tools_take_and_the_others_are_counted() {
    use quipu_view::FileView as _;
    let lines = r#"{"type":"system","payload":{"subtype":"retry"}}
"#
    .repeat(200);
    let mut view = view("run", SpokenContent::LeftOut);
    let mut tree = FileTree::default();
    events(&lines).iter().for_each(|event| view.add(event, &mut tree));
    view.finish(&mut tree);
    let spans = spans(&tree, "run");
    assert_eq!(spans[0]["events"].as_array().unwrap().len(), 128);
    assert_eq!(spans[0]["droppedEventsCount"], 72);
    assert_eq!(view.losses().total(), 72);
}

#[test]
fn a_long_run_is_several_requests() {
    let lines = r#"{"type":"tool.call","payload":{"name":"t","call_id":"1"}}
        {"type":"tool.result","payload":{"name":"t","call_id":"1"}}
    "#
    .repeat(600);
    let tree = fold(view("run", SpokenContent::LeftOut), &events(&lines));
    assert_eq!(tree.text("run.otlp.jsonl").unwrap().lines().count(), 2);
    assert_eq!(spans(&tree, "run").len(), 601);
}

proptest! {
    #[test]
    fn every_request_is_one_that_collectors_take(run in any_run()) {
        let tree = fold(view("root", SpokenContent::Carried), &run);
        let spans = spans(&tree, "run");
        let parents: BTreeMap<_, _> = spans.iter()
            .map(|span| (span["spanId"].as_str().unwrap(), span["parentSpanId"].as_str()))
            .collect();
        prop_assert_eq!(parents.len(), spans.len(), "ids are unique");
        let roots = parents.values().filter(|parent| parent.is_none_or(|id| !parents.contains_key(id)));
        prop_assert_eq!(roots.count(), 1);
    }
}

/// Refuses what OTLP's JSON refuses, and returns the spans.
fn check(request: &Value) -> Vec<Value> {
    let resource = &request["resourceSpans"][0];
    let service = &resource["resource"]["attributes"][0];
    assert_eq!(*service, json!({"key": "service.name", "value": {"stringValue": "quipu"}}));
    let scope = &resource["scopeSpans"][0];
    assert_eq!(
        scope["scope"],
        json!({"name": "quipu", "version": quipu_view::OTLP_MAPPING_VERSION})
    );
    assert_eq!(scope["schemaUrl"], "https://opentelemetry.io/schemas/1.41.0");
    let spans = scope["spans"].as_array().unwrap();
    for span in spans {
        let hex = |key: &str, len: usize| {
            let id = span[key].as_str().unwrap();
            assert!(id.len() == len && id.bytes().all(|digit| digit.is_ascii_hexdigit()), "{id}");
            assert!(id.bytes().any(|digit| digit != b'0'));
        };
        hex("traceId", 32);
        hex("spanId", 16);
        let nanos = |key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
        assert!(nanos("startTimeUnixNano") <= nanos("endTimeUnixNano"));
        for attribute in span["attributes"].as_array().unwrap() {
            let (kind, value) = attribute["value"].as_object().unwrap().iter().next().unwrap();
            let sound = match kind.as_str() {
                "stringValue" => value.is_string(),
                "intValue" => value.as_str().is_some_and(|text| text.parse::<i64>().is_ok()),
                "doubleValue" => value.is_number(),
                "boolValue" => value.is_boolean(),
                "arrayValue" => value["values"].is_array(),
                _ => false,
            };
            assert!(sound, "{attribute}");
        }
    }
    spans.clone()
}
