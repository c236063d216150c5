//! Comments on issues and pull requests.

use reqwest::Method;
use serde_json::{Map, json};

use super::super::inputs::Inputs;
use super::super::{Failure, Values};
use super::api::Api;
use super::number;
use crate::language::Value;

/// How many comments GitHub gives at a time.
const PAGE: usize = 100;

/// `github.add_comment {number, body, repo}` → `comment_id, url`.
pub(super) async fn add(inputs: Inputs<'_>, api: &Api) -> Result<Values, Failure> {
    let (repo, number) = (api.repository(inputs)?, number(inputs)?);
    let body = json!({"body": inputs.required("body")?});
    let path = format!("repos/{repo}/issues/{number}/comments");
    let comment = api.ask(inputs, Method::POST, &path, Some(body)).await?;
    Ok(Map::from_iter([
        ("comment_id".to_owned(), comment["id"].clone()),
        ("url".to_owned(), comment["html_url"].clone()),
    ]))
}

/// `github.list_comments {number, limit, repo}` → `comments, total`, oldest first.
pub(super) async fn list(inputs: Inputs<'_>, api: &Api) -> Result<Values, Failure> {
    let (repo, number) = (api.repository(inputs)?, number(inputs)?);
    let limit = inputs.number("limit")?.map_or(usize::MAX, |limit| limit as usize);
    let mut comments: Vec<Value> = Vec::new();
    for page in 1.. {
        let path = format!("repos/{repo}/issues/{number}/comments?per_page={PAGE}&page={page}");
        let answer = api.ask(inputs, Method::GET, &path, None).await?;
        let found = answer.as_array().map(Vec::as_slice).unwrap_or_default();
        comments.extend(found.iter().map(comment));
        if found.len() < PAGE || comments.len() >= limit {
            break;
        }
    }
    comments.truncate(limit);
    Ok(Map::from_iter([
        ("total".to_owned(), json!(comments.len())),
        ("comments".to_owned(), Value::Array(comments)),
    ]))
}

fn comment(comment: &Value) -> Value {
    json!({
        "id": comment["id"],
        "author": {"login": comment["user"]["login"]},
        "body": comment["body"],
        "createdAt": comment["created_at"],
        "url": comment["html_url"],
    })
}
