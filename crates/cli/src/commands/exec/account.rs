//! What is said when the agent has ended, on stderr: stdout is the agent's.

use std::error::Error;

use quipu_collect::exec::Ended;
use quipu_event::RunId;
use quipu_journal::Recorder;
use serde_json::json;

use crate::Context;
use crate::format::count;

/// Tells which run has it, and what is missing in it.
pub(super) fn tell(context: &Context, ended: &Ended, recorder: &Recorder, quiet: bool) {
    let screen = context.screen;
    let failure = ended.failure.as_ref().map(|failure| {
        let cause = failure.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        format!("{failure}{cause}")
    });
    if let Some(refused) = &ended.refused {
        screen.note(format_args!(
            "warning: standard output refused what the program printed: {refused}; it is recorded"
        ));
    }
    if quiet && failure.is_none() {
        return;
    }
    let run = &recorder.run().run_id;
    let events = recorder.last_seq();
    if screen.json {
        screen.note(json!({
            "run_id": run,
            "path": recorder.path(),
            "status": ended.status,
            "exit_code": ended.exit_code,
            "provider": ended.provider,
            "events": events,
            "session_runs": ended.followed.as_ref().map(|followed| &followed.runs),
            "note": ended.followed.as_ref().and_then(|followed| followed.note.as_ref()),
            "error": failure,
        }));
        return;
    }
    let mut line =
        format!("quipu: {} as run {run}, {}", ended.status.as_str(), count::of(events, "event"),);
    if let Some(followed) = &ended.followed {
        let runs: Vec<&str> = followed.runs.iter().map(RunId::as_str).collect();
        if !runs.is_empty() {
            line += &format!("; the session is run {}", runs.join(", "));
        }
        line += &followed.note.as_ref().map(|note| format!("; {note}")).unwrap_or_default();
    }
    screen.note(line);
    if let Some(failure) = failure {
        let repair = context.settings.command(format_args!("repair {run}"));
        screen.note(format_args!(
            "warning: not everything was recorded: {failure}\nhint: events 1 to {events} are safe; \
             `{repair}` gives the run its end",
        ));
    }
}
