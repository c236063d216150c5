//! Calls and results in every order.

use super::*;
use crate::outbox::{Made, Queue};
use crate::value::json_text;

/// One step of a script.
enum Step {
    Call(&'static str),
    Result(&'static str),
}
use Step::{Call, Result};

fn play(script: &[Step]) -> Vec<String> {
    let (mut calls, mut queue, mut made) = (Calls::default(), Queue::default(), Vec::new());
    for (number, step) in script.iter().enumerate() {
        let mut out = Outbox::new(&mut queue, None);
        let stamp = Stamp::at(Some(Timestamp::from_micros(number as i64 * 1_000)));
        match step {
            Call(id) => {
                let (name, input) = (format!("tool-{id}"), json_text(id));
                let call = ToolCall { name, call_id: (*id).into(), input, ..ToolCall::default() };
                calls.call(&mut out, &stamp, call);
            }
            Result(id) => {
                let result = ToolResult { call_id: (*id).into(), ..ToolResult::default() };
                calls.result(&mut out, &stamp, result);
            }
        }
    }
    calls.finish(&mut Outbox::new(&mut queue, None));
    queue.drain_into(&mut made);
    made.iter().map(describe).collect()
}

fn describe(made: &Made) -> String {
    let payload: serde_json::Value = made.draft.payload.decode().unwrap();
    let text = |key: &str| payload[key].as_str().unwrap_or_default().to_owned();
    let took = payload["duration_ms"].as_u64().map(|ms| format!(" {ms} ms")).unwrap_or_default();
    format!("{} {} {} {}{took}", made.draft.kind, text("call_id"), text("name"), text("input"))
}

#[test]
fn a_result_takes_name_input_and_duration_from_its_call() {
    let seen = play(&[Call("a"), Call("b"), Result("b"), Result("a")]);
    assert_eq!(
        seen,
        [
            "tool.call a tool-a a",
            "tool.call b tool-b b",
            "tool.result b tool-b b 1 ms",
            "tool.result a tool-a a 3 ms",
        ]
    );
}

#[test]
fn a_result_that_comes_first_waits_for_its_call() {
    let seen = play(&[Result("a"), Call("b"), Call("a"), Result("b")]);
    assert_eq!(
        seen,
        [
            "tool.call b tool-b b",
            "tool.call a tool-a a",
            "tool.result a tool-a a 0 ms",
            "tool.result b tool-b b 2 ms",
        ]
    );
}

#[test]
fn a_call_or_result_that_comes_again_is_put_once() {
    let seen = play(&[Call("a"), Call("a"), Result("a"), Result("a"), Call("a")]);
    assert_eq!(seen.len(), 2);
}

#[test]
fn a_result_whose_call_never_comes_is_put_in_the_end() {
    assert_eq!(
        play(&[Result("a"), Result("a"), Call("b")]),
        ["tool.call b tool-b b", "tool.result a  ",]
    );
}

#[test]
fn a_result_does_not_wait_for_ever() {
    let mut script = vec![Result("early")];
    script.extend((0..=PATIENCE).map(|_| Call("again")));
    script.push(Call("last"));
    let seen = play(&script);
    assert_eq!(
        seen,
        [
            "tool.call again tool-again again",
            "tool.result early  ",
            "tool.call last tool-last last",
        ]
    );
}
