//! Where the API is, what opens it, and which settings every request carries.

use std::time::Duration;

use reqwest::Client;
use serde_json::{Map, Value, json};

use super::super::cli::{Options, as_text};
use super::super::desk::Desk;
use super::super::provider::tell_unread;
use super::mask::Mask;
use crate::engine::AgentJob;

/// Where the API is when nobody says.
const DEFAULT_URL: &str = "https://api.openai.com/v1";
/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(30);

/// An API, ready to be asked.
pub(super) struct Endpoint {
    pub(super) client: Client,
    pub(super) url: String,
    pub(super) model: String,
    /// What opens it. It must reach nothing but the request's header.
    pub(super) key: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    /// What every request carries beside model and messages.
    pub(super) settings: Map<String, Value>,
    /// Whether answers come in pieces.
    pub(super) streams: bool,
}

impl Endpoint {
    /// Finds the API that a step means: by its options, the settings, or the environment.
    pub(super) fn new(job: &AgentJob, desk: &Desk) -> Result<Self, String> {
        let set = desk.settings.provider("openai_compatible");
        let variable = |name: &str| {
            let own = job.env.get(name).or_else(|| set.env.get(name)).cloned();
            own.or_else(|| std::env::var(name).ok()).filter(|value| !value.is_empty())
        };
        let mut options = Options::new(&job.options);
        let base =
            options.text(&["base_url"]).or(set.base_url).or_else(|| variable("OPENAI_BASE_URL"));
        let url = completions_url(base.as_deref().unwrap_or(DEFAULT_URL));
        let model = options.text(&["model"]).or(set.model).or_else(|| variable("OPENAI_MODEL"));
        let model = model.ok_or(
            "openai_compatible: which model? (set options.model or OPENAI_MODEL)".to_owned(),
        )?;
        let key = options.text(&["api_key"]).or(set.api_key).or_else(|| variable("OPENAI_API_KEY"));
        let headers = match options.value(&["headers"]) {
            Some(Value::Object(headers)) => {
                headers.iter().map(|(name, value)| (name.clone(), as_text(value))).collect()
            }
            _ => Vec::new(),
        };
        let streams = options.flag(&["stream"]) != Some(false);
        let settings = request_settings(&mut options);
        tell_unread(&options, "openai_compatible", desk);
        let client = client(&url)?;
        Ok(Endpoint { client, url, model, key, headers, settings, streams })
    }

    /// Returns what keeps the key out of everything that is read.
    pub(super) fn mask(&self) -> Mask {
        Mask::of_key(self.key.as_deref().unwrap_or_default())
    }

    /// Returns the address without anything secret in it.
    pub(super) fn shown_url(&self) -> String {
        let Ok(mut url) = reqwest::Url::parse(&self.url) else { return self.url.clone() };
        // A URL that cannot have a user has none to be hidden.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        self.mask().text(url.as_str())
    }

    /// Returns the body of a request.
    pub(super) fn body(&self, messages: &[Value], tools: &[Value], tells_usage: bool) -> Value {
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(self.model));
        body.insert("messages".to_owned(), json!(messages));
        if self.streams {
            body.insert("stream".to_owned(), json!(true));
            if tells_usage {
                body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
            }
        }
        if !tools.is_empty() {
            body.insert("tools".to_owned(), json!(tools));
            body.insert("tool_choice".to_owned(), json!("auto"));
        }
        body.extend(self.settings.clone());
        Value::Object(body)
    }
}

/// Reads the options that a request carries as they are, numbers as numbers.
fn request_settings(options: &mut Options) -> Map<String, Value> {
    let mut settings = Map::new();
    for key in [
        "temperature",
        "top_p",
        "max_tokens",
        "max_completion_tokens",
        "presence_penalty",
        "frequency_penalty",
        "seed",
        "stop",
        "reasoning_effort",
        "response_format",
    ] {
        if let Some(value) = options.value(&[key]) {
            settings.insert(key.to_owned(), number_if_it_is_one(value));
        }
    }
    if let Some(Value::Object(more)) = options.value(&["extra_body"]) {
        settings.extend(more);
    }
    settings
}

/// Templates make texts of numbers.
fn number_if_it_is_one(value: Value) -> Value {
    let Value::String(text) = &value else { return value };
    match serde_json::from_str::<Value>(text.trim()) {
        Ok(number @ Value::Number(_)) => number,
        _ => value,
    }
}

fn completions_url(base: &str) -> String {
    let base = base.trim().trim_end_matches('/');
    match base.ends_with("/chat/completions") {
        true => base.to_owned(),
        false => format!("{base}/chat/completions"),
    }
}

fn client(url: &str) -> Result<Client, String> {
    // Somebody else may have chosen a provider of cryptography before; theirs will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder().connect_timeout(CONNECT);
    if is_local(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|cause| format!("openai_compatible: no HTTP client: {cause}"))
}

fn is_local(url: &str) -> bool {
    let host = reqwest::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.is_some_and(|host| host == "localhost" || host == "[::1]" || host.starts_with("127."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_may_be_given_with_or_without_its_end() {
        for base in ["http://h/v1", "http://h/v1/", "http://h/v1/chat/completions"] {
            assert_eq!(completions_url(base), "http://h/v1/chat/completions");
        }
    }

    #[test]
    fn numbers_that_went_through_a_template_are_numbers() {
        for (given, expected) in
            [(json!("0.5"), json!(0.5)), (json!(2), json!(2)), (json!("high"), json!("high"))]
        {
            assert_eq!(number_if_it_is_one(given), expected);
        }
    }
}
