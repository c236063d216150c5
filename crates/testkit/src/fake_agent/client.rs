//! An agent as the client of an MCP server: starts the one it was given, in the way of the real program,
//! and calls its tools while it prints what that program would print.
//!
//! It knows one server, `quipu`, and trusts it to speak MCP.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::{fs, process};

use serde_json::{Value, json};

use super::call::Call;
use super::dialect::Dialect;
use super::script::{Served, Told, Tool};

/// The name of the server in every configuration.
const SERVER: &str = "quipu";

/// Uses tools of the server.
pub(super) fn play(
    served: &Served,
    call: &Call,
    dialect: &mut dyn Dialect,
    print: fn(&[String]),
) -> io::Result<()> {
    let named = |(number, tool): (usize, &Tool)| Tool {
        name: dialect.name_of(SERVER, &tool.name),
        result: Some(mark(number)),
        server: Some(SERVER.to_owned()),
        ..tool.clone()
    };
    let named: Vec<Tool> = served.tools.iter().enumerate().map(named).collect();
    let lines = match served.told {
        Told::Never => Vec::new(),
        _ => dialect.tools(&named),
    };
    let first = lines.iter().position(|line| line.contains(&mark(0))).unwrap_or(lines.len());
    let (before, behind) = lines.split_at(first);
    let answers = match served.told {
        Told::Instead => {
            print(before);
            served.tools.iter().map(|tool| tool.result.clone().unwrap_or_default()).collect()
        }
        told => {
            if told == Told::Before {
                print(before);
            }
            let ids = ids_in(&lines);
            let meta = |number: usize| dialect.meta(ids.get(number).map(String::as_str), number);
            let answers = Client::start(call)?.call_all(&served.tools, meta, served.dies)?;
            if told == Told::After {
                print(before);
            }
            answers
        }
    };
    print(&answered(behind, &answers));
    Ok(())
}

/// What stands for a result that is not known yet.
fn mark(number: usize) -> String {
    format!("@@result-{number}@@")
}

fn answered(lines: &[String], answers: &[String]) -> Vec<String> {
    let fill = |line: &String| {
        answers.iter().enumerate().fold(line.clone(), |line, (number, answer)| {
            let text = Value::from(answer.as_str()).to_string();
            line.replace(&mark(number), &text[1..text.len() - 1])
        })
    };
    lines.iter().map(fill).collect()
}

/// Returns the ids of the calls in lines of claude's, whose ids the server is told.
fn ids_in(lines: &[String]) -> Vec<String> {
    let records = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ids = records.filter_map(|record| {
        let block = &record["message"]["content"][0];
        let id = block["id"].as_str().filter(|_| block["type"] == "tool_use")?;
        Some(id.to_owned())
    });
    ids.collect()
}

/// A connection to the server.
struct Client {
    server: Child,
    answers: BufReader<ChildStdout>,
    requests: u64,
}

impl Client {
    fn start(call: &Call) -> io::Result<Client> {
        let command = command_in(call).ok_or_else(|| io::Error::other("no MCP server is given"))?;
        let (program, args) =
            command.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
        let mut start = Command::new(program);
        start.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = start.spawn()?;
        let stdout = server.stdout.take().ok_or_else(|| io::Error::other("no pipe"))?;
        let mut client = Client { server, answers: BufReader::new(stdout), requests: 0 };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "fake-agent", "version": "1.0.0" },
        });
        let id = client.request("initialize", &hello)?;
        client.answers_to(&[id])?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        let id = client.request("tools/list", &json!({}))?;
        client.answers_to(&[id])?;
        Ok(client)
    }

    fn call_all(
        mut self,
        tools: &[Tool],
        meta: impl Fn(usize) -> Value,
        dies: bool,
    ) -> io::Result<Vec<String>> {
        let mut ids = Vec::new();
        for (number, tool) in tools.iter().enumerate() {
            let mut params = json!({ "name": tool.name, "arguments": tool.input });
            if let meta @ Value::Object(_) = meta(number) {
                params["_meta"] = meta;
            }
            ids.push(self.request("tools/call", &params)?);
        }
        if dies {
            process::exit(9);
        }
        let answers = self.answers_to(&ids)?;
        drop(self.server.stdin.take());
        self.server.wait()?;
        Ok(answers.iter().map(text_of).collect())
    }

    fn request(&mut self, method: &str, params: &Value) -> io::Result<u64> {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        Ok(id)
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        let pipe = self.server.stdin.as_mut().ok_or_else(|| io::Error::other("no pipe"))?;
        writeln!(pipe, "{message}")?;
        pipe.flush()
    }

    /// Waits for the answers to requests, and returns them in the order of the requests.
    fn answers_to(&mut self, ids: &[u64]) -> io::Result<Vec<Value>> {
        let mut answers = vec![None; ids.len()];
        while answers.iter().any(Option::is_none) {
            let mut line = String::new();
            if self.answers.read_line(&mut line)? == 0 {
                return Err(io::Error::other("the MCP server is gone"));
            }
            let message: Value = serde_json::from_str(&line)?;
            if let Some(at) = ids.iter().position(|id| message["id"] == *id) {
                answers[at] = Some(message);
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }
}

fn text_of(answer: &Value) -> String {
    let blocks = answer["result"]["content"].as_array().into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    match answer["error"]["message"].as_str() {
        Some(error) => error.to_owned(),
        None => texts.join("\n"),
    }
}

/// Finds the server's command where the real program would.
fn command_in(call: &Call) -> Option<Vec<String>> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    let found = |config: Value| Some(config["mcpServers"][SERVER].clone()).filter(Value::is_object);
    let server = match call.provider.as_str() {
        "claude" => {
            let at = call.args.iter().position(|arg| arg == "--mcp-config")?;
            call.args[at + 1..].iter().filter_map(|text| parse(text)).find_map(found)?
        }
        "codex" => {
            let setting = |key: &str| {
                let key = format!("mcp_servers.{SERVER}.{key}=");
                call.args.iter().find_map(|arg| arg.strip_prefix(&key)).and_then(parse)
            };
            json!({ "command": setting("command")?, "args": setting("args")? })
        }
        "gemini" => {
            let home = call.env.get("GEMINI_CLI_HOME")?;
            found(parse(&fs::read_to_string(format!("{home}/.gemini/settings.json")).ok()?)?)?
        }
        "opencode" => {
            let config = parse(call.env.get("OPENCODE_CONFIG_CONTENT")?)?;
            let words = config["mcp"][SERVER]["command"].as_array()?.clone();
            json!({ "command": words.first()?, "args": words[1..] })
        }
        _ => {
            let prefix = "--additional-mcp-config=";
            let texts = call.args.iter().filter_map(|arg| arg.strip_prefix(prefix));
            texts.filter_map(parse).find_map(found)?
        }
    };
    let args = server["args"].as_array()?.iter().filter_map(|arg| Some(arg.as_str()?.to_owned()));
    Some(std::iter::once(server["command"].as_str()?.to_owned()).chain(args).collect())
}
