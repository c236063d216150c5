//! Output items of the Responses API → blocks, calls, results and facts.
//!
//! An item is a piece of the reply, a call, or the result of one; tools that run on the server
//! are call and result in one item.

use std::borrow::Cow;

use quipu_event::payload::{ToolCall, ToolResult, ToolStatus};
use quipu_event::{ContentBlock, Fidelity, Json};

use super::wire::{filled, gather, other, refusal, thinking, tool_use};
use crate::calls::{Calls, Seen};
use crate::outbox::{Outbox, Stamp};
use crate::value::{Fields, Value, json_inside, json_text};

/// What items come to.
#[derive(Default)]
pub(crate) struct Spoken {
    /// The blocks of the reply.
    pub(crate) blocks: Vec<ContentBlock>,
    after: Vec<After>,
}

/// What stands behind the reply.
enum After {
    Call(ToolCall),
    Result(ToolResult),
    Fact(&'static str, serde_json::Value),
}

/// A tool that has an item type of its own.
struct Tool {
    item: &'static str,
    name: &'static str,
    /// Where its input stands: one object, or several values.
    input: &'static [&'static str],
    /// Where its output stands, if it runs on the server.
    output: Option<&'static str>,
}

const TOOLS: [Tool; 10] = [
    tool("web_search_call", "web_search", &["action"], Some("results")),
    tool("file_search_call", "file_search", &["queries"], Some("results")),
    tool("code_interpreter_call", "code_interpreter", &["code", "container_id"], Some("outputs")),
    tool("image_generation_call", "image_generation", &["revised_prompt"], Some("result")),
    tool("computer_call", "computer", &["action"], None),
    tool("local_shell_call", "local_shell", &["action"], None),
    tool("shell_call", "shell", &["action"], None),
    tool("apply_patch_call", "apply_patch", &["operation"], None),
    tool("tool_search_call", "tool_search", &["arguments"], None),
    tool("program", "program", &["code"], None),
];

const fn tool(
    item: &'static str,
    name: &'static str,
    input: &'static [&'static str],
    output: Option<&'static str>,
) -> Tool {
    Tool { item, name, input, output }
}

/// Tells whether an item of this type is the model's.
pub(crate) fn is_models(kind: &str) -> bool {
    let others = ["reasoning", "program", "compaction", "mcp_list_tools", "mcp_approval_request"];
    kind.ends_with("_call") || others.contains(&kind)
}

impl Spoken {
    /// Reads an item that is nothing but words, if it is one.
    pub(crate) fn of_words(item: Value<'_>) -> Option<Self> {
        let kind = item.fields()?.text("type").unwrap_or(Cow::Borrowed("message"));
        let is_words = matches!(&*kind, "message" | "reasoning");
        is_words.then(|| {
            let mut spoken = Spoken::default();
            spoken.add(item, "");
            spoken
        })
    }

    /// Adds an item; a call without an id gets `name`.
    pub(crate) fn add(&mut self, item: Value<'_>, name: &str) {
        let Some(fields) = item.fields() else { return };
        let kind = fields.text("type").unwrap_or(Cow::Borrowed("message"));
        match &*kind {
            "message" => self.add_message(&fields),
            "reasoning" => self.add_reasoning(&fields),
            "function_call" => {
                let input = json_inside(&fields.text("arguments").unwrap_or_default());
                self.add_call(&fields, name, None, input);
            }
            "custom_tool_call" => {
                let input = json_text(&fields.text("input").unwrap_or_default());
                self.add_call(&fields, name, None, input);
            }
            "mcp_call" => self.add_mcp_call(&fields, name),
            "mcp_list_tools" | "mcp_approval_request" | "compaction" => {
                self.add_fact(&kind, &fields);
            }
            kind if kind.ends_with("_output") => self.add_output(&fields),
            kind => match TOOLS.iter().find(|tool| tool.item == kind) {
                Some(tool) => self.add_tool(tool, &fields, name),
                None => self.add_unheard(kind, item, &fields, name),
            },
        }
    }

    /// Puts what stands behind the reply.
    ///
    /// A reply has one time, its beginning; a result of that time would seem to have taken none.
    pub(crate) fn put_rest(self, stamp: &Stamp, calls: &mut Calls, out: &mut Outbox<'_>) {
        for after in self.after {
            match after {
                After::Call(call) => drop(calls.call(out, stamp, call)),
                After::Result(result) => {
                    let facts = serde_json::json!({ "tool_id": result.call_id });
                    if calls.result(out, &Stamp::default(), result) == Seen::Again {
                        out.system(stamp, "repeated", facts);
                    }
                }
                After::Fact(subtype, facts) => out.system(stamp, subtype, facts),
            }
        }
    }

    fn add_message(&mut self, item: &Fields<'_>) {
        let text = |text: Cow<'_, str>| ContentBlock::text(Fidelity::AgentEmitted, text);
        if let Some(whole) = item.text("content") {
            return self.blocks.push(text(whole));
        }
        for part in item.items("content") {
            let Some(fields) = part.fields() else { continue };
            self.blocks.push(match (fields.text("text"), fields.text("refusal")) {
                (Some(said), _) => text(said),
                (None, Some(said)) => refusal(&said),
                _ => other(&fields.text("type").unwrap_or_default(), part.json()),
            });
        }
    }

