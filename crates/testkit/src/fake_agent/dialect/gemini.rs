//! `gemini --output-format stream-json`: texts in pieces, no thoughts, one account at the end.

use serde_json::json;

use super::{Call, Clock, Dialect, Script, Spent, Subagent, Tool, USUAL, input_of, session_of};

pub(super) struct Gemini {
    session: String,
    model: String,
    prompt: String,
    clock: Clock,
    calls: u32,
    spent: Spent,
}

impl Gemini {
    pub(super) fn new(script: &Script, call: &Call) -> Self {
        Gemini {
            session: session_of(script, call),
            model: script.model().to_owned(),
            prompt: call.prompt.clone(),
            clock: Clock::default(),
            calls: 0,
            spent: Spent::default(),
        }
    }

    fn result(&mut self, error: Option<&str>) -> String {
        let spent = if self.spent == Spent::default() { USUAL } else { self.spent };
        let spent = if error.is_some() { Spent::default() } else { spent };
        let input = spent.input + spent.cache_read;
        let counts = json!({
            "total_tokens": input + spent.output, "input_tokens": input,
            "output_tokens": spent.output, "cached": spent.cache_read, "input": spent.input,
        });
        let mut stats = counts.clone();
        stats["duration_ms"] = json!(700);
        stats["tool_calls"] = json!(self.calls);
        stats["models"] = json!({ &self.model: counts });
        let mut result = json!({
            "type": "result",
            "timestamp": self.clock.text(),
            "status": if error.is_some() { "error" } else { "success" },
            "stats": stats,
        });
        if let Some(message) = error {
            result["error"] = json!({ "type": "unknown", "message": message });
        }
        result.to_string()
    }

    fn message(&mut self, role: &str, content: &str, is_piece: bool) -> String {
        let time = self.clock.text();
        let mut message =
            json!({ "type": "message", "timestamp": time, "role": role, "content": content });
        if is_piece {
            message["delta"] = json!(true);
        }
        message.to_string()
    }
}

impl Dialect for Gemini {
    fn begin(&mut self) -> Vec<String> {
        let init = json!({
            "type": "init", "timestamp": self.clock.text(),
            "session_id": self.session, "model": self.model,
        });
        let prompt = self.prompt.clone();
        vec![init.to_string(), self.message("user", &prompt, false)]
    }

    fn text(&mut self, text: &str) -> Vec<String> {
        let half = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
        let pieces = [&text[..half], &text[half..]];
        let pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
        pieces.map(|piece| self.message("assistant", piece, true)).collect()
    }

    fn thinking(&mut self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn tools(&mut self, tools: &[Tool]) -> Vec<String> {
        let mut lines = Vec::new();
        let first = self.calls + 1;
        for tool in tools {
            self.calls += 1;
            let call = json!({
                "type": "tool_use", "timestamp": self.clock.text(), "tool_name": tool.name,
                "tool_id": format!("{}-{}", tool.name, self.calls), "parameters": input_of(tool),
            });
            lines.push(call.to_string());
        }
        for (tool, number) in tools.iter().zip(first..) {
            let Some(result) = &tool.result else { continue };
            let mut answer = json!({
                "type": "tool_result", "timestamp": self.clock.text(),
                "tool_id": format!("{}-{number}", tool.name),
                "status": if tool.is_error { "error" } else { "success" }, "output": result,
            });
            if tool.is_error {
                answer["error"] = json!({ "type": "tool_error", "message": result });
            }
            lines.push(answer.to_string());
        }
        lines
    }

    fn name_of(&self, server: &str, tool: &str) -> String {
        format!("mcp_{server}_{tool}")
    }

    fn subagent(&mut self, subagent: &Subagent) -> Vec<String> {
        // Only the outer call is told, without what came of it.
        let input = json!({ "objective": subagent.prompt });
        let name = "generalist".to_owned();
        let result = Some(String::new());
        self.tools(&[Tool { name, input, result, ..Tool::default() }])
    }

    fn spend(&mut self, spent: Spent) {
        self.spent = self.spent.and(spent);
    }

    fn fail(&mut self, message: &str) -> Vec<String> {
        vec![self.result(Some(&format!("[API Error: {message}]")))]
    }

    fn end(&mut self) -> Vec<String> {
        vec![self.result(None)]
    }
}
