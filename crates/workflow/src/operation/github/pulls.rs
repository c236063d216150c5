//! Pull requests.

use reqwest::Method;
use serde_json::json;

use super::super::inputs::Inputs;
use super::super::{Failure, Values};
use super::api::Api;
use super::issues::{common, place};
use super::{number, selected};
use crate::language::Value;

/// `github.get_pr {number, repo, fields}` → as an issue, and
/// `headRefName, baseRefName, mergeable, mergedAt`.
pub(super) async fn get(inputs: Inputs<'_>, api: &Api) -> Result<Values, Failure> {
    let (repo, number) = (api.repository(inputs)?, number(inputs)?);
    let pull = api.ask(inputs, Method::GET, &format!("repos/{repo}/pulls/{number}"), None).await?;
    let mut values = common(&pull);
    if !pull["merged_at"].is_null() {
        values.insert("state".to_owned(), json!("MERGED"));
    }
    let mergeable = match pull["mergeable"].as_bool() {
        Some(true) => "MERGEABLE",
        Some(false) => "CONFLICTING",
        None => "UNKNOWN",
    };
    values.insert("mergeable".to_owned(), json!(mergeable));
    values.insert("mergedAt".to_owned(), pull["merged_at"].clone());
    values.insert("headRefName".to_owned(), pull["head"]["ref"].clone());
    values.insert("baseRefName".to_owned(), pull["base"]["ref"].clone());
    selected(inputs, values)
}

/// `github.create_pr {title, head, base, body, draft, repo}` → `number, url, already_exists`.
///
/// A pull request that is already open for the same branches is a success, too.
pub(super) async fn create(inputs: Inputs<'_>, api: &Api) -> Result<Values, Failure> {
    let repo = api.repository(inputs)?;
    let (head, base) = (inputs.required("head")?, inputs.required("base")?);
    let body = json!({
        "title": inputs.required("title")?,
        "head": head,
        "base": base,
        "body": inputs.text("body")?.unwrap_or_default(),
        "draft": inputs.truth("draft")?,
    });
    let path = format!("repos/{repo}/pulls");
    let answer = api.send(inputs, Method::POST, &path, Some(body)).await?;
    if answer.status == 422 && answer.body.contains("already exists") {
        return existing(inputs, api, &repo, &head).await;
    }
    match answer.json() {
        Some(pull) if !answer.is_error() => Ok(placed(&pull, false)),
        _ => Err(api.refusal(inputs, &answer)),
    }
}

async fn existing(
    inputs: Inputs<'_>,
    api: &Api,
    repo: &str,
    head: &str,
) -> Result<Values, Failure> {
    let owner = repo.split('/').next().unwrap_or_default();
    let head = if head.contains(':') { head.to_owned() } else { format!("{owner}:{head}") };
    let path = format!("repos/{repo}/pulls?state=open&per_page=1&head={}", escaped(&head));
    let pulls = api.ask(inputs, Method::GET, &path, None).await?;
    match pulls.get(0) {
        Some(pull) => Ok(placed(pull, true)),
        None => Err(inputs.failure("a pull request already exists, but it is not to be found")),
    }
}

fn placed(pull: &Value, already_exists: bool) -> Values {
    let mut values = place(pull);
    values.insert("already_exists".to_owned(), json!(already_exists));
    values
}

/// Writes a text so that it can stand in the query of an address.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}
