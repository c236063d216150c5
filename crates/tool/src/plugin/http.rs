//! A plugin that is a server: how it is spoken to, and what its refusals mean in words.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url, redirect};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, StreamableHttpClientTransportConfig,
    StreamableHttpError,
};

use super::session::SessionClient;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
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
    let mut deepest = error;
    let mut at = Some(error);
    while let Some(error) = at {
        if error.is::<AuthRequiredError>() {
            return "HTTP 401 Unauthorized: it wants to know who asks (set `headers`)".to_owned();
        }
        if error.is::<InsufficientScopeError>() {
            return "HTTP 403 Forbidden: its `headers` do not open it".to_owned();
        }
        if let Some(StreamableHttpError::UnexpectedServerResponse(said)) =
            error.downcast_ref::<StreamableHttpError<reqwest::Error>>()
        {
            return said.chars().take(500).collect::<String>().trim_end_matches([':', ' ']).into();
        }
        if let Some(error) = error.downcast_ref::<reqwest::Error>()
            && error.is_connect()
        {
            return format!("it cannot be reached: {}", root_of(error));
        }
        deepest = error;
        at = error.source();
    }
    deepest.to_string()
}

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
