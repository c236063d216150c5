//! Pushing spans to a real HTTP server on this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use quipu_export::{OtlpPush, PushError, PushSettings};
use quipu_testkit::{TestStorage, complete_run, run_id};
use quipu_view::{FileTree, FileView, OtlpView, Shelf, SpokenContent};

/// A request as the server got it.
struct Got {
    head: String,
    body: Vec<u8>,
}

/// Answers with `answers`, one request each, and returns the requests.
fn server(answers: Vec<&'static str>) -> (String, JoinHandle<Vec<Got>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = spawn(move || {
        answers.iter().map(|answer| serve(&listener.accept().unwrap().0, answer)).collect()
    });
    (url, serving)
}

fn serve(mut stream: &TcpStream, answer: &str) -> Got {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "a request has a head");
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.trim().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let (status, rest) = answer.split_once('\n').unwrap_or((answer, ""));
    let (headers, text) = rest.split_once('\n').unwrap_or((rest, ""));
    let headers = if headers.is_empty() { String::new() } else { format!("{headers}\r\n") };
    let length = text.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{text}"
    );
    stream.write_all(answer.as_bytes()).unwrap();
    Got { head, body }
}

fn settings(url: &str) -> PushSettings {
    let settings = PushSettings::new(Some(url), |_| None).unwrap();
    PushSettings { pause: Duration::from_millis(1), attempts: 3, ..settings }
}

fn fold(shelf: &mut dyn Shelf) {
    let storage = TestStorage::new();
    storage.record("r", complete_run(&run_id("child")));
    let mut view = OtlpView::new(&run_id("r"), SpokenContent::Carried);
    storage.events("r").iter().for_each(|event| view.add(event, shelf));
    view.finish(shelf);
}

#[test]
fn what_is_pushed_is_what_an_export_writes() {
    let (url, serving) = server(vec!["200 OK\n\n{\"partialSuccess\":{}}"]);
    let with_key =
        PushSettings { headers: vec![("x-api-key".into(), "k=1".into())], ..settings(&url) };
    let mut push = OtlpPush::new(with_key).unwrap();
    fold(&mut push);
    let pushed = push.finish().unwrap();
    let mut tree = FileTree::default();
    fold(&mut tree);
    let got = serving.join().unwrap();
    assert!(got[0].head.starts_with("post /v1/traces http/1.1"), "{}", got[0].head);
    assert!(got[0].head.contains("content-type: application/json"));
    assert!(got[0].head.contains("x-api-key: k=1"));
    assert_eq!(got[0].body, tree.text("r.otlp.jsonl").unwrap().trim_end().as_bytes());
    assert_eq!((pushed.requests, pushed.rejected), (1, 0));
    assert_eq!(
        pushed.spans,
        tree.text("r.otlp.jsonl").unwrap().matches("\"spanId\"").count() as u64
    );
}

#[test]
fn a_busy_endpoint_is_asked_again_and_says_what_it_did_not_take() {
    let taken =
        "200 OK\n\n{\"partialSuccess\":{\"rejectedSpans\":\"2\",\"errorMessage\":\"too old\"}}";
    let (url, serving) = server(vec!["503 Busy\nretry-after: 0", "429 Busy", taken]);
    let mut push = OtlpPush::new(settings(&url)).unwrap();
    fold(&mut push);
    let pushed = push.finish().unwrap();
    assert_eq!((pushed.requests, pushed.rejected), (1, 2));
    assert_eq!(pushed.messages, ["too old"]);
    assert_eq!(serving.join().unwrap().len(), 3);
}

#[test]
fn what_is_refused_for_good_is_not_tried_again() {
    let (url, serving) = server(vec!["401 No\n\nwho are you"]);
    let mut push = OtlpPush::new(settings(&url)).unwrap();
    fold(&mut push);
    let error = push.finish().unwrap_err();
    assert!(
        matches!(&error, PushError::Refused { status: 401, body, .. } if body == "who are you")
    );
    assert_eq!(serving.join().unwrap().len(), 1);
}

#[test]
fn a_redirect_is_not_followed_for_nobody_took_anything_there() {
    let (url, serving) = server(vec!["302 Found\nlocation: /login"]);
    let mut push = OtlpPush::new(settings(&url)).unwrap();
    fold(&mut push);
    let error = push.finish().unwrap_err();
    assert!(matches!(&error, PushError::Redirected { to, .. } if to == "/login"), "{error}");
    assert_eq!(serving.join().unwrap().len(), 1);
}

#[test]
fn an_endpoint_that_stays_busy_or_is_not_there_is_an_error() {
    let (url, serving) = server(vec!["503 Busy"; 3]);
    let mut push = OtlpPush::new(settings(&url)).unwrap();
    fold(&mut push);
    assert!(matches!(push.finish(), Err(PushError::Refused { status: 503, .. })));
    serving.join().unwrap();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut push = OtlpPush::new(settings(&format!("http://{nobody}"))).unwrap();
    fold(&mut push);
    assert!(matches!(push.finish(), Err(PushError::Unreachable { attempts: 3, .. })));
}

#[test]
fn requests_are_compressed_if_asked_for() {
    let (url, serving) = server(vec!["200 OK"]);
    let mut push = OtlpPush::new(PushSettings { gzip: true, ..settings(&url) }).unwrap();
    fold(&mut push);
    push.finish().unwrap();
    let got = serving.join().unwrap();
    assert!(got[0].head.contains("content-encoding: gzip"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(&got[0].body[..]).read_to_string(&mut text).unwrap();
    assert!(text.starts_with("{\"resourceSpans\""));
}

#[test]
fn settings_come_from_the_command_then_from_the_variables_of_opentelemetry() {
    let variables = |pairs: &'static [(&str, &str)]| {
        move |name: &str| {
            let found = pairs.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        }
    };
    let both = variables(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318/"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x, b=2"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "50"),
        ("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "gzip"),
    ]);
    let cases = [
        (Some("http://h:1"), "http://h:1/v1/traces"),
        (Some("http://h:1/"), "http://h:1/v1/traces"),
        (Some("https://h/custom/traces"), "https://h/custom/traces"),
        (None, "http://all:4318/v1/traces"),
    ];
    for (url, expected) in cases {
        assert_eq!(PushSettings::new(url, both).unwrap().url, expected);
    }
    let settings = PushSettings::new(None, both).unwrap();
    let headers = [("authorization", "Bearer x"), ("b", "2")].map(|(k, v)| (k.into(), v.into()));
    assert_eq!(settings.headers, headers);
    assert_eq!((settings.gzip, settings.timeout), (true, Duration::from_millis(50)));
    let exact = variables(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/x")]);
    assert_eq!(PushSettings::new(None, exact).unwrap().url, "http://t/x");
    let none = PushSettings::new(None, |_| None).unwrap();
    assert_eq!(none.url, "http://localhost:4318/v1/traces");
    for url in ["no address", "127.0.0.1:4318", "ftp://h/x"] {
        assert!(PushSettings::new(Some(url), |_| None).is_err(), "{url}");
    }
    let secret = PushSettings::new(Some("http://me:secret@h:1"), |_| None).unwrap();
    assert_eq!(secret.url, "http://me:secret@h:1/v1/traces");
    assert_eq!(secret.shown_url(), "http://me:***@h:1/v1/traces");
    let bad = variables(&[("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")]);
    assert!(matches!(PushSettings::new(None, bad), Err(PushError::Setting { .. })));
}
