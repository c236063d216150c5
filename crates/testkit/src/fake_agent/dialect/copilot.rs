//! `copilot -p --output-format json`: pieces first, the whole message after; the session comes last.

use serde_json::{Value, json};

use super::{Call, Clock, Dialect, Script, Spent, Subagent, Tool, USUAL, input_of, session_of};

pub(super) struct Copilot {
    session: String,
    model: String,
    prompt: String,
    clock: Clock,
    events: u32,
    messages: u32,
    calls: u32,
    turns: u32,
    spent: Option<Spent>,
    text: String,
    thinking: String,
    is_open: bool,
}

impl Copilot {
    pub(super) fn new(script: &Script, call: &Call) -> Self {
        Copilot {
            session: session_of(script, call),
            model: script.model().to_owned(),
            prompt: call.prompt.clone(),
            clock: Clock::default(),
            events: 0,
            messages: 0,
            calls: 0,
            turns: 0,
            spent: None,
            text: String::new(),
            thinking: String::new(),
            is_open: false,
        }
    }

    fn event(&mut self, kind: &str, data: Value) -> Value {
        self.events += 1;
        let parent = (self.events > 1).then(|| format!("ev-{}", self.events - 1));
        json!({
            "type": kind, "data": data, "id": format!("ev-{}", self.events),
            "timestamp": self.clock.text(), "parentId": parent,
        })
    }

    fn line(&mut self, kind: &str, data: Value) -> String {
        self.event(kind, data).to_string()
    }

    fn passing(&mut self, kind: &str, data: Value) -> String {
        let mut event = self.event(kind, data);
        event["ephemeral"] = json!(true);
        event.to_string()
    }

    /// Begins a turn and its message, if none is open.
    fn open(&mut self) -> Vec<String> {
        if std::mem::replace(&mut self.is_open, true) {
            return Vec::new();
        }
        let turn = json!({ "turnId": self.turns.to_string() });
        self.messages += 1;
        let message = json!({ "messageId": self.message_id() });
        vec![
            self.line("assistant.turn_start", turn),
            self.passing("assistant.message_start", message),
        ]
    }

    fn message_id(&self) -> String {
        format!("m-{}", self.messages)
    }

    /// Ends the message that is open, with the calls it makes.
    fn close(&mut self, requests: Vec<Value>) -> Vec<String> {
        let mut lines = if requests.is_empty() { Vec::new() } else { self.open() };
        if !std::mem::replace(&mut self.is_open, false) {
            return lines;
        }
        let spent = self.spent.unwrap_or(USUAL);
        let mut data = json!({
            "messageId": self.message_id(), "model": self.model,
            "content": std::mem::take(&mut self.text), "toolRequests": requests,
            "turnId": self.turns.to_string(), "outputTokens": spent.output,
        });
        let thinking = std::mem::take(&mut self.thinking);
        if !thinking.is_empty() {
            data["reasoningText"] = json!(thinking);
        }
        lines.push(self.line("assistant.message", data));
        lines
    }

    fn end_turn(&mut self) -> String {
        let turn = json!({ "turnId": self.turns.to_string() });
        self.turns += 1;
        self.line("assistant.turn_end", turn)
    }

    fn result(&mut self, code: u32) -> String {
        json!({
            "type": "result", "timestamp": self.clock.text(), "sessionId": self.session,
            "exitCode": code,
            "usage": {
                "premiumRequests": 1, "totalApiDurationMs": 300, "sessionDurationMs": 700,
                "codeChanges": { "linesAdded": 0, "linesRemoved": 0, "filesModified": [] },
            },
        })
        .to_string()
    }

    fn request(&mut self, name: &str, input: &Value) -> (String, Value) {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        let request =
            json!({ "toolCallId": id, "name": name, "arguments": input, "type": "function" });
        (id, request)
    }

    fn started(&mut self, id: &str, name: &str, input: &Value, server: Option<&str>) -> String {
        let mut data = json!({ "toolCallId": id, "toolName": name, "arguments": input });
        if let Some(server) = server {
            data["mcpServerName"] = json!(server);
        }
        self.line("tool.execution_start", data)
    }

