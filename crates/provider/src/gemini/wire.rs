//! Gemini's content as it stands in its JSON: parts, tool calls and their answers.
//!
//! Reading is lenient field by field. What the pieces become is decided elsewhere.

use quipu_event::payload::ToolStatus;
use quipu_event::{BlockContent, ContentBlock, Fidelity, Json, Timestamp};

use crate::value::{Fields, Value, json_text};

/// A message that goes into a fact is cut to so many characters.
const SHORT: usize = 500;

/// A piece of what was said.
pub(super) enum Part {
    /// Plain text.
    Text(String),
    /// A thought, and its seal.
    Thought(String, Option<String>),
    /// The model asks for a tool.
    Call(Box<ToolCallRecord>),
    /// A tool answers.
    Answer(Answer),
    /// An image, a file, code that was run: its name and all of it.
    Other(String, Json),
}

/// One tool call, with what became of it as far as it is known.
pub(super) struct ToolCallRecord {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) args: Json,
    pub(super) provider: String,
    /// When it ended.
    pub(super) time: Option<Timestamp>,
    pub(super) status: Option<ToolStatus>,
    pub(super) is_cancelled: bool,
    pub(super) answer: Option<Answer>,
    /// The subagent that did the work.
    pub(super) agent_id: Option<String>,
    pub(super) agent_name: Option<String>,
}

/// What a tool answered.
pub(super) struct Answer {
    pub(super) call_id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) output: Json,
    pub(super) error: Option<String>,
}

/// Returns the pieces of a message: a string, a part, or a list of either.
pub(super) fn parts(content: Option<Value<'_>>) -> Vec<Part> {
    let Some(content) = content else { return Vec::new() };
    let items = if content.is_list() { content.items() } else { vec![content] };
    items.into_iter().filter_map(part).collect()
}

/// Returns the text of a message alone.
pub(super) fn text_of(content: Option<Value<'_>>) -> String {
    let texts = parts(content).into_iter().filter_map(|part| match part {
        Part::Text(text) => Some(text),
        _ => None,
    });
    texts.collect()
}

fn part(value: Value<'_>) -> Option<Part> {
    let Some(fields) = value.fields() else {
        let text = value.text()?;
        return (!text.is_empty()).then(|| Part::Text(text.into_owned()));
    };
    if let Some(call) = fields.fields("functionCall") {
        return Some(Part::Call(Box::new(function_call(&call))));
    }
    if let Some(response) = fields.fields("functionResponse") {
        return Some(Part::Answer(answer(&response)));
    }
    if let Some(text) = fields.string("text") {
        let signature = fields.string("thoughtSignature");
        if fields.flag("thought") == Some(true) {
            return Some(Part::Thought(text, signature));
        }
        return (!text.is_empty()).then_some(Part::Text(text));
    }
    let name = fields.iter().next().map_or("part", |(name, _)| name).to_owned();
    Some(Part::Other(name, value.json()))
}

fn function_call(fields: &Fields<'_>) -> ToolCallRecord {
    let name = fields.string("name").unwrap_or_default();
    ToolCallRecord {
        id: fields.string("id"),
        provider: tool_provider(&name, None),
        name,
        args: fields.json("args").unwrap_or_default(),
        time: None,
        status: None,
        is_cancelled: false,
        answer: None,
        agent_id: None,
        agent_name: None,
    }
}

/// Reads an item of `toolCalls`.
pub(super) fn tool_call(value: Value<'_>) -> Option<ToolCallRecord> {
    let fields = value.fields()?;
    let status = fields.text("status");
    let is_cancelled = status.as_deref() == Some("cancelled");
    let answer = fields.get("result").and_then(result).or_else(|| {
        // What a person was shown is better than nothing.
        let output = fields.json("resultDisplay")?;
        Some(Answer { call_id: None, name: None, output, error: None })
    });
    let display_name = fields.text("displayName");
    let agent_id = fields.string("agentId");
    let agent_name = fields.fields("resultDisplay").and_then(|shown| shown.string("agentName"));
    let mut call = function_call(&fields);
    call.provider = tool_provider(&call.name, display_name.as_deref());
    call.time = fields.time("timestamp");
    call.status = match status.as_deref() {
        Some("success") => Some(ToolStatus::Completed),
        Some("error") => Some(ToolStatus::Failed),
        Some("cancelled") if is_refusal(answer.as_ref()) => Some(ToolStatus::Blocked),
        Some("cancelled") => Some(ToolStatus::Failed),
        _ => answer.as_ref().map(status_of),
    };
    Some(ToolCallRecord { is_cancelled, answer, agent_id, agent_name, ..call })
}

