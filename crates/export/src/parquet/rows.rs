//! Events as rows: which values of an event stand in which column.

use std::collections::BTreeMap;

use quipu_event::payload::RunStarted;
use quipu_event::{BlockContent, ContentBlock, Event, Json, Payload, RunId, Timestamp};
use quipu_view::Summary;

use super::table::Cell;

/// The cells of a row, in the order of its table's columns.
pub(super) type Row = Vec<Cell>;

/// Returns the row of an event: all there is.
pub(super) fn event(event: &Event) -> Row {
    let extra: BTreeMap<&str, &Json> =
        event.extra.iter().map(|(key, value)| (key.as_str(), value)).collect();
    let extra = (!extra.is_empty()).then(|| Json::encode(&extra).unwrap_or_default());
    let origin = event.origin.as_ref().and_then(|origin| Json::encode(origin).ok());
    vec![
        text(event.run_id.as_str()),
        number(event.seq),
        time(Some(event.timestamp)),
        text(event.kind.as_str()),
        text(event.path.as_str()),
        number(event.iteration),
        text(event.source.as_deref()),
        text(event.parent_run_id.as_ref().map(RunId::as_str)),
        text(event.child_run_id.as_ref().map(RunId::as_str)),
        json(Some(&event.payload)),
        json(origin.as_ref()),
        Cell::Bytes(event.raw.as_ref().and_then(|raw| raw.bytes())),
        json(extra.as_ref()),
    ]
}

/// Returns the rows of a message.
pub(super) fn messages(event: &Event, payload: &Payload) -> Vec<Row> {
    let Payload::Message(message) = payload else { return Vec::new() };
    let row = |block: Option<(usize, &ContentBlock)>| {
        let content = block.map(|(_, block)| &block.content);
        let (said, tool, call_id, value) = content.map(parts).unwrap_or_default();
        vec![
            text(event.run_id.as_str()),
            number(event.seq),
            time(Some(event.timestamp)),
            text(event.path.as_str()),
            text(event.source.as_deref()),
            text(message.role.as_str()),
            number(block.map(|(at, _)| at as u64)),
            text(content.map(BlockContent::block_type)),
            text(block.map(|(_, block)| block.fidelity.as_str())),
            text(
                block.and_then(|(_, block)| block.purpose.as_ref()).map(|purpose| purpose.as_str()),
            ),
            text(said),
            text(tool),
            text(call_id),
            json(value),
            text(message.message_id.as_deref()),
            text(message.model.as_deref()),
            text(message.stop_reason.as_deref()),
            number(message.turn),
        ]
    };
    if message.blocks.is_empty() {
        return vec![row(None)];
    }
    message.blocks.iter().enumerate().map(|block| row(Some(block))).collect()
}

/// Returns the row of tokens, if the event counts any.
pub(super) fn usage(event: &Event, payload: &Payload) -> Option<Row> {
    let Payload::Usage(usage) = payload else { return None };
    Some(vec![
        text(event.run_id.as_str()),
        number(event.seq),
        time(Some(event.timestamp)),
        text(event.path.as_str()),
        text(event.source.as_deref()),
        text(usage.model.as_deref()),
        text(usage.scope.as_ref().map(|scope| scope.as_str())),
        text(usage.message_id.as_deref()),
        number(usage.input_tokens),
        number(usage.output_tokens),
        number(usage.cache_read_tokens),
        number(usage.cache_write_tokens),
        number(usage.reasoning_tokens),
        Cell::Real(usage.cost_usd),
    ])
}

/// What a run said of itself at its start.
#[derive(Debug, Default)]
pub(super) struct Start(Box<RunStarted>);

impl Start {
    /// Takes it, if this is it.
    pub(super) fn take(&mut self, payload: &Payload) {
        if let Payload::RunStarted(run) = payload {
            *self.0 = RunStarted { inputs: None, ..(**run).clone() };
        }
    }
}

/// Returns the row of a run.
pub(super) fn run(
    id: &RunId,
    summary: &Summary,
    untold_cost: Option<f64>,
    Start(start): &Start,
) -> Row {
    let agent = start.agent.clone().unwrap_or_default();
    let labels = start.labels.as_ref().and_then(|labels| Json::encode(labels).ok());
    let tokens = summary.usage().unwrap_or_default();
    let calls: u64 = summary.tools.values().map(|tool| tool.calls).sum();
    vec![
        text(id.as_str()),
        text(summary.parent_run_id.as_ref().map(RunId::as_str)),
        text(summary.name.as_deref()),
        text(summary.kind.as_ref().map(|kind| kind.as_str())),
        text(summary.status.as_ref().map(|status| status.as_str())),
        text(summary.error.as_deref()),
        time(summary.started),
        time(summary.ended),
        number(summary.duration_ms()),
        text(start.session_id.as_deref()),
        text(start.task_id.as_deref()),
        text(start.cwd.as_deref()),
        text(agent.provider.as_deref()),
        text(agent.adapter.as_deref()),
        text(agent.model.as_deref()),
        text(agent.cli_version.as_deref()),
        json(labels.as_ref()),
        number(summary.events),
        number(summary.messages.values().sum::<u64>()),
        number(calls),
        number(summary.errors),
        number(tokens.input_tokens),
        number(tokens.output_tokens),
        number(tokens.cache_read_tokens),
        number(tokens.cache_write_tokens),
        number(tokens.reasoning_tokens),
        Cell::Real(untold_cost.or(tokens.cost_usd)),
    ]
}

/// Returns the text, tool, call and other value of a block.
fn parts(content: &BlockContent) -> (Option<&str>, Option<&str>, Option<&str>, Option<&Json>) {
    match content {
        BlockContent::Text { text } => (Some(text), None, None, None),
        BlockContent::Thinking { thinking, .. } => (Some(thinking), None, None, None),
        BlockContent::ToolUse { tool_name, tool_id, tool_input } => {
            (None, Some(tool_name), Some(tool_id), Some(tool_input))
        }
        BlockContent::ToolResult { tool_id, tool_content, .. } => {
            (None, None, Some(tool_id), Some(tool_content))
        }
        BlockContent::Command { command, .. } => (Some(command), None, None, None),
        BlockContent::Stream { chunk } => (Some(chunk), None, None, None),
        BlockContent::Other { content, .. } => (None, None, None, content.as_ref()),
    }
}

/// Makes a cell of a text.
pub(super) fn text<'a>(value: impl Into<Option<&'a str>>) -> Cell {
    Cell::Bytes(value.into().map(|text| text.as_bytes().to_vec()))
}

/// Makes a cell of a value; `null` is a value too.
pub(super) fn json(value: Option<&Json>) -> Cell {
    text(value.map(Json::as_str))
}

/// Makes a cell of a number.
pub(super) fn number(value: impl Into<Option<u64>>) -> Cell {
    Cell::Number(value.into().map(|number| i64::try_from(number).unwrap_or(i64::MAX)))
}

/// Makes a cell of a time.
pub(super) fn time(value: Option<Timestamp>) -> Cell {
    Cell::Number(value.map(Timestamp::as_micros))
}
