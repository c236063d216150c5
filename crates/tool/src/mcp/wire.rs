//! Messages over a pair of streams, with bounds. Which message is answered how is the server's to know.
//!
//! The SDK has a transport for streams too. It passes over what is not JSON in silence and takes in
//! requests as fast as they come, however many are under way; ours answers the one and stops
//! reading for the other.

use std::collections::HashSet;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorData, GetMeta, JsonRpcMessage, RequestId,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::AbortHandle;

use super::lines::{LONGEST_MESSAGE, Lines, Next};

/// How many requests of a client may be under way. No more is read until one of them is answered.
const MOST_UNDER_WAY: usize = 1024;

type Incoming = RxJsonRpcMessage<RoleServer>;
type Outgoing = TxJsonRpcMessage<RoleServer>;

/// A connection to a client.
pub(super) struct Wire<W> {
    messages: mpsc::Receiver<Incoming>,
    out: Arc<Out<W>>,
    reading: AbortHandle,
}

/// How reading from a client ended.
pub(super) type Ended = oneshot::Receiver<io::Result<()>>;

impl<W: AsyncWrite + Send + Unpin + 'static> Wire<W> {
    /// Begins to read from a client. What ended it can be asked for.
    pub(super) fn open<R>(reader: R, writer: W) -> (Self, Ended)
    where
        R: AsyncRead + Send + Unpin + 'static,
    {
        let out =
            Out { stream: tokio::sync::Mutex::new(Some(writer)), open: OpenRequests::default() };
        let out = Arc::new(out);
        let (sender, messages) = mpsc::channel(16);
        let (end, ended) = oneshot::channel();
        let inbox = Inbox { sender, out: Arc::clone(&out), is_introduced: false };
        let reading = tokio::spawn(async move {
            // Nobody may want to know any more.
            let _ = end.send(inbox.fill(Lines::new(reader, LONGEST_MESSAGE)).await);
        });
        (Wire { messages, out, reading: reading.abort_handle() }, ended)
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for Wire<W> {
    type Error = io::Error;

    fn send(&mut self, item: Outgoing) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let out = Arc::clone(&self.out);
        async move { out.write(item).await }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        // Whoever is still writing to a client that does not read is not waited for.
        if let Ok(mut stream) = self.out.stream.try_lock()
            && let Some(mut stream) = stream.take()
        {
            stream.shutdown().await?;
        }
        Ok(())
    }
}

impl<W> Drop for Wire<W> {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

/// The way to a client.
struct Out<W> {
    stream: tokio::sync::Mutex<Option<W>>,
    open: OpenRequests,
}

impl<W: AsyncWrite + Unpin> Out<W> {
    async fn write(&self, message: Outgoing) -> io::Result<()> {
        let mut line = serde_json::to_vec(&message)?;
        line.push(b'\n');
        let written = self.write_line(&line).await;
        if let Some(id) = answered(&message) {
            self.open.close(id);
        }
        written
    }

    async fn write_line(&self, line: &[u8]) -> io::Result<()> {
        let mut stream = self.stream.lock().await;
        let stream = stream.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        stream.write_all(line).await?;
        stream.flush().await
    }
}

fn answered(message: &Outgoing) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

/// The requests that are under way.
#[derive(Default)]
struct OpenRequests {
    ids: Mutex<HashSet<RequestId>>,
    closed: Notify,
}

impl OpenRequests {
    /// Waits until there is room, and tells whether the id is not in use.
    async fn open(&self, id: &RequestId) -> bool {
        loop {
            let closed = self.closed.notified();
            {
                let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
                if ids.len() < MOST_UNDER_WAY || ids.contains(id) {
                    return ids.insert(id.clone());
                }
            }
            closed.await;
        }
    }

    fn close(&self, id: &RequestId) {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        self.closed.notify_one();
    }
}

/// What comes from a client, on its way to the server.
struct Inbox<W> {
    sender: mpsc::Sender<Incoming>,
    out: Arc<Out<W>>,
    is_introduced: bool,
}

impl<W: AsyncWrite + Send + Unpin> Inbox<W> {
    async fn fill<R: AsyncRead + Unpin>(mut self, mut lines: Lines<R>) -> io::Result<()> {
        loop {
            let read = match lines.next().await? {
                Next::Line(line) => read(&line),
                Next::End => return Ok(()),
                Next::TooLong => {
                    let told = format!("a message is longer than {LONGEST_MESSAGE} bytes");
                    self.refuse(ErrorData::invalid_request(told.clone(), None), None).await?;
                    return Err(io::Error::new(io::ErrorKind::InvalidData, told));
                }
            };
            match read {
                Read::Message(message) => {
                    if !self.take(*message).await? {
                        return Ok(());
                    }
                }
                Read::Nothing => {}
                Read::Refused { error, id } => self.refuse(error, id).await?,
            }
        }
    }

    /// Hands a message on, and tells whether there still is a server.
    async fn take(&mut self, message: Incoming) -> io::Result<bool> {
        match &message {
            JsonRpcMessage::Request(request) => {
                let (id, request) = (&request.id, &request.request);
                if !self.out.open.open(id).await {
                    // Its answer could not be told from that of the request that has the id.
                    let error = ErrorData::invalid_request("a request with that id is open", None);
                    self.refuse(error, None).await?;
                    return Ok(true);
                }
                self.is_introduced = self.is_introduced || introduces(request);
            }
            // The SDK ends the connection over these, when all they can mean is nothing.
            _ if !self.is_introduced => return Ok(true),
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(canceled) =
                    &notification.notification
                    && let Some(id) = &canceled.params.request_id
                {
                    // The SDK sends no answer to a request that was canceled.
                    self.out.open.close(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Ok(self.sender.send(message).await.is_ok())
    }

    async fn refuse(&self, error: ErrorData, id: Option<RequestId>) -> io::Result<()> {
        self.out.write(Outgoing::error(error, id)).await
    }
}

/// Tells whether a request begins the conversation, in either way that there is.
fn introduces(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => other.get_meta().protocol_version().is_some(),
    }
}

/// What a line says.
enum Read {
    Message(Box<Incoming>),
    Refused { error: ErrorData, id: Option<RequestId> },
    Nothing,
}

fn read(line: &[u8]) -> Read {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Read::Nothing;
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(cause) => {
            let error = ErrorData::parse_error(format!("this is not JSON: {cause}"), None);
            return Read::Refused { error, id: None };
        }
    };
    if value.is_array() {
        let error =
            ErrorData::invalid_request("batches are not taken: send one message a line", None);
        return Read::Refused { error, id: None };
    }
    let id = value.get("id").cloned();
    let is_notification = id.is_none() && value.get("method").is_some_and(Value::is_string);
    match serde_json::from_value(value) {
        Ok(message) => Read::Message(Box::new(message)),
        // Nobody waits for an answer to a notification, whatever is wrong with it.
        Err(_) if is_notification => Read::Nothing,
        Err(cause) => {
            let error = ErrorData::invalid_request(format!("this is no message: {cause}"), None);
            Read::Refused { error, id: id.and_then(|id| serde_json::from_value(id).ok()) }
        }
    }
}
