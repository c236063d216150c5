//! The person at the terminal, who may go on with a conversation.

use std::io::{BufRead, IsTerminal, Write};
use std::sync::Arc;

use quipu_workflow::agent::{NextLine, Nobody, Person};
use quipu_workflow::engine::Occurrence;

use super::watch::Watch;
use crate::format::style;
use crate::format::visible::visible;

/// Returns whoever sits in front of standard input: also a program that has written down what it
/// wants to say. Nobody does when input is closed.
pub(super) fn at_the_terminal(watch: &Arc<Watch>, may_ask: bool) -> Arc<dyn Person> {
    if may_ask { Arc::new(Typist { watch: Arc::clone(watch) }) } else { Arc::new(Nobody) }
}

/// Somebody who types lines.
struct Typist {
    watch: Arc<Watch>,
}

impl Person for Typist {
    fn next_line<'a>(&'a self, at: &'a Occurrence, _answer: &'a str) -> NextLine<'a> {
        let watch = Arc::clone(&self.watch);
        let place = at.path.to_string();
        let line = tokio::task::spawn_blocking(move || watch.pause(|| read_line(&place)));
        Box::pin(async move { line.await.ok().flatten() })
    }
}

fn read_line(place: &str) -> Option<String> {
    if std::io::stdin().is_terminal() {
        let busy = style::BUSY;
        let mut screen = anstream::stderr();
        // A prompt that cannot be shown is no reason not to listen.
        let _ = write!(screen, "{busy}{} ›{busy:#} ", visible(place)).and_then(|()| screen.flush());
    }
    let mut line = String::new();
    let count = std::io::stdin().lock().read_line(&mut line).ok()?;
    let line = line.trim_end_matches(['\n', '\r']);
    (count > 0 && !line.trim().is_empty()).then(|| line.to_owned())
}
