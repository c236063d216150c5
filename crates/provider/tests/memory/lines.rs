//! Lines with a place for a long text: what each surface says whole.

/// How long the text of a line is, as it stands in the record.
const LONG: usize = 20_000_000;
/// The same where another line has shown that more makes no difference.
pub(crate) const SHORT: usize = 2_000_000;

/// One line with a place for a long text.
pub(crate) struct Line {
    pub(crate) title: &'static str,
    pub(crate) provider: &'static str,
    pub(crate) surface: &'static str,
    pub(crate) len: usize,
    /// How much more memory it may take, as a part of its text.
    pub(crate) more: f64,
    /// The records before it, and the line up to the text.
    pub(crate) before: &'static str,
    /// The rest of the line, and the records behind it.
    pub(crate) after: &'static str,
}

const fn line(
    [provider, surface, title]: [&'static str; 3],
    before: &'static str,
    after: &'static str,
) -> Line {
    Line { title, provider, surface, len: SHORT, more: 0.0, before, after }
}

const fn long(line: Line) -> Line {
    Line { len: LONG, ..line }
}

/// Bytes of a record behind it are kept with it: for them its own grow by an eighth at once.
const fn followed(line: Line) -> Line {
    Line { more: 0.125, ..line }
}

pub(crate) const LINES: &[Line] = &[
    long(line(
        ["claude", "session", "a reply"],
        r#"{"type":"assistant","uuid":"u","sessionId":"s","timestamp":"2026-06-08T10:14:42.123Z","message":{"id":"m","role":"assistant","model":"x","content":[{"type":"text","text":""#,
        "\"}]}}\n",
    )),
    line(
        ["claude", "session", "a thought"],
        r#"{"type":"assistant","uuid":"u","sessionId":"s","timestamp":"2026-06-08T10:14:42.123Z","message":{"id":"m","role":"assistant","model":"x","content":[{"type":"thinking","thinking":""#,
        "\",\"signature\":\"s\"}]}}\n",
    ),
    line(
        ["claude", "session", "a prompt"],
        r#"{"type":"user","uuid":"u","sessionId":"s","timestamp":"2026-06-08T10:14:42.123Z","message":{"role":"user","content":""#,
        "\"}}\n",
    ),
    long(line(
        ["claude", "session", "a tool's answer"],
        concat!(
            r#"{"type":"assistant","uuid":"u","sessionId":"s","timestamp":"2026-06-08T10:14:42.123Z","message":{"id":"m","role":"assistant","model":"x","content":[{"type":"tool_use","id":"c","name":"Bash","input":{}}]}}"#,
            "\n",
            r#"{"type":"user","uuid":"v","sessionId":"s","timestamp":"2026-06-08T10:14:43.123Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":""#
        ),
        "\"}]}}\n",
    )),
    line(
        ["claude", "session", "an answer before its call"],
        r#"{"type":"user","uuid":"v","sessionId":"s","timestamp":"2026-06-08T10:14:43.123Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":""#,
        "\"}]}}\n",
    ),
    line(
        ["codex", "rollout", "a reply"],
        r#"{"timestamp":"2026-06-08T10:14:42.123Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":""#,
        "\"}]}}\n",
    ),
    line(
        ["codex", "rollout", "a reply that an event tells"],
        r#"{"timestamp":"2026-06-08T10:14:42.123Z","type":"event_msg","payload":{"type":"agent_message","message":""#,
        "\"}}\n",
    ),
    line(
        ["codex", "rollout", "a thought"],
        r#"{"timestamp":"2026-06-08T10:14:42.123Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":""#,
        "\"}],\"encrypted_content\":null}}\n",
    ),
    line(
        ["codex", "rollout", "a prompt"],
        r#"{"timestamp":"2026-06-08T10:14:42.123Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":""#,
        "\"}]}}\n",
    ),
    line(
        ["codex", "rollout", "a prompt that an event tells"],
        r#"{"timestamp":"2026-06-08T10:14:42.123Z","type":"event_msg","payload":{"type":"user_message","message":""#,
        "\"}}\n",
    ),
    line(
        ["codex", "rollout", "a tool's answer"],
        concat!(
            r#"{"timestamp":"2026-06-08T10:14:42.123Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}}"#,
            "\n",
            r#"{"timestamp":"2026-06-08T10:14:43.123Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":""#
        ),
        "\"}}\n",
    ),
    line(
        ["codex", "exec", "a reply"],
        r#"{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":""#,
        "\"}}\n",
    ),
    line(
        ["codex", "exec", "a thought"],
        r#"{"type":"item.completed","item":{"id":"item_1","type":"reasoning","text":""#,
        "\"}}\n",
    ),
    line(
        ["codex", "exec", "a reply of older versions"],
        r#"{"id":"0","msg":{"type":"agent_message","message":""#,
        "\"}}\n",
    ),
    line(
        ["codex", "app-server", "a reply"],
        r#"{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"agentMessage","id":"m1","text":""#,
        "\"}}}\n",
    ),
    line(
        ["codex", "app-server", "a thought"],
        r#"{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"reasoning","id":"r1","summary":[""#,
        "\"],\"content\":[]}}}\n",
    ),
    line(
        ["codex", "app-server", "a prompt"],
        r#"{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"userMessage","id":"u1","content":[{"type":"text","text":""#,
        "\"}]}}}\n",
    ),
    followed(line(
        ["gemini", "session", "a reply"],
        concat!(
            r#"{"sessionId":"s","projectHash":"0f","startTime":"2026-03-01T10:00:00.000Z","kind":"main"}"#,
            "\n",
            r#"{"id":"g1","timestamp":"2026-03-01T10:00:01.000Z","type":"gemini","model":"x","content":""#
        ),
        "\"}\n{\"$set\":{\"lastUpdated\":\"2026-03-01T10:00:01.000Z\"}}\n",
    )),
    line(
        ["gemini", "session", "a prompt"],
        r#"{"id":"u1","timestamp":"2026-03-01T10:00:01.000Z","type":"user","content":[{"text":""#,
        "\"}]}\n",
    ),
    line(
        ["gemini", "json", "a reply"],
        r#"{"session_id":"s","stats":{"models":{}},"response":""#,
        "\"}",
    ),
    line(
        ["gemini", "stream", "a reply"],
        r#"{"type":"message","timestamp":"2026-03-01T10:00:00.500Z","role":"assistant","content":""#,
        "\"}\n",
    ),
    line(
        ["gemini", "stream", "a prompt"],
        r#"{"type":"message","timestamp":"2026-03-01T10:00:00.500Z","role":"user","content":""#,
        "\"}\n",
    ),
    line(
        ["gemini", "stream", "a tool's answer"],
        concat!(
            r#"{"type":"tool_use","timestamp":"2026-06-08T10:14:42.123Z","tool_name":"shell","tool_id":"c","parameters":{}}"#,
            "\n",
            r#"{"type":"tool_result","timestamp":"2026-06-08T10:14:43.123Z","tool_id":"c","status":"success","output":""#
        ),
        "\"}\n",
    ),
    line(
        ["copilot", "session", "a reply"],
        r#"{"type":"assistant.message","id":"e","timestamp":"2026-01-02T03:04:06.000Z","parentId":null,"data":{"messageId":"m","toolRequests":[],"content":""#,
        "\"}}\n",
    ),
    line(
        ["copilot", "session", "a thought"],
        r#"{"type":"assistant.message","id":"e","timestamp":"2026-01-02T03:04:06.000Z","parentId":null,"data":{"messageId":"m","toolRequests":[],"content":"","reasoningText":""#,
        "\"}}\n",
    ),
    line(
        ["copilot", "session", "a prompt"],
        r#"{"type":"user.message","id":"e","timestamp":"2026-01-02T03:04:06.000Z","parentId":null,"data":{"messageId":"u","content":""#,
        "\"}}\n",
    ),
    line(
        ["opencode", "stream", "a reply"],
        r#"{"type":"text","timestamp":1772359200600,"sessionID":"s","part":{"id":"p","messageID":"m","sessionID":"s","type":"text","text":""#,
        "\"}}\n",
    ),
    line(
        ["opencode", "stream", "a thought"],
        r#"{"type":"reasoning","timestamp":1772359200600,"sessionID":"s","part":{"id":"p","messageID":"m","sessionID":"s","type":"reasoning","text":""#,
        "\"}}\n",
    ),
    line(
        ["acp", "updates", "a reply"],
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""#,
        "\"}}}}\n",
    ),
    line(
        ["acp", "updates", "a prompt"],
        r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":""#,
        "\"}]}}\n",
    ),
    line(
        ["openai", "chat", "a reply"],
        r#"{"id":"c","object":"chat.completion","created":1700000000,"model":"x","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":""#,
        "\"}}]}\n",
    ),
    line(
        ["openai", "chat", "a thought"],
        r#"{"id":"c","object":"chat.completion","created":1700000000,"model":"x","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"","reasoning_content":""#,
        "\"}}]}\n",
    ),
    line(
        ["openai", "chat", "a prompt"],
        r#"{"model":"x","stream_options":{},"messages":[{"role":"user","content":""#,
        "\"}]}\n",
    ),
    line(
        ["openai", "responses", "a reply"],
        r#"{"id":"r","object":"response","created_at":1700000000,"status":"completed","model":"x","output":[{"id":"m","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","annotations":[],"text":""#,
        "\"}]}]}\n",
    ),
    line(
        ["openai", "responses", "a prompt"],
        r#"{"model":"x","store":false,"input":[{"role":"user","content":""#,
        "\"}]}\n",
    ),
    line(
        ["anthropic", "messages", "a reply"],
        r#"{"id":"m","type":"message","role":"assistant","model":"x","stop_reason":"end_turn","content":[{"type":"text","text":""#,
        "\"}]}\n",
    ),
    line(
        ["anthropic", "messages", "a thought"],
        r#"{"id":"m","type":"message","role":"assistant","model":"x","stop_reason":"end_turn","content":[{"type":"thinking","signature":"s","thinking":""#,
        "\"}]}\n",
    ),
    line(
        ["anthropic", "messages", "a prompt"],
        r#"{"model":"x","max_tokens":1,"system":"s","messages":[{"role":"user","content":""#,
        "\"}]}\n",
    ),
];
