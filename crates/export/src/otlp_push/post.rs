//! One request posted to an endpoint, again and again where that may help.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::header::{
    CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER,
};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use serde::Deserialize;

use super::settings::{PushError, PushSettings};

/// Nobody is waited for longer than this, whatever they ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// So much of an answer is read.
const LONGEST_ANSWER: usize = 64 * 1024;

/// Posts requests to one endpoint.
#[derive(Debug)]
pub(super) struct Poster {
    client: Client,
    settings: PushSettings,
    headers: HeaderMap,
}

/// What an endpoint says of a request that it took.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) rejected: u64,
    pub(super) message: Option<String>,
}

/// What came of one attempt.
enum Attempt {
    Taken(Answer),
    /// It may be tried again, after this time if the endpoint says.
    Again(PushError, Option<Duration>),
    Failed(PushError),
}

impl Poster {
    /// Makes ready to speak to the endpoint.
    pub(super) fn new(settings: PushSettings) -> Result<Self, PushError> {
        // Another part of the program may have chosen already; any choice will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A redirected post becomes a get, and a page that answers it has taken nothing.
        let named = || {
            let client = Client::builder().redirect(Policy::none());
            client.user_agent(concat!("quipu/", env!("CARGO_PKG_VERSION")))
        };
        // A machine without certificates can still talk to its own services in the clear.
        let client = named().build().or_else(|_| named().tls_certs_only([]).build());
        let client = client.map_err(PushError::Client)?;
        let headers = headers(&settings)?;
        Ok(Poster { client, settings, headers })
    }

    /// Posts a request until it is taken or refused for good.
    pub(super) async fn post(&self, request: &[u8]) -> Result<Answer, PushError> {
        let body = if self.settings.gzip { compressed(request) } else { request.to_vec() };
        let mut pause = self.settings.pause;
        for attempt in 1.. {
            let (error, asked) = match self.attempt(body.clone(), attempt).await {
                Attempt::Taken(answer) => return Ok(answer),
                Attempt::Failed(error) => return Err(error),
                Attempt::Again(error, asked) => (error, asked),
            };
            if attempt >= self.settings.attempts {
                return Err(error);
            }
            let wait = asked.unwrap_or(pause).min(LONGEST_PAUSE);
            tracing::warn!("{error}; trying again in {} s", wait.as_secs());
            tokio::time::sleep(wait).await;
            pause = pause.saturating_mul(2);
        }
        unreachable!("the last attempt returns")
    }

    async fn attempt(&self, body: Vec<u8>, attempts: u32) -> Attempt {
        let url = self.settings.shown_url();
        let request = self.client.post(&self.settings.url).headers(self.headers.clone());
        let sent = request.timeout(self.settings.timeout).body(body).send().await;
        let response = match sent {
            Ok(response) => response,
            Err(source) => {
                return Attempt::Again(PushError::Unreachable { url, attempts, source }, None);
            }
        };
        let status = response.status();
        let asked = pause_asked_for(&response);
        if let Some(to) = redirected_to(&response) {
            return Attempt::Failed(PushError::Redirected { url, to });
        }
        let body = read(response).await;
        if status.is_success() {
            return Attempt::Taken(answer(&body));
        }
        let body = String::from_utf8_lossy(&body).chars().take(500).collect();
        let refused = PushError::Refused { url, status: status.as_u16(), body };
        match status {
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => Attempt::Again(refused, asked),
            _ => Attempt::Failed(refused),
        }
    }
}

fn headers(settings: &PushSettings) -> Result<HeaderMap, PushError> {
    let mut headers = HeaderMap::new();
    for (key, value) in &settings.headers {
        let wrong = || PushError::Setting {
            name: "header".to_owned(),
            // Its value may be a secret.
            value: key.clone(),
            expected: "a header that HTTP can carry",
        };
        let name = HeaderName::try_from(key.as_str()).map_err(|_| wrong())?;
        let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if settings.gzip {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(headers)
}

fn compressed(request: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(request).and_then(|()| encoder.finish());
    written.expect("memory takes what is written to it")
}

/// Returns how many seconds the endpoint asks to wait.
fn pause_asked_for(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Returns where the endpoint sends whoever asks, if it does.
fn redirected_to(response: &Response) -> Option<String> {
    let to = response.headers().get(LOCATION).filter(|_| response.status().is_redirection())?;
    Some(String::from_utf8_lossy(to.as_bytes()).into_owned())
}

/// Reads the beginning of an answer; one that breaks off was an answer all the same.
async fn read(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(piece)) = response.chunk().await {
        let room = LONGEST_ANSWER.saturating_sub(body.len());
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if room == 0 {
            break;
        }
    }
    body
}

/// Reads what an endpoint says of spans that it did not take. Long numbers may be text.
fn answer(body: &[u8]) -> Answer {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Told {
        partial_success: Option<Partial>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Partial {
        rejected_spans: serde_json::Value,
        error_message: String,
    }
    let told: Told = serde_json::from_slice(body).unwrap_or_default();
    let partial = told.partial_success.unwrap_or_default();
    let spelled = partial.rejected_spans.as_str().and_then(|text| text.parse().ok());
    Answer {
        rejected: partial.rejected_spans.as_u64().or(spelled).unwrap_or(0),
        message: Some(partial.error_message).filter(|message| !message.is_empty()),
    }
}
