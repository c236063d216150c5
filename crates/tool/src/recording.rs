//! The two lines that a call leaves, written even when the call is dropped half-way.

use std::time::Instant;

use quipu_event::payload::{ToolCall, ToolResult, ToolStatus};
use quipu_event::{Draft, Fidelity, Json, Kind};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::context::CallContext;
use crate::cut::cut_for_record;

/// A call that was recorded and has no result yet. Dropping it records that it was given up.
pub(crate) struct OpenCall<'a> {
    context: &'a CallContext,
    name: String,
    input: Json,
    began: Instant,
    is_closed: bool,
}

impl<'a> OpenCall<'a> {
    /// Records a call.
    pub(crate) fn begin(
        name: &str,
        provider: Option<&str>,
        input: &Value,
        context: &'a CallContext,
    ) -> OpenCall<'a> {
        let input = json_of(input);
        let call = ToolCall {
            name: name.to_owned(),
            call_id: context.call_id.clone(),
            input: input.clone(),
            fidelity: Fidelity::Router,
            provider: provider.map(str::to_owned),
            ..ToolCall::default()
        };
        match Draft::new(Kind::ToolCall, &call) {
            Ok(draft) => context.record(draft),
            Err(cause) => tracing::warn!(%cause, name, "a call could not be written down"),
        }
        let name = name.to_owned();
        OpenCall { context, name, input, began: Instant::now(), is_closed: false }
    }

    /// Records the result.
    pub(crate) fn end(mut self, answer: &Answer) {
        self.close(answer);
    }

    fn close(&mut self, answer: &Answer) {
        self.is_closed = true;
        let duration = self.began.elapsed().as_millis();
        let result = ToolResult {
            name: std::mem::take(&mut self.name),
            call_id: self.context.call_id.clone(),
            input: std::mem::replace(&mut self.input, Json::null()),
            output: self.whole(&answer.output),
            error: answer.error.clone(),
            fidelity: Fidelity::Router,
            status: Some(answer.status.clone()),
            duration_ms: u64::try_from(duration).ok(),
        };
        match result.into_payload() {
            Ok(payload) => self.context.record(Draft::with_json(Kind::ToolResult, payload)),
            Err(cause) => tracing::warn!(%cause, "a result could not be written down"),
        }
    }

    /// Returns the output as it is recorded: whole, unless there is no end of it.
    fn whole(&self, output: &Value) -> Json {
        let mut output = output.clone();
        if let Some(bytes) = cut_for_record(&mut output) {
            let facts = json!({ "tool_id": self.context.call_id, "bytes": bytes });
            self.context.note("output_cut", facts);
        }
        json_of(&output)
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        if !self.is_closed {
            let answer = Answer::failed("the call was given up before it had a result");
            self.close(&Answer { status: ToolStatus::Failed, ..answer });
        }
    }
}

/// Returns a value as JSON. One that nests too deep to be written is told as what it is.
fn json_of(value: &Value) -> Json {
    Json::encode(value)
        .or_else(|cause| Json::encode(&format!("not recorded: {cause}")))
        .unwrap_or_else(|_| Json::null())
}
