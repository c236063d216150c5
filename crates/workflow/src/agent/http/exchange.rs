//! One request and its answer: made again while the server asks for it, recorded while it comes.

use std::future::Future;
use std::time::Duration;

use quipu_event::payload::{ErrorReport, Message, Status};
use quipu_event::{BlockContent, Draft, Json, Kind, Payload};
use quipu_provider::{Made, Normalizer, find_provider};
use reqwest::Response;
use serde_json::{Value, json};

use super::super::desk::Desk;
use super::super::hearing::Hearing;
use super::endpoint::Endpoint;
use super::history::{self, Call};
use super::live::Pieces;
use super::mask::Mask;
use super::retry::{asked_delay, is_passing};
use crate::process::{StopReason, stop_beyond};

/// How much of an answer that is an error is read.
const LONGEST_ERROR: usize = 64 * 1024;

/// What a request came to.
pub(super) enum Ending {
    /// The model said something.
    Said {
        /// The text.
        text: String,
        /// What it wants called.
        calls: Vec<Call>,
    },
    /// It did not, for this reason.
    Failed(String),
    /// Somebody stopped it.
    Stopped(StopReason),
}

/// One request.
pub(super) struct Exchange<'a, 'd> {
    pub(super) endpoint: &'a Endpoint,
    pub(super) desk: &'d Desk,
    pub(super) hearing: &'a mut Hearing<'d>,
    pub(super) messages: &'a [Value],
    pub(super) tools: &'a [Value],
}

/// What an attempt came to when it came to no answer.
struct Refusal {
    status: Option<u16>,
    message: String,
    code: Option<String>,
    raw: Vec<u8>,
    asked: Option<Duration>,
    is_passing: bool,
}

impl Exchange<'_, '_> {
    /// Makes the request, again if need be, and hears the answer.
    pub(super) async fn make(&mut self) -> Ending {
        let (mut attempt, mut tells_usage) = (1, true);
        loop {
            let body = self.endpoint.body(self.messages, self.tools, tells_usage);
            let sent = match or_stop(self.desk, self.send(&body)).await {
                Ok(sent) => sent,
                Err(reason) => return Ending::Stopped(reason),
            };
            let refusal = match sent {
                Ok(response) => return self.hear(response).await,
                Err(refusal) => refusal,
            };
            // Some servers do not know that usage can be asked for.
            if tells_usage
                && refusal.status == Some(400)
                && refusal.message.contains("stream_options")
            {
                tells_usage = false;
                continue;
            }
            if !refusal.is_passing || attempt > self.desk.settings.retry.retries {
                return self.give_up(refusal);
            }
            if let Some(reason) = self.wait(attempt, &refusal).await {
                return Ending::Stopped(reason);
            }
            attempt += 1;
        }
    }

