//! `quipu export --push`: spans sent to a real HTTP server on this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{JoinHandle, spawn};

use serde_json::{Value, json};

use crate::transcripts;

/// Answers each request with one of `answers`, a status and a body, and returns what was posted.
fn endpoint(
    answers: &'static [(&'static str, &'static str)],
) -> (String, JoinHandle<Vec<(String, Value)>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = spawn(move || {
        answers.iter().map(|answer| serve(&listener.accept().unwrap().0, *answer)).collect()
    });
    (url, serving)
}

fn serve(mut stream: &TcpStream, (status, text): (&str, &str)) -> (String, Value) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "a request has a head");
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.trim().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let length = text.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nretry-after: 0\r\nlocation: /elsewhere\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n{text}"
    )
    .unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}

/// Returns the spans of a request.
fn spans(request: &Value) -> &Vec<Value> {
    request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap()
}

#[test]
fn a_run_and_those_it_calls_arrive_as_one_trace() {
    let (url, serving) = endpoint(&[("200 OK", "{}"); 2]);
    let session = transcripts::session();
    let outcome = session.quipu(&["export", "last", "--to", "otlp", "--push", &url]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let got = serving.join().unwrap();
    let all: Vec<&Value> = got.iter().flat_map(|(_, request)| spans(request)).collect();
    let told = format!("2 runs as otlp at {url}/v1/traces: {} spans in 2 requests\n", all.len());
    assert_eq!(outcome.stdout, told);
    assert!(all.iter().all(|span| span["traceId"] == all[0]["traceId"]), "{all:?}");
    let parents: Vec<_> = all.iter().filter_map(|span| span.get("parentSpanId")).collect();
    assert_eq!(parents.len(), all.len() - 1, "only the trace itself hangs below nothing");
    for parent in parents {
        assert!(all.iter().any(|span| span["spanId"] == *parent), "{parent} is nowhere");
    }
}

#[test]
fn variables_say_where_and_a_script_reads_what_was_not_taken() {
    const PARTLY: &str = r#"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}"#;
    let (url, serving) = endpoint(&[("429 Slow down", ""), ("503 Busy", ""), ("200 OK", PARTLY)]);
    let session = transcripts::session()
        .with_variable("OTEL_EXPORTER_OTLP_ENDPOINT", &url)
        .with_variable("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20k");
    let outcome =
        session.quipu(&["export", "last", "--no-called", "--to", "otlp", "--push", "--json"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let got = serving.join().unwrap();
    assert!(got.iter().all(|(head, _)| head.contains("authorization: bearer k\r\n")), "{got:?}");
    assert_eq!(got[0].1, got[2].1, "the same is sent again");
    let told = outcome.json();
    assert_eq!(told["url"], format!("{url}/v1/traces"));
    assert_eq!((&told["requests"], &told["rejected_spans"]), (&json!(1), &json!(1)));
    assert_eq!(told["spans"], spans(&got[2].1).len() - 1);
    assert_eq!(told["messages"], json!(["too old"]));
    assert!(outcome.stderr.contains("note: 1 span refused by the endpoint\n"), "{outcome:?}");
    assert_eq!(outcome.stderr.matches("; trying again in ").count(), 2, "{outcome:?}");
}

#[test]
fn what_is_not_taken_is_a_failure() {
    let cases: [(&'static [(&str, &str)], &str); 2] = [
        (&[("400 Bad", "no such thing")], "/v1/traces answered 400: no such thing\n"),
        (&[("302 Found", "")], "/v1/traces sends whoever posts there to /elsewhere\n"),
    ];
    for (answers, told) in cases {
        let (url, serving) = endpoint(answers);
        let session = transcripts::session();
        let push = ["export", "last", "--no-called", "--to", "otlp", "--push", &url];
        let outcome = session.quipu(&push);
        serving.join().unwrap();
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(4), ""));
        assert_eq!(outcome.stderr, format!("error: {url}{told}"));
    }
}

#[test]
fn what_cannot_be_pushed_or_where_is_told_at_once() {
    let session = transcripts::session();
    for (to, url, told) in [
        ("atif", "http://127.0.0.1:1", "atif cannot be pushed"),
        ("otlp", "127.0.0.1:4318", "is not an address that begins with http:// or https://"),
    ] {
        let outcome = session.quipu(&["export", "last", "--to", to, "--push", url]);
        assert_eq!(outcome.code, Some(1));
        assert!(outcome.stderr.contains(told), "{outcome:?}");
    }
}
