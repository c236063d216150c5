//! Requests to GitHub's REST API. The token goes into the request and appears nowhere else.

use std::path::PathBuf;

use reqwest::Method;

use super::super::exchange::{Answer, DEFAULT_TIMEOUT, client, exchange};
use super::super::inputs::Inputs;
use super::super::{Failure, OperationSettings};
use super::repository;
use crate::language::Value;

/// Where GitHub is, and who asks.
#[derive(Clone)]
pub(super) struct Api {
    base: String,
    token: Option<String>,
    repository: Option<String>,
    working_dir: PathBuf,
}

impl Api {
    pub(super) fn new(settings: &OperationSettings) -> Self {
        Api {
            base: settings.github_api.trim_end_matches('/').to_owned(),
            token: settings.github_token.clone(),
            repository: settings.github_repository.clone(),
            working_dir: settings.working_dir.clone(),
        }
    }

    /// Returns the repository that is meant: the input `repo`, else the setting, else the git remote
    /// of the working directory.
    pub(super) fn repository(&self, inputs: Inputs<'_>) -> Result<String, Failure> {
        let named = match inputs.text("repo")? {
            Some(named) => Some(named),
            None => self.repository.clone(),
        };
        let found = named.or_else(|| repository::of_directory(&self.working_dir));
        let Some(found) = found else {
            return Err(inputs.failure(
                "which repository? give input `repo` as owner/name, set GITHUB_REPOSITORY, or run \
                 in a clone of it",
            ));
        };
        if repository::is_name(&found) {
            Ok(found)
        } else {
            Err(inputs.failure(format!("repository {found:?}: expected owner/name")))
        }
    }

    /// Asks and expects an answer that is no refusal.
    pub(super) async fn ask(
        &self,
        inputs: Inputs<'_>,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value, Failure> {
        let answer = self.send(inputs, method, path, body).await?;
        if answer.is_error() {
            return Err(self.refusal(inputs, &answer));
        }
        answer.json().ok_or_else(|| inputs.failure("GitHub's answer is not JSON"))
    }

    /// Asks and returns whatever the answer is.
    pub(super) async fn send(
        &self,
        inputs: Inputs<'_>,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Answer, Failure> {
        let mut request = client()?
            .request(method, format!("{}/{path}", self.base))
            .header("accept", "application/vnd.github+json")
            .header("x-github-api-version", "2022-11-28");
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let answered = exchange(inputs.operation, request, DEFAULT_TIMEOUT).await;
        answered.map_err(|failure| Failure { message: self.hide(&failure.message), ..failure })
    }

    /// Says why GitHub refused, in its own words.
    pub(super) fn refusal(&self, inputs: Inputs<'_>, answer: &Answer) -> Failure {
        let told = answer.json().map(|json| reasons(&json)).unwrap_or_default();
        let told = if told.is_empty() { String::new() } else { format!(": {told}") };
        let hint = match (answer.status, &self.token) {
            (401 | 403 | 404, None) => " (neither GITHUB_TOKEN nor GH_TOKEN is set)",
            _ => "",
        };
        inputs.failure(self.hide(&format!("{}{told}{hint}", answer.status_line())))
    }

    fn hide(&self, text: &str) -> String {
        match &self.token {
            Some(token) => text.replace(token.as_str(), "***"),
            None => text.to_owned(),
        }
    }
}

/// Joins GitHub's message with the messages of its parts.
fn reasons(json: &Value) -> String {
    let parts = json["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let parts = parts.iter().filter_map(|part| part["message"].as_str().or(part.as_str()));
    json["message"].as_str().into_iter().chain(parts).collect::<Vec<_>>().join(": ")
}
