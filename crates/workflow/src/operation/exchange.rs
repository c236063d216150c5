//! One HTTP request and its answer, bounded in time and size.
//!
//! Failures are told without the address: it may hold a password or be a secret itself.

use std::error::Error;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response};
use serde_json::Map;

use super::{Failure, Values};
use crate::language::Value;

/// How much of a body is kept.
pub(super) const BODY_LIMIT: usize = 10 * 1024 * 1024;

/// How long a request may take when nobody says.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// What the status means, such as `Not Found`.
    pub(super) reason: &'static str,
    pub(super) headers: Values,
    pub(super) body: String,
    /// Whether there was more of the body than is kept.
    pub(super) truncated: bool,
}

impl Answer {
    pub(super) fn is_error(&self) -> bool {
        self.status >= 400
    }

    /// Names the status as a person knows it: `http 404 Not Found`.
    pub(super) fn status_line(&self) -> String {
        format!("http {} {}", self.status, self.reason).trim_end().to_owned()
    }

    pub(super) fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.body).ok()
    }
}

/// Returns the client that all operations share.
pub(super) fn client() -> Result<&'static Client, Failure> {
    static CLIENT: OnceLock<Result<Client, String>> = OnceLock::new();
    let client = CLIENT.get_or_init(|| {
        // Another part of the program may have chosen already; any choice will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let named = || Client::builder().user_agent(concat!("quipu/", env!("CARGO_PKG_VERSION")));
        // A machine without certificates can still talk to its own services in the clear.
        let built = named().build().or_else(|_| named().tls_certs_only([]).build());
        built.map_err(|error| causes(&error))
    });
    client.as_ref().map_err(|error| Failure::new(format!("cannot speak HTTP: {error}")))
}

/// Sends a request and reads its answer. `operation` stands in front of what goes wrong.
pub(super) async fn exchange(
    operation: &str,
    request: RequestBuilder,
    timeout: Duration,
) -> Result<Answer, Failure> {
    let answered = async {
        let response = request.send().await?;
        read(response).await
    };
    match tokio::time::timeout(timeout, answered).await {
        Ok(answer) => answer.map_err(|error| failure(operation, error)),
        Err(_) => Err(Failure {
            has_timed_out: true,
            ..Failure::new(format!("{operation}: no answer within {timeout:?}"))
        }),
    }
}

async fn read(mut response: Response) -> reqwest::Result<Answer> {
    let status = response.status();
    let headers = headers(&response);
    let mut body = Vec::new();
    let mut truncated = false;
    while let Some(chunk) = response.chunk().await? {
        let room = BODY_LIMIT - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            truncated = true;
            break;
        }
    }
    Ok(Answer {
        status: status.as_u16(),
        reason: status.canonical_reason().unwrap_or_default(),
        headers,
        body: String::from_utf8_lossy(&body).into_owned(),
        truncated,
    })
}

/// Collects headers under the names that documentation uses: `Content-Type`.
fn headers(response: &Response) -> Values {
    let mut headers = Map::new();
    for (name, value) in response.headers() {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        let entry = headers.entry(well_known_case(name.as_str()));
        entry
            .and_modify(|before| {
                if let Value::String(before) = before {
                    before.push_str(", ");
                    before.push_str(&value);
                }
            })
            .or_insert(Value::String(value));
    }
    headers
}

fn well_known_case(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| {
            first.to_ascii_uppercase().to_string() + letters.as_str()
        })
    };
    name.split('-').map(word).collect::<Vec<_>>().join("-")
}

fn failure(operation: &str, error: reqwest::Error) -> Failure {
    let host = error.url().map(|url| {
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}: ", url.host_str().unwrap_or_default())
    });
    let error = error.without_url();
    Failure::new(format!("{operation}: {}{}", host.unwrap_or_default(), causes(&error)))
}

fn causes(error: &dyn Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        told = format!("{told}: {error}");
        cause = error.source();
    }
    told
}
