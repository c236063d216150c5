//! A plugin that is a program: started in a group of its own, and ended with all that it started.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quipu_process::{Running, Spawn, Stdin, StopReason, StopSignal};
use tokio::sync::{Notify, watch};

use super::garbage::Heap;
use super::lines::Lines;
use super::stderr::Tail;

/// How long a program has to end by itself after the end of its input.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long one waits for word of a program that is ending: longer than stopping it may take.
const LAST_WORD: Duration = Duration::from_secs(5);

/// A program that runs. It is killed when this is dropped.
pub(super) struct Program {
    /// What it said last on its standard error.
    pub(super) stderr: Tail,
    goodbye: Arc<Goodbye>,
    stop: watch::Sender<Option<StopReason>>,
    ended: watch::Receiver<Option<String>>,
}

/// How the end of a program is agreed on with who keeps it.
#[derive(Default)]
struct Goodbye {
    said: Notify,
    heard: Notify,
}

impl Program {
    /// Starts it, and returns it with the messages it exchanges.
    pub(super) async fn start(
        command: &[String],
        env: &BTreeMap<String, String>,
        dir: Option<&Path>,
        heap: Arc<Heap>,
    ) -> Result<(Program, Lines), String> {
        let Some((program, args)) = command.split_first() else {
            return Err("its command is empty".to_owned());
        };
        let spawn = Spawn {
            args: args.iter().map(Into::into).collect(),
            env: env.clone(),
            dir: dir.map(Path::to_owned),
            stdin: Stdin::Open,
            ..Spawn::new(program)
        };
        let mut running = spawn.start().await.map_err(|error| error.to_string())?;
        let pipes = (running.take_stdin(), running.take_stdout(), running.take_stderr());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err("it has no pipes to speak through".to_owned());
        };
        let stderr = Tail::of(stderr);
        let (stop, stopped) = watch::channel(None);
        let (ending, ended) = watch::channel(None);
        let goodbye = Arc::<Goodbye>::default();
        tokio::spawn(keep(running, Arc::clone(&goodbye), stopped, ending));
        Ok((Program { stderr, goodbye, stop, ended }, Lines::new(stdout, stdin, heap)))
    }

    /// Tells whether it has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// Waits until it has ended, if it is about to, and returns how.
    pub(super) async fn how_it_ended(&self, patience: Duration) -> Option<String> {
        let mut ended = self.ended.clone();
        let word = tokio::time::timeout(patience, ended.wait_for(Option::is_some)).await;
        word.ok()?.ok()?.clone()
    }

    /// Kills it with all that it started.
    pub(super) fn kill(&self) {
        self.stop.send_replace(Some(StopReason::Now));
    }

    /// Ends it, by the end of its input first, and waits until it is gone.
    pub(super) async fn end(&self, close_input: impl Future<Output = ()>) {
        self.goodbye.said.notify_one();
        let mut ended = self.ended.clone();
        tokio::select! {
            () = self.goodbye.heard.notified() => {}
            _ = ended.wait_for(Option::is_some) => {}
        }
        close_input.await;
        if self.how_it_ended(LAST_WORD).await.is_none() {
            self.kill();
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Owns a program until its end. Dropped with the runtime, it takes the program along.
async fn keep(
    mut running: Running,
    goodbye: Arc<Goodbye>,
    stop: StopSignal,
    ending: watch::Sender<Option<String>>,
) {
    let ended = tokio::select! {
        ended = running.wait_or_stop(stop) => ended,
        () = goodbye.said.notified() => {
            running.know_family();
            goodbye.heard.notify_one();
            running.wait_then_stop(PATIENCE).await
        }
    };
    running.end_leftovers();
    let how = match ended {
        Ok(exit) => exit.trouble().unwrap_or_else(|| "exit code 0".to_owned()),
        Err(cause) => cause.to_string(),
    };
    ending.send_replace(Some(how));
}
