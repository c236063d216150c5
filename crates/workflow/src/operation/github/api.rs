//! Requests to GitHub: through its command line where that is installed, else over REST with a token.
//!
//! The token goes into the request and appears nowhere else.

use std::path::PathBuf;

use reqwest::Method;

use super::super::exchange::{Answer, DEFAULT_TIMEOUT, client, exchange};
use super::super::inputs::Inputs;
use super::super::{Failure, OperationSettings};
use super::gh::{self, Gh};
use super::repository;
use crate::language::Value;
use crate::process::StopSignal;

/// How GitHub can be told who asks.
const WAYS: &str = "install `gh` and run `gh auth login`, or set GITHUB_TOKEN or GH_TOKEN";

/// Where GitHub is, and who asks.
#[derive(Clone)]
pub(super) struct Api {
    base: String,
    token: Option<String>,
    repository: Option<String>,
    working_dir: PathBuf,
    gh: Option<Gh>,
}

impl Api {
    pub(super) fn new(settings: &OperationSettings, stop: &StopSignal) -> Self {
        Api {
            gh: Gh::new(settings, stop),
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

    /// Tells whether what is asked was to stop. Over REST it is given up then, and nobody comes to ask.
    pub(super) fn is_stopped(&self) -> bool {
        self.gh.as_ref().is_some_and(Gh::is_stopped)
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
        let answered = match &self.gh {
            Some(gh) => through(gh, inputs, &method, path, body.as_ref()).await,
            None => self.exchange(inputs, method, path, body).await,
        };
        answered.map_err(|failure| Failure { message: self.hide(&failure.message), ..failure })
    }

    /// Says why GitHub refused, in its own words.
    pub(super) fn refusal(&self, inputs: Inputs<'_>, answer: &Answer) -> Failure {
        let told = answer.json().map(|json| reasons(&json)).unwrap_or_default();
        let told = if told.is_empty() { String::new() } else { format!(": {told}") };
        let hint = match (answer.status, &self.gh) {
            (401, Some(_)) => " (`gh auth login` logs in again)".to_owned(),
            (403 | 404, Some(_)) => {
                " (`gh auth status` says who asks, `gh auth login` logs in)".to_owned()
            }
            (401 | 403 | 404, None) => self.hint(),
            _ => String::new(),
        };
        inputs.failure(self.hide(&format!("{}{told}{hint}", answer.status_line())))
    }

    async fn exchange(
        &self,
        inputs: Inputs<'_>,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Answer, Failure> {
        // GitHub itself lets anybody read what is public, and nobody write.
        if self.token.is_none() && self.is_githubs_own() && method != Method::GET {
            return Err(inputs.failure(format!("GitHub must know who asks: {WAYS}")));
        }
        let mut request = client()?.request(method, format!("{}/{path}", self.base));
        for (name, value) in gh::HEADERS {
            request = request.header(name, value);
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let answered = exchange(inputs.operation, request, DEFAULT_TIMEOUT).await;
        answered.map_err(|failure| {
            let message = failure.message.clone() + &self.hint();
            Failure { message, ..failure }
        })
    }

    /// Says what may help somebody who asks without a token.
    fn hint(&self) -> String {
        match (&self.token, self.is_githubs_own()) {
            (Some(_), _) => String::new(),
            (None, true) => format!(" (asked as nobody: {WAYS})"),
            (None, false) => " (neither GITHUB_TOKEN nor GH_TOKEN is set)".to_owned(),
        }
    }

    /// Tells whether the address is one of GitHub's, which its command line can reach too.
    fn is_githubs_own(&self) -> bool {
        gh::hostname(&self.base).is_some()
    }

    fn hide(&self, text: &str) -> String {
        match &self.token {
            Some(token) => text.replace(token.as_str(), "***"),
            None => text.to_owned(),
        }
    }
}

/// Asks through the command line, no longer than over REST.
async fn through(
    gh: &Gh,
    inputs: Inputs<'_>,
    method: &Method,
    path: &str,
    body: Option<&Value>,
) -> Result<Answer, Failure> {
    match tokio::time::timeout(DEFAULT_TIMEOUT, gh.send(method, path, body)).await {
        Ok(answered) => answered.map_err(|reason| inputs.failure(reason)),
        Err(_) => Err(Failure {
            has_timed_out: true,
            ..inputs.failure(format!("gh: no answer within {DEFAULT_TIMEOUT:?}"))
        }),
    }
}

/// Joins GitHub's message with the messages of its parts.
fn reasons(json: &Value) -> String {
    let parts = json["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let parts = parts.iter().filter_map(|part| part["message"].as_str().or(part.as_str()));
    json["message"].as_str().into_iter().chain(parts).collect::<Vec<_>>().join(": ")
}
