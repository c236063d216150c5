//! Issues, and the labels of issues and pull requests.

use reqwest::Method;
use serde_json::{Map, json};

use super::super::inputs::Inputs;
use super::super::{Failure, Values};
use super::api::Api;
use super::{number, selected};
use crate::language::Value;

/// `github.get_issue {number, repo, fields}` → `number, title, body, state, labels, url`.
pub(super) async fn get(inputs: Inputs<'_>, api: &Api) -> Result<Values, Failure> {
    let (repo, number) = (api.repository(inputs)?, number(inputs)?);
    let issue =
        api.ask(inputs, Method::GET, &format!("repos/{repo}/issues/{number}"), None).await?;
    selected(inputs, common(&issue))
}

/// `github.create_issue {title, body, labels, assignees, repo}` → `number, url`.
pub(super) async fn create(inputs: Inputs<'_>, api: &Api) -> Result<Values, Failure> {
    let repo = api.repository(inputs)?;
    let mut body = json!({"title": inputs.required("title")?});
    if let Some(text) = inputs.text("body")? {
        body["body"] = json!(text);
    }
    for name in ["labels", "assignees"] {
        let texts = inputs.texts(name)?;
        if !texts.is_empty() {
            body[name] = json!(texts);
        }
    }
    let issue = api.ask(inputs, Method::POST, &format!("repos/{repo}/issues"), Some(body)).await?;
    Ok(place(&issue))
}

/// `github.add_labels {number, labels, repo}` → `labels`, what was added, with commas between.
pub(super) async fn add_labels(inputs: Inputs<'_>, api: &Api) -> Result<Values, Failure> {
    let (repo, number) = (api.repository(inputs)?, number(inputs)?);
    let labels = inputs.texts("labels")?;
    if labels.is_empty() {
        return Err(inputs.failure("input `labels` is missing"));
    }
    let path = format!("repos/{repo}/issues/{number}/labels");
    api.ask(inputs, Method::POST, &path, Some(json!({"labels": labels}))).await?;
    Ok(Map::from_iter([("labels".to_owned(), json!(labels.join(",")))]))
}

/// Returns what issues and pull requests have in common.
pub(super) fn common(item: &Value) -> Values {
    let mut values = place(item);
    for name in ["title", "body"] {
        values.insert(name.to_owned(), json!(item[name].as_str().unwrap_or_default()));
    }
    let state = item["state"].as_str().unwrap_or_default().to_uppercase();
    values.insert("state".to_owned(), json!(state));
    let labels = item["labels"].as_array().map(Vec::as_slice).unwrap_or_default();
    let label = |label: &Value| json!({"name": label["name"], "color": label["color"], "description": label["description"]});
    values.insert("labels".to_owned(), labels.iter().map(label).collect());
    values
}

/// Returns where an issue or pull request is found.
pub(super) fn place(item: &Value) -> Values {
    Map::from_iter([
        ("number".to_owned(), item["number"].clone()),
        ("url".to_owned(), item["html_url"].clone()),
    ])
}
