//! Trajectories, read back by a reader as strict as the specification of ATIF 1.8.

use proptest::prelude::*;
use quipu_view::{AtifView, FileTree, FileView};
use serde_json::{Value, json};

use super::random_run::{any_run, fold};
use super::transcript::events;

const SESSION: &str = r#"
    {"type":"run.started","payload":{"name":"fix","kind":"session","cwd":"/p","session_id":"s1","agent":{"provider":"claude","adapter":"stream","model":"claude-x","cli_version":"2.1"}}}
    {"type":"message.user","payload":{"role":"user","blocks":[{"type":"text","text":"Be brief.","purpose":"system_prompt"},{"type":"text","text":"Fix it.","purpose":"prompt"}]}}
    {"type":"message.assistant","payload":{"role":"assistant","message_id":"m1","model":"claude-x","stop_reason":"tool_use","blocks":[{"type":"thinking","thinking":"Where?"},{"type":"text","text":"Looking."},{"type":"tool_use","tool_name":"Read","tool_id":"t1","tool_input":{"file":"a"}}]}}
    {"type":"tool.call","payload":{"name":"Read","call_id":"t1","input":{"file":"a"},"fidelity":"router","provider":"builtin"}}
    {"type":"usage","payload":{"scope":"message","message_id":"m1","input_tokens":10,"cache_read_tokens":5,"cache_write_tokens":1,"output_tokens":3,"cost_usd":0.5}}
    {"type":"tool.result","payload":{"name":"Read","call_id":"t1","output":"text of a","status":"completed","duration_ms":7}}
    {"type":"message.assistant","source":"subagent:x y","payload":{"role":"assistant","blocks":[{"type":"text","text":"I help."}]}}
    {"type":"usage","source":"subagent:x y","payload":{"output_tokens":1,"cost_usd":0.25}}
    {"type":"message.assistant","payload":{"role":"assistant","message_id":"m2","blocks":[{"type":"text","text":"Done."}]}}
    {"type":"run.completed","payload":{"name":"fix","kind":"session","status":"succeeded","duration_ms":9}}
"#;

fn read(tree: &FileTree, path: &str) -> Value {
    serde_json::from_str(tree.text(path).expect(path)).expect("a document is JSON")
}

#[test]
fn a_note_keeps_its_title() {
    let note =
        r#"{"type":"system","payload":{"subtype":"note","title":"Why","content":"Because."}}"#;
    let tree = fold(AtifView::new(), &events(note));
    assert_eq!(read(&tree, "run.atif.json")["steps"][0]["message"], "Why\n\nBecause.");
}

#[test]
fn calls_that_nobody_speaks_between_leave_while_the_run_goes_on() {
    let calls: String = (0..600)
        .map(|n| format!("{{\"type\":\"tool.call\",\"payload\":{{\"name\":\"A\",\"call_id\":\"{n}\",\"input\":{{}}}}}}\n"))
        .collect();
    let mut view = AtifView::new();
    let mut tree = FileTree::default();
    events(&calls).iter().for_each(|event| view.add(event, &mut tree));
    assert!(tree.text("run.atif.json").is_some_and(|text| text.contains("\"511\"")));
    view.finish(&mut tree);
    let main = read(&tree, "run.atif.json");
    let made = |step: &Value| step["tool_calls"].as_array().unwrap().len();
    let steps: Vec<_> = main["steps"].as_array().unwrap().iter().map(made).collect();
    assert_eq!(steps, [256, 256, 88]);
}

#[test]
fn a_command_that_begins_again_without_an_end_is_kept() {
    let begin = r#"{"type":"step.started","path":"a","payload":{"name":"a","kind":"command","blocks":[{"type":"command","command":"ls"}]}}"#;
    let tree = fold(AtifView::new(), &events(&format!("{begin}\n{begin}\n")));
    assert_eq!(read(&tree, "run.atif.json")["steps"].as_array().unwrap().len(), 2);
}

