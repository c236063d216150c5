//! Blocks, results and counts as the texts and numbers that steps have.

use quipu_event::payload::{Message, StepCompleted, StepResult, StepStarted, TokenCounts};
use quipu_event::{BlockContent, ContentBlock, Json, Purpose};
use serde::Deserialize;

use super::wire;

/// A message by what its blocks are for.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    pub(super) instructions: Option<String>,
    pub(super) text: Option<String>,
    pub(super) reasoning: Option<String>,
    pub(super) calls: Vec<wire::ToolCall>,
    pub(super) answers: Vec<(String, Json, Option<bool>)>,
    pub(super) left_out: Vec<String>,
}

/// Sorts the blocks of a message.
pub(super) fn spoken(message: Message) -> Spoken {
    let mut spoken = Spoken::default();
    for ContentBlock { purpose, content, .. } in message.blocks {
        match content {
            BlockContent::Text { text } if purpose == Some(Purpose::SystemPrompt) => {
                join(&mut spoken.instructions, text);
            }
            BlockContent::Text { text } => join(&mut spoken.text, text),
            BlockContent::Thinking { thinking, .. } => join(&mut spoken.reasoning, thinking),
            BlockContent::ToolUse { tool_name, tool_id, tool_input } => {
                spoken.calls.push(wire::ToolCall {
                    tool_call_id: tool_id,
                    function_name: tool_name,
                    arguments: arguments(tool_input),
                    extra: None,
                });
            }
            BlockContent::ToolResult { tool_id, tool_content, is_error } => {
                spoken.answers.push((tool_id, tool_content, is_error));
            }
            BlockContent::Command { command, output, .. } => {
                join(&mut spoken.text, format!("$ {command}"));
                output.into_iter().for_each(|output| join(&mut spoken.text, output));
            }
            // Pieces of a stream are said again, whole, at the end of the message.
            other @ (BlockContent::Stream { .. } | BlockContent::Other { .. }) => {
                spoken.left_out.push(other.block_type().to_owned());
            }
        }
    }
    spoken
}

/// Returns the arguments of a call: an object, whatever the tool was given.
pub(super) fn arguments(input: Json) -> Json {
    // Readers refuse half a surrogate pair, which JSON can spell.
    let input = if input.as_str().contains("\\u") {
        Json::parse(input.as_str()).unwrap_or(input)
    } else {
        input
    };
    if input.is_object() {
        return input;
    }
    if input.is_null() {
        return Json::from_valid("{}");
    }
    Json::from_valid(&format!("{{\"input\":{input}}}"))
}

/// Returns the text of what a tool answered: a string as it is, the texts of a list of blocks, else
/// its JSON.
pub(super) fn answer_text(output: &Json) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Answer {
        Text(String),
        Blocks(Vec<TextBlock>),
    }
    #[derive(Deserialize)]
    struct TextBlock {
        text: String,
    }
    if output.is_null() {
        return None;
    }
    Some(match output.decode::<Answer>() {
        Ok(Answer::Text(text)) => text,
        Ok(Answer::Blocks(blocks)) if !blocks.is_empty() => {
            blocks.into_iter().map(|block| block.text).collect::<Vec<_>>().join("\n")
        }
        _ => output.as_str().to_owned(),
    })
}

/// Returns the command that a step is about to run.
pub(super) fn command_of(step: &StepStarted) -> Option<String> {
    step.blocks.iter().flatten().find_map(|block| match &block.content {
        BlockContent::Command { command, .. } => Some(command.clone()),
        _ => None,
    })
}

/// Returns the text of what came of a step: what it put out, else its JSON.
pub(super) fn outcome_text(step: &StepCompleted) -> Option<String> {
    let result = step.result.as_ref()?;
    let Ok(told) = result.decode::<StepResult>() else { return Some(result.to_string()) };
    let parts: Vec<_> = [told.output, told.stdout, told.stderr]
        .into_iter()
        .flatten()
        .filter(|text| !text.is_empty())
        .collect();
    match (parts.is_empty(), told.value) {
        (false, _) => Some(parts.join("\n")),
        (true, Some(value)) => Some(value.to_string()),
        (true, None) => told.exit_code.map(|code| format!("exit code {code}")),
    }
}

/// Returns the counts as the format counts: a prompt includes what was cached.
pub(super) fn metrics(tokens: &TokenCounts) -> wire::Metrics {
    wire::Metrics {
        prompt_tokens: prompt_tokens(tokens),
        completion_tokens: tokens.output_tokens,
        cached_tokens: tokens.cache_read_tokens,
        cost_usd: tokens.cost_usd.filter(|cost| cost.is_finite()),
        extra: token_extra(tokens),
    }
}

/// Returns all input tokens, cached ones too.
pub(super) fn prompt_tokens(tokens: &TokenCounts) -> Option<u64> {
    [tokens.input_tokens, tokens.cache_read_tokens, tokens.cache_write_tokens]
        .into_iter()
        .flatten()
        .reduce(u64::saturating_add)
}

/// Returns the counts that the format has no field for.
pub(super) fn token_extra(tokens: &TokenCounts) -> Option<wire::TokenExtra> {
    let TokenCounts { cache_write_tokens, reasoning_tokens, .. } = *tokens;
    (cache_write_tokens.is_some() || reasoning_tokens.is_some())
        .then_some(wire::TokenExtra { cache_write_tokens, reasoning_tokens })
}

fn join(whole: &mut Option<String>, part: String) {
    match whole {
        Some(whole) => {
            whole.push_str("\n\n");
            whole.push_str(&part);
        }
        None => *whole = Some(part),
    }
}
