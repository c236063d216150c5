//! What an event that nobody said is, in a line for people.

use quipu_event::payload::{Status, TokenCounts};
use quipu_event::{Json, Kind, Payload};

/// Returns the event of type `kind` at `path` in a line.
pub(super) fn in_a_line(kind: &str, path: &str, payload: &Json) -> String {
    let mut parts = vec![kind.to_owned()];
    let mut say = |part: &str| {
        if !part.is_empty() {
            parts.push(part.to_owned());
        }
    };
    say(path);
    match Payload::decode(&Kind::from(kind), payload) {
        Ok(Payload::RunStarted(run)) => say(&run.name),
        Ok(Payload::RunCreated(run)) => say(&run.name),
        Ok(Payload::RunCompleted(run)) => {
            say(run.status.as_ref().map_or("", Status::as_str));
            say(run.error.as_deref().unwrap_or_default());
        }
        Ok(Payload::StepStarted(step)) => say(&step.kind),
        Ok(Payload::StepCompleted(step)) => {
            say(step.status.as_ref().map_or("", Status::as_str));
            say(step.error.as_deref().unwrap_or_default());
        }
        Ok(Payload::Usage(usage)) => {
            say(usage.model.as_deref().unwrap_or_default());
            say(&tokens(&usage.tokens()));
        }
        Ok(Payload::Error(error)) => {
            say(&error.code);
            say(&error.message);
        }
        Ok(Payload::Absent) => {}
        _ => say(payload.as_str()),
    }
    parts.join(" ")
}

fn tokens(counts: &TokenCounts) -> String {
    let kinds = [
        ("input", counts.input_tokens),
        ("output", counts.output_tokens),
        ("cache read", counts.cache_read_tokens),
        ("cache write", counts.cache_write_tokens),
        ("reasoning", counts.reasoning_tokens),
    ];
    let given = kinds.iter().filter_map(|(kind, count)| Some(format!("{kind} {}", (*count)?)));
    given.collect::<Vec<_>>().join(", ")
}