#[test]
fn a_session_is_a_trajectory_with_its_subagent_beside_it() {
    let tree = fold(AtifView::new(), &events(SESSION));
    let main = read(&tree, "run.atif.json");
    let steps = main["steps"].as_array().unwrap();
    let sources: Vec<_> = steps.iter().map(|step| step["source"].as_str().unwrap()).collect();
    assert_eq!(sources, ["system", "user", "agent", "system", "agent"]);
    let reference = json!({
        "trajectory_id": "run/subagent:x y", "trajectory_path": "run.x_20y.atif.json"
    });
    assert_eq!(steps[3]["observation"]["results"][0]["subagent_trajectory_ref"][0], reference);
    let said = &steps[2];
    assert_eq!(said["message"], "Looking.");
    assert_eq!(said["reasoning_content"], "Where?");
    assert_eq!(said["model_name"], "claude-x");
    assert_eq!(said["tool_calls"][0]["tool_call_id"], "t1");
    assert_eq!(said["tool_calls"][0]["arguments"], json!({"file": "a"}));
    assert_eq!(said["observation"]["results"][0]["source_call_id"], "t1");
    assert_eq!(said["observation"]["results"][0]["content"], "text of a");
    let metrics = json!({"prompt_tokens": 16, "completion_tokens": 3, "cached_tokens": 5,
        "cost_usd": 0.5, "extra": {"cache_write_tokens": 1}});
    assert_eq!(said["metrics"], metrics);
    assert_eq!(main["session_id"], "s1");
    assert_eq!(main["agent"]["name"], "claude");
    assert_eq!(main["agent"]["version"], "2.1");
    assert_eq!(main["final_metrics"]["total_steps"], 5);
    assert_eq!(main["final_metrics"]["total_completion_tokens"], 3);
    // The cost is that of subagents too; the tokens are the trajectory's own.
    assert_eq!(main["final_metrics"]["total_cost_usd"], 0.75);
    let helper = read(&tree, "run.x_20y.atif.json");
    assert_eq!(helper["trajectory_id"], "run/subagent:x y");
    assert_eq!(helper["steps"][0]["message"], "I help.");
}

#[test]
fn a_call_that_starts_a_subagent_refers_to_its_trajectory() {
    let answer =
        r#"{"type":"tool.result","payload":{"name":"Task","call_id":"t1","output":"done"}}"#;
    let start = r#"{"type":"system","payload":{"subtype":"subagent_started","agent_id":"x","tool_id":"t1"}}"#;
    let call = r#"{"type":"tool.call","payload":{"name":"Task","call_id":"t1","input":{}}}"#;
    let speaks = r#"{"type":"message.assistant","source":"subagent:x","payload":{"blocks":[]}}"#;
    for lines in
        [[call, start, answer, speaks], [call, answer, start, speaks], [call, start, speaks, ""]]
    {
        let tree = fold(AtifView::new(), &events(&lines.join("\n")));
        let main = read(&tree, "run.atif.json");
        assert_eq!(main["steps"].as_array().unwrap().len(), 1);
        let result = &main["steps"][0]["observation"]["results"][0];
        assert_eq!(result["source_call_id"], "t1");
        let path = &result["subagent_trajectory_ref"][0]["trajectory_path"];
        assert_eq!(path, "run.x.atif.json");
        check(&main);
        check(&read(&tree, "run.x.atif.json"));
    }
}

fn steps_of(lines: &str, path: &str) -> Vec<Value> {
    let document = read(&fold(AtifView::new(), &events(lines)), path);
    check(&document);
    document["steps"].as_array().expect("steps are a list").clone()
}

#[test]
fn what_happens_while_an_agent_is_at_work_stands_behind_what_it_said() {
    let said =
        r#"{"type":"message.assistant","payload":{"blocks":[{"type":"text","text":"I look."}]}}"#;
    let call = r#"{"type":"tool.call","payload":{"name":"Read","call_id":"t1","input":{}}}"#;
    let answer = r#"{"type":"tool.result","payload":{"name":"Read","call_id":"t1","output":"a"}}"#;
    for between in [
        r#"{"type":"error","payload":{"code":"E5","message":"the service failed"}}"#,
        r#"{"type":"system","payload":{"subtype":"note","title":"N"}}"#,
        r#"{"type":"system","payload":{"subtype":"compaction"}}"#,
        r#"{"type":"tool.result","payload":{"name":"Grep","call_id":"t0","output":"late"}}"#,
        r#"{"type":"message.assistant","source":"subagent:x","payload":{"blocks":[]}}"#,
    ] {
        let steps = steps_of(&[said, call, between, answer, said].join("\n"), "run.atif.json");
        let order: Vec<_> = steps.iter().map(|step| step["extra"]["seq"].as_u64()).collect();
        assert_eq!(order, [Some(1), Some(3), Some(5)], "{between}");
        let result = &steps[0]["observation"]["results"][0];
        assert_eq!(result["content"], "a", "the call is still answered in its own step");
    }
}

