//! `claude -p --output-format stream-json --verbose`: a line a block, the account at the end.

use serde_json::{Value, json};

use super::{Call, Dialect, Script, Spent, Subagent, Tool, USUAL, input_of, session_of};

pub(super) struct Claude {
    session: String,
    model: String,
    cwd: String,
    messages: u32,
    calls: u32,
    is_open: bool,
    last_text: String,
    spent: Spent,
    said_spent: bool,
}

impl Claude {
    pub(super) fn new(script: &Script, call: &Call) -> Self {
        Claude {
            session: session_of(script, call),
            model: script.model().to_owned(),
            cwd: "/home/dev/project".to_owned(),
            messages: 0,
            calls: 0,
            is_open: false,
            last_text: String::new(),
            spent: Spent::default(),
            said_spent: false,
        }
    }

    fn block(&mut self, block: Value, parent: Option<&str>) -> String {
        if !std::mem::replace(&mut self.is_open, true) {
            self.messages += 1;
            if !self.said_spent {
                self.spent = self.spent.and(USUAL);
            }
        }
        let message = json!({
            "id": format!("msg_{}", self.messages),
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [block],
            "stop_reason": null,
            "usage": usage(Spent { output: 1, ..USUAL }),
        });
        json!({
            "type": "assistant",
            "message": message,
            "parent_tool_use_id": parent,
            "session_id": self.session,
        })
        .to_string()
    }

    fn call(&mut self, name: &str, input: &Value, parent: Option<&str>) -> (String, String) {
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        let block = json!({ "type": "tool_use", "id": id, "name": name, "input": input });
        (id, self.block(block, parent))
    }

    fn answer(&self, id: &str, text: &str, is_error: bool, parent: Option<&str>) -> String {
        let block = json!({ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error });
        json!({
            "type": "user",
            "message": { "role": "user", "content": [block] },
            "parent_tool_use_id": parent,
            "session_id": self.session,
        })
        .to_string()
    }

    fn result(&self, is_error: bool, text: &str) -> String {
        let Spent { input, output, cache_read, cache_write } = self.spent;
        let cost = if is_error { 0.0 } else { 0.01 };
        json!({
            "type": "result",
            "subtype": "success",
            "is_error": is_error,
            "duration_ms": 700,
            "num_turns": self.messages,
            "session_id": self.session,
            "total_cost_usd": cost,
            "usage": usage(self.spent),
            "modelUsage": { &self.model: {
                "inputTokens": input, "outputTokens": output,
                "cacheReadInputTokens": cache_read, "cacheCreationInputTokens": cache_write,
                "costUSD": cost,
            } },
            "permission_denials": [],
            "terminal_reason": if is_error { "api_error" } else { "completed" },
            "result": text,
        })
        .to_string()
    }
}

impl Dialect for Claude {
    fn begin(&mut self) -> Vec<String> {
        let init = json!({
            "type": "system",
            "subtype": "init",
            "cwd": self.cwd,
            "session_id": self.session,
            "tools": ["Bash", "Read"],
            "mcp_servers": [],
            "model": self.model,
            "permissionMode": "default",
            "claude_code_version": "2.1.0",
        });
        vec![init.to_string()]
    }

    fn text(&mut self, text: &str) -> Vec<String> {
        self.last_text = text.to_owned();
        vec![self.block(json!({ "type": "text", "text": text }), None)]
    }

    fn thinking(&mut self, text: &str) -> Vec<String> {
        let block = json!({ "type": "thinking", "thinking": text, "signature": "c2ln" });
        vec![self.block(block, None)]
    }

    fn tools(&mut self, tools: &[Tool]) -> Vec<String> {
        let calls: Vec<_> =
            tools.iter().map(|tool| (tool, self.call(&tool.name, &input_of(tool), None))).collect();
        let mut lines: Vec<String> = calls.iter().map(|(_, (_, line))| line.clone()).collect();
        for (tool, (id, _)) in &calls {
            if let Some(result) = &tool.result {
                lines.push(self.answer(id, result, tool.is_error, None));
                self.is_open = false;
            }
        }
        lines
    }

    fn name_of(&self, server: &str, tool: &str) -> String {
        format!("mcp__{server}__{tool}")
    }

    fn meta(&self, id: Option<&str>, number: usize) -> Value {
        json!({ "claudecode/toolUseId": id, "progressToken": number })
    }

    fn subagent(&mut self, subagent: &Subagent) -> Vec<String> {
        let input = json!({
            "description": "Help", "prompt": subagent.prompt, "subagent_type": "general-purpose",
        });
        let (id, line) = self.call("Agent", &input, None);
        let mut lines = vec![line];
        self.is_open = false;
        if let Some(tool) = &subagent.tool {
            let (inner, line) = self.call(&tool.name, &input_of(tool), Some(&id));
            lines.push(line);
            let result = tool.result.as_deref().unwrap_or_default();
            lines.push(self.answer(&inner, result, tool.is_error, Some(&id)));
            self.is_open = false;
        }
        lines.push(self.answer(&id, &subagent.text, false, None));
        lines
    }

    fn spend(&mut self, spent: Spent) {
        if !std::mem::replace(&mut self.said_spent, true) {
            self.spent = Spent::default();
        }
        self.spent = self.spent.and(spent);
    }

    fn fail(&mut self, message: &str) -> Vec<String> {
        let message = format!("API Error: {message}");
        let said = json!({
            "type": "assistant",
            "message": {
                "id": "synthetic-1", "type": "message", "role": "assistant", "model": "<synthetic>",
                "content": [{ "type": "text", "text": message }], "stop_reason": null,
                "usage": usage(Spent::default()),
            },
            "parent_tool_use_id": null,
            "session_id": self.session,
            "error": "server_error",
            "is_api_error_message": true,
        });
        vec![said.to_string(), self.result(true, &message)]
    }

    fn end(&mut self) -> Vec<String> {
        vec![self.result(false, &self.last_text.clone())]
    }
}

fn usage(spent: Spent) -> Value {
    json!({
        "input_tokens": spent.input,
        "cache_creation_input_tokens": spent.cache_write,
        "cache_read_input_tokens": spent.cache_read,
        "output_tokens": spent.output,
    })
}
