//! What runs cost, and how each figure was obtained.

use std::sync::Arc;

use quipu_event::{Event, RunId};
use quipu_view::price::{PriceSheet, PriceTable};
use quipu_view::receipt::{Cost, How, Receipt, ReceiptBuilder, ReceiptOptions, StepReceipt, join};
use serde_json::json;

use super::transcript::events;

const LIST: &str = r#"{"version": "test", "prices": [{"models": ["m", "n"], "input": 1, "output": 10, "cache_read": 0.1}]}"#;

fn receipt_of(events: &[Event], options: ReceiptOptions) -> Receipt {
    let table = Arc::new(PriceTable::from(PriceSheet::parse(LIST).expect("a sound list")));
    let mut builder = ReceiptBuilder::new(table, options);
    events.iter().for_each(|event| builder.add(event));
    builder.finish().expect("a test's run has events")
}

fn receipt(lines: &str) -> Receipt {
    receipt_of(&events(lines), ReceiptOptions::default())
}

fn each(lines: &str) -> Receipt {
    receipt_of(&events(lines), ReceiptOptions { each: true, ..ReceiptOptions::default() })
}

fn cost(receipt: &Receipt) -> Cost {
    receipt.own().total().cost
}

fn told(cost: &Cost) -> (Option<String>, String) {
    (cost.known().map(|known| known.decimal()), cost.how_words())
}

fn step<'a>(receipt: &'a Receipt, path: &str) -> &'a StepReceipt {
    receipt.steps.iter().find(|step| step.path == path).expect("a step of that path")
}

#[test]
fn a_figure_says_how_it_was_obtained() {
    let reported = r#"{"type":"usage","payload":{"model":"m","input_tokens":5,"output_tokens":5,"cost_usd":0.25}}"#;
    let priced =
        r#"{"type":"usage","payload":{"model":"m","input_tokens":1000000,"output_tokens":0}}"#;
    let unknown =
        r#"{"type":"usage","payload":{"model":"strange","input_tokens":5,"output_tokens":5}}"#;
    let cases = [
        (vec![reported], Some("0.25"), "reported", "$0.2500"),
        (vec![priced], Some("1"), "priced", "$1.00"),
        (vec![unknown], None, "unknown", "unknown"),
        (vec![reported, priced], Some("1.25"), "reported + priced", "$1.25"),
        (vec![reported, unknown], Some("0.25"), "reported + unknown", "≥ $0.2500"),
        (vec![unknown, priced, reported], Some("1.25"), "reported + priced + unknown", "≥ $1.25"),
    ];
    for (lines, known, how, figure) in cases {
        let cost = cost(&receipt(&lines.join("\n")));
        assert_eq!(told(&cost), (known.map(str::to_owned), how.to_owned()), "{lines:?}");
        assert_eq!(cost.figure().as_deref(), Some(figure));
    }
}

