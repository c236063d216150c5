//! Plays a script: reads requests, a line each, and answers them well or badly.

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fs, process, thread};

use serde_json::{Value, json};

use super::script::{Script, Step};

/// A plugin at work. Clones share what it has.
#[derive(Clone)]
struct Plugin {
    script: Arc<Script>,
    pages: Arc<Mutex<Vec<Vec<Value>>>>,
}

/// Plays a script until there is nothing more to read.
pub(super) fn play(script: Script) -> io::Result<ExitCode> {
    let mut pages = script.pages.clone();
    if pages.is_empty() {
        pages.push(script.tools.keys().map(|name| json!({ "name": name })).collect());
    }
    let plugin = Plugin { script: Arc::new(script), pages: Arc::new(Mutex::new(pages)) };
    plugin.perform(&plugin.script.start, &Value::Null)?;
    while let Some(message) = plugin.read()? {
        plugin.take(&message)?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Plugin {
    fn read(&self) -> io::Result<Option<Value>> {
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if let Some(log) = &self.script.log {
            let mut log = OpenOptions::new().create(true).append(true).open(log)?;
            log.write_all(line.as_bytes())?;
        }
        Ok(Some(serde_json::from_str(&line)?))
    }

    fn take(&self, message: &Value) -> io::Result<()> {
        match message["method"].as_str() {
            Some("initialize") => answer(
                message,
                json!({
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": { "tools": { "listChanged": true } },
                    "serverInfo": { "name": "fake", "version": "1.2.3" },
                }),
            ),
            Some("ping") => answer(message, json!({})),
            Some("tools/list") => self.list(message),
            Some("tools/call") => {
                let name = message["params"]["name"].as_str().unwrap_or_default();
                match self.script.tools.get(name) {
                    Some(steps) => self.perform(steps, message),
                    None => refuse(message, &json!({ "code": -32602, "message": "unknown tool" })),
                }
            }
            Some(_) if message.get("id").is_some() => {
                refuse(message, &json!({ "code": -32601, "message": "method not found" }))
            }
            _ => Ok(()),
        }
    }

    fn list(&self, message: &Value) -> io::Result<()> {
        let cursor = message["params"]["cursor"].as_str();
        let page: usize = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut result = json!({ "tools": pages.get(page).cloned().unwrap_or_default() });
        if page + 1 < pages.len() {
            result["nextCursor"] = json!((page + 1).to_string());
        }
        answer(message, result)
    }

    fn perform(&self, steps: &[Step], call: &Value) -> io::Result<()> {
        for (at, step) in steps.iter().enumerate() {
            match step {
                Step::LaterMs(ms) => {
                    let (plugin, rest, call) =
                        (self.clone(), steps[at + 1..].to_vec(), call.clone());
                    let pause = Duration::from_millis(*ms);
                    thread::spawn(move || {
                        thread::sleep(pause);
                        plugin.perform(&rest, &call)
                    });
                    return Ok(());
                }
                Step::Once(file) if file.exists() => return Ok(()),
                Step::Once(file) => fs::write(file, "")?,
                step => self.step(step, call)?,
            }
        }
        Ok(())
    }

    fn step(&self, step: &Step, call: &Value) -> io::Result<()> {
        match step {
            Step::Answer(result) => answer(call, result.clone()),
            Step::Echo => answer(call, text(&call["params"]["arguments"].to_string())),
            Step::Error(error) => refuse(call, error),
            Step::Huge(bytes) => answer(call, text(&"a".repeat(*bytes))),
            Step::Line(line) => write(line.replace("$ID", &call["id"].to_string()).as_bytes()),
            Step::Bytes(bytes) => write(bytes),
            Step::Ask(question) => self.ask(question, call),
            Step::Tools(tools) => {
                let pages = vec![tools.clone()];
                *self.pages.lock().unwrap_or_else(PoisonError::into_inner) = pages;
                send(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }))
            }
            Step::Stderr(line) => writeln!(io::stderr(), "{line}"),
            Step::Child(file) => {
                let mut sleep = Command::new("sleep");
                let sleep = sleep.arg("600").stdin(Stdio::null()).stdout(Stdio::null());
                fs::write(file, sleep.stderr(Stdio::null()).spawn()?.id().to_string())
            }
            Step::SleepMs(ms) => {
                thread::sleep(Duration::from_millis(*ms));
                Ok(())
            }
            Step::Exit(code) => process::exit(*code),
            Step::Hang => loop {
                thread::park();
            },
            Step::LaterMs(_) | Step::Once(_) => Ok(()),
        }
    }

    /// Asks the client, takes whatever else it says meanwhile, and answers the call with its answer.
    fn ask(&self, question: &Value, call: &Value) -> io::Result<()> {
        let mut question = question.clone();
        question["jsonrpc"] = json!("2.0");
        question["id"] = json!("question");
        send(&question)?;
        while let Some(message) = self.read()? {
            if message["id"] == "question" {
                return answer(call, text(&message.to_string()));
            }
            self.take(&message)?;
        }
        Ok(())
    }
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn answer(request: &Value, result: Value) -> io::Result<()> {
    send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
}

fn refuse(request: &Value, error: &Value) -> io::Result<()> {
    send(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }))
}

fn send(message: &Value) -> io::Result<()> {
    write(message.to_string().as_bytes())
}

fn write(line: &[u8]) -> io::Result<()> {
    // One lock for both, so that no other thread's line comes in between.
    let mut stdout = io::stdout().lock();
    stdout.write_all(line)?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}
