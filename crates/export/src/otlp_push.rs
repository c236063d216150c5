//! Spans over the wire: export requests are posted to an OTLP/HTTP endpoint as they are made.
//!
//! It is a shelf, so that the view that writes a file is the one that pushes, and the requests are the
//! same. Posting happens on a thread of its own, and whoever adds events waits when the endpoint
//! is slow. It tries again where the protocol allows it and never sends a request twice that was taken.

mod post;
mod settings;

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{JoinHandle, spawn};

use quipu_view::Shelf;

use post::Poster;
pub use settings::{PushError, PushSettings};

/// So many requests wait while one is under way.
const WAITING: usize = 2;

/// What an endpoint took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// Requests that it took.
    pub requests: u64,
    /// Spans that it took.
    pub spans: u64,
    /// Spans that it did not take, as it says itself.
    pub rejected: u64,
    /// What it said of them, each saying once.
    pub messages: Vec<String>,
}

/// A shelf that posts each line it is given to an endpoint.
#[derive(Debug)]
pub struct OtlpPush {
    line: Vec<u8>,
    requests: Option<SyncSender<Vec<u8>>>,
    posting: JoinHandle<Result<Pushed, PushError>>,
}

impl OtlpPush {
    /// Begins to push. The endpoint is first spoken to when there is something to say.
    pub fn new(settings: PushSettings) -> Result<Self, PushError> {
        let poster = Poster::new(settings)?;
        let (requests, posted) = sync_channel(WAITING);
        let posting = spawn(move || post_all(&poster, &posted));
        Ok(OtlpPush { line: Vec::new(), requests: Some(requests), posting })
    }

    /// Waits until everything is posted, and says what became of it.
    pub fn finish(mut self) -> Result<Pushed, PushError> {
        drop(self.requests.take());
        self.posting.join().unwrap_or(Err(PushError::Died))
    }
}

impl Shelf for OtlpPush {
    fn append(&mut self, _path: &str, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            // Whoever does not listen any more has failed, and says so at the end.
            if let Some(requests) = self.requests.as_ref().filter(|_| !line.is_empty()) {
                let _ = requests.send(line);
            }
        }
        self.line.extend_from_slice(rest);
    }

    fn put(&mut self, path: &str, bytes: &[u8]) {
        self.append(path, bytes);
    }

    /// What is sent has no name to change.
    fn rename(&mut self, _: &str, _: &str) {}
}

fn post_all(poster: &Poster, requests: &Receiver<Vec<u8>>) -> Result<Pushed, PushError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(PushError::Start)?;
    let mut pushed = Pushed::default();
    for request in requests {
        let answer = runtime.block_on(poster.post(&request))?;
        pushed.requests += 1;
        pushed.rejected += answer.rejected;
        pushed.spans += spans_in(&request).saturating_sub(answer.rejected);
        let message = answer.message.filter(|message| !pushed.messages.contains(message));
        pushed.messages.extend(message);
    }
    Ok(pushed)
}

/// Counts the spans of a request of ours: each has one id of its own.
fn spans_in(request: &[u8]) -> u64 {
    const KEY: &[u8] = b"{\"traceId\":\"";
    request.windows(KEY.len()).filter(|window| *window == KEY).count() as u64
}
