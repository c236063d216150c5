//! Whatever a client sends, the server survives it, and others are served.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::lines::{HELLO, Line};
use super::toolset::Tools;

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z/]{0,12}|\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("name|arguments|_meta|cursor|[a-z]{1,4}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Something that is nearly a message.
fn nearly() -> impl Strategy<Value = Vec<u8>> {
    let methods = prop::sample::select(vec![
        "initialize",
        "ping",
        "tools/list",
        "tools/call",
        "server/discover",
        "subscriptions/listen",
        "resources/list",
        "tasks/get",
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
        "no/such",
    ]);
    let id = prop_oneof![
        Just(None),
        (0..4_i64).prop_map(|id| Some(json!(id))),
        any_value().prop_map(Some)
    ];
    let params = prop_oneof![
        Just(None),
        Just(Some(json!({"name": "echo", "arguments": {}}))),
        Just(Some(json!({"name": "panic"}))),
        Just(Some(json!({"requestId": 1}))),
        any_value().prop_map(Some),
    ];
    (methods, id, params).prop_map(|(method, id, params)| {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if let Some(id) = id {
            message["id"] = id;
        }
        if let Some(params) = params {
            message["params"] = params;
        }
        message.to_string().into_bytes()
    })
}

fn any_line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => nearly(),
        2 => any_value().prop_map(|value| value.to_string().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
        1 => Just(HELLO.as_bytes().to_vec()),
    ]
}

/// Sends lines, waits until they have been dealt with, and asks a new connection for a sign of life.
async fn survives(begin: bool, lines: Vec<Vec<u8>>) {
    let tools = Tools::new();
    let (mut line, serving) = Line::open(tools.clone());
    if begin {
        line.say(HELLO.as_bytes()).await;
    }
    for said in &lines {
        line.say(said).await;
    }
    line.say(br#"{"jsonrpc":"2.0","id":"last","method":"ping"}"#).await;
    while let Some(heard) = line.hear().await {
        assert_eq!(heard["jsonrpc"], "2.0", "{heard}");
        if heard["id"] == "last" {
            break;
        }
    }
    drop(line);
    let ended = tokio::time::timeout(Duration::from_secs(60), serving).await.expect("it ends");
    assert!(!ended.is_err_and(|cause| cause.is_panic()), "the server panicked");
    let (mut other, _serving) = Line::open(tools);
    other.say(HELLO.as_bytes()).await;
    assert_eq!(other.hear().await.unwrap()["result"]["serverInfo"]["name"], "trial");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_a_client_sends_the_server_survives(
        begin in any::<bool>(),
        lines in prop::collection::vec(any_line(), 0..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(survives(begin, lines));
    }
}
