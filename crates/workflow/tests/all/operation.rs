//! Operations against a real server on loopback: what they send, what they make of the answer.

mod gh;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use quipu_event::{Draft, StepPath};
use quipu_journal::SystemClock;
use quipu_workflow::display::DisplayEvent;
use quipu_workflow::driver::Site;
use quipu_workflow::engine::{Occurrence, OperationJob, Outcome, WorkStatus};
use quipu_workflow::operation::OperationSettings;
use quipu_workflow::process::{StopReason, StopSignal};
use quipu_workflow::scribe::Scribe;
use quipu_workflow::toolbox::{Place, ToolSettings, Toolbox, operate};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

const TOKEN: &str = "ghp_very-secret-token";

/// A request as it arrived.
#[derive(Clone, Debug)]
struct Asked {
    line: String,
    headers: BTreeMap<String, String>,
    body: String,
}

impl Asked {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// What the server answers: status, content type, body; nothing at all for a status of 0.
type Reply = (u16, &'static str, String);

struct Server {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    async fn start(reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, reply) = (Arc::clone(&asked), Arc::new(reply));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, reply) = (Arc::clone(&seen), Arc::clone(&reply));
                tokio::spawn(async move { answer(stream, &seen, &*reply).await });
            }
        });
        Server { address, asked }
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn answer(mut stream: TcpStream, seen: &Mutex<Vec<Asked>>, reply: &impl Fn(&Asked) -> Reply) {
    let mut bytes = Vec::new();
    let asked = loop {
        let mut part = [0; 4096];
        let count = stream.read(&mut part).await.unwrap();
        bytes.extend_from_slice(&part[..count]);
        if let Some(asked) = parsed(&bytes) {
            break asked;
        }
        if count == 0 {
            return;
        }
    };
    let (status, content_type, body) = reply(&asked);
    seen.lock().unwrap().push(asked);
    if status == 0 {
        std::future::pending::<()>().await;
    }
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\
         x-trace-id: abc\r\nconnection: close\r\n\r\n",
        body.len()
    );
    // A client that has read enough goes away before all is sent.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(body.as_bytes()).await;
}

fn parsed(bytes: &[u8]) -> Option<Asked> {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let line = lines.next()?.to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    (body.len() >= length).then(|| Asked { line, headers, body: body.to_owned() })
}

fn settings(server: &Server) -> OperationSettings {
    let variables = BTreeMap::from([
        ("GITHUB_API_URL", server.address.clone()),
        ("GH_TOKEN", TOKEN.to_owned()),
        ("GITHUB_REPOSITORY", "octo/hello".to_owned()),
        ("NTFY_URL", server.address.clone()),
        ("SLACK_WEBHOOK_URL", format!("{}/slack", server.address)),
    ]);
    OperationSettings::from_variables("/", |name| variables.get(name).cloned())
}

/// Writes down what is recorded.
#[derive(Default)]
struct Written(Mutex<Vec<Draft>>);

impl Scribe for Written {
    fn record(&self, draft: Draft) {
        self.0.lock().unwrap().push(draft);
    }

    fn show(&self, _: DisplayEvent) {}
}

/// Does what a step would, and checks that it leaves one call and one result.
async fn perform(job: OperationJob, stop: StopSignal, settings: &OperationSettings) -> Outcome {
    let (env, none) = (BTreeMap::new(), BTreeMap::new());
    let place = Place { env: &env, dir: "/".as_ref(), marks: &|_| BTreeMap::new() };
    let has_token = settings.github_token.is_some();
    let settings = Arc::new(ToolSettings::new(settings.clone()));
    let written = Arc::new(Written::default());
    let site = Site {
        at: Occurrence { path: StepPath::from("each[2].fetch"), iteration: 2, attempt: 1 },
        scribe: written.clone(),
        stop,
        dir: "/".into(),
        toolbox: Arc::new(Toolbox::open(&settings, &none, &place)),
        marks: Arc::default(),
        clock: Arc::new(SystemClock),
    };
    let outcome = operate(&job.operation, job.inputs, &site).await;
    let drafts = written.0.lock().unwrap();
    let told: Vec<_> =
        drafts.iter().map(|it| (it.kind.as_str(), it.path.as_str(), it.iteration)).collect();
    let at = "each[2].fetch";
    assert_eq!(told, [("tool.call", at, 2), ("tool.result", at, 2)]);
    let payloads: Vec<Value> = drafts.iter().map(|it| it.payload.decode().unwrap()).collect();
    for payload in &payloads {
        assert_eq!(payload["name"], job.operation.replace('.', "_"));
        assert_eq!(payload["fidelity"], "router");
        assert_eq!(payload["call_id"], payloads[0]["call_id"]);
        assert!(!has_token || !payload.to_string().contains(TOKEN), "{payload}");
    }
    assert_eq!(payloads[0]["provider"], "builtin");
    let status = match outcome.status {
        WorkStatus::Succeeded => "completed",
        _ => "failed",
    };
    assert_eq!(payloads[1]["status"], status);
    outcome
}

