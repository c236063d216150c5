//! Hears what an agent prints: bytes become drafts while they come, and a silence is understood.
//!
//! It starts nothing and decides nothing about the step.

use std::time::Duration;

use memchr::memmem;
use quipu_event::payload::Message;
use quipu_event::{ContentBlock, Draft, Fidelity, Kind};
use quipu_provider::{Listener, Provider, Surface};
use tokio::io::AsyncRead;
use tokio::time::timeout;

use super::cli::Cli;
use super::desk::Desk;
use super::hearing::{Heard, Hearing, Manner};
use super::lines::Lines;
use crate::process::Pipe;

/// How much text is kept of a program that speaks plainly.
const KEPT_PLAIN: usize = 1024 * 1024;

/// Listens to standard output.
pub(super) struct Ear<'d> {
    cli: &'static Cli,
    listener: Listener,
    hearing: Hearing<'d>,
    drafts: Vec<Draft>,
    plain: Plain,
    desk: &'d Desk,
    lines: Lines,
}

impl<'d> Ear<'d> {
    pub(super) fn new(
        cli: &'static Cli,
        (provider, surface): (&'static Provider, &Surface),
        desk: &'d Desk,
        manner: Manner,
    ) -> Self {
        Ear {
            cli,
            listener: Listener::new(provider, surface, desk.settings.kept),
            hearing: Hearing::new(desk, manner),
            drafts: Vec::new(),
            plain: Plain::default(),
            desk,
            lines: Lines::default(),
        }
    }

    /// Hears a stream to its end.
    pub(super) async fn hear<R: AsyncRead + Unpin>(&mut self, pipe: Option<Pipe<R>>) {
        let Some(mut pipe) = pipe else { return };
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let patience = self.listener.patience().unwrap_or(Duration::MAX);
            match timeout(patience, pipe.read(&mut buffer)).await {
                Ok(Ok(0)) => return,
                Ok(Ok(read)) => self.take(&buffer[..read]),
                Ok(Err(cause)) => {
                    tracing::warn!(%cause, "an agent's output could not be read to its end");
                    return;
                }
                Err(_) => {
                    self.listener.settle(&mut self.drafts);
                    self.tell();
                }
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.plain.keep(bytes);
        let now = self.desk.clock.now();
        // Line by line: a piece of a text must not be shown before what came ahead of it.
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.show(line);
            self.listener.take(line, now, &mut self.drafts);
            self.tell();
        }
    }

    /// Shows the pieces of text in these bytes, before the event that has all of it.
    fn show(&mut self, bytes: &[u8]) {
        let (cli, desk) = (self.cli, self.desk);
        self.lines.take(bytes, |line| {
            let is_likely = memmem::find(line, b"elta").is_some();
            let record = || serde_json::from_slice::<serde_json::Value>(line).ok();
            if let Some(record) = is_likely.then(record).flatten()
                && let Some(piece) = (cli.piece)(&record).filter(|piece| !piece.is_empty())
            {
                desk.show_piece(piece.to_owned());
            }
        });
    }

    fn tell(&mut self) {
        self.hearing.look_ahead(self.drafts.iter());
        for draft in self.drafts.drain(..) {
            self.hearing.take(draft);
        }
    }

    /// Takes the end of the stream and returns what was heard.
    pub(super) fn finish(mut self) -> (Heard, Plain) {
        self.listener.finish(&mut self.drafts);
        self.tell();
        self.hearing.close();
        // A normaliser gives every input a beginning and an end, even one it did not understand.
        let tally = self.listener.tally();
        let mut heard = self.hearing.finish();
        let frame = [Kind::RunStarted, Kind::RunCompleted, Kind::Unknown];
        let is_frame = |kind: &str| frame.iter().any(|known| known.as_str() == kind);
        heard.is_understood = tally.events.keys().any(|kind| !is_frame(kind));
        (heard, self.plain)
    }
}

/// What a program printed, in case it speaks plainly.
#[derive(Default)]
pub(super) struct Plain(Vec<u8>);

impl Plain {
    fn keep(&mut self, bytes: &[u8]) {
        let room = KEPT_PLAIN.saturating_sub(self.0.len());
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Records it as what the agent said, and returns it; nothing if it is nothing.
    pub(super) fn record(self, turn: Option<u64>, desk: &Desk) -> Option<String> {
        let text = String::from_utf8_lossy(&self.0).trim().to_owned();
        let text = Some(text).filter(|text| !text.is_empty())?;
        let blocks = vec![ContentBlock::text(Fidelity::AgentEmitted, text.clone())];
        let message = Message { turn, ..Message::assistant(blocks) };
        if let Ok(draft) = Draft::new(Kind::MessageAssistant, &message) {
            desk.record(draft);
        }
        Some(text)
    }
}