    fn completed(&mut self, id: &str, result: &str, is_error: bool) -> String {
        let mut data = json!({
            "toolCallId": id, "success": !is_error,
            "result": { "content": result, "detailedContent": result },
        });
        if is_error {
            data["error"] = json!({ "message": result });
        }
        self.line("tool.execution_complete", data)
    }
}

impl Dialect for Copilot {
    fn begin(&mut self) -> Vec<String> {
        let model = json!({ "model": self.model });
        let prompt = json!({
            "content": self.prompt, "transformedContent": format!("<now/>\n\n{}", self.prompt),
            "messageId": "u-1",
        });
        vec![self.passing("session.tools_updated", model), self.line("user.message", prompt)]
    }

    fn text(&mut self, text: &str) -> Vec<String> {
        let mut lines = self.open();
        let data = json!({ "messageId": self.message_id(), "deltaContent": text });
        lines.push(self.passing("assistant.message_delta", data));
        self.text.push_str(text);
        lines
    }

    fn thinking(&mut self, text: &str) -> Vec<String> {
        let mut lines = self.open();
        let data = json!({ "reasoningId": format!("r-{}", self.messages), "deltaContent": text });
        lines.push(self.passing("assistant.reasoning_delta", data));
        self.thinking.push_str(text);
        lines
    }

    fn tools(&mut self, tools: &[Tool]) -> Vec<String> {
        let calls: Vec<_> =
            tools.iter().map(|tool| (tool, self.request(&tool.name, &input_of(tool)))).collect();
        let requests = calls.iter().map(|(_, (_, request))| request.clone()).collect();
        let mut lines = self.close(requests);
        for (tool, (id, _)) in &calls {
            lines.push(self.started(id, &tool.name, &input_of(tool), tool.server.as_deref()));
        }
        for (tool, (id, _)) in &calls {
            if let Some(result) = &tool.result {
                lines.push(self.completed(id, result, tool.is_error));
            }
        }
        if tools.iter().all(|tool| tool.result.is_some()) {
            lines.push(self.end_turn());
        }
        lines
    }

    fn name_of(&self, server: &str, tool: &str) -> String {
        format!("{server}-{tool}")
    }

    fn subagent(&mut self, subagent: &Subagent) -> Vec<String> {
        let input = json!({ "prompt": subagent.prompt });
        let (id, request) = self.request("task", &input);
        let mut lines = self.close(vec![request]);
        lines.push(self.started(&id, "task", &input, None));
        let named = json!({ "toolCallId": id, "agentName": "general-purpose" });
        let asked = json!({ "content": subagent.prompt, "source": "agent-1", "messageId": "u-2" });
        let said = json!({
            "messageId": "m-sub", "model": self.model, "content": subagent.text,
            "toolRequests": [], "outputTokens": 3,
        });
        for (kind, data) in [
            ("subagent.started", named.clone()),
            ("user.message", asked),
            ("assistant.message", said),
            ("subagent.completed", named),
        ] {
            let mut event = self.event(kind, data);
            event["agentId"] = json!("agent-7");
            lines.push(event.to_string());
        }
        lines.push(self.completed(&id, &subagent.text, false));
        lines.push(self.end_turn());
        lines
    }

    fn spend(&mut self, spent: Spent) {
        self.spent = Some(spent);
    }

    fn fail(&mut self, message: &str) -> Vec<String> {
        let failure = json!({ "model": self.model, "statusCode": 500, "errorMessage": message });
        let error = json!({ "errorType": "server", "message": message, "statusCode": 500 });
        vec![
            self.passing("model.call_failure", failure),
            self.line("session.error", error),
            self.result(1),
        ]
    }

    fn end(&mut self) -> Vec<String> {
        let mut lines = self.close(Vec::new());
        if !lines.is_empty() {
            lines.push(self.end_turn());
        }
        lines.push(self.result(0));
        lines
    }
}
