//! Where spans are pushed to and how: what is asked for, then OpenTelemetry's variables.

use std::io;
use std::time::Duration;

/// How spans are pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushSettings {
    /// The address that requests are posted to.
    pub url: String,
    /// Headers beside those of the protocol; a secret often is one.
    pub headers: Vec<(String, String)>,
    /// Whether requests are compressed.
    pub gzip: bool,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How often a request is tried in all.
    pub attempts: u32,
    /// How long to wait before the second attempt, if the endpoint does not say; it doubles.
    pub pause: Duration,
}

/// Why spans could not be pushed.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// A setting makes no sense.
    #[error("{name}: {value:?} is not {expected}")]
    Setting {
        /// Which one.
        name: String,
        /// What it says.
        value: String,
        /// What was expected.
        expected: &'static str,
    },
    /// HTTP cannot be spoken here.
    #[error("cannot speak HTTP")]
    Client(#[source] reqwest::Error),
    /// The thread that posts could not begin.
    #[error("cannot begin to push")]
    Start(#[source] io::Error),
    /// The endpoint was not reached, however often it was tried.
    #[error("{url} was not reached (attempt {attempts})")]
    Unreachable {
        /// The endpoint.
        url: String,
        /// How often it was tried.
        attempts: u32,
        /// What went wrong the last time.
        #[source]
        source: reqwest::Error,
    },
    /// The endpoint did not take a request.
    #[error("{url} answered {status}: {body}")]
    Refused {
        /// The endpoint.
        url: String,
        /// The status of its answer.
        status: u16,
        /// The beginning of its answer.
        body: String,
    },
    /// The endpoint is somewhere else.
    #[error("{url} sends whoever posts there to {to}")]
    Redirected {
        /// The endpoint.
        url: String,
        /// Where it points.
        to: String,
    },
    /// The thread that posts is gone.
    #[error("pushing stopped without an answer")]
    Died,
}

impl PushSettings {
    /// Makes the settings of a push to `url`, or to where OpenTelemetry's variables point.
    ///
    /// A `url` without a path gets the usual one. Variables are looked up with `variable`.
    pub fn new(
        url: Option<&str>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, PushError> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        // What is said of traces goes before what is said of everything.
        let either = |what: &str| {
            let traces = format!("OTEL_EXPORTER_OTLP_TRACES_{what}");
            let all = format!("OTEL_EXPORTER_OTLP_{what}");
            set(&traces).map(|value| (traces, value)).or_else(|| Some((all.clone(), set(&all)?)))
        };
        let url = match (url, set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")) {
            (Some(url), _) if has_path(url) => url.to_owned(),
            (Some(url), _) => below(url),
            (None, Some(url)) => url,
            (None, None) => {
                let base = set("OTEL_EXPORTER_OTLP_ENDPOINT");
                below(base.as_deref().unwrap_or("http://localhost:4318"))
            }
        };
        let parsed = reqwest::Url::parse(&url).ok();
        if !parsed.is_some_and(|url| matches!(url.scheme(), "http" | "https")) {
            let expected = "an address that begins with http:// or https://";
            return Err(wrong("the endpoint", &without_password(&url), expected));
        }
        let headers = either("HEADERS").map_or(Ok(Vec::new()), |(name, text)| {
            headers(&text).ok_or_else(|| wrong(&name, "…", "a list such as key=value,key=value"))
        })?;
        let gzip = match either("COMPRESSION") {
            None => false,
            Some((_, value)) if value == "none" => false,
            Some((_, value)) if value == "gzip" => true,
            Some((name, value)) => return Err(wrong(&name, &value, "gzip or none")),
        };
        let timeout = either("TIMEOUT").map_or(Ok(10_000), |(name, value)| {
            value.trim().parse().map_err(|_| wrong(&name, &value, "a number of milliseconds"))
        })?;
        let timeout = Duration::from_millis(timeout);
        Ok(PushSettings { url, headers, gzip, timeout, attempts: 6, pause: Duration::from_secs(1) })
    }

    /// Returns the address as it may be shown: without a password.
    pub fn shown_url(&self) -> String {
        without_password(&self.url)
    }
}

fn wrong(name: &str, value: &str, expected: &'static str) -> PushError {
    PushError::Setting { name: name.to_owned(), value: value.to_owned(), expected }
}

fn without_password(url: &str) -> String {
    let Ok(mut parsed) = reqwest::Url::parse(url) else { return url.to_owned() };
    if parsed.password().is_none() || parsed.set_password(Some("***")).is_err() {
        return url.to_owned();
    }
    parsed.to_string()
}

fn has_path(url: &str) -> bool {
    reqwest::Url::parse(url).is_ok_and(|url| url.path() != "/")
}

fn below(base: &str) -> String {
    format!("{}/v1/traces", base.trim().trim_end_matches('/'))
}

/// Reads `key=value,key=value`, in which values are spelled as in addresses.
fn headers(text: &str) -> Option<Vec<(String, String)>> {
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (key, value) = pair.split_once('=')?;
            Some((key.trim().to_owned(), unescape(value.trim())?))
        })
        .collect()
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}
