//! What WINK's own program makes of our bundles: `wink query` and `wink debug`.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::runs;

/// Every run, packed and put where the program finds it.
struct Bundles {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Bundles {
    fn new() -> Self {
        let program = std::env::var_os("QUIPU_WINK").expect("QUIPU_WINK names WINK's program");
        let folder = tempfile::tempdir().expect("there is room");
        for (name, _) in runs::ALL {
            for (path, bytes) in runs::packed(name).0 {
                std::fs::write(folder.path().join(path), bytes).expect("there is room");
            }
        }
        Bundles { folder, program: program.into() }
    }

    fn path(&self, name: &str) -> PathBuf {
        let (_, run_id) =
            runs::ALL.iter().find(|(known, _)| *known == name).expect("it is one of ours");
        self.folder.path().join(format!("{run_id}.zip"))
    }

    fn query(&self, name: &str, sql: &str) -> Value {
        let bundle = self.path(name);
        let output = Command::new(&self.program)
            .arg("query")
            .arg(bundle)
            .arg(sql)
            .output()
            .expect("QUIPU_WINK is a program");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {sql}: {complaint}");
        serde_json::from_slice(&output.stdout).expect("it answers JSON")
    }
}

#[test]
#[ignore = "needs WINK's own program: QUIPU_WINK, see `make test-wink`"]
fn query_finds_every_entry_of_every_run() {
    let bundles = Bundles::new();
    let sql = "SELECT COUNT(*) AS gaps FROM (SELECT transcript_source FROM transcript \
               GROUP BY prompt_name, transcript_source \
               HAVING MIN(sequence_number) != 1 OR MAX(sequence_number) != COUNT(*))";
    let entries = [("workflow", 21), ("session", 14), ("codex", 8), ("failed", 5), ("open", 2)];
    for (name, count) in entries.into_iter().chain([("hostile", 12)]) {
        let found = bundles.query(name, "SELECT COUNT(*) AS n FROM transcript");
        assert_eq!(found, json!([{"n": count}]), "{name}");
        assert_eq!(bundles.query(name, sql), json!([{"gaps": 0}]), "{name}");
        // The query of WINK's own specification.
        let documented = "SELECT context->>'entry_type', context->>'source', context->>'detail' \
                          FROM logs WHERE event = 'transcript.entry' \
                          ORDER BY context->>'sequence_number'";
        let documented = bundles.query(name, documented);
        assert_eq!(documented.as_array().map(Vec::len), Some(count), "{name}");
    }
}

#[test]
#[ignore = "needs WINK's own program: QUIPU_WINK, see `make test-wink`"]
fn query_pairs_calls_with_their_results() {
    let bundles = Bundles::new();
    let sql = "SELECT tool_name, tool_use_id, tool_result, result_seq - call_seq AS apart \
               FROM transcript_tools";
    let expected = json!([
        {"tool_name": "Read", "tool_use_id": "call-1", "tool_result": "package main\n", "apart": 1},
        {"tool_name": "Bash", "tool_use_id": "call-2", "tool_result": "not allowed", "apart": 1},
        {"tool_name": "Sleep", "tool_use_id": "call-3", "tool_result": null, "apart": null},
    ]);
    assert_eq!(bundles.query("workflow", sql), expected);
    let expected = json!([
        {"tool_name": "shell", "tool_use_id": "call_1", "tool_result": "total 42", "apart": 1},
    ]);
    assert_eq!(bundles.query("codex", sql), expected);
    let agents = "SELECT transcript_source AS source, total_entries AS n, thinking_blocks AS t \
                  FROM transcript_agents ORDER BY source";
    let expected =
        json!([{"source": "main", "n": 9, "t": 0}, {"source": "subagent:7", "n": 5, "t": 1}]);
    assert_eq!(bundles.query("session", agents), expected);
    let calls = "SELECT tool_name, success, error_code, duration_ms FROM tool_calls";
    let expected = json!([
        {"tool_name": "Read", "success": 1, "error_code": "", "duration_ms": 12.0},
        {"tool_name": "Bash", "success": 0, "error_code": "not allowed", "duration_ms": 1.0},
    ]);
    assert_eq!(bundles.query("workflow", calls), expected);
}

#[test]
#[ignore = "needs WINK's own program: QUIPU_WINK, see `make test-wink`"]
fn query_tells_how_a_run_ended() {
    let bundles = Bundles::new();
    let statuses =
        [("workflow", "success"), ("failed", "error"), ("open", "running"), ("hostile", "unknown")];
    for (name, status) in statuses {
        assert_eq!(bundles.query(name, "SELECT status FROM manifest"), json!([{"status": status}]));
    }
    let errors = bundles.query("failed", "SELECT source, message FROM errors");
    let expected = json!([
        {"source": "error.json", "message": "step push: exit code 3"},
        {"source": "log", "message": "exit code 3"},
        {"source": "log", "message": "push: exit code 3"},
    ]);
    assert_eq!(errors, expected);
    let sql = "SELECT value FROM metrics WHERE key = 'token_usage_input_tokens'";
    assert_eq!(bundles.query("workflow", sql), json!([{"value": "120"}]));
    assert_eq!(bundles.query("failed", sql), json!([{"value": null}]));
}

#[test]
#[ignore = "needs WINK's own program: QUIPU_WINK, see `make test-wink`"]
fn debug_shows_every_run() {
    let bundles = Bundles::new();
    for (name, run_id) in runs::ALL {
        let server = Server::start(&bundles.program, &bundles.path(name));
        assert!(server.get("/").contains("<html"), "{name}");
        let meta = server.get_json("/api/meta");
        assert_eq!((&meta["bundle_id"], &meta["has_transcript"]), (&json!(run_id), &json!(true)));
        let transcript = server.get_json("/api/transcript?limit=1000");
        let entries = transcript["entries"].as_array().unwrap();
        assert_eq!(transcript["total"], entries.len());
        assert!(!entries.is_empty(), "{name}");
        let logs = server.get_json("/api/logs?limit=1000");
        assert!(logs["total"].as_u64() > transcript["total"].as_u64(), "{name}");
        for path in ["/api/logs/facets", "/api/transcript/facets", "/api/environment"] {
            assert!(server.get_json(path).is_object(), "{name}: {path}");
        }
        assert!(server.get_json("/api/config").is_object(), "{name}");
        assert!(server.get_json("/api/metrics").is_object(), "{name}");
        for file in server.get_json("/api/files").as_array().unwrap() {
            let file = server.get_json(&format!("/api/files/{}", file.as_str().unwrap()));
            assert!(file["content"].is_string() || file["content"].is_object(), "{name}: {file}");
        }
    }
}

/// `wink debug` at work.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(program: &Path, bundle: &Path) -> Server {
        let free = free_address();
        let mut command = Command::new(program);
        command.arg("debug").arg(bundle).args(["--host", "127.0.0.1", "--no-open-browser"]);
        command.args(["--port", &free.port().to_string()]);
        let process = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("QUIPU_WINK is a program");
        let server = Server { process, address: free.to_string() };
        let patience = Instant::now() + Duration::from_secs(120);
        while TcpStream::connect(&server.address).is_err() {
            assert!(Instant::now() < patience, "wink debug never listened");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.address)
            .expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("it speaks HTTP");
        assert!(head.contains(" 200 "), "{path}: {head}");
        body.to_owned()
    }

    fn get_json(&self, path: &str) -> Value {
        serde_json::from_str(&self.get(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().expect("it was started");
        self.process.wait().expect("it was started");
    }
}

fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("some port is free");
    listener.local_addr().expect("it listens")
}