    async fn send(&self, body: &Value) -> Result<Response, Refusal> {
        let endpoint = self.endpoint;
        let mut request = endpoint
            .client
            .post(&endpoint.url)
            .header("content-type", "application/json")
            .body(body.to_string());
        if let Some(key) = &endpoint.key {
            request = request.bearer_auth(key);
        }
        for (name, value) in &endpoint.headers {
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(|cause| Refusal {
            status: None,
            message: endpoint.mask().text(&in_full(&cause)),
            code: None,
            raw: Vec::new(),
            asked: None,
            is_passing: !cause.is_builder(),
        })?;
        match response.status().is_success() {
            true => Ok(response),
            false => Err(Refusal::read(response, endpoint.mask()).await),
        }
    }

    /// Waits before the next attempt; returns why it must not be made.
    async fn wait(&self, attempt: u32, refusal: &Refusal) -> Option<StopReason> {
        let settings = self.desk.settings.retry;
        let delay = settings.delay(attempt, refusal.asked);
        let facts = json!({
            "attempt": attempt,
            "max_attempts": settings.retries + 1,
            "delay_ms": u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
            "status": refusal.status,
            "error": refusal.message,
        });
        self.desk.note("retry", facts);
        or_stop(self.desk, tokio::time::sleep(delay)).await.err()
    }

    fn give_up(&self, refusal: Refusal) -> Ending {
        let Refusal { status, message, code, raw, is_passing, .. } = refusal;
        let code = code.or_else(|| status.map(|status| format!("http_{status}")));
        let report = ErrorReport {
            code: code.unwrap_or_else(|| "connection".to_owned()),
            category: "api".to_owned(),
            message: message.clone(),
            retryable: is_passing,
            details: Json::encode(&json!({ "status": status })).ok().filter(|_| status.is_some()),
        };
        if let Ok(draft) = Draft::new(Kind::Error, &report) {
            self.desk.record(if raw.is_empty() { draft } else { draft.with_raw(&raw) });
        }
        Ending::Failed(match status {
            Some(status) => format!("the server answered {status}: {message}"),
            None => format!("no answer from {}: {message}", self.endpoint.shown_url()),
        })
    }

    /// Hears an answer to its end, whichever it is.
    async fn hear(&mut self, mut response: Response) -> Ending {
        let Some(surface) = find_provider("openai").and_then(|openai| openai.find_surface("chat"))
        else {
            return Ending::Failed("nobody reads what it answers".to_owned());
        };
        let mut normalizer = Normalizer::new(surface, self.desk.settings.kept);
        let (mut mask, mut pieces, mut made) =
            (self.endpoint.mask(), Pieces::default(), Vec::new());
        let mut said = Collected::default();
        let broken = loop {
            match or_stop(self.desk, response.chunk()).await {
                Ok(Ok(Some(bytes))) => {
                    let safe = mask.take(&bytes);
                    let text = pieces.take(&safe);
                    if !text.is_empty() {
                        self.desk.show_piece(text);
                    }
                    normalizer.push(&safe, &mut made);
                    self.tell(&mut made, &mut said);
                }
                Ok(Ok(None)) => break None,
                Ok(Err(cause)) => break Some(Ending::Failed(mask.text(&in_full(&cause)))),
                Err(reason) => break Some(Ending::Stopped(reason)),
            }
        };
        normalizer.push(&mask.finish(), &mut made);
        normalizer.finish(&mut made);
        self.tell(&mut made, &mut said);
        let (status, error) = self.hearing.take_end();
        match (broken, status) {
            (Some(Ending::Failed(cause)), _) => {
                Ending::Failed(format!("the connection broke: {cause}"))
            }
            (Some(ending), _) => ending,
            (None, Some(Status::Failed)) => {
                Ending::Failed(error.unwrap_or_else(|| "the answer is an error".to_owned()))
            }
            (None, _) if !said.has_spoken => {
                Ending::Failed("the server's answer could not be understood".to_owned())
            }
            (None, Some(Status::Aborted)) if !pieces.is_done => {
                Ending::Failed("the answer was cut off".to_owned())
            }
            (None, _) => Ending::Said { text: said.text, calls: said.calls },
        }
    }

    fn tell(&mut self, made: &mut Vec<Made>, said: &mut Collected) {
        for Made { mut draft, .. } in made.drain(..) {
            // Servers date an answer to the second, or wrongly; it is heard now.
            draft.timestamp = None;
            if draft.kind == Kind::MessageAssistant
                && let Ok(Payload::Message(mut message)) =
                    Payload::decode(&draft.kind, &draft.payload)
            {
                if self.has_renamed(&mut message)
                    && let Ok(payload) = Json::encode(&message)
                {
                    draft.payload = payload;
                }
                let (text, calls) = history::parts(message);
                said.has_spoken = true;
                said.text.push_str(&text);
                said.calls.extend(calls);
            }
            self.hearing.take(draft);
        }
    }
}

impl Exchange<'_, '_> {
    /// Gives calls whose ids are taken others. Whatever the model hears of such a call has its new id too,
    /// and so the block, the call and its result stay together.
    fn has_renamed(&self, message: &mut Message) -> bool {
        let mut has_renamed = false;
        for block in &mut message.blocks {
            if let BlockContent::ToolUse { tool_id, .. } = &mut block.content {
                let unique = self.desk.toolbox.call_id(tool_id);
                has_renamed |= unique != *tool_id;
                *tool_id = unique;
            }
        }
        has_renamed
    }
}

/// What an answer says.
#[derive(Default)]
struct Collected {
    text: String,
    calls: Vec<Call>,
    has_spoken: bool,
}

impl Refusal {
    async fn read(mut response: Response, mut mask: Mask) -> Self {
        let status = response.status();
        let asked = asked_delay(response.headers());
        let mut raw = Vec::new();
        // An error about the error is not worth telling.
        while let Ok(Some(bytes)) = response.chunk().await {
            raw.extend(mask.take(&bytes));
            if raw.len() > LONGEST_ERROR {
                raw.truncate(LONGEST_ERROR);
                break;
            }
        }
        raw.extend(mask.finish());
        let body: Value = serde_json::from_slice(&raw).unwrap_or(Value::Null);
        let error = body.get("error").unwrap_or(&body);
        let text =
            |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let told =
            text(&error["message"]).or_else(|| text(error)).or_else(|| text(&body["detail"]));
        let plain = || {
            let text = String::from_utf8_lossy(&raw).trim().chars().take(500).collect::<String>();
            Some(text).filter(|text| !text.is_empty())
        };
        let reason = || status.canonical_reason().unwrap_or("no reason given").to_owned();
        Refusal {
            status: Some(status.as_u16()),
            message: told.or_else(plain).unwrap_or_else(reason),
            code: text(&error["code"]).or_else(|| text(&error["type"])),
            asked,
            is_passing: is_passing(status.as_u16()),
            raw,
        }
    }
}

/// Waits for something, or for a reason to stop.
pub(super) async fn or_stop<T>(
    desk: &Desk,
    work: impl Future<Output = T>,
) -> Result<T, StopReason> {
    let mut stop = desk.stop.clone();
    tokio::select! {
        biased;
        reason = stop_beyond(&mut stop, None) => Err(reason),
        done = work => Ok(done),
    }
}

/// Returns an error with all of its causes: the outermost says little.
fn in_full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = inner.source();
    }
    text
}
