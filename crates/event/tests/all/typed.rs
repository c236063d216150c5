//! One value of every type and every block, built from the types that write them.

use quipu_event::payload::{
    Agent, Counts, Definition, DeliverableCheck, DeliverableResult, ErrorReport, FileAccess,
    Message, RunCompleted, RunCreated, RunKind, RunStarted, Status, StepCompleted, StepResult,
    StepStarted, System, TokenCounts, ToolCall, ToolResult, ToolStatus, Usage, UsageScope,
};
use quipu_event::{
    BlockContent, ContentBlock, Draft, Fidelity, Json, Kind, Origin, Purpose, RunId, StepPath,
    Timestamp,
};
use serde::Serialize;
use serde_json::json;

/// Returns a draft of every type, most of them twice: with all that may be there, and bare.
pub(crate) fn every_draft() -> Vec<Draft> {
    [runs(), steps(), messages(), tools(), facts(), files_and_deliverables(), foreign()].concat()
}

fn draft<T: Serialize>(kind: Kind, payload: &T) -> Draft {
    Draft::new(kind, payload).unwrap()
}

fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

fn agent() -> Agent {
    Agent {
        provider: text("claude"),
        adapter: text("cli"),
        model: text("opus"),
        cli_version: text("2.1.0"),
    }
}

fn tokens() -> TokenCounts {
    TokenCounts {
        input_tokens: Some(10),
        output_tokens: Some(20),
        cache_read_tokens: Some(30),
        cache_write_tokens: Some(40),
        reasoning_tokens: Some(5),
        cost_usd: Some(0.25),
    }
}