    /// Adds the parts of a reasoning item; the last of them carries its seal.
    fn add_reasoning(&mut self, item: &Fields<'_>) {
        let parts = item.items("summary").into_iter().chain(item.items("content"));
        let texts = parts.filter_map(|part| part.fields()?.string("text"));
        let mut texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
        let last = texts.pop().unwrap_or_default();
        self.blocks.extend(texts.into_iter().map(|text| thinking(text, None)));
        let seal = filled(item, "encrypted_content").map(|seal| seal.into_owned());
        self.blocks.push(thinking(last, seal));
    }

    fn add_call(&mut self, item: &Fields<'_>, name: &str, tool: Option<&str>, input: Json) {
        let called = item.text("name");
        let tool = tool.or(called.as_deref()).unwrap_or_default();
        let server = item.text("server_label").map(|server| format!("mcp:{server}"));
        let call_id = call_id(item).unwrap_or_else(|| name.to_owned());
        self.blocks.push(tool_use(tool, &call_id, input.clone()));
        self.after.push(After::Call(ToolCall {
            name: tool.to_owned(),
            call_id,
            input,
            provider: Some(server.unwrap_or_else(|| "agent".to_owned())),
            ..ToolCall::default()
        }));
    }

    fn add_mcp_call(&mut self, item: &Fields<'_>, name: &str) {
        let input = json_inside(&item.text("arguments").unwrap_or_default());
        self.add_call(item, name, None, input);
        if item.get("output").is_some() || item.get("error").is_some() || has_ended(item) {
            self.add_result(item, name, item.json("output"));
        }
    }

    fn add_tool(&mut self, tool: &Tool, item: &Fields<'_>, name: &str) {
        let input = match tool.input {
            [key] => item.get(key).filter(|value| value.is_object()).map(Value::json),
            _ => None,
        };
        let input = input.unwrap_or_else(|| gather(item, tool.input));
        self.add_call(item, name, Some(tool.name), input);
        if let Some(output) = tool.output.filter(|_| has_ended(item)) {
            self.add_result(item, name, item.json(output));
        }
    }

    /// Adds an item of a type that nobody has heard of.
    fn add_unheard(&mut self, kind: &str, item: Value<'_>, fields: &Fields<'_>, name: &str) {
        let Some(tool) = kind.strip_suffix("_call") else {
            return self.blocks.push(other(kind, item.json()));
        };
        let own = ["id", "type", "status", "call_id"];
        let keys: Vec<_> =
            fields.iter().map(|(key, _)| key).filter(|key| !own.contains(key)).collect();
        self.add_call(fields, name, Some(tool), gather(fields, &keys));
    }

    fn add_output(&mut self, item: &Fields<'_>) {
        let output = ["output", "result", "tools"].iter().find_map(|key| item.json(key));
        self.add_result(item, "", output);
    }

    fn add_result(&mut self, item: &Fields<'_>, name: &str, output: Option<Json>) {
        let error = item.get("error").map(|error| {
            let message = error.fields().and_then(|error| error.string("message"));
            let text = || error.text().map(Cow::into_owned);
            message.or_else(text).unwrap_or_else(|| error.source().to_owned())
        });
        let error = error.or_else(|| exit_code(item).map(|code| format!("exit code {code}")));
        let has_failed = error.is_some() || item.text("status").as_deref() == Some("failed");
        self.after.push(After::Result(ToolResult {
            call_id: call_id(item).unwrap_or_else(|| name.to_owned()),
            output: output.unwrap_or_default(),
            error,
            status: Some(if has_failed { ToolStatus::Failed } else { ToolStatus::Completed }),
            ..ToolResult::default()
        }));
    }

    fn add_fact(&mut self, kind: &str, item: &Fields<'_>) {
        let (server, id) = (item.text("server_label"), item.text("id"));
        self.after.push(match kind {
            "mcp_list_tools" => {
                let (tools, error) = (item.items("tools").len(), item.text("error"));
                let facts = serde_json::json!({ "server": server, "tools": tools, "error": error });
                After::Fact("mcp_tools_listed", facts)
            }
            "compaction" => After::Fact("compaction", serde_json::json!({ "item_id": id })),
            _ => {
                let name = item.text("name");
                let facts = serde_json::json!({ "server": server, "name": name, "request_id": id });
                After::Fact("permission_requested", facts)
            }
        });
    }
}

fn call_id(item: &Fields<'_>) -> Option<String> {
    filled(item, "call_id").or_else(|| filled(item, "id")).map(Cow::into_owned)
}

/// Returns the first exit code of a shell's output that tells of a failure.
fn exit_code(item: &Fields<'_>) -> Option<i64> {
    let is_shells = item.text("type").as_deref() == Some("shell_call_output");
    let commands = item.items("output").into_iter().filter(|_| is_shells);
    let code = |command: Value<'_>| command.fields()?.fields("outcome")?.integer("exit_code");
    commands.filter_map(code).find(|code| *code != 0)
}

/// Tells whether a tool on the server has ended, one way or another.
fn has_ended(item: &Fields<'_>) -> bool {
    let status = item.text("status");
    matches!(status.as_deref(), Some("completed" | "failed" | "incomplete"))
}
