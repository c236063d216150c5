//! A program at work under the recorder, and what is recorded of it.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use quipu_event::payload::{Agent, RunKind, RunStarted};
use quipu_event::{Draft, Json};
use quipu_journal::Recorder;
use serde_json::json;

use super::ending::Ending;
use super::follow::{FollowHint, SessionFollower};
use super::hearing::Hearing;
use super::news::{News, Stream, begin};
use super::pieces::Pieces;
use super::signals::Caught;
use super::telling::Telling;
use super::whose::guess_provider;
use super::{Ended, Exec, ExecError, Streams};

/// Runs a program to its end. See [`super::run`].
pub(super) fn run(
    exec: Exec,
    recorder: &Recorder,
    streams: Streams,
    follower: &dyn SessionFollower,
) -> Result<Ended, ExecError> {
    let guess = guess_provider(&exec.program.name, &exec.program.args);
    let mut telling = Telling::new(recorder.clone(), beginning(&exec, guess));
    // Before anything is written, so that no run is left without an end.
    let caught = Caught::begin()?;
    let output: fn() -> Stdio = match &streams {
        Streams::Piped { .. } => Stdio::piped,
        Streams::Terminal => Stdio::inherit,
    };
    let run_id = &recorder.run().run_id;
    let child = match exec.program.start(recorder, output) {
        Ok(child) => child,
        Err(error) => {
            let ending = Ending {
                not_started: Some((error.exit_code(), error.to_string())),
                ..Ending::default()
            };
            // A recorder that refuses is not what a person has to hear of now.
            let _ = telling.close(&ending, None);
            return Err(error.into());
        }
    };
    let provider = exec.provider.map(|provider| provider.name).or(guess);
    let following = matches!(streams, Streams::Terminal).then(|| {
        telling.open();
        follower.start(FollowHint {
            provider,
            cwd: directory(&exec).unwrap_or_default(),
            started_at: telling.began(),
            pid: child.id(),
            run_id: run_id.clone(),
        })
    });
    let open = match streams {
        Streams::Piped { .. } => vec![Stream::Out, Stream::Err],
        Streams::Terminal => Vec::new(),
    };
    let news = match begin(child, streams, caught) {
        Ok(news) => news,
        Err(cause) => {
            telling.close(&Ending::default(), None);
            return Err(cause.into());
        }
    };
    let mut running = Running {
        telling,
        hearing: Hearing::new(exec.provider, guess),
        beside: Pieces::new(Stream::Err.name()),
        ending: Ending::default(),
        open,
        has_ended: false,
        refused: None,
        drafts: Vec::new(),
    };
    running.attend(&news);
    let provider = running.hearing.provider().map(|provider| provider.name).or(provider);
    let followed = following.map(|following| following.finish());
    let (status, failure) = running.telling.close(&running.ending, followed.as_ref());
    let exit_code = running.ending.exit_code();
    let refused = running.refused;
    Ok(Ended { status, exit_code, provider, followed, refused, failure })
}

/// A run at work, as it is recorded.
struct Running {
    telling: Telling,
    hearing: Hearing,
    /// What stands on standard error.
    beside: Pieces,
    ending: Ending,
    /// Which streams have not come to their end.
    open: Vec<Stream>,
    /// Why what was printed could not be passed on.
    refused: Option<io::Error>,
    has_ended: bool,
    drafts: Vec<Draft>,
}

impl Running {
    /// Takes news until the agent has ended and its streams have.
    fn attend(&mut self, news: &Receiver<News>) {
        while !(self.has_ended && self.open.is_empty()) {
            let due = [self.telling.due(), self.hearing.due(), self.beside.due()];
            let first = due.into_iter().flatten().min();
            let told = match first.map(|first| first.saturating_duration_since(Instant::now())) {
                Some(patience) => news.recv_timeout(patience),
                None => news.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match told {
                // Who is asked to end a second time, and only waits for a reader, need not wait.
                Ok(News::Asked(_)) if self.has_ended => break,
                Ok(news) => self.take(news),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.keep_time();
        }
        std::mem::take(&mut self.open).into_iter().for_each(|stream| self.finish(stream));
    }

    /// Tells what is left of a stream at its end.
    fn finish(&mut self, stream: Stream) {
        match stream {
            Stream::Out => {
                self.hearing.finish(Instant::now(), &mut self.drafts);
                self.tell();
            }
            Stream::Err => {
                self.beside.finish(&mut self.drafts);
                self.tell_beside();
            }
        }
    }

    fn take(&mut self, news: News) {
        match news {
            News::Bytes(Stream::Out, bytes) => {
                self.hearing.take(&bytes, Instant::now(), &mut self.drafts);
                self.tell();
            }
            News::Bytes(Stream::Err, bytes) => {
                self.ending.last_words.take(&bytes);
                self.beside.take(&bytes, Instant::now(), &mut self.drafts);
                self.tell_beside();
            }
            News::End(stream, refused) => {
                self.open.retain(|open| *open != stream);
                // First what was passed on, then that no more of it was.
                self.finish(stream);
                if let Some(cause) = refused {
                    let facts = json!({ "stream": stream.name(), "reason": cause.to_string() });
                    self.telling.note_fact("output_refused", facts);
                    // That a reader has gone away is everybody's right.
                    if cause.kind() != io::ErrorKind::BrokenPipe {
                        self.refused = Some(cause);
                    }
                }
            }
            News::Asked(signal) => self.ending.asked = Some(signal),
            News::Exited(exit) => {
                self.ending.exit = exit;
                self.has_ended = true;
            }
        }
    }

    /// Tells what has waited long enough.
    fn keep_time(&mut self) {
        let now = Instant::now();
        let is_due = |due: Option<Instant>| due.is_some_and(|due| due <= now);
        if is_due(self.hearing.due()) {
            self.hearing.pause(now, &mut self.drafts);
            self.tell();
        }
        if is_due(self.beside.due()) {
            self.beside.pause(&mut self.drafts);
            self.tell_beside();
        }
        if is_due(self.telling.due()) {
            self.telling.open();
        }
    }

    fn tell(&mut self) {
        self.drafts.drain(..).for_each(|draft| self.telling.hear(draft));
    }

    fn tell_beside(&mut self) {
        self.drafts.drain(..).for_each(|draft| self.telling.note(draft));
    }
}

fn beginning(exec: &Exec, guess: Option<&str>) -> RunStarted {
    let name = exec.name.clone().unwrap_or_else(|| exec.program.short_name());
    let provider = exec.provider.map(|provider| provider.name).or(guess);
    RunStarted {
        cwd: directory(exec).map(|dir| dir.display().to_string()),
        inputs: Json::encode(&json!({ "argv": exec.program.argv() })).ok(),
        labels: Some(exec.labels.clone()).filter(|labels| !labels.is_empty()),
        agent: provider
            .map(|provider| Agent { provider: Some(provider.to_owned()), ..Agent::default() }),
        ..RunStarted::new(name, RunKind::Exec)
    }
}

fn directory(exec: &Exec) -> Option<PathBuf> {
    // A directory that was deleted under our feet is not worth failing for.
    let here = std::env::current_dir().ok();
    match (here, &exec.program.dir) {
        (Some(here), Some(dir)) => Some(here.join(dir)),
        (None, Some(dir)) => Some(dir.clone()),
        (here, None) => here,
    }
}
