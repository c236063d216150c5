//! Who listens, and what they heard.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use quipu_emit::JsonLines;
use quipu_event::{Event, decode_line};
use serde_json::{Value, json};
use tracing_subscriber::layer::SubscriberExt;

/// A log in memory.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    pub(crate) fn records(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Does `work` while this log listens.
    pub(crate) fn listen<R>(&self, work: impl FnOnce() -> R) -> R {
        let lines = JsonLines::new(self.clone()).only_transcripts();
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), work)
    }
}

/// Returns what `work` says to whoever listens.
pub(crate) fn heard(work: impl FnOnce()) -> Vec<Value> {
    let log = Log::default();
    log.listen(work);
    log.records()
}

/// Returns the records called `name`.
pub(crate) fn called<'a>(name: &str, records: &'a [Value]) -> Vec<&'a Value> {
    records.iter().filter(|record| record["event"] == name).collect()
}

/// Returns the numbers of the entries of `source`.
pub(crate) fn numbers(records: &[Value], source: &str) -> Vec<u64> {
    let entries = called("transcript.entry", records).into_iter();
    entries
        .filter(|record| record["context"]["source"] == source)
        .map(|record| record["context"]["sequence_number"].as_u64().unwrap())
        .collect()
}

/// Makes event `seq` of the run `run`.
pub(crate) fn event_of(run: &str, seq: u64, kind: &str, payload: Value) -> Event {
    let line = json!({
        "seq": seq, "run_id": run, "type": kind, "timestamp": "2026-01-02T03:04:05Z",
        "payload": payload,
    });
    decode_line(line.to_string().as_bytes()).unwrap()
}

/// Makes event `seq` of the run `r`.
pub(crate) fn event(seq: u64, kind: &str, payload: Value) -> Event {
    event_of("r", seq, kind, payload)
}

/// A run of an agent with one prompt.
pub(crate) fn session() -> Vec<Event> {
    vec![
        event(
            1,
            "run.started",
            json!({"name": "review", "kind": "session", "session_id": "s-1", "agent": {"provider": "codex"}}),
        ),
        event(
            2,
            "message.user",
            json!({"role": "user", "blocks": [{"type": "text", "text": "Hi"}]}),
        ),
        event(
            3,
            "run.completed",
            json!({"name": "review", "kind": "session", "status": "succeeded"}),
        ),
    ]
}