async fn run(server: &Server, operation: &str, inputs: Value) -> Outcome {
    let (_going_on, stop) = watch::channel(None);
    perform(job(operation, inputs), stop, &settings(server)).await
}

fn job(operation: &str, inputs: Value) -> OperationJob {
    let Value::Object(inputs) = inputs else { panic!("inputs are an object") };
    OperationJob { operation: operation.to_owned(), inputs }
}

fn value<'a>(outcome: &'a Outcome, name: &str) -> &'a Value {
    &outcome.value.as_ref().unwrap()[name]
}

#[tokio::test]
async fn a_request_sends_what_it_is_given_and_its_answer_is_named_values() {
    let server = Server::start(|_| (200, "application/json", r#"{"id":7}"#.into())).await;
    let inputs = json!({
        "method": "post", "url": format!("{}/things?a=b", server.address),
        "headers": {"X-Kind": "test"}, "body": {"name": "x"}, "timeout": "20s",
    });
    let outcome = run(&server, "http.request", inputs).await;
    assert_eq!(outcome.status, WorkStatus::Succeeded, "{:?}", outcome.error);
    assert_eq!(value(&outcome, "status_code"), &json!(200));
    assert_eq!(value(&outcome, "body_json"), &json!({"id": 7}));
    assert_eq!(value(&outcome, "headers")["X-Trace-Id"], json!("abc"));
    let names: Vec<_> =
        outcome.output.lines().map(|line| line.split_once('=').unwrap().0).collect();
    assert_eq!(names, ["body", "body_json", "body_truncated", "headers", "status_code"]);
    assert!(outcome.output.starts_with("body={\"id\":7}\n"), "{}", outcome.output);
    let asked = &server.asked()[0];
    assert_eq!(asked.line, "POST /things?a=b HTTP/1.1");
    assert_eq!(asked.json(), json!({"name": "x"}));
    assert_eq!(asked.headers["content-type"], "application/json");
    assert_eq!(asked.headers["x-kind"], "test");
}

#[tokio::test]
async fn an_error_status_fails_only_when_the_step_says_so_and_keeps_the_answer() {
    let cases = [
        (404, json!({}), None),
        (404, json!({"fail_on_error": true}), Some("http.request: http 404 Not Found")),
        (503, json!({"retryable_status_codes": [502, 503]}), Some("http.request: http 503")),
        (503, json!({"retryable_status_codes": [429]}), None),
        (200, json!({"fail_on_error": "true"}), None),
    ];
    for (status, mut inputs, error) in cases {
        let server = Server::start(move |_| (status, "text/plain", "said".into())).await;
        inputs["url"] = json!(server.address);
        let outcome = run(&server, "http.request", inputs.clone()).await;
        match error {
            None => assert_eq!(outcome.status, WorkStatus::Succeeded, "{status} {inputs}"),
            Some(error) => {
                assert_eq!(outcome.status, WorkStatus::Failed, "{status} {inputs}");
                assert!(outcome.error.as_ref().unwrap().starts_with(error), "{outcome:?}");
            }
        }
        assert_eq!(value(&outcome, "status_code"), &json!(status));
        assert_eq!(value(&outcome, "body"), &json!("said"));
    }
}

#[tokio::test]
async fn a_body_beyond_ten_mebibytes_is_cut_and_says_so() {
    let server = Server::start(|_| (200, "text/plain", "x".repeat(11 << 20))).await;
    let outcome = run(&server, "http.request", json!({"url": server.address})).await;
    assert_eq!(value(&outcome, "body").as_str().unwrap().len(), 10 << 20);
    assert_eq!(value(&outcome, "body_truncated"), &json!(true));
    assert!(outcome.truncated);
}

#[tokio::test]
async fn a_request_that_is_never_answered_ends_by_its_timeout() {
    let server = Server::start(|_| (0, "", String::new())).await;
    let inputs = json!({"url": server.address, "timeout": "50ms"});
    let outcome = run(&server, "http.request", inputs).await;
    assert_eq!(outcome.status, WorkStatus::TimedOut);
    assert_eq!(outcome.error.unwrap(), "http.request: no answer within 50ms");
}

#[tokio::test]
async fn stopping_ends_a_request_under_way() {
    let cases = [
        (StopReason::Canceled, WorkStatus::Canceled),
        (StopReason::Now, WorkStatus::Canceled),
        (StopReason::TimedOut, WorkStatus::TimedOut),
    ];
    for (reason, status) in cases {
        let server = Server::start(|_| (0, "", String::new())).await;
        let (stopper, stop) = watch::channel(None);
        let settings = settings(&server);
        let job = job("http.request", json!({"url": server.address}));
        let work = tokio::spawn(async move { perform(job, stop, &settings).await });
        while server.asked().is_empty() {
            tokio::task::yield_now().await;
        }
        stopper.send(Some(reason)).unwrap();
        assert_eq!(work.await.unwrap().status, status);
    }
}

#[tokio::test]
async fn an_address_never_appears_in_an_error() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let server = Server::start(|_| (500, "text/plain", String::new())).await;
    let url = format!("http://user:hidden@{closed}/hidden?key=hidden");
    let cases = [
        ("http.request", json!({"url": url})),
        ("notify.send", json!({"backend": "webhook", "message": "m", "webhook_url": url})),
    ];
    for (operation, inputs) in cases {
        let outcome = run(&server, operation, inputs).await;
        let error = outcome.error.unwrap();
        assert_eq!(outcome.status, WorkStatus::Failed);
        assert!(!error.contains("hidden"), "{error}");
        assert!(error.contains(&closed.to_string()), "{error}");
    }
}

#[tokio::test]
async fn inputs_that_cannot_be_used_are_named() {
    let server = Server::start(|_| (200, "text/plain", String::new())).await;
    let cases = [
        ("http.request", json!({}), "http.request: input `url` is missing"),
        ("http.request", json!({"url": "ftp://x"}), "input `url` must begin with http://"),
        ("http.request", json!({"url": "http://x", "timeout": "soon"}), "`timeout` is \"soon\""),
        ("http.request", json!({"url": "http://x", "headers": "a"}), "`headers` must be a map"),
        ("notify.send", json!({"backend": "pigeon", "message": "m"}), "`backend` is \"pigeon\""),
        ("notify.send", json!({"backend": "ntfy", "message": "m"}), "`topic` is missing"),
        ("notify.send", json!({"backend": "ntfy"}), "`message` is missing"),
        ("github.get_issue", json!({}), "github.get_issue: input `number` is missing"),
        ("github.get_issue", json!({"number": "x"}), "`number` is \"x\": expected a whole number"),
        ("github.get_issue", json!({"number": 1, "repo": "a/../b"}), "expected owner/name"),
        ("github.batch", json!({"operations": [{"number": 1}]}), "operations[0]: `name`"),
        ("github.batch", json!({"operations": [{"name": "http.request"}]}), "operations[0]"),
        ("http.requset", json!({}), "did you mean `http.request`? there are http.request, "),
        ("github.set_magic", json!({}), "unknown operation `github.set_magic`"),
    ];
    for (operation, inputs, expected) in cases {
        let outcome = run(&server, operation, inputs.clone()).await;
        let error = outcome.error.unwrap_or_default();
        assert_eq!(outcome.status, WorkStatus::Failed, "{operation} {inputs}");
        assert!(error.contains(expected), "{operation} {inputs}: {error}");
    }
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn each_service_is_told_in_its_own_form() {
    let server = Server::start(|_| (200, "text/plain", "ok".into())).await;
    let url = |path: &str| format!("{}/{path}", server.address);
    let cases = [
        (
            json!({"backend": "ntfy", "topic": "t", "message": "größer", "priority": "high"}),
            ("/", json!({"topic": "t", "title": "Workflow", "message": "größer", "priority": 4})),
        ),
        (
            json!({"backend": "slack", "message": "m", "title": "T"}),
            ("/slack", json!({"text": "*T*\nm"})),
        ),
        (
            json!({"backend": "discord", "message": "m", "title": "T", "webhook_url": url("d")}),
            ("/d", json!({"content": "**T**\nm"})),
        ),
        (
            json!({"backend": "webhook", "message": "m", "webhook_url": url("w")}),
            ("/w", json!({"title": "Workflow", "message": "m", "priority": "default"})),
        ),
    ];
    for (inputs, (path, body)) in cases {
        let outcome = run(&server, "notify.send", inputs.clone()).await;
        assert_eq!(outcome.status, WorkStatus::Succeeded, "{:?}", outcome.error);
        let output =
            format!("backend={}\nresponse=ok\nstatus=200", inputs["backend"].as_str().unwrap());
        assert_eq!(outcome.output, output);
        let asked = server.asked().pop().unwrap();
        assert_eq!(asked.line, format!("POST {path} HTTP/1.1"));
        assert_eq!(asked.json(), body);
    }
}

#[tokio::test]
async fn a_service_that_refuses_fails_the_step() {
    let server = Server::start(|_| (403, "text/plain", "invalid_token".into())).await;
    let outcome = run(&server, "notify.send", json!({"backend": "slack", "message": "m"})).await;
    assert_eq!(outcome.error.as_deref(), Some("notify.send: slack: http 403 Forbidden"));
    assert_eq!(value(&outcome, "response"), &json!("invalid_token"));
}

/// Plays a small part of GitHub.
fn github(asked: &Asked) -> Reply {
    let path = asked.line.split(' ').nth(1).unwrap();
    let method = asked.line.split(' ').next().unwrap();
    let item = json!({
        "number": 5, "title": "T", "body": null, "state": "open", "html_url": "https://gh/5",
        "labels": [{"name": "bug", "color": "f00", "description": null, "id": 1}],
        "head": {"ref": "topic"}, "base": {"ref": "main"}, "mergeable": true, "merged_at": null,
    });
    let (status, body) = match (method, path) {
        ("GET", "/repos/octo/hello/issues/5" | "/repos/octo/hello/pulls/5") => (200, item),
        ("POST", "/repos/octo/hello/issues") => (201, item),
        ("POST", "/repos/octo/hello/pulls") if asked.json()["head"] == "taken" => (
            422,
            json!({"message": "Validation Failed",
                   "errors": [{"message": "A pull request already exists for octo:taken."}]}),
        ),
        ("POST", "/repos/octo/hello/pulls") => (201, item),
        ("GET", "/repos/octo/hello/pulls?state=open&per_page=1&head=octo%3Ataken") => {
            (200, json!([item]))
        }
        ("POST", "/repos/octo/hello/issues/5/comments") => {
            (201, json!({"id": 9, "html_url": "https://gh/5#9"}))
        }
        ("GET", path) if path.starts_with("/repos/octo/hello/issues/5/comments") => {
            let count = if path.ends_with("page=1") { 100 } else { 3 };
            let comment = json!({"id": 1, "user": {"login": "me"}, "body": "b",
                                 "created_at": "2026-01-01T00:00:00Z", "html_url": "u"});
            (200, Value::Array(vec![comment; count]))
        }
        ("POST", path) if path.ends_with("/labels") && !path.contains("999999") => (200, json!([])),
        _ => (404, json!({"message": format!("Not Found for {TOKEN}")})),
    };
    (status, "application/json", body.to_string())
}

/// Operations on that part of GitHub, with what they answer.
fn known() -> Vec<(&'static str, Value, Value)> {
    let labels = json!([{"name": "bug", "color": "f00", "description": null}]);
    let issue = json!({"number": 5, "url": "https://gh/5", "title": "T", "body": "",
                       "state": "OPEN", "labels": labels});
    let mut pull = issue.clone();
    for (name, known) in
        [("headRefName", "topic"), ("baseRefName", "main"), ("mergeable", "MERGEABLE")]
    {
        pull[name] = json!(known);
    }
    pull["mergedAt"] = Value::Null;
    let branches = |head: &str| json!({"title": "T", "head": head, "base": "main"});
    let created =
        |exists: bool| json!({"number": 5, "url": "https://gh/5", "already_exists": exists});
    vec![
        ("get_issue", json!({"number": "5"}), issue),
        ("get_issue", json!({"number": 5, "fields": ["title"]}), json!({"title": "T"})),
        ("get_pr", json!({"number": 5}), pull),
        (
            "create_issue",
            json!({"title": "T", "labels": "a, b"}),
            json!({"number": 5, "url": "https://gh/5"}),
        ),
        ("create_pr", branches("topic"), created(false)),
        ("create_pr", branches("taken"), created(true)),
        ("add_labels", json!({"number": 5, "labels": ["a", "b"]}), json!({"labels": "a,b"})),
        (
            "add_comment",
            json!({"number": 5, "body": "b"}),
            json!({"comment_id": 9, "url": "https://gh/5#9"}),
        ),
    ]
}

#[tokio::test]
async fn github_operations_answer_with_the_names_that_workflows_know() {
    let server = Server::start(github).await;
    for (name, inputs, expected) in known() {
        let outcome = run(&server, &format!("github.{name}"), inputs.clone()).await;
        assert_eq!(outcome.error, None, "{name} {inputs}");
        assert_eq!(outcome.value, Some(expected), "{name} {inputs}");
    }
    let asked = server.asked();
    assert!(asked.iter().all(|asked| asked.headers["authorization"] == format!("Bearer {TOKEN}")));
    assert_eq!(asked[3].json(), json!({"title": "T", "labels": ["a", "b"]}));
}

#[tokio::test]
async fn all_pages_of_comments_are_read_up_to_the_limit() {
    let server = Server::start(github).await;
    for (limit, total) in [(None, 103), (Some(50), 50), (Some(101), 101)] {
        let inputs = json!({"number": 5, "limit": limit});
        let outcome = run(&server, "github.list_comments", inputs).await;
        assert_eq!(value(&outcome, "total"), &json!(total), "{limit:?}");
        assert_eq!(value(&outcome, "comments").as_array().unwrap().len(), total);
        assert_eq!(value(&outcome, "comments")[0]["author"]["login"], json!("me"));
    }
}

#[tokio::test]
async fn a_batch_succeeds_as_its_strategy_says_and_tells_each_result_in_order() {
    let cases = [
        (json!("best_effort"), WorkStatus::Succeeded),
        (Value::Null, WorkStatus::Succeeded),
        (json!("any_succeed"), WorkStatus::Succeeded),
        (json!("all_succeed"), WorkStatus::Failed),
    ];
    for (strategy, status) in cases {
        let server = Server::start(github).await;
        let labelled =
            |number: u32| json!({"name": "github.add_labels", "number": number, "labels": ["x"]});
        let nested = json!({"name": "add_labels", "inputs": {"number": 4, "labels": ["x"]}});
        let operations = json!([labelled(1), labelled(2), labelled(999999), nested]);
        let inputs = json!({"strategy": strategy, "operations": operations, "concurrency": 1});
        let outcome = run(&server, "github.batch", inputs).await;
        assert_eq!(outcome.status, status, "{strategy}: {:?}", outcome.error);
        assert_eq!(value(&outcome, "total"), &json!(4));
        let results = value(&outcome, "results").as_array().unwrap();
        assert_eq!(results.len(), 4);
        if status == WorkStatus::Succeeded && strategy != "any_succeed" {
            assert_eq!(value(&outcome, "succeeded"), &json!(3));
            let successes: Vec<_> =
                results.iter().map(|result| result["success"] == true).collect();
            assert_eq!(successes, [true, true, false, true]);
        }
        let told = format!("{outcome:?}");
        assert!(!told.contains(TOKEN), "{told}");
    }
}

#[tokio::test]
async fn without_a_token_a_refusal_says_that_there_is_none() {
    let server = Server::start(github).await;
    let mut settings = settings(&server);
    settings.github_token = None;
    let (_going_on, stop) = watch::channel(None);
    let job = job("github.get_issue", json!({"number": 77, "repo": "octo/other"}));
    let outcome = perform(job, stop, &settings).await;
    let error = outcome.error.unwrap();
    assert!(error.starts_with("github.get_issue: http 404 Not Found"), "{error}");
    assert!(error.ends_with("(neither GITHUB_TOKEN nor GH_TOKEN is set)"), "{error}");
    assert!(!server.asked()[0].headers.contains_key("authorization"));
}
