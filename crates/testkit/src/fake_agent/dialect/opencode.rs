//! `opencode run --format json`: whole parts between the start and the finish of a step.

use serde_json::{Value, json};

use super::{Call, Clock, Dialect, Script, Spent, Subagent, Tool, USUAL, input_of, session_of};

pub(super) struct Opencode {
    session: String,
    clock: Clock,
    messages: u32,
    parts: u32,
    calls: u32,
    spent: Option<Spent>,
    is_open: bool,
}

impl Opencode {
    pub(super) fn new(script: &Script, call: &Call) -> Self {
        Opencode {
            session: session_of(script, call),
            clock: Clock::default(),
            messages: 0,
            parts: 0,
            calls: 0,
            spent: None,
            is_open: false,
        }
    }

    fn part(&mut self, kind: &str, part_type: &str, more: &Value) -> String {
        self.parts += 1;
        let mut part = json!({
            "id": format!("prt_{}", self.parts), "messageID": format!("msg_{}", self.messages),
            "sessionID": self.session, "type": part_type,
        });
        if let (Some(part), Some(more)) = (part.as_object_mut(), more.as_object()) {
            part.extend(more.clone());
        }
        let time = self.clock.ms();
        json!({ "type": kind, "timestamp": time, "sessionID": self.session, "part": part })
            .to_string()
    }

    fn open(&mut self) -> Vec<String> {
        if std::mem::replace(&mut self.is_open, true) {
            return Vec::new();
        }
        self.messages += 1;
        vec![self.part("step_start", "step-start", &json!({ "snapshot": "abc" }))]
    }

    fn close(&mut self, reason: &str) -> Vec<String> {
        if !std::mem::replace(&mut self.is_open, false) {
            return Vec::new();
        }
        let Spent { input, output, cache_read, cache_write } = self.spent.unwrap_or(USUAL);
        let finish = json!({
            "reason": reason, "snapshot": "abc", "cost": 0.001,
            "tokens": {
                "total": input + output + cache_read + cache_write, "input": input,
                "output": output, "reasoning": 0,
                "cache": { "read": cache_read, "write": cache_write },
            },
        });
        vec![self.part("step_finish", "step-finish", &finish)]
    }

    fn said(&mut self, kind: &str, text: &str) -> Vec<String> {
        let mut lines = self.open();
        let end = self.clock.ms();
        let more = json!({ "text": text, "time": { "start": end - 50, "end": end } });
        lines.push(self.part(kind, kind, &more));
        lines
    }
}

impl Dialect for Opencode {
    fn begin(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn text(&mut self, text: &str) -> Vec<String> {
        self.said("text", text)
    }

    fn thinking(&mut self, text: &str) -> Vec<String> {
        self.said("reasoning", text)
    }

    fn tools(&mut self, tools: &[Tool]) -> Vec<String> {
        let mut lines = self.open();
        // A tool is told of when it is done: one that never is stays unknown.
        for (tool, result) in tools.iter().filter_map(|tool| Some((tool, tool.result.as_ref()?))) {
            self.calls += 1;
            let end = self.clock.ms();
            let time = json!({ "start": end - 50, "end": end });
            let state = match tool.is_error {
                true => json!({
                    "status": "error", "input": input_of(tool), "error": result, "time": time,
                }),
                false => json!({
                    "status": "completed", "input": input_of(tool), "output": result,
                    "metadata": { "exit": 0 }, "time": time,
                }),
            };
            let id = format!("toolu_{}", self.calls);
            let more = json!({ "tool": tool.name, "callID": id, "state": state });
            lines.push(self.part("tool_use", "tool", &more));
        }
        if tools.iter().all(|tool| tool.result.is_some()) {
            lines.extend(self.close("tool-calls"));
        }
        lines
    }

    fn name_of(&self, server: &str, tool: &str) -> String {
        format!("{server}_{tool}")
    }

    fn subagent(&mut self, subagent: &Subagent) -> Vec<String> {
        let input = json!({
            "description": "Help", "prompt": subagent.prompt, "subagent_type": "general",
        });
        let result = format!("<task_result>{}</task_result>", subagent.text);
        let name = "task".to_owned();
        self.tools(&[Tool { name, input, result: Some(result), ..Tool::default() }])
    }

    fn spend(&mut self, spent: Spent) {
        self.spent = Some(spent);
    }

    fn fail(&mut self, message: &str) -> Vec<String> {
        let data = json!({ "message": message, "statusCode": 500, "isRetryable": true });
        let error = json!({
            "type": "error", "timestamp": self.clock.ms(), "sessionID": self.session,
            "error": { "name": "APIError", "data": data },
        });
        vec![error.to_string()]
    }

    fn end(&mut self) -> Vec<String> {
        self.close("stop")
    }
}
