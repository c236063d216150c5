//! Who passes on, waits and hands on, and what they tell.
//!
//! One thread passes on each stream, one waits for the end, one hands on signals. None of them records:
//! they tell the one that does.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use super::Streams;
use super::passing::Passing;
use super::signals::{Agent, Caught};

/// How much news may wait: more than that, and the agent is slowed down to what can be recorded.
const NEWS_WAITING: usize = 64;

/// One of the agent's output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

impl Stream {
    pub(super) fn name(self) -> &'static str {
        match self {
            Stream::Out => "stdout",
            Stream::Err => "stderr",
        }
    }
}

/// What the threads tell.
pub(super) enum News {
    /// The agent wrote this, and it has been passed on.
    Bytes(Stream, Vec<u8>),
    /// A stream has come to its end; by force, if nobody would take it any more.
    End(Stream, Option<io::Error>),
    /// A signal asked for the end.
    Asked(i32),
    /// The agent has ended.
    Exited(Option<ExitStatus>),
}

/// Starts everybody who passes on, waits and hands on.
pub(super) fn begin(
    mut child: Child,
    streams: Streams,
    caught: Caught,
) -> io::Result<Receiver<News>> {
    let (sender, news) = sync_channel(NEWS_WAITING);
    let (ended, ends) = io::pipe()?;
    let agent = Agent::default();
    agent.begin(child.id());
    caught.hand_on(agent.clone(), sender.clone())?;
    if let Streams::Piped { stdout, stderr } = streams {
        let pipes = [
            (Stream::Out, child.stdout.take().map(OwnedFd::from), stdout),
            (Stream::Err, child.stderr.take().map(OwnedFd::from), stderr),
        ];
        for (stream, from, to) in pipes {
            let from = from.ok_or_else(|| io::Error::other("the program has no pipe"))?;
            let (ended, news) = (ended.try_clone()?, sender.clone());
            Passing { stream, from, to, ended, news }.start()?;
        }
    }
    let wait = move || {
        agent.wait();
        let exit = child.wait().ok();
        // Nobody is left to be told when it is over.
        let _ = sender.send(News::Exited(exit));
        drop(ends);
    };
    thread::Builder::new().name("waiting".to_owned()).spawn(wait)?;
    Ok(news)
}
