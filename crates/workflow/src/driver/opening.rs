//! How a run begins: with a transcript that can be written, and what it and the world already say.
//!
//! Nothing is told or performed here.

use std::sync::Arc;

use quipu_event::Timestamp;
use quipu_journal::{Options, Recorder};

use super::history::PastRun;
use super::request::{RunError, RunRequest};
use crate::engine::{History, Setup};

/// Opens the transcript, and reads what is already in it when the run is to go on.
pub(super) fn open(request: &RunRequest) -> Result<(Option<Recorder>, PastRun), RunError> {
    let world = &request.world;
    let Some(layout) = &world.layout else {
        return match request.resume {
            true => Err(RunError::NotRecorded),
            false => Ok((None, PastRun::default())),
        };
    };
    let options = Options {
        durability: world.durability,
        clock: Arc::clone(&world.clock),
        ..Options::default()
    };
    if !request.resume {
        let recorder = Recorder::create(layout, request.run.clone(), options)?;
        return Ok((Some(recorder), PastRun::default()));
    }
    // Reopening comes first: it takes the run's lock and closes what a crash left open.
    let (recorder, _) = Recorder::reopen_as(layout, &request.run, options)?;
    let past = PastRun::read_with(recorder.path(), &world.secrets)?;
    Ok((Some(recorder), past))
}

/// Returns what the engine is told of the world and of what the run did before.
pub(super) fn setup(request: &RunRequest, started_at: Timestamp, history: History) -> Setup {
    let world = &request.world;
    Setup {
        run_id: request.run.run_id.clone(),
        started_at,
        inputs: request.inputs.clone(),
        env: world.env.clone(),
        working_dir: world.working_dir.clone(),
        user: world.user.clone(),
        hostname: world.hostname.clone(),
        awf: world.awf.clone(),
        skill_dirs: world.skill_dirs.clone(),
        role_dirs: world.role_dirs.clone(),
        files: Arc::clone(&world.files),
        history,
    }
}