/// Reads the answer of a tool call: one response, or a list that is kept as it is.
fn result(value: Value<'_>) -> Option<Answer> {
    let mut answers: Vec<_> = parts(Some(value));
    if let [Part::Answer(_)] = answers.as_slice()
        && let Some(Part::Answer(answer)) = answers.pop()
    {
        return Some(answer);
    }
    let error = answers.iter().find_map(|part| match part {
        Part::Answer(answer) => answer.error.clone(),
        _ => None,
    });
    Some(Answer { call_id: None, name: None, output: value.json(), error })
}

fn answer(fields: &Fields<'_>) -> Answer {
    let response = fields.get("response");
    let inside = response.and_then(Value::fields).unwrap_or_default();
    let error = inside.get("error");
    let output = inside.get("output").or(error).or(response);
    Answer {
        call_id: fields.string("id"),
        name: fields.string("name"),
        output: output.map(Value::json).unwrap_or_default(),
        error: error.map(|error| short(&error.text().unwrap_or(error.source().into()))),
    }
}

/// Tells how a call ended whose answer is all there is.
pub(super) fn status_of(answer: &Answer) -> ToolStatus {
    if answer.error.is_some() { ToolStatus::Failed } else { ToolStatus::Completed }
}

/// Returns what a shell command ended with, as its report tells below the output.
pub(super) fn exit_code(tool: &str, output: &Json) -> Option<i64> {
    let report = Value::parse(output.as_str()).ok().filter(|_| tool == "run_shell_command")?;
    let report = report.text()?;
    // The output may say anything, also something that looks like a report.
    let below = ["Signal: ", "Background PIDs: ", "Process Group PGID: ", "</untrusted_context>"];
    let is_below = |line: &&str| below.iter().any(|label| line.starts_with(label));
    let line = report.trim_end().lines().rev().find(|line| !is_below(line))?;
    line.strip_prefix("Exit Code: ")?.trim_end().parse().ok()
}

/// A call is cancelled when somebody stops it, and also when somebody does not allow it.
fn is_refusal(answer: Option<&Answer>) -> bool {
    let error = answer.and_then(|answer| answer.error.as_deref());
    error.is_some_and(|error| error.contains("did not allow"))
}

/// Tells whose tool it is: tools of a server are called `mcp_<server>_<tool>`.
pub(super) fn tool_provider(name: &str, display_name: Option<&str>) -> String {
    let shown = display_name.and_then(|shown| {
        let (_, server) = shown.strip_suffix(" MCP Server)")?.rsplit_once('(')?;
        Some(server)
    });
    let named = || name.strip_prefix("mcp_")?.split_once('_').map(|(server, _)| server);
    match shown.or_else(named) {
        Some(server) => format!("mcp:{server}"),
        None => "agent".to_owned(),
    }
}

/// Makes the block that says that the model asks for a tool.
pub(super) fn tool_use(name: &str, id: &str, input: &Json) -> ContentBlock {
    let (tool_name, tool_id) = (name.to_owned(), id.to_owned());
    BlockContent::ToolUse { tool_name, tool_id, tool_input: input.clone() }
        .vouched_by(Fidelity::AgentEmitted)
}

/// Makes a thought of its subject and what it says.
pub(super) fn thought(value: Value<'_>) -> Option<String> {
    let fields = value.fields()?;
    let (subject, description) = (fields.text("subject"), fields.text("description"));
    let said = [subject, description].into_iter().flatten().filter(|text| !text.is_empty());
    Some(said.collect::<Vec<_>>().join("\n"))
}

/// Returns a text that is short enough for a fact.
pub(super) fn short(text: &str) -> String {
    text.chars().take(SHORT).collect()
}

/// Tells which family an error belongs to: its own limits and settings end a run with `Fatal…`.
pub(super) fn category(code: &str) -> &'static str {
    match code {
        "FatalConfigError" | "FatalAuthenticationError" => "config",
        "FatalToolExecutionError" => "tool",
        code if code.starts_with("Fatal") => "session",
        _ => "api",
    }
}

/// Makes a JSON string of a text, if there is one.
pub(super) fn output_text(text: Option<&str>) -> Json {
    text.map(json_text).unwrap_or_default()
}
