//! An item as it really is: `exec` spells it with underscores, the app-server in camel case.
//!
//! Which fields an item has is known here and in [`super::item_tools`] only.

use quipu_event::{BlockContent, ContentBlock, Fidelity};

use super::either;
use super::thread::prompt_block;
use crate::value::{Fields, Value};

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codex) enum ItemKind {
    AgentMessage,
    Reasoning,
    Plan,
    UserMessage,
    HookPrompt,
    Tool(ToolKind),
    SubAgentActivity,
    TodoList,
    Error,
    EnteredReview,
    ExitedReview,
    Compaction,
}

/// What an item is that is a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codex) enum ToolKind {
    Command,
    FileChange,
    Mcp,
    Dynamic,
    Collab,
    WebSearch,
    ImageView,
    ImageGeneration,
    Sleep,
}

/// Every spelling of every type.
const KINDS: &[(&[&str], ItemKind)] = &[
    (&["agent_message", "agentMessage", "assistant_message"], ItemKind::AgentMessage),
    (&["reasoning"], ItemKind::Reasoning),
    (&["plan"], ItemKind::Plan),
    (&["userMessage", "user_message"], ItemKind::UserMessage),
    (&["hookPrompt", "hook_prompt"], ItemKind::HookPrompt),
    (&["command_execution", "commandExecution"], ItemKind::Tool(ToolKind::Command)),
    (&["file_change", "fileChange"], ItemKind::Tool(ToolKind::FileChange)),
    (&["mcp_tool_call", "mcpToolCall"], ItemKind::Tool(ToolKind::Mcp)),
    (&["dynamicToolCall", "dynamic_tool_call"], ItemKind::Tool(ToolKind::Dynamic)),
    (
        &["collab_tool_call", "collabAgentToolCall", "collabToolCall", "collab_agent_tool_call"],
        ItemKind::Tool(ToolKind::Collab),
    ),
    (&["web_search", "webSearch"], ItemKind::Tool(ToolKind::WebSearch)),
    (&["imageView", "image_view"], ItemKind::Tool(ToolKind::ImageView)),
    (&["imageGeneration", "image_generation"], ItemKind::Tool(ToolKind::ImageGeneration)),
    (&["sleep"], ItemKind::Tool(ToolKind::Sleep)),
    (&["subAgentActivity", "sub_agent_activity"], ItemKind::SubAgentActivity),
    (&["todo_list", "todoList"], ItemKind::TodoList),
    (&["error"], ItemKind::Error),
    (&["enteredReviewMode", "entered_review_mode"], ItemKind::EnteredReview),
    (&["exitedReviewMode", "exited_review_mode", "codeReview"], ItemKind::ExitedReview),
    (&["contextCompaction", "context_compaction"], ItemKind::Compaction),
];

/// One item.
pub(in crate::codex) struct Item<'a> {
    pub(in crate::codex) kind: ItemKind,
    /// Of an item with two ids the last one, which is the same from its start to its end.
    pub(in crate::codex) id: String,
    pub(in crate::codex) fields: Fields<'a>,
}

impl<'a> Item<'a> {
    /// Reads an item; nothing if it is of a type that nobody knows.
    pub(in crate::codex) fn read(fields: Fields<'a>) -> Option<Self> {
        let name = fields.text("type").or_else(|| fields.text("item_type"))?;
        let (_, kind) = KINDS.iter().find(|(names, _)| names.contains(&&*name))?;
        let id = fields.string("id").unwrap_or_default();
        Some(Item { kind: *kind, id, fields })
    }

    /// Returns a value under the older or the newer spelling of its key.
    pub(in crate::codex) fn get(&self, snake: &str, camel: &str) -> Option<Value<'a>> {
        either(&self.fields, snake, camel)
    }

    /// Returns a string under either spelling of its key.
    pub(in crate::codex) fn string(&self, snake: &str, camel: &str) -> Option<String> {
        self.get(snake, camel)?.text().map(|text| text.into_owned())
    }

    /// Returns the text of a message, or of a piece of reasoning.
    pub(in crate::codex) fn said(&self) -> String {
        self.fields.string("text").unwrap_or_else(|| {
            // The summary is what Codex shows; some models give the reasoning itself instead.
            let summary = join(self.fields.items("summary"));
            if summary.is_empty() { join(self.fields.items("content")) } else { summary }
        })
    }

    /// Returns the blocks of a prompt.
    pub(in crate::codex) fn prompt(&self) -> Vec<ContentBlock> {
        self.fields.items("content").into_iter().map(input_block).collect()
    }

    /// Returns how many steps of a plan there are, and how many are done.
    pub(in crate::codex) fn todos(&self) -> (usize, usize) {
        let items = self.fields.items("items");
        let is_done = |item: &Value<'_>| {
            item.fields().and_then(|item| item.flag("completed")).unwrap_or(false)
        };
        (items.len(), items.iter().filter(|item| is_done(item)).count())
    }
}

fn join(parts: Vec<Value<'_>>) -> String {
    let text = |part: Value<'_>| part.string().or_else(|| part.fields()?.string("text"));
    let mut texts = parts.into_iter().filter_map(text);
    let mut joined = texts.next().unwrap_or_default();
    texts.for_each(|text| joined.extend(["\n\n", &text]));
    joined
}

fn input_block(input: Value<'_>) -> ContentBlock {
    let fields = input.fields().unwrap_or_default();
    let block_type = fields.string("type").unwrap_or_else(|| "input".to_owned());
    match fields.string("text") {
        Some(text) if block_type == "text" => prompt_block(text),
        _ => BlockContent::Other { block_type, content: Some(input.json()) }
            .vouched_by(Fidelity::AgentEmitted),
    }
}
