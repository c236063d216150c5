//! Pieces of work, each done in a task of its own, stopped when it is time, and always answered.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use quipu_journal::Clock;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use super::command;
use super::request::World;
use crate::engine::{AgentJob, CustomJob, Occurrence, OperationJob, Outcome, Work, WorkStatus};
use crate::process::{GRACE, StopReason, StopSignal, stop_beyond};
use crate::scribe::Scribe;
use crate::toolbox::Toolbox;

/// How much longer than its grace work may take to stop, before it is dropped.
const PATIENCE: Duration = Duration::from_secs(3);

/// A piece of work while it is done.
pub type Performance = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// Does what takes more than a process: asks agents, performs operations, runs plugins' steps.
pub trait Hands: Send + Sync {
    /// Asks an agent.
    fn ask(&self, job: AgentJob, site: Site) -> Performance;

    /// Does something built in.
    fn operate(&self, job: OperationJob, site: Site) -> Performance;

    /// Performs a plugin's own step.
    fn custom(&self, job: CustomJob, _: Site) -> Performance {
        let error =
            format!("`{}` is a step of a plugin, and there is no such plugin", job.step_type);
        Box::pin(std::future::ready(failed(error)))
    }
}

/// Where work is done.
#[derive(Clone)]
pub struct Site {
    /// The step it belongs to.
    pub at: Occurrence,
    /// Who is told what happens.
    pub scribe: Arc<dyn Scribe>,
    /// When to stop.
    pub stop: StopSignal,
    /// The directory.
    pub dir: PathBuf,
    /// The tools of the run.
    pub toolbox: Arc<Toolbox>,
    /// Variables by which programs are known to be the step's.
    pub marks: Arc<BTreeMap<String, String>>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

/// What tells a piece of work to stop.
#[derive(Clone, Debug)]
pub(super) struct Bell(watch::Sender<Option<StopReason>>);

impl Bell {
    pub(super) fn new() -> Bell {
        Bell(watch::channel(None).0)
    }

    /// Gives a reason to stop. A weaker one than before changes nothing.
    pub(super) fn ring(&self, reason: StopReason) {
        self.0.send_if_modified(|known| {
            let stronger = *known < Some(reason);
            if stronger {
                *known = Some(reason);
            }
            stronger
        });
    }

    pub(super) fn signal(&self) -> StopSignal {
        self.0.subscribe()
    }
}

/// Returns a piece of work as something to wait for. Calls are not for here.
pub(super) fn performance(work: Work, site: Site, world: &Arc<World>) -> Performance {
    let takes_a_program = matches!(work, Work::Command(_) | Work::Agent(_));
    let world = Arc::clone(world);
    Box::pin(async move {
        let mut stop = site.stop.clone();
        let _permit = if takes_a_program {
            tokio::select! {
                biased;
                reason = stop_beyond(&mut stop, None) => return stopped(reason),
                permit = Arc::clone(&world.programs).acquire_owned() => permit.ok(),
            }
        } else {
            None
        };
        match work {
            Work::Command(job) => {
                command::perform(job, &site.at, site.scribe.as_ref(), &site.dir, site.stop).await
            }
            Work::Agent(job) => world.hands.ask(*job, site).await,
            Work::Operation(job) => world.hands.operate(job, site).await,
            Work::Custom(job) => world.hands.custom(job, site).await,
            Work::Wait(time) => wait(time, stop).await,
            Work::Call(job) => failed(format!("the call of `{}` was not prepared", job.workflow)),
        }
    })
}

/// Waits for a piece of work, and sees to it that there is an answer: when it takes longer than
/// `timeout`, when it does not stop, when it panics.
///
/// `is_run`: it is a run of its own, which stops by itself, however long its steps take to.
pub(super) async fn supervise(
    performance: Performance,
    bell: Bell,
    timeout: Option<Duration>,
    is_run: bool,
) -> Outcome {
    let mut stop = bell.signal();
    let mut task = tokio::spawn(performance);
    let late = async {
        match timeout {
            Some(timeout) => sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    let answer = tokio::select! {
        answer = &mut task => answer,
        () = late => {
            bell.ring(StopReason::TimedOut);
            end(&mut task, &mut stop, is_run).await
        }
        _ = stop_beyond(&mut stop, None) => end(&mut task, &mut stop, is_run).await,
    };
    let mut outcome = answer.unwrap_or_else(|lost| {
        if lost.is_cancelled() {
            return stopped((*stop.borrow()).unwrap_or(StopReason::Canceled));
        }
        failed(format!("the step broke down: {lost}"))
    });
    if let (WorkStatus::TimedOut, None, Some(timeout)) = (outcome.status, &outcome.error, timeout) {
        outcome.error = Some(format!("timed out after {timeout:?}"));
    }
    outcome
}

type Answer = Result<Outcome, tokio::task::JoinError>;

/// Waits for work that was told to stop, and drops it when it does not.
async fn end(
    task: &mut tokio::task::JoinHandle<Outcome>,
    stop: &mut StopSignal,
    is_run: bool,
) -> Answer {
    let mut known = *stop.borrow_and_update();
    let deadline = Instant::now() + GRACE + PATIENCE;
    while !is_run && known < Some(StopReason::Now) {
        tokio::select! {
            answer = &mut *task => return answer,
            reason = stop_beyond(stop, known) => known = Some(reason),
            () = sleep_until(deadline) => {
                task.abort();
                return task.await;
            }
        }
    }
    if !is_run {
        tokio::select! {
            answer = &mut *task => return answer,
            () = sleep(PATIENCE) => task.abort(),
        }
    }
    task.await
}

async fn wait(time: Duration, mut stop: StopSignal) -> Outcome {
    tokio::select! {
        () = sleep(time) => Outcome::default(),
        reason = stop_beyond(&mut stop, None) => stopped(reason),
    }
}

/// Makes the outcome of work that was stopped before it had anything to tell.
pub(super) fn stopped(reason: StopReason) -> Outcome {
    let status = match reason {
        StopReason::TimedOut => WorkStatus::TimedOut,
        StopReason::Canceled | StopReason::Now => WorkStatus::Canceled,
    };
    Outcome { status, ..Outcome::default() }
}

pub(super) fn failed(error: String) -> Outcome {
    Outcome { status: WorkStatus::Failed, error: Some(error), ..Outcome::default() }
}