#[test]
fn what_happens_while_an_agent_is_at_work_does_not_wait_without_end() {
    let note = "{\"type\":\"system\",\"payload\":{\"subtype\":\"note\",\"title\":\"N\"}}\n";
    let said = "{\"type\":\"message.assistant\",\"payload\":{\"blocks\":[]}}\n";
    let mut view = AtifView::new();
    let mut tree = FileTree::default();
    let lines = [said, &note.repeat(600)].concat();
    events(&lines).iter().for_each(|event| view.add(event, &mut tree));
    assert!(tree.text("run.atif.json").is_some_and(|text| text.matches("note").count() >= 256));
}

#[test]
fn what_is_noted_of_a_subagent_stands_in_its_trajectory() {
    let lines = r#"
        {"type":"message.assistant","source":"subagent:x","payload":{"blocks":[{"type":"text","text":"I help."}]}}
        {"type":"system","source":"subagent:x","payload":{"subtype":"compaction","summary":"All that was."}}
        {"type":"system","source":"subagent:x","payload":{"subtype":"note","title":"Mine"}}
    "#;
    let messages = |path: &str| {
        let steps = steps_of(lines, path).into_iter();
        steps.map(|step| step["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(messages("run.x.atif.json"), ["I help.", "All that was.", "Mine"]);
    assert_eq!(messages("run.atif.json"), ["Subagent x begins."]);
}

#[test]
fn a_second_call_of_the_same_id_is_a_call_of_its_own() {
    let steps = steps_of(
        r#"
        {"type":"message.assistant","payload":{"blocks":[{"type":"tool_use","tool_name":"Bash","tool_id":"c","tool_input":{"n":1}}]}}
        {"type":"tool.call","payload":{"name":"Bash","call_id":"c","input":{"n":1}}}
        {"type":"tool.result","payload":{"name":"Bash","call_id":"c","output":"one"}}
        {"type":"tool.call","payload":{"name":"Bash","call_id":"c","input":{"n":2}}}
        {"type":"tool.result","payload":{"name":"Bash","call_id":"c","output":"two"}}
    "#,
        "run.atif.json",
    );
    let calls: Vec<_> = steps
        .iter()
        .map(|step| {
            let calls = step["tool_calls"].as_array().unwrap();
            let results = step["observation"]["results"].as_array().unwrap();
            assert_eq!((calls.len(), results.len()), (1, 1), "{step}");
            (calls[0]["arguments"]["n"].clone(), results[0]["content"].clone())
        })
        .collect();
    assert_eq!(calls, [(json!(1), json!("one")), (json!(2), json!("two"))]);
}

#[test]
fn tokens_find_the_step_of_their_message_whenever_they_come() {
    let said = |id: u64| {
        format!(r#"{{"type":"message.assistant","payload":{{"message_id":"m{id}","blocks":[]}}}}"#)
    };
    let used = |id: u64| {
        format!(
            r#"{{"type":"usage","payload":{{"scope":"message","message_id":"m{id}","output_tokens":{id}}}}}"#
        )
    };
    let all = |make: &dyn Fn(u64) -> String, count: u64| (1..=count).map(make).collect::<Vec<_>>();
    for (lines, count, lost) in [
        ([all(&said, 8), all(&used, 8)].concat(), 8, 0),
        ([all(&used, 8), all(&said, 8)].concat(), 8, 0),
        // They are not waited for without end, and what is lost is told.
        ([all(&said, 100), all(&used, 100)].concat(), 65, 35),
        ([all(&used, 100), all(&said, 100)].concat(), 64, 36),
        ([all(&used, 3), all(&used, 3), all(&said, 3)].concat(), 3, 3),
    ] {
        let mut view = AtifView::new();
        let mut tree = FileTree::default();
        events(&lines.join("\n")).iter().for_each(|event| view.add(event, &mut tree));
        view.finish(&mut tree);
        let document = read(&tree, "run.atif.json");
        check(&document);
        let counted = document["steps"].as_array().unwrap().iter().filter(|step| {
            let tokens = step["metrics"]["completion_tokens"].as_u64();
            let named = tokens.map(|tokens| format!("m{tokens}").into());
            assert!(
                named.is_none_or(|named: Value| step["extra"]["message_id"] == named),
                "{step}"
            );
            tokens.is_some()
        });
        assert_eq!((counted.count(), view.losses().total()), (count, lost), "{lines:?}");
    }
}

#[test]
fn a_cost_that_a_session_names_at_its_end_is_that_of_the_trajectory() {
    let lines = r#"
        {"type":"run.started","payload":{"name":"s","kind":"session"}}
        {"type":"usage","payload":{"scope":"session","output_tokens":5}}
        {"type":"run.completed","payload":{"name":"s","kind":"session","status":"succeeded","result":{"cost_usd":0.5}}}
    "#;
    let cost = |lines: &str| {
        let document = read(&fold(AtifView::new(), &events(lines)), "run.atif.json");
        document["final_metrics"].get("total_cost_usd").and_then(Value::as_f64)
    };
    assert_eq!(cost(lines), Some(0.5));
    // Where usage tells a cost, the end repeats it; the result of a workflow is its author's.
    assert_eq!(cost(&lines.replace(":5}", ":5,\"cost_usd\":0.25}")), Some(0.25));
    assert_eq!(cost(&lines.replace("\"session\",\"status", "\"workflow\",\"status")), Some(0.5));
    assert_eq!(cost(&lines.replace("\"kind\":\"session\"", "\"kind\":\"workflow\"")), None);
}

#[test]
fn commands_and_called_runs_are_actions_that_no_model_decided_on() {
    let tree = fold(
        AtifView::new(),
        &events(
            r#"
        {"type":"step.started","path":"build","payload":{"name":"build","kind":"command","blocks":[{"type":"command","command":"make"}]}}
        {"type":"step.completed","path":"build","payload":{"name":"build","kind":"command","status":"failed","error":"exit code 2","result":{"stdout":"boom","exit_code":2}}}
        {"type":"step.call_workflow.started","path":"c","child_run_id":"kid","payload":{"name":"c","kind":"call_workflow"}}
        {"type":"step.call_workflow.completed","path":"c","child_run_id":"kid","payload":{"name":"c","kind":"call_workflow","status":"succeeded"}}
    "#,
        ),
    );
    let main = read(&tree, "run.atif.json");
    assert_eq!(main["steps"][0]["llm_call_count"], 0);
    assert_eq!(main["steps"][0]["tool_calls"][0]["arguments"], json!({"command": "make"}));
    assert_eq!(main["steps"][0]["observation"]["results"][0]["content"], "boom");
    let reference = &main["steps"][1]["observation"]["results"][0]["subagent_trajectory_ref"][0];
    assert_eq!(reference["trajectory_path"], "kid.atif.json");
}

#[test]
fn what_has_no_place_in_a_trajectory_is_counted() {
    let mut view = AtifView::new();
    let mut tree = FileTree::default();
    let lines = r#"
        {"type":"run.created","payload":{"name":"x","kind":"workflow"}}
        {"type":"file.read","payload":{"file":"f"}}
        {"type":"step.started","path":"a","payload":{"name":"a","kind":"parallel"}}
    "#;
    events(lines).iter().for_each(|event| view.add(event, &mut tree));
    view.finish(&mut tree);
    assert_eq!(view.losses().total(), 3);
    check(&read(&tree, "run.atif.json"));
}

#[test]
fn the_strict_reader_refuses_what_the_specification_refuses() {
    let sound = read(&fold(AtifView::new(), &events(SESSION)), "run.atif.json");
    check(&sound);
    let spoilt: [(&str, Value); 7] = [
        ("/schema_version", json!("ATIF-v1.9")),
        ("/steps", json!([])),
        ("/steps/0/step_id", json!(2)),
        ("/steps/0/source", json!("robot")),
        ("/steps/2/source", json!("user")),
        ("/steps/2/tool_calls/0/arguments", json!([])),
        ("/steps/2/observation/results/0/source_call_id", json!("t9")),
    ];
    for (place, value) in spoilt {
        let mut document = sound.clone();
        *document.pointer_mut(place).unwrap() = value;
        let refused = std::panic::catch_unwind(|| check(&document));
        assert!(refused.is_err(), "{place} was accepted");
    }
}

proptest! {
    #[test]
    fn a_trajectory_has_every_field_that_its_format_requires_and_no_other(run in any_run()) {
        let tree = fold(AtifView::new(), &run);
        prop_assert!(tree.0.contains_key("run.atif.json"));
        for path in tree.0.keys() {
            prop_assert!(!path.contains('/') && !path.contains(".."), "{}", path);
            check(&read(&tree, path));
        }
    }
}

/// Refuses what the specification refuses.
fn check(document: &Value) {
    let root = [
        "schema_version",
        "session_id",
        "trajectory_id",
        "agent",
        "steps",
        "final_metrics",
        "extra",
    ];
    only(document, &root);
    assert_eq!(document["schema_version"], "ATIF-v1.8");
    texts(document, &["session_id", "trajectory_id"]);
    only(&document["agent"], &["name", "version", "model_name", "extra"]);
    assert!(document["agent"]["name"].is_string() && document["agent"]["version"].is_string());
    let totals =
        ["total_prompt_tokens", "total_completion_tokens", "total_cached_tokens", "total_steps"];
    only(&document["final_metrics"], &[&totals[..], &["total_cost_usd", "extra"]].concat());
    counts(&document["final_metrics"], &totals);
    let steps = document["steps"].as_array().expect("steps are a list");
    assert!(!steps.is_empty());
    assert_eq!(document["final_metrics"]["total_steps"], steps.len());
    for (n, step) in steps.iter().enumerate() {
        assert_eq!(step["step_id"], n + 1);
        check_step(step);
    }
}

fn check_step(step: &Value) {
    let of_agents = ["model_name", "reasoning_content", "tool_calls", "metrics"];
    let all =
        ["step_id", "timestamp", "source", "message", "observation", "llm_call_count", "extra"];
    only(step, &[&of_agents[..], &all].concat());
    let source = step["source"].as_str().expect("a step has a source");
    assert!(["system", "user", "agent"].contains(&source), "{source}");
    assert!(step["message"].is_string());
    texts(step, &["timestamp", "model_name", "reasoning_content"]);
    if source != "agent" {
        of_agents.iter().for_each(|field| assert!(step.get(field).is_none(), "{field}: {step}"));
    }
    if step["llm_call_count"] == 0 {
        ["metrics", "reasoning_content"]
            .iter()
            .for_each(|field| assert!(step.get(field).is_none()));
    }
    let mut ids = Vec::new();
    for call in step["tool_calls"].as_array().into_iter().flatten() {
        only(call, &["tool_call_id", "function_name", "arguments", "extra"]);
        assert!(call["arguments"].is_object() && call["function_name"].is_string(), "{call}");
        ids.push(call["tool_call_id"].as_str().expect("a call has an id"));
    }
    if let Some(observation) = step.get("observation") {
        only(observation, &["results"]);
        for result in observation["results"].as_array().expect("results are a list") {
            only(result, &["source_call_id", "content", "subagent_trajectory_ref", "extra"]);
            texts(result, &["source_call_id", "content"]);
            let call = result["source_call_id"].as_str();
            assert!(call.is_none_or(|call| ids.contains(&call)), "{step}");
            for reference in result["subagent_trajectory_ref"].as_array().into_iter().flatten() {
                only(reference, &["trajectory_id", "session_id", "trajectory_path", "extra"]);
                assert!(
                    reference["trajectory_id"].is_string()
                        || reference["trajectory_path"].is_string()
                );
            }
        }
    }
    if let Some(metrics) = step.get("metrics") {
        let numbers = ["prompt_tokens", "completion_tokens", "cached_tokens"];
        only(metrics, &[&numbers[..], &["cost_usd", "extra"]].concat());
        counts(metrics, &numbers);
    }
}

fn only(value: &Value, fields: &[&str]) {
    let object = value.as_object().unwrap_or_else(|| panic!("{value} is no object"));
    object.keys().for_each(|key| assert!(fields.contains(&key.as_str()), "{key} is not a field"));
    assert!(object.get("extra").is_none_or(Value::is_object));
}

fn texts(value: &Value, fields: &[&str]) {
    fields.iter().for_each(|field| assert!(value.get(field).is_none_or(Value::is_string)));
}

fn counts(value: &Value, fields: &[&str]) {
    fields.iter().for_each(|field| assert!(value.get(field).is_none_or(Value::is_u64)));
}
