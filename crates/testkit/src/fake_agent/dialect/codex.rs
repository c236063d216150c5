//! `codex exec --json`: items that begin and end; usage counts the whole thread.

use serde_json::{Value, json};

use super::{Call, Dialect, Script, Spent, Subagent, Tool, USUAL, input_of, session_of};

pub(super) struct Codex {
    thread: String,
    items: u32,
    spent: Spent,
    before: Spent,
}

impl Codex {
    pub(super) fn new(script: &Script, call: &Call) -> Self {
        let before = script.turn(&call.prompt).map(|turn| turn.spent_before).unwrap_or_default();
        Codex { thread: session_of(script, call), items: 0, spent: Spent::default(), before }
    }

    fn item(&mut self) -> String {
        self.items += 1;
        format!("item_{}", self.items - 1)
    }

    fn said(&mut self, kind: &str, text: &str) -> Vec<String> {
        let id = self.item();
        let item = json!({ "id": id, "type": kind, "text": text });
        vec![json!({ "type": "item.completed", "item": item }).to_string()]
    }
}

/// Returns the item of a tool as it begins, and as it ends.
fn items_of(id: &str, tool: &Tool) -> (Value, Value) {
    let status = if tool.is_error { "failed" } else { "completed" };
    let result = tool.result.clone().unwrap_or_default();
    let input = input_of(tool);
    let is_shell = is_shell(&tool.name) && tool.server.is_none();
    if let (true, Some(command)) = (is_shell, input.get("command")) {
        let item = |output: &str, code: Value, status: &str| {
            json!({
                "id": id, "type": "command_execution", "command": command,
                "aggregated_output": output, "exit_code": code, "status": status,
            })
        };
        let code = json!(if tool.is_error { 1 } else { 0 });
        return (item("", Value::Null, "in_progress"), item(&result, code, status));
    }
    let server = tool.server.as_deref().unwrap_or("fake");
    let item = |result: Value, error: Value, status: &str| {
        json!({
            "id": id, "type": "mcp_tool_call", "server": server, "tool": tool.name,
            "arguments": input, "result": result, "error": error, "status": status,
        })
    };
    let done = match tool.is_error {
        true => item(Value::Null, json!({ "message": result }), status),
        false => {
            let content = json!([{ "type": "text", "text": result }]);
            item(json!({ "content": content, "structured_content": null }), Value::Null, status)
        }
    };
    (item(Value::Null, Value::Null, "in_progress"), done)
}

fn is_shell(name: &str) -> bool {
    matches!(name, "shell" | "Bash" | "bash" | "command_execution")
}

impl Dialect for Codex {
    fn begin(&mut self) -> Vec<String> {
        let started = json!({ "type": "thread.started", "thread_id": self.thread });
        vec![started.to_string(), json!({ "type": "turn.started" }).to_string()]
    }

    fn text(&mut self, text: &str) -> Vec<String> {
        self.said("agent_message", text)
    }

    fn thinking(&mut self, text: &str) -> Vec<String> {
        self.said("reasoning", text)
    }

    fn tools(&mut self, tools: &[Tool]) -> Vec<String> {
        let items: Vec<_> = tools
            .iter()
            .map(|tool| {
                let id = self.item();
                (tool, items_of(&id, tool))
            })
            .collect();
        let line = |kind: &str, item: &Value| json!({ "type": kind, "item": item }).to_string();
        let begun = items.iter().map(|(_, (begun, _))| line("item.started", begun));
        let done = items.iter().filter(|(tool, _)| tool.result.is_some());
        begun.chain(done.map(|(_, (_, done))| line("item.completed", done))).collect()
    }

    fn name_of(&self, _: &str, tool: &str) -> String {
        tool.to_owned()
    }

    fn meta(&self, _: Option<&str>, number: usize) -> Value {
        // Its model's id, which it does not print.
        json!({ "callId": format!("call_{number}") })
    }

    fn subagent(&mut self, subagent: &Subagent) -> Vec<String> {
        let spawn = self.item();
        let item = |id: &str, tool: &str, states: Value, status: &str| {
            json!({
                "id": id, "type": "collab_tool_call", "tool": tool, "sender_thread_id": self.thread,
                "receiver_thread_ids": ["fake-thread-2"], "prompt": subagent.prompt,
                "agents_states": states, "status": status,
            })
        };
        let pending = json!({ "fake-thread-2": { "status": "pending_init", "message": null } });
        let done = json!({ "fake-thread-2": { "status": "completed", "message": subagent.text } });
        let mut lines = vec![
            ("item.started", item(&spawn, "spawn_agent", json!({}), "in_progress")),
            ("item.completed", item(&spawn, "spawn_agent", pending, "completed")),
        ];
        let wait = format!("item_{}", self.items);
        lines.push(("item.started", item(&wait, "wait", json!({}), "in_progress")));
        lines.push(("item.completed", item(&wait, "wait", done, "completed")));
        self.items += 1;
        lines.iter().map(|(kind, item)| json!({ "type": kind, "item": item }).to_string()).collect()
    }

    fn spend(&mut self, spent: Spent) {
        self.spent = self.spent.and(spent);
    }

    fn fail(&mut self, message: &str) -> Vec<String> {
        let error = json!({ "type": "error", "message": message });
        let failed = json!({ "type": "turn.failed", "error": { "message": message } });
        vec![error.to_string(), failed.to_string()]
    }

    fn end(&mut self) -> Vec<String> {
        let spent = if self.spent == Spent::default() { USUAL } else { self.spent };
        let Spent { input, output, cache_read, cache_write } = spent.and(self.before);
        let usage = json!({
            "input_tokens": input + cache_read + cache_write,
            "cached_input_tokens": cache_read,
            "cache_write_input_tokens": cache_write,
            "output_tokens": output,
            "reasoning_output_tokens": 0,
        });
        vec![json!({ "type": "turn.completed", "usage": usage }).to_string()]
    }
}
