//! A plugin that is a server: how it is spoken to, and what its refusals mean in words.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url, redirect};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};

use super::session::SessionClient;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// How much of a refusal is repeated, in characters.
const LONGEST_SAYING: usize = 500;
/// How often a request may be sent on to another address of the same server.
const MOST_REDIRECTS: usize = 5;

/// Returns a way to speak to a server. Nothing is sent yet.
pub(super) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<SessionClient>, String> {
    let parsed = Url::parse(url).map_err(|cause| format!("its url cannot be read: {cause}"))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(format!("its url is neither http nor https: {}", parsed.scheme()));
    }
    let client = SessionClient(client(&parsed, header_map(headers)?)?);
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Says what went wrong in the words of whoever has set the plugin up.
pub(super) fn explain(error: &(dyn Error + 'static)) -> String {
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::AuthRequired(_)) => {
            "HTTP 401 Unauthorized: it wants to know who asks (set `headers`)".to_owned()
        }
        Some(StreamableHttpError::InsufficientScope(_)) => {
            "HTTP 403 Forbidden: its `headers` do not open it".to_owned()
        }
        Some(StreamableHttpError::UnexpectedServerResponse(said)) => {
            let said: String = said.chars().take(LONGEST_SAYING).collect();
            said.trim_end_matches([':', ' ']).to_owned()
        }
        Some(StreamableHttpError::Client(error)) if error.is_connect() => {
            format!("it cannot be reached: {}", root_of(error))
        }
        Some(StreamableHttpError::Client(error)) => root_of(error),
        _ => root_of(error),
    }
}

/// Returns the cause of all causes, which says most in the fewest words.
fn root_of(error: &dyn Error) -> String {
    let mut root = error.to_string();
    let mut at = error.source();
    while let Some(error) = at {
        root = error.to_string();
        at = error.source();
    }
    root
}

fn header_map(headers: &BTreeMap<String, String>) -> Result<HeaderMap, String> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let bad = |_| format!("its header `{name}` is none");
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad(()))?;
        let mut value = HeaderValue::from_str(value).map_err(|_| bad(()))?;
        value.set_sensitive(true);
        map.insert(key, value);
    }
    Ok(map)
}

fn client(url: &Url, headers: HeaderMap) -> Result<Client, String> {
    // Another part of the program may have chosen already; any choice will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let is_local = url
        .host_str()
        .is_some_and(|host| host == "localhost" || host == "[::1]" || host.starts_with("127."));
    let origin = url.origin();
    let builder = || {
        let origin = origin.clone();
        // The headers may be secrets: they are for this server and no other.
        let within = redirect::Policy::custom(move |attempt| {
            match attempt.url().origin() == origin && attempt.previous().len() <= MOST_REDIRECTS {
                true => attempt.follow(),
                false => attempt.stop(),
            }
        });
        let builder = Client::builder()
            .user_agent(concat!("quipu/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .default_headers(headers.clone())
            .redirect(within);
        if is_local { builder.no_proxy() } else { builder }
    };
    // A machine without certificates can still talk to its own services in the clear.
    let built = builder().build().or_else(|_| builder().tls_certs_only([]).build());
    built.map_err(|cause| format!("there is no HTTP client: {}", root_of(&cause)))
}
