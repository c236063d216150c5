//! An HTTP client that knows a lost session by all the ways in which servers say so.
//!
//! A server that was started anew should answer with status 404, and the SDK then greets it anew. Many
//! answer with an error in words instead, which no call would ever get past.

use std::collections::HashMap;
use std::sync::Arc;

use reqwest::Client;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ServerJsonRpcMessage};
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};

use super::lines::LONGEST_LINE;

/// The codes that servers made with the SDKs of the protocol use for a session they do not know.
const SESSION_CODES: [ErrorCode; 2] = [ErrorCode(-32000), ErrorCode(-32001)];

/// An HTTP client for one server.
#[derive(Clone)]
pub(super) struct SessionClient(pub(super) Client);

type Failure = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

impl StreamableHttpClient for SessionClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let may_be_lost = session.is_some() && matches!(message, ClientJsonRpcMessage::Request(_));
        let posted = self.0.post_message_with_max_sse_event_size(
            uri,
            message,
            session,
            auth,
            headers,
            LONGEST_LINE,
        );
        match posted.await {
            Ok(response) if may_be_lost && is_lost(&response) => Err(Failure::SessionExpired),
            Err(Failure::UnexpectedServerResponse(said))
                if may_be_lost && said.starts_with("HTTP 400") && speaks_of_session(&said) =>
            {
                Err(Failure::SessionExpired)
            }
            posted => posted,
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        self.0.delete_session(uri, session, auth, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<BoxedSseResponse, Failure> {
        let limit = LONGEST_LINE;
        self.0.get_stream_with_max_sse_event_size(uri, session, last, auth, headers, limit).await
    }
}

fn is_lost(response: &StreamableHttpPostResponse) -> bool {
    match response {
        StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), _) => {
            SESSION_CODES.contains(&error.error.code) && speaks_of_session(&error.error.message)
        }
        _ => false,
    }
}

fn speaks_of_session(said: &str) -> bool {
    said.to_ascii_lowercase().contains("session")
}
