//! Runs an agent's program and listens to it: what it prints is recorded while it prints.
//!
//! It does not know what the arguments mean; that is `cli`.

use std::collections::BTreeMap;
use std::ffi::OsString;

use quipu_event::payload::Status;
use quipu_provider::{Provider, Speech, Surface, find_provider};
use serde_json::json;

use super::cli::{Cli, Invocation};
use super::desk::Desk;
use super::ear::{Ear, Plain};
use super::hearing::{Heard, Manner};
use super::proxy::Proxy;
use super::reply::Reply;
use super::stderr::{read_end, tail};
use crate::engine::WorkStatus;
use crate::process::{Exit, Spawn, Stdin};

/// A program to be listened to.
pub(super) struct Program<'a> {
    /// The agent.
    pub(super) cli: &'static Cli,
    /// The program and its first arguments, when they are not the agent's own.
    pub(super) command: Option<Vec<String>>,
    /// Variables, beside those of this process.
    pub(super) env: BTreeMap<String, String>,
    /// The session that goes on.
    pub(super) resume: Option<&'a str>,
    /// Which turn this is, in a conversation.
    pub(super) turn: Option<u64>,
    /// The tools of ours that it is given.
    pub(super) proxy: Option<Proxy>,
}

impl Program<'_> {
    /// Runs the program to its end and returns what it said.
    pub(super) async fn listen(mut self, call: Invocation, desk: &Desk) -> Reply {
        let Some((provider, surface)) = language_of(self.cli) else {
            return Reply::failed(format!("{}: nobody reads what it prints", self.cli.name));
        };
        let spawn = self.spawn(&call, desk);
        let mut running = match spawn.start().await {
            Ok(running) => running,
            Err(cause) => {
                let program = Some(self.cli.name).filter(|name| *name != self.cli.program);
                let whose = program.map(|name| format!("{name}: ")).unwrap_or_default();
                return Reply::failed(format!("{whose}{cause}"));
            }
        };
        let mut ear = Ear::new(self.cli, (provider, surface), desk, self.manner(&call, desk));
        let (stdout, stderr) = (running.take_stdout(), running.take_stderr());
        let (exit, (), stderr) = tokio::join!(
            running.wait_or_stop(desk.stop.clone()),
            ear.hear(stdout),
            read_end(stderr)
        );
        if let Some(proxy) = self.proxy.take() {
            // Before its last words are heard: whatever call they speak of has been made, or never will be.
            proxy.close().await;
        }
        let (heard, plain) = ear.finish();
        stderr.note(desk);
        if let (true, Some(session)) = (self.cli.counts_whole_session, &heard.session) {
            desk.settings.sessions.count(session, &heard.usage);
        }
        match exit {
            Ok(exit) => self.conclude(exit, heard, plain, stderr.text(), desk),
            Err(cause) => {
                let error = format!("{}: how it ended is not known: {cause}", self.cli.name);
                Reply { error: Some(error), ..reply_of(heard, WorkStatus::Failed, stderr.text()) }
            }
        }
    }

    fn spawn(&self, call: &Invocation, desk: &Desk) -> Spawn {
        let own = [self.cli.program.to_owned()];
        let words = self.command.as_deref().filter(|words| !words.is_empty()).unwrap_or(&own);
        let args = words[1..].iter().chain(&call.args);
        let shown = args.clone().map(|arg| if *arg == call.sent { "<prompt>" } else { arg });
        let shown: Vec<String> = shown.map(|arg| short(arg, 200)).collect();
        let facts = json!({
            "provider": self.cli.name,
            "program": words[0],
            "args": shown,
            "reads_prompt_from_stdin": call.stdin.is_some(),
        });
        desk.note("agent_started", facts);
        let mut env = self.env.clone();
        env.extend(call.env.clone());
        // Some programs believe this variable rather than the system.
        env.insert("PWD".to_owned(), desk.dir.display().to_string());
        Spawn {
            args: args.map(OsString::from).collect(),
            env,
            dir: Some(desk.dir.clone()),
            stdin: call
                .stdin
                .as_ref()
                .map_or(Stdin::Nothing, |text| Stdin::Text(text.clone().into())),
            ..Spawn::new(&words[0])
        }
    }

    fn manner(&self, call: &Invocation, desk: &Desk) -> Manner {
        let resumed = self.resume.filter(|_| self.cli.counts_whole_session);
        let counted_before = resumed.and_then(|session| desk.settings.sessions.total(session));
        if let (Some(session), None) = (resumed, counted_before) {
            let facts = json!({ "session_id": session, "reason": "unknown_before" });
            desk.note("usage_includes_earlier_turns", facts);
        }
        Manner {
            turn: self.turn,
            sent: call.sent.clone(),
            last_text_only: self.cli.name == "codex",
            counted_before,
            calls_are_ours: false,
            links: self.proxy.as_ref().map(Proxy::links),
        }
    }

    /// Decides what the program's end means for the step.
    fn conclude(
        &self,
        exit: Exit,
        mut heard: Heard,
        plain: Plain,
        stderr: String,
        desk: &Desk,
    ) -> Reply {
        let code = Some(exit.code());
        if let Some(reason) = exit.stopped() {
            let reply = reply_of(heard, WorkStatus::Canceled, stderr).stopped(reason);
            return Reply { exit_code: code, ..reply };
        }
        if exit.success() && !heard.is_understood {
            // A program that speaks no known language still has an answer, if it says so plainly.
            heard.text = plain.record(self.turn, desk);
            heard.end = heard.text.as_ref().map(|_| Status::Succeeded);
        }
        let trouble = exit.trouble().or_else(|| self.unfinished(&heard));
        let Some(trouble) = trouble else {
            return Reply { exit_code: code, ..reply_of(heard, WorkStatus::Succeeded, stderr) };
        };
        let told = heard.error.clone().or_else(|| heard.last_error.clone());
        // Who is killed had no time to say why: what it wrote before is about something else.
        let is_killed = exit.signal().as_deref() == Some("SIGKILL");
        let error = match told.or_else(|| tail(&stderr).filter(|_| !is_killed)) {
            Some(told) if exit.success() => told,
            Some(told) => format!("{told} ({trouble})"),
            None => trouble,
        };
        let reply = reply_of(heard, WorkStatus::Failed, stderr);
        Reply { error: Some(format!("{}: {error}", self.cli.name)), exit_code: code, ..reply }
    }

    /// Says what is wrong with the end of a program that says that all is well.
    fn unfinished(&self, heard: &Heard) -> Option<String> {
        match &heard.end {
            Some(Status::Succeeded) => None,
            Some(status) if *status != Status::Aborted => {
                Some(format!("by its own word it ended as {}", status.as_str()))
            }
            _ if heard.open_calls > 0 => Some("it ended while a tool was at work".to_owned()),
            // Who prints in pieces may have been cut off in one.
            _ if heard.text.is_some() && speaks_in_blocks(self.cli) => None,
            _ => Some("it ended without an answer".to_owned()),
        }
    }
}

fn language_of(cli: &Cli) -> Option<(&'static Provider, &'static Surface)> {
    let (provider, surface) = cli.surface;
    let provider = find_provider(provider)?;
    Some((provider, provider.find_surface(surface)?))
}

fn speaks_in_blocks(cli: &Cli) -> bool {
    language_of(cli).is_some_and(|(provider, _)| provider.telling.speech == Speech::Blocks)
}

fn reply_of(heard: Heard, status: WorkStatus, stderr: String) -> Reply {
    // What the agent calls its answer may be a message about its failure.
    let text = match status {
        WorkStatus::Succeeded => heard.result.filter(|text| !text.is_empty()).or(heard.text),
        _ => heard.text,
    };
    Reply {
        status,
        error: None,
        text: text.unwrap_or_default(),
        session: heard.session,
        model: heard.model,
        usage: heard.usage,
        stderr,
        exit_code: None,
    }
}

fn short(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
