//! OpenCode's parts as they stand in its JSON.

use quipu_event::payload::{ErrorReport, ToolResult, ToolStatus, Usage, UsageScope};
use quipu_event::{Json, Timestamp};

use crate::value::{Fields, Value};

/// A message that goes into a fact is cut to so many characters.
const SHORT: usize = 500;

/// Returns the time under `key`, in milliseconds since 1970.
pub(super) fn millis(fields: &Fields<'_>, key: &str) -> Option<Timestamp> {
    let micros = fields.integer(key)?.saturating_mul(1000);
    Some(Timestamp::from_micros(micros))
}

/// A tool part: a call, and what became of it.
pub(super) struct ToolPart {
    pub(super) name: String,
    pub(super) input: Json,
    pub(super) start: Option<Timestamp>,
    pub(super) end: Option<Timestamp>,
    /// The result, if the call has ended.
    pub(super) result: Option<ToolResult>,
    pub(super) subagent: Option<Subagent>,
}

/// A session that a tool started for a subagent.
pub(super) struct Subagent {
    pub(super) id: String,
    pub(super) name: Option<String>,
}

impl ToolPart {
    pub(super) fn read(part: &Fields<'_>) -> Self {
        let state = part.fields("state").unwrap_or_default();
        let time = state.fields("time").unwrap_or_default();
        let input = state.fields("input").unwrap_or_default();
        let metadata = state.fields("metadata").unwrap_or_default();
        let is_parent =
            metadata.has("parentSessionId") || part.text("tool").as_deref() == Some("task");
        let id = metadata.string("sessionId").filter(|_| is_parent);
        ToolPart {
            name: part.string("tool").unwrap_or_default(),
            input: state.json("input").unwrap_or_default(),
            start: millis(&time, "start"),
            end: millis(&time, "end"),
            result: result(&state),
            subagent: id.map(|id| Subagent { id, name: input.string("subagent_type") }),
        }
    }
}

fn result(state: &Fields<'_>) -> Option<ToolResult> {
    let error = state.get("error");
    let message = error.map(|error| short(&error.text().unwrap_or(error.source().into())));
    let status = match state.text("status").as_deref() {
        Some("completed") => ToolStatus::Completed,
        Some("error") if message.as_deref().is_some_and(is_refusal) => ToolStatus::Blocked,
        Some("error") => ToolStatus::Failed,
        _ => return None,
    };
    let output = state.get("output").or(error).map(Value::json).unwrap_or_default();
    let metadata = state.fields("metadata").unwrap_or_default();
    let exit_code = metadata.integer("exit").filter(|code| *code != 0);
    // A command that ended badly has been completed all the same, says OpenCode.
    let (status, error) = match (status, exit_code) {
        (ToolStatus::Completed, Some(code)) => {
            (ToolStatus::Failed, Some(format!("exit code {code}")))
        }
        (status, _) => (status, message),
    };
    Some(ToolResult { output, error, status: Some(status), ..ToolResult::default() })
}

/// A refusal is told like any other error, by its words alone.
fn is_refusal(message: &str) -> bool {
    let refusals = ["rejected permission", "specified a rule which prevents"];
    refusals.iter().any(|refusal| message.contains(refusal))
}

/// Reads the tokens and the cost of a step.
///
/// Cached input is counted beside the input. Reasoning is counted beside the output today and was
/// a part of it once; the total tells which. Versions without a total are of the older sort.
pub(super) fn usage(part: &Fields<'_>) -> Option<Usage> {
    let tokens = part.fields("tokens")?;
    let cache = tokens.fields("cache").unwrap_or_default();
    let [input, output, reasoning] = ["input", "output", "reasoning"].map(|key| tokens.count(key));
    let [read, write] = ["read", "write"].map(|key| cache.count(key));
    let visible = [input, output, read, write].into_iter().flatten();
    let visible = visible.fold(0_u64, u64::saturating_add);
    let is_beside = tokens.count("total").is_some_and(|total| total > visible);
    let beside = reasoning.filter(|_| is_beside);
    Some(Usage {
        input_tokens: input,
        output_tokens: output.map(|output| output.saturating_add(beside.unwrap_or(0))),
        cache_read_tokens: read,
        cache_write_tokens: write,
        reasoning_tokens: reasoning,
        scope: Some(UsageScope::Message),
        message_id: part.string("messageID"),
        cost_usd: part.number("cost"),
        ..Usage::default()
    })
}

/// Adds what another step of the same message used.
pub(super) fn add(total: &mut Option<Usage>, step: Usage) {
    let Some(before) = total.take() else {
        *total = Some(step);
        return;
    };
    let mut tokens = before.tokens();
    tokens.add(&step.tokens());
    *total = Some(Usage {
        input_tokens: tokens.input_tokens,
        output_tokens: tokens.output_tokens,
        cache_read_tokens: tokens.cache_read_tokens,
        cache_write_tokens: tokens.cache_write_tokens,
        reasoning_tokens: tokens.reasoning_tokens,
        cost_usd: tokens.cost_usd,
        ..before
    });
}

/// Reads what went wrong.
pub(super) fn error_report(error: &Fields<'_>) -> ErrorReport {
    let data = error.fields("data").unwrap_or_default();
    let name = error.text("name").unwrap_or_default();
    let (code, category) = match &*name {
        "APIError" => ("api_error", "api"),
        "ProviderAuthError" => ("auth", "api"),
        "ContextOverflowError" => ("context_overflow", "api"),
        "MessageOutputLengthError" => ("output_length", "api"),
        "MessageAbortedError" => ("aborted", "session"),
        _ => ("agent_error", "session"),
    };
    let message = data.text("message").or_else(|| error.text("message")).unwrap_or(name);
    ErrorReport {
        code: code.to_owned(),
        category: category.to_owned(),
        message: short(&message),
        retryable: data.flag("isRetryable") == Some(true),
        details: data.integer("statusCode").and_then(|code| {
            let details = serde_json::json!({ "status_code": code });
            Json::encode(&details).ok()
        }),
    }
}

/// Returns the provider's seal on a piece of reasoning, whoever the provider is.
pub(super) fn signature(part: &Fields<'_>) -> Option<String> {
    let metadata = part.fields("metadata")?;
    let mut providers = metadata.iter().filter_map(|(_, value)| value.fields());
    providers.find_map(|provider| provider.string("signature"))
}

fn short(text: &str) -> String {
    text.chars().take(SHORT).collect()
}
