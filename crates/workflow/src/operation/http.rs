//! `http.request`: one request to any server.
//!
//! An answer is an answer: `404` succeeds and says so in `status_code`, as existing workflows expect
//! that look at it. Codes in `retryable_status_codes` fail the step, so that its `retry` applies;
//! with `fail_on_error: true` every code from 400 does. A failed step keeps the answer's values.

use reqwest::{Method, RequestBuilder};
use serde_json::{Map, json};

use super::exchange::{Answer, DEFAULT_TIMEOUT, client, exchange};
use super::inputs::Inputs;
use super::{Failure, Values};
use crate::language::Value;

/// Sends the request that the inputs describe:
/// `url`, `method`, `headers`, `body`, `timeout`, `retryable_status_codes`, `fail_on_error`.
pub(super) async fn request(inputs: Inputs<'_>) -> Result<Values, Failure> {
    let retryable = status_codes(inputs)?;
    let fail_on_error = inputs.truth("fail_on_error")?;
    let timeout = inputs.duration("timeout")?.unwrap_or(DEFAULT_TIMEOUT);
    let answer = exchange(inputs.operation, built(inputs)?, timeout).await?;
    let line = answer.status_line();
    let retry = retryable.contains(&u64::from(answer.status));
    let failed = retry || (fail_on_error && answer.is_error());
    let values = values(answer);
    if failed { Err(inputs.failure(line).with_values(values)) } else { Ok(values) }
}

fn built(inputs: Inputs<'_>) -> Result<RequestBuilder, Failure> {
    let url = inputs.required("url")?;
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(inputs.failure("input `url` must begin with http:// or https://"));
    }
    let method = inputs.text("method")?.unwrap_or_else(|| "GET".to_owned()).to_uppercase();
    let method = Method::from_bytes(method.as_bytes()).map_err(|_| {
        inputs.failure(format!(
            "input `method` is {method:?}: expected GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS"
        ))
    })?;
    let mut request = client()?.request(method, url);
    let mut typed = false;
    for (name, value) in headers(inputs)? {
        typed |= name.eq_ignore_ascii_case("content-type");
        request = request.header(name, value);
    }
    Ok(match inputs.value("body") {
        None => request,
        Some(Value::String(text)) if text.is_empty() => request,
        Some(Value::String(text)) => request.body(text.clone()),
        Some(object) => {
            let request =
                if typed { request } else { request.header("content-type", "application/json") };
            request.body(object.to_string())
        }
    })
}

fn headers(inputs: Inputs<'_>) -> Result<Vec<(String, String)>, Failure> {
    let headers = match inputs.value("headers") {
        None => return Ok(Vec::new()),
        Some(Value::Object(headers)) => headers,
        Some(_) => return Err(inputs.failure("input `headers` must be a map of names to texts")),
    };
    let header = |(name, value): (&String, &Value)| match value {
        Value::String(text) => (name.clone(), text.clone()),
        other => (name.clone(), other.to_string()),
    };
    Ok(headers.iter().map(header).collect())
}

fn status_codes(inputs: Inputs<'_>) -> Result<Vec<u64>, Failure> {
    let code = |text: String| {
        text.trim().parse().map_err(|_| {
            inputs.failure(format!(
                "input `retryable_status_codes` has {text:?}: expected numbers such as 503"
            ))
        })
    };
    inputs.texts("retryable_status_codes")?.into_iter().map(code).collect()
}

fn values(answer: Answer) -> Values {
    let mut values = Map::new();
    let is_json = answer
        .headers
        .get("Content-Type")
        .and_then(Value::as_str)
        .is_some_and(|content_type| content_type.contains("json"));
    if is_json && let Some(json) = answer.json() {
        values.insert("body_json".to_owned(), json);
    }
    values.insert("status_code".to_owned(), json!(answer.status));
    values.insert("body".to_owned(), json!(answer.body));
    values.insert("headers".to_owned(), Value::Object(answer.headers));
    values.insert("body_truncated".to_owned(), json!(answer.truncated));
    values
}
