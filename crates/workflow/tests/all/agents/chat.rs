//! Models behind an API.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use quipu_event::{Event, Kind, RunId, RunIdentity, Timestamp, write_loose_draft};
use quipu_tool::{Answer as ToolAnswer, CallContext, Calling, Tool, ToolSpec};
use quipu_workflow::agent::{RetrySettings, Sessions};
use quipu_workflow::definition::{McpProxy, PluginTools};
use quipu_workflow::display::DisplayEvent;
use quipu_workflow::engine::WorkStatus;
use quipu_workflow::process::StopReason;
use serde_json::{Value, json};

use super::asking::{Asked, Asking};
use super::server::{Answer, Server, calling, chunk, saying};

const KEY: &str = "sk-very-secret";

/// Asks a server that gives `answers`.
async fn asking(answers: Vec<Answer>, prompt: &str) -> (Asking, Server) {
    let server = Server::start(answers).await;
    let mut asking = Asking::new("openai_compatible", prompt)
        .option("base_url", server.url.clone())
        .option("model", "small-1")
        .option("api_key", KEY);
    let quick = Duration::from_millis(1);
    asking.settings.retry = RetrySettings { retries: 2, first_delay: quick, longest_delay: quick };
    (asking, server)
}

fn has_secret(asked: &Asked) -> bool {
    let mut out = Vec::new();
    asked.drafts.iter().for_each(|draft| write_loose_draft(draft, &mut out).unwrap());
    let shown = format!("{:?} {:?}", asked.shown, asked.outcome);
    String::from_utf8(out).unwrap().contains(KEY) || shown.contains(KEY)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_shown_in_pieces_and_recorded_whole() {
    let (asking, server) = asking(vec![Answer::Events(saying(&["Hel", "lo."]))], "Hi").await;
    let asked = asking.system("Be brief.").option("temperature", "0.5").ask().await;
    assert_eq!(asked.outcome.status, WorkStatus::Succeeded, "{:?}", asked.outcome.error);
    assert_eq!(asked.outcome.output, "Hello.");
    assert_eq!(asked.outcome.model.as_deref(), Some("small-1"));
    assert_eq!(asked.texts(), ["Hello."]);
    assert!(asked.of(&Kind::MessageAssistant)[0].raw.is_some());
    assert_eq!(asked.outcome.usage.unwrap(), asked.usage());
    assert_eq!(asked.usage().total(), Some(25));
    let pieces: Vec<_> = asked
        .shown
        .iter()
        .map(|event| match event {
            DisplayEvent::Text { text, delta: true, .. } => text.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(pieces.concat(), "Hello.");
    let request = &server.requests()[0];
    assert!(request.head.starts_with("POST /v1/chat/completions "));
    assert!(request.head.to_lowercase().contains(&format!("authorization: bearer {KEY}")));
    let expected = json!({
        "model": "small-1", "stream": true, "stream_options": { "include_usage": true },
        "temperature": 0.5,
        "messages": [
            { "role": "system", "content": "Be brief." }, { "role": "user", "content": "Hi" },
        ],
    });
    assert_eq!(request.body, expected);
    assert!(!has_secret(&asked));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_in_one_piece_is_understood() {
    let body = json!({
        "id": "chat-9", "object": "chat.completion", "created": 1, "model": "big-1",
        "choices": [{
            "index": 0, "message": { "role": "assistant", "content": "Hello." },
            "finish_reason": "stop",
        }],
        "usage": { "prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5 },
    });
    for text in [body.to_string(), format!("{body:#}")] {
        let (asking, _server) = asking(vec![Answer::Plain(200, "", text)], "Hi").await;
        let asked = asking.ask().await;
        assert_eq!(asked.outcome.output, "Hello.", "{:?}", asked.outcome.error);
        assert_eq!(asked.outcome.usage.unwrap().total(), Some(5));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_asks_for_patience_gets_it() {
    let busy = |status, body: &str| Answer::Plain(status, "retry-after: 0\r\n", body.to_owned());
    for first in [busy(429, "slow down"), busy(503, ""), busy(500, "{}"), Answer::Nothing] {
        let (asking, server) = asking(vec![first, Answer::Events(saying(&["Ok."]))], "Hi").await;
        let asked = asking.ask().await;
        assert_eq!(asked.outcome.output, "Ok.", "{:?}", asked.outcome.error);
        assert_eq!(asked.facts("retry").len(), 1);
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn patience_ends() {
    let (asking, server) = asking(
        vec![Answer::Plain(429, "", json!({ "error": { "message": "Quota." } }).to_string())],
        "Hi",
    )
    .await;
    let asked = asking.ask().await;
    assert_eq!(server.requests().len(), 3);
    assert_eq!(asked.facts("retry").len(), 2);
    let error = "openai_compatible: the server answered 429: Quota.";
    assert_eq!(asked.outcome.error.as_deref(), Some(error));
    assert_eq!(asked.payloads(&Kind::Error)[0]["message"], "Quota.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_told_at_once_and_without_the_key() {
    let body =
        json!({ "error": { "message": format!("Bad key {KEY}"), "code": "invalid_api_key" } });
    let (asking, server) = asking(vec![Answer::Plain(401, "", body.to_string())], "Hi").await;
    let asked = asking.ask().await;
    assert_eq!(server.requests().len(), 1);
    assert_eq!(asked.outcome.status, WorkStatus::Failed);
    let error = "openai_compatible: the server answered 401: Bad key ***";
    assert_eq!(asked.outcome.error.as_deref(), Some(error));
    assert_eq!(asked.payloads(&Kind::Error)[0]["code"], "invalid_api_key");
    assert!(!has_secret(&asked));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_repeats_the_key_does_not_get_it_recorded() {
    let (asking, _server) =
        asking(vec![Answer::Events(saying(&["Your key is ", KEY, "."]))], "Hi").await;
    let asked = asking.ask().await;
    assert_eq!(asked.outcome.output, "Your key is ***.");
    assert!(!has_secret(&asked));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_knows_no_usage_is_not_asked_for_it() {
    let refusal = json!({ "error": { "message": "unknown field stream_options" } }).to_string();
    let answers = vec![Answer::Plain(400, "", refusal), Answer::Events(saying(&["Ok."]))];
    let (asking, server) = asking(answers, "Hi").await;
    assert_eq!(asking.ask().await.outcome.output, "Ok.");
    assert!(server.requests()[1].body.get("stream_options").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_before_a_cut_is_kept() {
    let half = vec![chunk(&json!({ "role": "assistant", "content": "Half a" }), None)];
    for answer in [Answer::Events(half.clone()), Answer::EventsThenBreak(half.clone())] {
        let (asking, _server) = asking(vec![answer], "Hi").await;
        let asked = asking.ask().await;
        assert_eq!(asked.outcome.status, WorkStatus::Failed);
        assert_eq!(asked.texts(), ["Half a"]);
    }
    let (asking, _server) = asking(vec![Answer::EventsThenSilence(half)], "Hi").await;
    let asked = asking
        .ask_and_stop(StopReason::TimedOut, |seen| !seen.shown.lock().unwrap().is_empty())
        .await;
    assert_eq!(asked.outcome.status, WorkStatus::TimedOut);
    assert_eq!(asked.texts(), ["Half a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_in_the_middle_of_an_answer_is_one() {
    let events = vec![
        chunk(&json!({ "role": "assistant", "content": "Half a" }), None),
        json!({ "error": { "message": "overloaded", "code": 503 } }).to_string(),
    ];
    let (asking, _server) = asking(vec![Answer::Events(events)], "Hi").await;
    let asked = asking.ask().await;
    assert_eq!(asked.outcome.error.as_deref(), Some("openai_compatible: overloaded"));
    assert_eq!(asked.texts(), ["Half a"]);
}

/// A tool that adds.
struct Adding(ToolSpec);

impl Adding {
    fn named(name: &str) -> Arc<dyn Tool> {
        Arc::new(Adding(ToolSpec {
            name: name.to_owned(),
            description: "Adds two numbers.".to_owned(),
            input_schema: json!({ "type": "object" }),
            provider: "builtin".to_owned(),
            is_read_only: true,
        }))
    }
}

impl Tool for Adding {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(&'a self, input: Value, _: &'a CallContext) -> Calling<'a> {
        Box::pin(async move {
            let number = |key: &str| input[key].as_i64();
            // The first of several takes longest, so that they end in another order than they began.
            tokio::time::sleep(Duration::from_millis(number("wait").unwrap_or(0) as u64)).await;
            match number("a").zip(number("b")) {
                Some((a, b)) => ToolAnswer::completed(json!({ "sum": a + b })),
                None => ToolAnswer::failed("two numbers are needed"),
            }
        })
    }
}

/// Gives the model the tool that adds.
fn give_adding(asking: &mut Asking) {
    asking.tools.builtins = vec![Adding::named("add")];
    let plugin_tools = Vec::new();
    asking.job.mcp_proxy = Some(McpProxy { enable: true, intercept_builtins: true, plugin_tools });
}

/// Returns the ids of what was recorded of a kind, in the order of the lines.
fn ids(asked: &Asked, kind: &Kind) -> Vec<String> {
    let payloads = asked.payloads(kind).into_iter();
    payloads.map(|payload| payload["call_id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_called_and_recorded_once() {
    let answers = vec![
        Answer::Events(calling(&[
            ("call_1", "add", "{\"a\":1,\"b\":2}"),
            ("call_2", "sub", "{}"),
            ("call_3", "add", "{\"a\":"),
            ("call_4", "add", "{}"),
        ])),
        Answer::Events(saying(&["Three."])),
    ];
    let (mut asking, server) = asking(answers, "1+2?").await;
    give_adding(&mut asking);
    let asked = asking.ask().await;
    assert_eq!(asked.outcome.output, "Three.", "{:?}", asked.outcome.error);
    let mut ends: Vec<_> = asked
        .payloads(&Kind::ToolResult)
        .iter()
        .map(|end| (end["call_id"].to_string(), end["status"].clone(), end["fidelity"].clone()))
        .collect();
    ends.sort_by(|one, other| one.0.cmp(&other.0));
    let end = |id: &str, status: &str| (json!(id).to_string(), json!(status), json!("router"));
    assert_eq!(
        ends,
        [
            end("call_1", "completed"),
            end("call_2", "failed"),
            end("call_3", "failed"),
            end("call_4", "failed"),
        ]
    );
    let mut begun = ids(&asked, &Kind::ToolCall);
    begun.sort();
    assert_eq!(begun, ["call_1", "call_2", "call_3", "call_4"]);
    let requests = server.requests();
    assert_eq!(requests[0].body["tools"][0]["function"]["name"], "add");
    let sent = &requests[1].body["messages"];
    assert_eq!(sent[1]["tool_calls"][0]["function"]["arguments"], "{\"a\":1,\"b\":2}");
    let expected = json!({ "role": "tool", "tool_call_id": "call_1", "content": "{\"sum\":3}" });
    assert_eq!(sent[2], expected);
    assert_eq!(sent[3]["content"], "Error: there is no tool `sub`; there are add");
    assert_eq!(sent[5]["content"], "Error: two numbers are needed");
    assert_eq!(asked.outcome.usage.unwrap().total(), Some(50));
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_one_reply_run_at_once_and_are_answered_in_their_order() {
    let answers = vec![
        Answer::Events(calling(&[
            ("slow", "add", "{\"a\":1,\"b\":2,\"wait\":200}"),
            ("fast", "add", "{\"a\":3,\"b\":4}"),
        ])),
        Answer::Events(saying(&["Done."])),
    ];
    let (mut asking, server) = asking(answers, "Both.").await;
    give_adding(&mut asking);
    let asked = asking.ask().await;
    assert_eq!(ids(&asked, &Kind::ToolResult), ["fast", "slow"]);
    let sent = &server.requests()[1].body["messages"];
    assert_eq!(
        (&sent[2]["tool_call_id"], &sent[3]["tool_call_id"]),
        (&json!("slow"), &json!("fast"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_a_model_uses_again_becomes_another() {
    let call = |a: &'static str| Answer::Events(calling(&[("call_0", "add", a)]));
    let answers = vec![
        call("{\"a\":1,\"b\":2}"),
        call("{\"a\":3,\"b\":4}"),
        Answer::Events(calling(&[("", "add", "{}"), ("", "add", "{}")])),
        Answer::Events(saying(&["Done."])),
    ];
    let (mut asking, server) = asking(answers, "Twice.").await;
    give_adding(&mut asking);
    let asked = asking.ask().await;
    let begun = ids(&asked, &Kind::ToolCall);
    let distinct: BTreeSet<&String> = begun.iter().collect();
    assert_eq!((begun.len(), distinct.len()), (4, 4), "{begun:?}");
    assert_eq!(begun[..2], ["call_0", "call_0-2"]);
    let blocks: Vec<Value> = asked
        .payloads(&Kind::MessageAssistant)
        .iter()
        .flat_map(|message| message["blocks"].as_array().unwrap().clone())
        .filter(|block| block["type"] == "tool_use")
        .map(|block| block["tool_id"].clone())
        .collect();
    let blocks: BTreeSet<&str> = blocks.iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!(blocks, begun.iter().map(String::as_str).collect());
    let sent = &server.requests()[2].body["messages"];
    assert_eq!(sent[3]["tool_calls"][0]["id"], sent[4]["tool_call_id"]);
    assert_eq!(sent[4]["tool_call_id"], "call_0-2");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_proxy_that_is_enabled_a_model_has_no_tools() {
    let proxies = [None, Some(McpProxy { enable: false, ..McpProxy::default() })];
    for proxy in proxies {
        let (mut asking, server) = asking(vec![Answer::Events(saying(&["Hi."]))], "Hi").await;
        give_adding(&mut asking);
        asking.job.mcp_proxy = proxy;
        assert_eq!(asking.ask().await.outcome.output, "Hi.");
        assert!(server.requests()[0].body.get("tools").is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_under_way_when_a_step_is_stopped_has_a_result() {
    let answers =
        vec![Answer::Events(calling(&[("long", "add", "{\"a\":1,\"b\":2,\"wait\":600000}")]))];
    let (mut asking, _server) = asking(answers, "Wait.").await;
    give_adding(&mut asking);
    let asked = asking.ask_and_stop(StopReason::Canceled, |seen| seen.has(&Kind::ToolCall)).await;
    assert_eq!(asked.outcome.status, WorkStatus::Canceled);
    let results = asked.payloads(&Kind::ToolResult);
    assert_eq!((results.len(), &results[0]["error"]), (1, &json!("canceled")));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tools_of_one_name_fail_the_step_that_wants_both() {
    let (mut asking, server) = asking(vec![Answer::Events(saying(&["Hi."]))], "Hi").await;
    give_adding(&mut asking);
    asking.tools.builtins.push(Adding::named("http_request"));
    let http = PluginTools { plugin: "http".to_owned(), expose: vec!["request".to_owned()] };
    asking.job.mcp_proxy.as_mut().unwrap().plugin_tools.push(http);
    let error = asking.ask().await.outcome.error.unwrap();
    assert!(error.contains("the tool name `http_request` is taken"), "{error}");
    assert!(server.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_only_calls_tools_comes_to_an_end() {
    let answers = vec![Answer::Events(calling(&[("call_1", "add", "{\"a\":1,\"b\":2}")]))];
    let (mut asking, server) = asking(answers, "1+2?").await;
    give_adding(&mut asking);
    let asked = asking.ask().await;
    let error = "openai_compatible: no answer after 25 rounds of tool calls";
    assert_eq!(asked.outcome.error.as_deref(), Some(error));
    assert_eq!(server.requests().len(), 25);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_repeats_what_was_said() {
    let answers = vec![Answer::Events(saying(&["One."])), Answer::Events(saying(&["Two."]))];
    let (asking, server) = asking(answers, "First").await;
    let asked = asking.system("Be brief.").conversation(&["Second", ""]).ask().await;
    assert_eq!(asked.outcome.output, "Two.");
    let expected = json!([
        { "role": "system", "content": "Be brief." }, { "role": "user", "content": "First" },
        { "role": "assistant", "content": "One." }, { "role": "user", "content": "Second" },
    ]);
    assert_eq!(server.requests()[1].body["messages"], expected);
    let turns: Vec<_> =
        asked.payloads(&Kind::MessageAssistant).iter().map(|m| m["turn"].clone()).collect();
    assert_eq!(turns, [1, 2]);

    let session = asked.outcome.session.clone().unwrap();
    let kept = asked.settings.sessions.history(&session).unwrap();
    let restored = Sessions::default();
    restored.restore(&session, &events(&asked));
    assert_eq!(restored.history(&session), Some(kept));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_nobody_remembers_is_not_made_up() {
    let (mut asking, server) = asking(vec![Answer::Events(saying(&["One."]))], "Go on").await;
    asking.job.resume = Some("chat-lost".to_owned());
    let asked = asking.ask().await;
    assert_eq!(asked.outcome.error.as_deref(), Some("the session chat-lost is not known here"));
    assert!(server.requests().is_empty());
}

/// Seals what was recorded, as a recorder would.
fn events(asked: &Asked) -> Vec<Event> {
    let run = RunIdentity { run_id: RunId::parse("r").unwrap(), parent_run_id: None };
    let now = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
    let drafts = asked.drafts.iter().cloned().zip(1..);
    drafts.map(|(draft, seq)| draft.seal(seq, &run, now)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_must_be_named() {
    let mut asking =
        Asking::new("openai_compatible", "Hi").option("base_url", "http://127.0.0.1:9");
    asking.job.env.insert("OPENAI_MODEL".to_owned(), String::new());
    if std::env::var_os("OPENAI_MODEL").is_none() {
        let error = asking.ask().await.outcome.error.unwrap();
        assert!(error.contains("which model?"), "{error}");
    }
}