fn runs() -> Vec<Draft> {
    let started = RunStarted {
        version: text("1.2.0"),
        definition: Some(Definition { path: "flows/review.yaml".into(), sha256: "ab12".into() }),
        inputs: Some(json(r#"{"file":"main.go","depth":1.50}"#)),
        cwd: text("/home/ada/project"),
        session_id: text("s-1"),
        task_id: text("t-9"),
        agent: Some(agent()),
        labels: Some([("team".to_owned(), "core".to_owned())].into()),
        ..RunStarted::new("review", RunKind::Workflow)
    };
    let completed = RunCompleted {
        name: "review".into(),
        kind: RunKind::Workflow,
        status: Some(Status::Failed),
        error: text("step check: exit code 1"),
        result: Some(json(r#"{"files":3}"#)),
        duration_ms: Some(1234),
        usage: Some(tokens()),
        counts: Some(Counts {
            events: 9,
            steps: 2,
            messages: 2,
            tool_calls: 1,
            errors: 1,
            unknown: 0,
            masked: 4,
            agents: [("claude".to_owned(), 2)].into(),
        }),
    };
    let bare = RunCompleted {
        name: "review".into(),
        kind: RunKind::Exec,
        status: Some(Status::Succeeded),
        ..RunCompleted::default()
    };
    vec![
        draft(Kind::RunCreated, &RunCreated { name: "review".into(), kind: RunKind::Workflow }),
        draft(Kind::RunStarted, &started),
        draft(Kind::RunStarted, &RunStarted::new("chat", RunKind::Session)),
        draft(Kind::RunCompleted, &completed),
        draft(Kind::RunCompleted, &bare),
    ]
}

fn steps() -> Vec<Draft> {
    let path = StepPath::root().child("each_file").iteration(3).child("check");
    let started = StepStarted {
        name: "check".into(),
        kind: "command".into(),
        attempt: Some(1),
        agent: None,
        blocks: Some(vec![ContentBlock::command("go vet ./...")]),
    };
    let with_agent = StepStarted {
        name: "review".into(),
        kind: "agent".into(),
        attempt: Some(2),
        agent: Some(agent()),
        blocks: None,
    };
    let result = StepResult {
        output: None,
        stdout: text("ok\n"),
        stderr: text(""),
        exit_code: Some(1),
        value: Some(json("[1,null]")),
    };
    let completed = StepCompleted {
        name: "check".into(),
        kind: "command".into(),
        attempt: Some(1),
        status: Some(Status::Failed),
        error: text("exit code 1"),
        result: Some(Json::encode(&result).unwrap()),
        duration_ms: Some(7),
        usage: Some(tokens()),
        next: Some(json(r#"{"step":"report","why":"on_failure"}"#)),
    };
    let call =
        StepStarted { name: "sub".into(), kind: "call_workflow".into(), ..Default::default() };
    let returned = StepCompleted {
        name: "sub".into(),
        kind: "call_workflow".into(),
        status: Some(Status::Aborted),
        ..Default::default()
    };
    let child = || RunId::parse("661f9500-f30c-42e5-8827-557766551111").unwrap();
    vec![
        draft(Kind::StepStarted, &started).at(path.clone(), 3),
        draft(Kind::StepStarted, &with_agent).at("review".into(), 0),
        draft(Kind::StepCompleted, &completed).at(path, 3),
        draft(Kind::CallWorkflowStarted, &call).at("sub".into(), 0).calling(child()),
        draft(Kind::CallWorkflowCompleted, &returned).at("sub".into(), 0).calling(child()),
    ]
}

fn messages() -> Vec<Draft> {
    let said = vec![
        ContentBlock::text(Fidelity::Router, "You review code.")
            .with_purpose(Purpose::SystemPrompt),
        ContentBlock::text(Fidelity::Router, "Review <main.go> & \"fix\"\n\u{2028}\u{1f980}")
            .with_purpose(Purpose::Prompt),
    ];
    let emitted = |content: BlockContent| content.vouched_by(Fidelity::AgentEmitted);
    let tool_input = json(r#"{"file_path":"main.go"}"#);
    let (tool_name, tool_id) = ("Read".to_owned(), "toolu_01".to_owned());
    let replied = vec![
        emitted(BlockContent::Thinking { thinking: "Hm.".into(), signature: text("c2ln") }),
        ContentBlock::thinking(Fidelity::AgentEmitted, "Unsigned."),
        ContentBlock::text(Fidelity::AgentEmitted, "Two issues."),
        emitted(BlockContent::ToolUse { tool_name, tool_id: tool_id.clone(), tool_input }),
        emitted(BlockContent::ToolResult {
            tool_id,
            tool_content: json(r#"[{"type":"text","text":"package main"}]"#),
            is_error: Some(false),
        }),
        emitted(BlockContent::Command {
            command: "ls".into(),
            exit_code: Some(-1),
            output: text("\u{1b}[0m"),
        }),
        emitted(BlockContent::Stream { chunk: "par".into() }),
        emitted(BlockContent::Other { block_type: "hologram".into(), content: None }),
    ];
    let reply = Message {
        message_id: text("msg_1"),
        model: text("opus"),
        stop_reason: text("end_turn"),
        turn: Some(2),
        ..Message::assistant(replied)
    };
    vec![
        draft(Kind::MessageUser, &Message::user(said)).at("review".into(), 0),
        draft(Kind::MessageAssistant, &reply).at("review".into(), 0),
        draft(Kind::MessageAssistant, &Message::assistant(vec![])).by("subagent:7"),
    ]
}

fn tools() -> Vec<Draft> {
    let call = ToolCall {
        name: "Read".into(),
        call_id: "toolu_01".into(),
        input: json(r#"{"file_path":"main.go"}"#),
        output: Json::null(),
        fidelity: Fidelity::Router,
        provider: text("mcp:files"),
    };
    let result = ToolResult {
        name: "Read".into(),
        call_id: "toolu_01".into(),
        input: json(r#"{"file_path":"main.go"}"#),
        output: json(r#""package main""#),
        error: text("truncated"),
        fidelity: Fidelity::Router,
        status: Some(ToolStatus::Failed),
        duration_ms: Some(3),
    };
    let bare = ToolResult { name: "Bash".into(), call_id: "x".into(), ..ToolResult::default() };
    let usage = Usage {
        model: text("opus"),
        input_tokens: Some(10),
        output_tokens: Some(20),
        cache_read_tokens: Some(30),
        cache_write_tokens: Some(40),
        reasoning_tokens: Some(5),
        scope: Some(UsageScope::Message),
        message_id: text("msg_1"),
        cost_usd: Some(0.25),
    };
    vec![
        draft(Kind::ToolCall, &call).at("review".into(), 0),
        draft(Kind::ToolResult, &result).at("review".into(), 0),
        draft(Kind::ToolResult, &bare),
        draft(Kind::Usage, &usage),
        draft(Kind::Usage, &Usage { output_tokens: Some(0), ..Usage::default() }),
    ]
}

fn facts() -> Vec<Draft> {
    let error = ErrorReport {
        code: "E_TIMEOUT".into(),
        category: "provider".into(),
        message: "no answer in 30 s".into(),
        retryable: true,
        details: Some(json(r#"{"after_ms":30000}"#)),
    };
    let system = System { subtype: "turn_started".into(), ..System::default() };
    vec![
        Draft::system("retry", json!({ "attempt": 2, "why": "exit code 1" })).unwrap(),
        draft(Kind::System, &system),
        draft(Kind::Error, &error),
        draft(Kind::Error, &ErrorReport::default()),
        draft(Kind::ConfigLoaded, &json!({ "file": "quipu.toml", "keys": ["storage"] })),
        draft(Kind::PromptRendered, &json!({ "template": "review.md", "bytes": 812 })),
        draft(Kind::SkillIndexed, &json!({ "name": "go" })),
        draft(Kind::SkillLoaded, &json!({ "name": "go", "bytes": 90 })),
        draft(Kind::MemoryRecallStarted, &json!({ "query": "style" })),
        draft(Kind::MemoryRecallCompleted, &json!({ "hits": 0 })),
        Draft::with_json(Kind::MemoryWriteRequested, Json::null()),
    ]
}

fn files_and_deliverables() -> Vec<Draft> {
    let read = FileAccess {
        file: "main.go".into(),
        bytes: Some(120),
        sha256: text("cd34"),
        reason: None,
        call_id: text("toolu_01"),
    };
    let rejected = FileAccess {
        file: "/etc/shadow".into(),
        reason: text("outside the project"),
        ..FileAccess::default()
    };
    let check = |missing: &[&str], result: Option<DeliverableResult>| DeliverableCheck {
        required: vec!["report.md".into()],
        missing: missing.iter().map(|&name| name.into()).collect(),
        result,
        ..DeliverableCheck::default()
    };
    vec![
        draft(Kind::FileRead, &read),
        draft(Kind::FileWritten, &FileAccess { file: "a.txt".into(), ..read.clone() }),
        draft(Kind::FileRejected, &rejected),
        draft(Kind::DeliverableCheckStarted, &check(&[], None)),
        draft(Kind::DeliverableMissing, &check(&["report.md"], None)),
        draft(
            Kind::DeliverableCheckCompleted,
            &check(&["report.md"], Some(DeliverableResult::Incomplete)),
        ),
    ]
}

fn foreign() -> Vec<Draft> {
    let origin = Origin::new("/home/ada/.claude/projects/p/s-1.jsonl", 4096, 31);
    let when = Timestamp::parse("2025-12-31T23:59:59.5-01:00").unwrap();
    vec![
        Draft::unknown(b"{\"type\":\"mystery\",\"x\":\"\\u0000\"}", Some("mystery"), "no rule")
            .from_origin(origin)
            .dated(when)
            .by("subagent:a1"),
        Draft::unknown(b"\xff\xfe\x00", None, "not text"),
        Draft::unknown("line\nfeed\0\u{7f}\u{85}".as_bytes(), None, "not JSON"),
    ]
}
