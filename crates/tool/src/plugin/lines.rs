//! Messages over a program's standard input and output, a line each.
//!
//! Unlike the SDK's own transport it tells what it could not read, and fails the request whose answer
//! that was at once. It starts and stops nothing.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use quipu_process::Pipe;
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, NumberOrString, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};

use super::garbage::Heap;
use super::line::{Line, answered_by, failure_of, read_line};

/// The longest line that is read, in bytes.
pub(super) const LONGEST_LINE: usize = 64 * 1024 * 1024;
/// How much is read at once.
const PIECE: usize = 64 * 1024;

/// The messages of a program.
pub(super) struct Lines {
    stdout: Pipe<ChildStdout>,
    stdin: Arc<tokio::sync::Mutex<Option<ChildStdin>>>,
    piece: Vec<u8>,
    /// What was read and is no whole line yet.
    pending: Vec<u8>,
    /// Whether the rest of a line that is too long is still to come.
    skips: bool,
    ready: VecDeque<ServerJsonRpcMessage>,
    asked: Arc<Mutex<Asked>>,
    heap: Arc<Heap>,
}

/// Which requests wait for their answers.
#[derive(Default)]
struct Asked {
    /// Whether each is a call.
    open: HashMap<RequestId, bool>,
    last: i64,
}

impl Lines {
    /// Speaks over these streams. What cannot be read goes to the heap.
    pub(super) fn new(stdout: Pipe<ChildStdout>, stdin: ChildStdin, heap: Arc<Heap>) -> Lines {
        Lines {
            stdout,
            stdin: Arc::new(tokio::sync::Mutex::new(Some(stdin))),
            piece: vec![0; PIECE],
            pending: Vec::new(),
            skips: false,
            ready: VecDeque::new(),
            asked: Arc::default(),
            heap,
        }
    }

    fn take_piece(&mut self, read: usize) {
        let piece = std::mem::take(&mut self.piece);
        let mut rest = &piece[..read];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, more) = (&rest[..end], &rest[end + 1..]);
            self.take_part(line);
            if !std::mem::take(&mut self.skips) {
                let line = std::mem::take(&mut self.pending);
                self.take_line(&line);
            }
            rest = more;
        }
        self.take_part(rest);
        self.piece = piece;
    }

    /// Takes a part of a line. Of one that is too long nothing is kept.
    fn take_part(&mut self, part: &[u8]) {
        if self.skips {
            return;
        }
        self.pending.extend_from_slice(part);
        if self.pending.len() > LONGEST_LINE {
            self.skips = true;
            let line = std::mem::take(&mut self.pending);
            let reason = format!("it is longer than {LONGEST_LINE} bytes");
            match answered_by(&line) {
                Some(id) => self.take_broken(id, &reason, &line),
                None => self.heap.add(&line),
            }
        }
    }

    fn take_line(&mut self, line: &[u8]) {
        let asked = Arc::clone(&self.asked);
        let is_call = |id: &RequestId| locked(&asked).open.get(id).copied().unwrap_or(false);
        match read_line(line, is_call) {
            Line::Messages(messages) => {
                for message in messages {
                    match self.is_expected(&message) {
                        true => self.ready.push_back(message),
                        false => self.heap.add(line),
                    }
                }
            }
            Line::BrokenAnswer { id, reason } => self.take_broken(id, &reason, line),
            Line::Garbage => self.heap.add(line),
            Line::Empty => {}
        }
    }

    fn take_broken(&mut self, id: RequestId, reason: &str, line: &[u8]) {
        self.heap.add(line);
        if locked(&self.asked).open.remove(&id).is_some() {
            let reason = format!("its answer cannot be read: {reason}");
            self.ready.push_back(failure_of(id, &reason));
        }
    }

    /// Tells whether a message is what somebody waits for, or needs nobody who does.
    fn is_expected(&self, message: &ServerJsonRpcMessage) -> bool {
        let id = match message {
            ServerJsonRpcMessage::Response(response) => &response.id,
            ServerJsonRpcMessage::Error(error) => match &error.id {
                Some(id) => id,
                None => return true,
            },
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => {
                return true;
            }
        };
        let mut asked = locked(&self.asked);
        let was_given_up =
            matches!(id, NumberOrString::Number(id) if (0..=asked.last).contains(id));
        asked.open.remove(id).is_some() || was_given_up
    }
}

impl Transport<RoleClient> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        locked(&self.asked).take(&message);
        let stdin = Arc::clone(&self.stdin);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut stdin = stdin.lock().await;
            let Some(stdin) = stdin.as_mut() else {
                return Err(io::ErrorKind::NotConnected.into());
            };
            stdin.write_all(&line).await?;
            stdin.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            // Dropped before it is ready it has read nothing, so no line is ever lost.
            match self.stdout.read(&mut self.piece).await {
                Ok(0) => {
                    if !self.pending.is_empty() {
                        self.heap.add(&std::mem::take(&mut self.pending));
                    }
                    return None;
                }
                Ok(read) => self.take_piece(read),
                Err(cause) => {
                    tracing::debug!(%cause, "a plugin's output cannot be read");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.stdin.lock().await.take();
        Ok(())
    }
}

impl Asked {
    fn take(&mut self, message: &ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                if let NumberOrString::Number(id) = request.id {
                    self.last = self.last.max(id);
                }
                let is_call = matches!(request.request, ClientRequest::CallToolRequest(_));
                self.open.insert(request.id.clone(), is_call);
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(canceled) =
                    &notification.notification
                    && let Some(id) = &canceled.params.request_id
                {
                    self.open.remove(id);
                }
            }
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {}
        }
    }
}

fn locked(asked: &Mutex<Asked>) -> std::sync::MutexGuard<'_, Asked> {
    asked.lock().unwrap_or_else(PoisonError::into_inner)
}
