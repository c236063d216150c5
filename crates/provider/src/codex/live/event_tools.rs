//! Tool calls among the older event messages: a `…_begin`, and an `…_end` with the same call id.
//!
//! Rollout-like streams leave the beginnings out; then the end tells of the call as well.

use quipu_event::Json;
use quipu_event::payload::{ToolCall, ToolResult, ToolStatus};
use serde_json::json;

use super::event_msg::Telling;
use super::item_tools::object;
use crate::calls::Seen;
use crate::value::{Fields, Value, json_text};

/// A tool as the older messages name it.
struct Tool {
    /// What its messages begin with.
    stem: &'static str,
    /// What we call it, the same as for items.
    name: &'static str,
    /// The members that say what is asked for.
    input: &'static [&'static str],
    /// The members that say what came of it; the first that is there counts.
    output: &'static [&'static str],
}

const TOOLS: &[Tool] = &[
    Tool {
        stem: "exec_command",
        name: "command_execution",
        input: &["command", "cwd"],
        output: &["aggregated_output", "formatted_output", "stdout"],
    },
    Tool { stem: "patch_apply", name: "file_change", input: &["changes"], output: &["stdout"] },
    Tool { stem: "mcp_tool_call", name: "", input: &[], output: &["result"] },
    Tool {
        stem: "web_search",
        name: "web_search",
        input: &["query", "action"],
        output: &["results", "action"],
    },
    Tool {
        stem: "image_generation",
        name: "image_generation",
        input: &["revised_prompt"],
        output: &["saved_path"],
    },
    Tool {
        stem: "collab_agent_spawn",
        name: "spawn_agent",
        input: &["prompt", "model"],
        output: &["new_thread_id", "status"],
    },
    Tool {
        stem: "collab_agent_interaction",
        name: "send_input",
        input: &["prompt", "receiver_thread_id"],
        output: &["status"],
    },
    Tool {
        stem: "collab_waiting",
        name: "wait",
        input: &["receiver_thread_ids"],
        output: &["statuses"],
    },
    Tool {
        stem: "collab_close",
        name: "close_agent",
        input: &["receiver_thread_id"],
        output: &["status"],
    },
    Tool {
        stem: "collab_resume",
        name: "resume_agent",
        input: &["receiver_thread_id"],
        output: &["status"],
    },
];

/// Takes a message about a tool call; returns whether it was one.
pub(super) fn take_tool_event(tell: &mut Telling<'_, '_>, kind: &str, msg: &Fields<'_>) -> bool {
    let call_id = msg.string("call_id").or_else(|| msg.string("callId")).unwrap_or_default();
    match kind {
        "exec_command_output_delta" => {
            tell.thread.voice.output(tell.out, tell.stamp, &call_id, "");
            return true;
        }
        "view_image_tool_call" => {
            let call = made("image_view", &call_id, members(msg, &["path"]));
            let status = Some(ToolStatus::Completed);
            end(tell, call, ToolResult { call_id, status, ..ToolResult::default() });
            return true;
        }
        "exec_approval_request" | "apply_patch_approval_request" => {
            let facts = json!({ "tool_id": call_id, "reason": msg.string("reason") });
            tell.out.system(tell.stamp, "permission_requested", facts);
            return true;
        }
        "dynamic_tool_call_request" => {
            begin(tell, dynamic(msg, &call_id), false);
            return true;
        }
        "dynamic_tool_call_response" => {
            end(tell, dynamic(msg, &call_id), dynamic_result(msg, call_id));
            return true;
        }
        _ => {}
    }
    let (stem, is_end) = match (kind.strip_suffix("_begin"), kind.strip_suffix("_end")) {
        (Some(stem), _) => (stem, false),
        (_, Some(stem)) => (stem, true),
        _ => return false,
    };
    let Some(tool) = TOOLS.iter().find(|tool| tool.stem == stem) else { return false };
    let call = call(tool, msg, &call_id);
    if !is_end {
        begin(tell, call, tool.name == "web_search");
        return true;
    }
    end(tell, call, result(tool, msg, call_id.clone()));
    match msg.text("new_thread_id") {
        Some(agent) => {
            tell.agents.start(tell.out, tell.stamp, &agent, Some(&call_id), None);
        }
        None => {
            if let Some(states) = msg.get("statuses") {
                tell.agents.take_states(tell.out, tell.stamp, &call_id, states);
            }
        }
    }
    true
}

