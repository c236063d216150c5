//! `notify.send`: tells a person something, on their desktop or through a service.
//!
//! Answers with `backend`, `status` and `response`. A service that refuses fails the step.

use std::process::Stdio;

use serde_json::{Map, json};
use tokio::process::Command;

use super::exchange::{DEFAULT_TIMEOUT, client, exchange};
use super::inputs::Inputs;
use super::settings::OperationSettings;
use super::{Failure, Values};
use crate::language::Value;

/// How long a message Discord takes, in characters.
const DISCORD_LIMIT: usize = 2_000;

/// Sends what the inputs describe: `backend` (`desktop`, `ntfy`, `slack`, `discord` or `webhook`),
/// `message`, `title`, `priority`, `topic`, `webhook_url`.
pub(super) async fn send(
    inputs: Inputs<'_>,
    settings: &OperationSettings,
) -> Result<Values, Failure> {
    let backend = inputs.required("backend")?;
    let note = Note::read(inputs)?;
    let (url, body) = match backend.as_str() {
        "desktop" => return desktop(inputs, &note).await,
        "ntfy" => (settings.ntfy.clone(), note.for_ntfy(&inputs.required("topic")?)),
        "slack" => {
            (webhook(inputs, settings.slack_webhook.as_ref())?, json!({"text": note.marked("*")}))
        }
        "discord" => {
            let content: String = note.marked("**").chars().take(DISCORD_LIMIT).collect();
            (webhook(inputs, settings.discord_webhook.as_ref())?, json!({"content": content}))
        }
        "webhook" => (webhook(inputs, None)?, note.for_webhook()),
        other => {
            return Err(inputs.failure(format!(
                "input `backend` is {other:?}: expected desktop, ntfy, slack, discord or webhook"
            )));
        }
    };
    post(inputs, &backend, &url, &body).await
}

/// What a person is to be told.
struct Note {
    title: String,
    message: String,
    priority: Priority,
}

#[derive(Clone, Copy)]
enum Priority {
    Low,
    Default,
    High,
}

impl Note {
    fn read(inputs: Inputs<'_>) -> Result<Self, Failure> {
        let priority = match inputs.text("priority")?.as_deref() {
            None | Some("default" | "normal") => Priority::Default,
            Some("low") => Priority::Low,
            Some("high") => Priority::High,
            Some(other) => {
                return Err(inputs.failure(format!(
                    "input `priority` is {other:?}: expected low, default or high"
                )));
            }
        };
        Ok(Note {
            title: inputs.text("title")?.unwrap_or_else(|| "Workflow".to_owned()),
            message: inputs.required("message")?,
            priority,
        })
    }

    /// ntfy takes everything as JSON, which header fields could not hold in other scripts.
    fn for_ntfy(&self, topic: &str) -> Value {
        let priority = match self.priority {
            Priority::Low => 2,
            Priority::Default => 3,
            Priority::High => 4,
        };
        json!({"topic": topic, "title": self.title, "message": self.message, "priority": priority})
    }

    fn for_webhook(&self) -> Value {
        let priority = match self.priority {
            Priority::Low => "low",
            Priority::Default => "default",
            Priority::High => "high",
        };
        json!({"title": self.title, "message": self.message, "priority": priority})
    }

    fn marked(&self, mark: &str) -> String {
        format!("{mark}{}{mark}\n{}", self.title, self.message)
    }
}

fn webhook(inputs: Inputs<'_>, otherwise: Option<&String>) -> Result<String, Failure> {
    match (inputs.text("webhook_url")?, otherwise) {
        (Some(url), _) => Ok(url),
        (None, Some(url)) => Ok(url.clone()),
        (None, None) => inputs.required("webhook_url"),
    }
}

async fn post(
    inputs: Inputs<'_>,
    backend: &str,
    url: &str,
    body: &Value,
) -> Result<Values, Failure> {
    let request =
        client()?.post(url).header("content-type", "application/json").body(body.to_string());
    let answer = exchange(inputs.operation, request, DEFAULT_TIMEOUT).await?;
    let values = values(backend, answer.status, &answer.body);
    if (200..300).contains(&answer.status) {
        Ok(values)
    } else {
        Err(inputs.failure(format!("{backend}: {}", answer.status_line())).with_values(values))
    }
}

async fn desktop(inputs: Inputs<'_>, note: &Note) -> Result<Values, Failure> {
    let urgency = match note.priority {
        Priority::Low => "low",
        Priority::Default => "normal",
        Priority::High => "critical",
    };
    let shown = Command::new("notify-send")
        .arg(format!("--urgency={urgency}"))
        .args(["--app-name=quipu", "--", &note.title, &note.message])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await;
    match shown {
        Ok(output) if output.status.success() => Ok(values("desktop", 0, "")),
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stderr);
            Err(inputs.failure(format!("notify-send failed: {}", told.trim())))
        }
        Err(error) => Err(inputs.failure(format!("cannot run notify-send: {error}"))),
    }
}

fn values(backend: &str, status: u16, response: &str) -> Values {
    let mut values = Map::new();
    values.insert("backend".to_owned(), json!(backend));
    values.insert("status".to_owned(), json!(status));
    values.insert("response".to_owned(), json!(response));
    values
}