#[test]
fn what_is_not_known_is_never_shown_as_zero() {
    let cases = [
        r#"{"type":"usage","payload":{"input_tokens":5,"output_tokens":5}}"#,
        r#"{"type":"usage","payload":{"model":"<synthetic>","input_tokens":5,"output_tokens":5}}"#,
        r#"{"type":"usage","payload":{"model":"m"}}"#,
        r#"{"type":"usage","payload":{"model":"m","input_tokens":"5","output_tokens":5}}"#,
        r#"{"type":"usage","payload":{"model":["m"]}}"#,
        r#"{"type":"usage"}"#,
        r#"{"type":"usage","payload":{"model":"m","reasoning_tokens":4}}"#,
        r#"{"type":"usage","payload":{"model":"","cache_write_tokens":4}}"#,
        r#"{"type":"usage","payload":{"model":"strange","output_tokens":5,"cost_usd":-1.5}}"#,
    ];
    for line in cases {
        let receipt = receipt(line);
        assert_eq!(cost(&receipt).how(), [How::Unknown], "{line}");
        assert_eq!(cost(&receipt).figure().as_deref(), Some("unknown"), "{line}");
        let told = serde_json::to_value(&receipt).unwrap();
        assert_eq!(told["total"]["cost"]["usd"], json!(null), "{line}");
        assert_eq!(told["total"]["cost"]["is_complete"], json!(false), "{line}");
    }
    // Nothing and something unknown are not nothing.
    let free = r#"{"type":"usage","payload":{"model":"m","input_tokens":5,"output_tokens":5,"cost_usd":0}}"#;
    let mixed = receipt(&[free, cases[0]].join("\n"));
    assert_eq!(cost(&mixed).figure().as_deref(), Some("unknown"));
    assert_eq!(cost(&receipt(free)).figure().as_deref(), Some("$0.0000"));
    let nothing = receipt(r#"{"type":"step.started","path":"a"}"#);
    assert_eq!((cost(&nothing).figure(), cost(&nothing).how()), (None, vec![]));
    assert_eq!(serde_json::to_value(&nothing).unwrap()["total"]["cost"], json!(null));
    assert_eq!(serde_json::to_value(&nothing).unwrap()["total"]["tokens"], json!({}));
}

#[test]
fn a_price_of_output_alone_is_not_the_whole_price() {
    let output = r#"{"type":"usage","payload":{"model":"m","output_tokens":100000}}"#;
    assert_eq!(told(&cost(&receipt(output))), (Some("1".into()), "priced + unknown".into()));
    // Some providers tell input and output in events of their own.
    let input = r#"{"type":"usage","payload":{"model":"m","input_tokens":1000000}}"#;
    let both = receipt(&[output, input].join("\n"));
    assert_eq!(told(&cost(&both)), (Some("2".into()), "priced".into()));
}

#[test]
fn a_reported_cost_is_not_priced_again() {
    let message = r#"{"type":"usage","payload":{"model":"m","input_tokens":9000000,"output_tokens":1,"scope":"message"}}"#;
    let alone = r#"{"type":"usage","payload":{"model":"m","scope":"session","cost_usd":0.5}}"#;
    let covered = receipt(&[message, alone].join("\n"));
    assert_eq!(told(&cost(&covered)), (Some("0.5".into()), "reported".into()));
    assert_eq!(covered.own().total().tokens.input_tokens, Some(9_000_000));
    // A bill by model that names its cost once.
    let bill = r#"
        {"type":"usage","payload":{"model":"m","input_tokens":9000000,"output_tokens":1,"scope":"session","cost_usd":0.5}}
        {"type":"usage","payload":{"model":"n","input_tokens":9000000,"output_tokens":1,"scope":"session"}}
    "#;
    assert_eq!(told(&cost(&receipt(bill))), (Some("0.5".into()), "reported".into()));
    // What came after a bill is not covered by it.
    let after = format!("{bill}\n{{\"type\":\"system\"}}\n{message}");
    assert_eq!(told(&cost(&receipt(&after))), (Some("9.50001".into()), "reported + priced".into()));
}

#[test]
fn the_cost_of_a_session_covers_what_came_before_it_and_no_other_cost_covers_anything() {
    let message =
        r#"{"type":"usage","payload":{"model":"m","input_tokens":1000000,"output_tokens":0}}"#;
    let strange =
        r#"{"type":"usage","payload":{"model":"strange","input_tokens":9,"output_tokens":9}}"#;
    let cost_of =
        |scope: &str| format!(r#"{{"type":"usage","payload":{{{scope}"cost_usd":0.5}}}}"#);
    let session = cost_of(r#""scope":"session","#);
    for (lines, known, how) in [
        (vec![message, strange, &session], "0.5", "reported"),
        (vec![message, &session, message], "1.5", "reported + priced"),
        (vec![&session, message, strange], "1.5", "reported + priced + unknown"),
        (
            vec![message, strange, &cost_of(r#""scope":"turn","#)],
            "1.5",
            "reported + priced + unknown",
        ),
        (vec![message, &cost_of(r#""scope":"message","#)], "1.5", "reported + priced"),
        (vec![message, &cost_of("")], "1.5", "reported + priced"),
    ] {
        let receipt = receipt(&lines.join("\n"));
        assert_eq!(told(&cost(&receipt)), (Some(known.into()), how.into()), "{lines:?}");
    }
}

#[test]
fn a_message_that_lacks_its_output_is_not_made_whole_by_another() {
    let half = |id: &str| {
        format!(
            r#"{{"type":"usage","payload":{{"model":"m","input_tokens":1000000,{id}"cost_usd":null}}}}"#
        )
    };
    let whole = r#"{"type":"usage","payload":{"model":"m","input_tokens":0,"output_tokens":0,"cache_read_tokens":0,"reasoning_tokens":1,"message_id":"b"}}"#;
    for id in [r#""message_id":"a","#, ""] {
        for lines in [[half(id).as_str(), whole], [whole, half(id).as_str()]] {
            let told = told(&cost(&receipt(&lines.join("\n"))));
            assert_eq!(told, (Some("1".into()), "priced + unknown".into()), "{lines:?}");
        }
    }
}

#[test]
fn the_cost_of_a_whole_session_is_left_aside_where_a_part_of_it_is_asked_for() {
    let lines = r#"
        {"type":"run.started","timestamp":"2026-01-01T00:00:00Z","payload":{"name":"s","kind":"session"}}
        {"type":"usage","timestamp":"2026-01-01T01:00:00Z","payload":{"model":"m","input_tokens":1000000,"output_tokens":0}}
        {"type":"run.completed","timestamp":"2026-01-02T01:00:00Z","payload":{"status":"succeeded","result":{"cost_usd":0.5}}}
    "#;
    let at = |day: &str| Some(quipu_event::Timestamp::parse(day).unwrap());
    let (first, second, third) =
        (at("2026-01-01T00:00:00Z"), at("2026-01-02T00:00:00Z"), at("2026-01-03T00:00:00Z"));
    let as_usage = lines.replace(
        r#""run.completed","timestamp":"2026-01-02T01:00:00Z","payload":{"status":"succeeded","result":{"cost_usd":0.5}}"#,
        r#""usage","timestamp":"2026-01-02T01:00:00Z","payload":{"scope":"session","cost_usd":0.5}"#,
    );
    for lines in [lines, &as_usage] {
        let events = events(lines);
        let told = |since, until| {
            told(&cost(&receipt_of(&events, ReceiptOptions { each: false, since, until })))
        };
        let (whole, part) = ((Some("0.5".into()), "reported"), (Some("1".into()), "priced"));
        assert_eq!(told(first, third), (whole.0, whole.1.to_owned()));
        assert_eq!(told(first, second), (part.0, part.1.to_owned()));
        assert_eq!(told(second, third), (None, String::new()));
    }
}

#[test]
fn a_session_that_names_its_cost_at_its_end_is_not_priced() {
    let lines = r#"
        {"type":"run.started","payload":{"name":"s","kind":"session","agent":{"provider":"grok","model":"m"}}}
        {"type":"usage","payload":{"input_tokens":1000000,"output_tokens":0,"scope":"turn"}}
        {"type":"run.completed","payload":{"status":"succeeded","result":{"cost_usd":0.125}}}
    "#;
    assert_eq!(told(&cost(&receipt(lines))), (Some("0.125".into()), "reported".into()));
    // Where usage events name costs, the sum at the end only repeats them.
    let repeated = lines.replace("\"scope\"", "\"cost_usd\":0.125,\"scope\"");
    assert_eq!(told(&cost(&receipt(&repeated))), (Some("0.125".into()), "reported".into()));
}

#[test]
fn the_cost_of_a_session_of_several_models_is_laid_to_none_of_them() {
    let lines = r#"
        {"type":"run.started","payload":{"name":"s","kind":"session","agent":{"provider":"p","model":"m"}}}
        {"type":"usage","payload":{"model":"m","input_tokens":5,"output_tokens":5}}
        {"type":"usage","source":"subagent:1","payload":{"model":"n","input_tokens":5,"output_tokens":5}}
        {"type":"run.completed","payload":{"status":"succeeded","result":{"cost_usd":0.5}}}
    "#;
    let costs = |lines: &str| {
        let receipt = receipt(lines);
        let parts = receipt.outside.parts.iter().filter(|(_, part)| part.cost.reported.is_some());
        parts.map(|(key, _)| key.model.clone()).collect::<Vec<_>>()
    };
    assert_eq!(costs(lines), [None]);
    assert_eq!(costs(&lines.replace("\"n\"", "\"m\"")), [Some("m".to_owned())]);
}

#[test]
fn a_cost_of_a_session_without_a_model_is_of_the_only_model_or_of_none() {
    let cost = r#"{"type":"usage","payload":{"scope":"session","cost_usd":0.5}}"#;
    let used = |model: &str| {
        format!(
            r#"{{"type":"usage","payload":{{"model":"{model}","input_tokens":5,"output_tokens":5}}}}"#
        )
    };
    let said = |model: &str| {
        format!(
            r#"{{"type":"message.assistant","payload":{{"role":"assistant","blocks":[],"model":"{model}"}}}}"#
        )
    };
    let run = r#"{"type":"run.started","payload":{"name":"s","kind":"session","agent":{"provider":"p","model":"m"}}}"#;
    for (before, model) in [
        (vec![], Some("m")),
        (vec![used("n")], Some("n")),
        (vec![used("m"), used("n")], None),
        (vec![said("n")], Some("n")),
        (vec![said("m"), said("n")], None),
        (vec![said("m"), used("m"), said("n")], None),
    ] {
        let lines = [vec![run.to_owned()], before, vec![cost.to_owned()]].concat();
        let receipt = receipt(&lines.join("\n"));
        let parts = receipt.outside.parts.iter().filter(|(_, part)| part.cost.reported.is_some());
        let models: Vec<_> = parts.map(|(key, _)| key.model.as_deref()).collect();
        assert_eq!(models, [model], "{lines:?}");
        assert_eq!(told(&receipt.own().total().cost), (Some("0.5".into()), "reported".into()));
    }
}

#[test]
fn a_reply_whose_usage_nobody_tells_costs_nobody_knows_what() {
    let reply = |id: &str| {
        format!(
            r#"{{"type":"message.assistant","payload":{{"role":"assistant","blocks":[],"model":"m"{id}}}}}"#
        )
    };
    let usage = |more: &str| {
        format!(
            r#"{{"type":"usage","payload":{{"model":"m","input_tokens":1000000,"output_tokens":0{more}}}}}"#
        )
    };
    let by =
        |line: &str, source: &str| line.replacen('{', &format!(r#"{{"source":"{source}","#), 1);
    let (a, b) = (r#","message_id":"a""#, r#","message_id":"b""#);
    let (message, turn) = (r#","scope":"message""#, r#","scope":"turn""#);
    let session = r#"{"type":"usage","payload":{"scope":"session","cost_usd":1}}"#.to_owned();
    let ended = r#"{"type":"run.completed","payload":{"name":"s","kind":"session","status":"succeeded","result":{"cost_usd":1}}}"#.to_owned();
    let started = r#"{"type":"run.started","payload":{"name":"s","kind":"session"}}"#.to_owned();
    let stub =
        r#"{"type":"run.started","payload":{"name":"s","labels":{"stub":"true"}}}"#.to_owned();
    let in_place = reply("").replace("\"m\"", "\"<synthetic>\"");
    let unread = r#"{"type":"message.assistant","payload":7}"#.to_owned();
    let (sub_reply, sub_usage) = (by(&reply(""), "subagent:1"), by(&usage(message), "subagent:1"));
    for (lines, figure) in [
        (vec![reply("")], Some("unknown")),
        (vec![unread], Some("unknown")),
        (vec![in_place], None),
        (vec![stub, reply("")], None),
        (vec![reply(""), usage("")], Some("$1.00")),
        (vec![reply(""), reply(""), usage(turn)], Some("$1.00")),
        (vec![reply(""), session], Some("$1.00")),
        (vec![started, reply(""), ended], Some("$1.00")),
        // The last reply of a session that was cut off.
        (vec![reply(""), usage(turn), reply("")], Some("≥ $1.00")),
        (vec![reply(a), usage(message), reply(b)], Some("≥ $1.00")),
        // Usage may be told before its message.
        (vec![usage(message), reply("")], Some("$1.00")),
        (vec![usage(&[message, a].concat()), reply(a)], Some("$1.00")),
        (vec![usage(&[message, a].concat()), reply(b)], Some("≥ $1.00")),
        (vec![usage(turn), reply("")], Some("≥ $1.00")),
        // What one speaker used says nothing of another; what a turn used does.
        (vec![reply(""), sub_reply.clone(), usage(message)], Some("≥ $1.00")),
        (vec![reply(""), sub_reply.clone(), usage(turn)], Some("$1.00")),
        (vec![reply(""), sub_reply, sub_usage, usage(message)], Some("$2.00")),
    ] {
        let receipt = receipt(&lines.join("\n"));
        assert_eq!(cost(&receipt).figure().as_deref(), figure, "{lines:?}");
    }
}

#[test]
fn a_step_that_replied_without_usage_makes_the_total_a_least_sum() {
    let receipt = receipt(
        r#"
        {"type":"step.started","path":"a","payload":{"kind":"agent","agent":{"provider":"p","model":"m"}}}
        {"type":"message.assistant","path":"a","payload":{"role":"assistant","blocks":[]}}
        {"type":"usage","path":"a","payload":{"input_tokens":1000000,"output_tokens":0,"scope":"turn"}}
        {"type":"step.completed","path":"a","payload":{"status":"succeeded"}}
        {"type":"step.started","path":"b","payload":{"kind":"agent","agent":{"provider":"q","model":"n"}}}
        {"type":"message.assistant","path":"b","payload":{"role":"assistant","blocks":[]}}
        {"type":"step.completed","path":"b","payload":{"status":"succeeded"}}
    "#,
    );
    let figure = |path: &str| step(&receipt, path).bill.total().cost.figure();
    assert_eq!((figure("a"), figure("b")), (Some("$1.00".into()), Some("unknown".into())));
    assert_eq!(cost(&receipt).figure().as_deref(), Some("≥ $1.00"));
    let wire = serde_json::to_value(&receipt).expect("a receipt is JSON");
    assert_eq!(wire["steps"][1]["models"][0]["model"], json!("n"));
    assert_eq!(wire["total"]["cost"]["is_complete"], json!(false));
}

#[test]
fn usage_outside_the_stretch_that_is_asked_for_still_pays_for_replies_inside() {
    let lines = r#"
        {"type":"message.assistant","timestamp":"2026-01-01T23:59:59Z","payload":{"role":"assistant","blocks":[],"model":"m"}}
        {"type":"usage","timestamp":"2026-01-02T00:00:01Z","payload":{"model":"m","input_tokens":1000000,"output_tokens":0,"scope":"turn"}}
        {"type":"message.assistant","timestamp":"2026-01-02T00:00:02Z","payload":{"role":"assistant","blocks":[],"model":"m"}}
    "#;
    let day = |day: &str| Some(quipu_event::Timestamp::parse(day).unwrap());
    let figure = |since, until| {
        let options = ReceiptOptions { each: false, since, until };
        cost(&receipt_of(&events(lines), options)).figure()
    };
    let second = day("2026-01-02T00:00:00Z");
    assert_eq!(figure(None, second), None);
    assert_eq!(figure(second, None).as_deref(), Some("≥ $1.00"));
}

#[test]
fn a_called_run_that_is_not_to_be_had_cost_nobody_knows_what() {
    let lines = r#"{"type":"step.started","path":"c","payload":{"kind":"call_workflow"},"child_run_id":"gone"}"#;
    let receipt = join(receipt(lines), &mut |_| None);
    let wire = serde_json::to_value(&receipt).expect("a receipt is JSON");
    let called = &wire["called_runs"][0]["cost"];
    assert_eq!((&called["usd"], &called["how"]), (&json!(null), &json!(["unknown"])));
}

#[test]
fn usage_that_names_no_model_is_of_the_model_of_its_agent() {
    let lines = r#"
        {"type":"run.started","payload":{"name":"w","agent":{"provider":"p","model":"strange"}}}
        {"type":"step.started","path":"a","payload":{"kind":"agent","agent":{"provider":"codex","model":"m"}}}
        {"type":"usage","path":"a","payload":{"input_tokens":1000000,"output_tokens":0}}
        {"type":"step.completed","path":"a","payload":{"status":"succeeded","duration_ms":7}}
    "#;
    let receipt = receipt(lines);
    let row = step(&receipt, "a");
    assert_eq!(told(&row.bill.total().cost), (Some("1".into()), "priced".into()));
    assert_eq!((row.agent.as_deref(), row.duration_ms), (Some("codex"), Some(7)));
    assert_eq!(receipt.prices.iter().collect::<Vec<_>>(), ["test"]);
}

#[test]
fn usage_belongs_to_the_step_at_its_path() {
    let lines = r#"
        {"type":"step.started","path":"fan","payload":{"kind":"parallel"}}
        {"type":"step.started","path":"fan.a","payload":{"kind":"agent"}}
        {"type":"step.started","path":"fan.b","payload":{"kind":"agent"}}
        {"type":"usage","path":"fan.b","payload":{"model":"m","input_tokens":2000000,"output_tokens":0}}
        {"type":"usage","path":"fan.a","payload":{"model":"m","input_tokens":1000000,"output_tokens":0}}
        {"type":"usage","path":"fan.a","source":"subagent:x","payload":{"model":"n","input_tokens":4000000,"output_tokens":0}}
        {"type":"usage","payload":{"model":"m","input_tokens":8000000,"output_tokens":0}}
        {"type":"step.completed","path":"fan.a","payload":{"status":"succeeded"}}
        {"type":"step.completed","path":"fan.b","payload":{"status":"failed","error":"no"}}
        {"type":"step.completed","path":"fan","payload":{"status":"failed"}}
    "#;
    let receipt = receipt(lines);
    let known = |path: &str| step(&receipt, path).bill.total().cost.known().map(|a| a.decimal());
    assert_eq!(known("fan"), None);
    assert_eq!((known("fan.a").as_deref(), known("fan.b").as_deref()), (Some("5"), Some("2")));
    assert_eq!(receipt.outside.total().cost.known().unwrap().decimal(), "8");
    assert_eq!(cost(&receipt).known().unwrap().decimal(), "15");
    assert_eq!(receipt.with_steps_inside()["fan"].cost.known().unwrap().decimal(), "7");
    let a = step(&receipt, "fan.a").bill.by_speaker();
    let speakers: Vec<_> = a.keys().copied().collect();
    assert_eq!(speakers, [(None, Some("m")), (Some("subagents"), Some("n"))]);
    let full = each(lines);
    let a = step(&full, "fan.a").bill.by_speaker();
    assert!(a.contains_key(&(Some("subagent:x"), Some("n"))), "{a:?}");
}

#[test]
fn iterations_and_attempts_are_added_up_or_told_each() {
    let lines = r#"
        {"type":"step.started","path":"each","payload":{"kind":"for_each"}}
        {"type":"step.started","path":"each[0].check","payload":{"kind":"agent","attempt":1}}
        {"type":"usage","path":"each[0].check","payload":{"model":"m","input_tokens":1000000,"output_tokens":0}}
        {"type":"step.completed","path":"each[0].check","payload":{"attempt":1,"status":"failed","error":"no","duration_ms":5}}
        {"type":"step.started","path":"each[0].check","payload":{"kind":"agent","attempt":2}}
        {"type":"usage","path":"each[0].check","payload":{"model":"m","input_tokens":2000000,"output_tokens":0}}
        {"type":"step.completed","path":"each[0].check","payload":{"attempt":2,"status":"succeeded","duration_ms":7}}
        {"type":"step.started","path":"each[1].check","payload":{"kind":"agent","attempt":1}}
        {"type":"usage","path":"each[1].check","payload":{"model":"m","input_tokens":4000000,"output_tokens":0}}
    "#;
    let receipt = receipt(lines);
    let check = step(&receipt, "each[*].check");
    assert_eq!((check.times, check.attempts, check.open()), (2, 3, 1));
    assert_eq!(check.ended.len(), 1, "the attempt that succeeded decides: {check:?}");
    assert_eq!((check.duration_ms, check.status()), (Some(12), None));
    assert_eq!(check.bill.total().cost.known().unwrap().decimal(), "7");
    assert_eq!(check.error, None, "that attempt was taken back: {check:?}");
    let full = each(lines);
    let told: Vec<_> = full
        .steps
        .iter()
        .skip(1)
        .map(|step| {
            let cost = step.bill.total().cost.known().unwrap().decimal();
            (step.path.as_str(), step.attempt, cost)
        })
        .collect();
    let expected = [
        ("each[0].check", Some(1), "1".to_owned()),
        ("each[0].check", Some(2), "2".to_owned()),
        ("each[1].check", Some(1), "4".to_owned()),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_receipt_does_not_grow_with_the_iterations_of_a_loop() {
    let iteration = |n: u64| {
        format!(
            r#"{{"type":"step.started","path":"each[{n}].check","payload":{{"kind":"agent","attempt":1}}}}
               {{"type":"usage","path":"each[{n}].check","source":"subagent:{n}","payload":{{"model":"m","input_tokens":1,"output_tokens":1}}}}
               {{"type":"step.completed","path":"each[{n}].check","payload":{{"attempt":1,"status":"succeeded"}}}}"#
        )
    };
    let lines: Vec<String> = (0..1000).map(iteration).collect();
    let receipt = receipt(&lines.join("\n"));
    assert_eq!(receipt.steps.len(), 1);
    assert_eq!((receipt.steps[0].times, receipt.steps[0].bill.parts.len()), (1000, 1));
}

#[test]
fn a_circle_of_runs_is_paid_once() {
    let calling = |child: &str| {
        format!(
            r#"{{"type":"step.call_workflow.started","child_run_id":"{child}","path":"call","payload":{{"kind":"call_workflow"}}}}
               {{"type":"usage","path":"ask","payload":{{"model":"m","input_tokens":1000000,"output_tokens":0}}}}"#
        )
    };
    let run = |id: &str, child: &str| {
        let mut events = events(&calling(child));
        events.iter_mut().for_each(|event| event.run_id = RunId::parse(id).unwrap());
        receipt_of(&events, ReceiptOptions::default())
    };
    let root = join(run("a", "b"), &mut |id| match id.as_str() {
        "b" => Some(run("b", "c")),
        "c" => Some(run("c", "a")),
        _ => None,
    });
    assert_eq!(root.called.len(), 2);
    assert_eq!(told(&cost(&root)), (Some("1".into()), "priced".into()));
    assert_eq!(told(&root.with_called().total().cost), (Some("3".into()), "priced".into()));
    let lost = join(run("a", "gone"), &mut |_| None);
    let whole = lost.with_called().total().cost;
    assert_eq!(told(&whole), (Some("1".into()), "priced + unknown".into()));
}

#[test]
fn runs_told_in_the_file_of_their_caller_are_receipts_beside_it() {
    let receipt = receipt(
        r#"
        {"run_id":"up","type":"step.call_workflow.started","child_run_id":"down","path":"call"}
        {"run_id":"down","type":"usage","payload":{"model":"m","input_tokens":1000000,"output_tokens":0}}
        {"run_id":"other","type":"usage","payload":{"model":"m","input_tokens":2000000,"output_tokens":0}}
        {"run_id":"up","type":"step.call_workflow.started","child_run_id":"elsewhere","path":"call2"}
    "#,
    );
    let called: Vec<_> =
        receipt.called.iter().map(|run| (run.run_id.as_str(), run.path.as_str())).collect();
    assert_eq!(called, [("down", "call"), ("other", "")]);
    assert_eq!(receipt.with_called().total().cost.known().unwrap().decimal(), "3");
    let asked = join(receipt, &mut |id| {
        assert_eq!(id.as_str(), "elsewhere");
        None
    });
    assert_eq!(asked.with_called().lacking_runs, 1);
}

#[test]
fn usage_can_be_limited_to_a_stretch_of_time() {
    let line = |day: u32| {
        format!(
            r#"{{"type":"usage","timestamp":"2026-01-0{day}T00:00:00Z","payload":{{"model":"m","input_tokens":1000000,"output_tokens":0}}}}"#
        )
    };
    let events = events(&[line(1), line(2), line(3)].join("\n"));
    let at = |day: &str| Some(quipu_event::Timestamp::parse(day).unwrap());
    let options = ReceiptOptions {
        each: false,
        since: at("2026-01-02T00:00:00Z"),
        until: at("2026-01-03T00:00:00Z"),
    };
    let receipt = receipt_of(&events, options);
    let days: Vec<_> = receipt.own().parts.keys().map(|key| key.day.to_string()).collect();
    assert_eq!(days, ["2026-01-02"]);
}

#[test]
fn a_call_told_as_a_step_and_as_a_call_is_one_row_once() {
    let receipt = receipt(
        r#"
        {"type":"step.started","path":"call","payload":{"kind":"call_workflow","attempt":1}}
        {"type":"step.call_workflow.started","child_run_id":"c","path":"call","payload":{"attempt":1}}
        {"type":"step.call_workflow.completed","child_run_id":"c","path":"call","payload":{"status":"failed"}}
        {"type":"step.completed","path":"call","payload":{"attempt":1,"status":"failed"}}
        {"type":"step.completed","path":"lost","payload":{"status":"skipped"}}
        {"type":"step.completed","path":"odd","payload":7}
    "#,
    );
    let call = step(&receipt, "call");
    assert_eq!((call.times, call.attempts, call.open()), (1, 1, 0));
    assert_eq!(receipt.calls.len(), 1);
    assert_eq!(step(&receipt, "lost").status().unwrap().as_str(), "skipped");
    assert_eq!((step(&receipt, "odd").times, receipt.undecoded), (1, 1));
}

#[test]
fn foreign_loops_are_added_up_too() {
    let receipt = receipt(
        r#"
        {"type":"step.started","path":"loop:0/log","payload":null}
        {"type":"step.completed","path":"loop:0/log","payload":null}
        {"type":"step.started","path":"loop:1/log","payload":null}
        {"type":"usage","path":"loop:1/log","payload":{"model":"m","input_tokens":1000000,"output_tokens":0}}
    "#,
    );
    assert_eq!(receipt.steps.len(), 1);
    assert_eq!((receipt.steps[0].path.as_str(), receipt.steps[0].times), ("loop[*].log", 2));
    assert_eq!(receipt.steps[0].bill.total().cost.known().unwrap().decimal(), "1");
}