fn begin(tell: &mut Telling<'_, '_>, call: ToolCall, is_awaited: bool) {
    let call_id = call.call_id.clone();
    let seen = match is_awaited {
        true => tell.thread.voice.await_call(tell.out, tell.stamp, call),
        false => tell.thread.voice.call(tell.out, tell.stamp, call),
    };
    if seen == Seen::Again {
        tell.out.system(tell.stamp, "repeated", json!({ "tool_id": call_id }));
    }
}

fn end(tell: &mut Telling<'_, '_>, call: ToolCall, result: ToolResult) {
    let call_id = call.call_id.clone();
    let is_refused = result.status == Some(ToolStatus::Blocked);
    if tell.thread.voice.result(tell.out, tell.stamp, call, result) == Seen::Again {
        tell.out.system(tell.stamp, "repeated", json!({ "tool_id": call_id }));
    }
    if is_refused {
        tell.thread.refuse(tell.out, tell.stamp, &call_id, None);
    }
}

fn call(tool: &Tool, msg: &Fields<'_>, call_id: &str) -> ToolCall {
    let Some(invocation) = msg.fields("invocation") else {
        return made(tool.name, call_id, members(msg, tool.input));
    };
    let name = invocation.text("tool").unwrap_or_default();
    let input = invocation.json("arguments").unwrap_or_default();
    let server = invocation.text("server").map(|server| format!("mcp:{server}"));
    let call = made(&name, call_id, input);
    ToolCall { provider: server.or(call.provider), ..call }
}

fn dynamic(msg: &Fields<'_>, call_id: &str) -> ToolCall {
    let name = msg.text("tool").unwrap_or_default();
    made(&name, call_id, msg.json("arguments").unwrap_or_default())
}

fn dynamic_result(msg: &Fields<'_>, call_id: String) -> ToolResult {
    let failed = msg.flag("success") == Some(false);
    ToolResult {
        call_id,
        output: msg.json("content_items").unwrap_or_default(),
        status: Some(if failed { ToolStatus::Failed } else { ToolStatus::Completed }),
        error: msg.string("error"),
        duration_ms: duration(msg),
        ..ToolResult::default()
    }
}

fn result(tool: &Tool, msg: &Fields<'_>, call_id: String) -> ToolResult {
    let exit = msg.integer("exit_code").filter(|code| *code != 0);
    let (answer, error) = answer(msg);
    let is_failed = exit.is_some()
        || error.is_some()
        || msg.flag("success") == Some(false)
        || msg.text("status").as_deref() == Some("failed");
    let status = match () {
        () if msg.text("status").as_deref() == Some("declined") => ToolStatus::Blocked,
        () if is_failed => ToolStatus::Failed,
        () => ToolStatus::Completed,
    };
    let stderr = msg.string("stderr").filter(|text| !text.is_empty() && is_failed);
    let error = error.or_else(|| exit.map(|code| format!("exit code {code}"))).or(stderr);
    ToolResult {
        call_id,
        output: answer.or_else(|| output(tool, msg)).unwrap_or_default(),
        status: Some(status),
        error,
        duration_ms: duration(msg),
        ..ToolResult::default()
    }
}

/// Reads the answer of an MCP server: `{"Ok": {"content": […]}}` or `{"Err": "…"}`.
fn answer(msg: &Fields<'_>) -> (Option<Json>, Option<String>) {
    let Some(result) = msg.fields("result") else { return (None, None) };
    if let Some(error) = result.string("Err") {
        return (Some(json_text(&error)), Some(error));
    }
    let Some(answer) = result.fields("Ok") else { return (None, None) };
    let failed = answer.flag("isError").or_else(|| answer.flag("is_error")) == Some(true);
    (answer.json("content"), failed.then(|| "the tool reported an error".to_owned()))
}

fn output(tool: &Tool, msg: &Fields<'_>) -> Option<Json> {
    let is_said = |value: &Value<'_>| value.source() != "\"\"";
    let values = || tool.output.iter().filter_map(|key| msg.get(key));
    values().find(is_said).or_else(|| values().next()).map(Value::json)
}

fn members(msg: &Fields<'_>, keys: &[&'static str]) -> Json {
    object(keys.iter().filter_map(|key| Some((*key, msg.json(key)?))))
}

fn made(name: &str, call_id: &str, input: Json) -> ToolCall {
    ToolCall {
        name: name.to_owned(),
        call_id: call_id.to_owned(),
        input,
        provider: Some("agent".to_owned()),
        ..ToolCall::default()
    }
}

/// A time span is `{"secs", "nanos"}`.
fn duration(msg: &Fields<'_>) -> Option<u64> {
    let span = msg.fields("duration")?;
    let millis = span.count("nanos").unwrap_or(0) / 1_000_000;
    span.count("secs")?.checked_mul(1000)?.checked_add(millis)
}
