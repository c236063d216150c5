//! Which attempt of a step a beginning or an end belongs to.
//!
//! A step that calls another run may be told twice, as `step.*` and as `step.call_workflow.*`;
//! both tell of the same attempt.

use quipu_event::Timestamp;
use quipu_event::payload::StepCompleted;

use super::super::Attempt;

/// How far back an attempt is looked for.
///
/// Attempts hardly ever overlap, and a step that is visited again and again must not cost more
/// with every visit.
const RECENT: usize = 16;

/// Returns the attempt that begins at `now`: one already open under that number, else a new one.
///
/// Without a number, a beginning after an end is the next attempt.
pub(super) fn begin(
    attempts: &mut Vec<Attempt>,
    number: Option<u32>,
    now: Timestamp,
) -> &mut Attempt {
    let open = |attempt: &Attempt| {
        attempt.status.is_none() && number.is_none_or(|number| number == attempt.number)
    };
    let position = find_recent(attempts, open).unwrap_or_else(|| {
        let next = attempts.last().map_or(1, |last| last.number.saturating_add(1));
        let number = number.unwrap_or(next);
        attempts.push(Attempt { number, started: Some(now), ..Attempt::default() });
        attempts.len() - 1
    });
    &mut attempts[position]
}

/// Returns the attempt that ends, after noting how it did.
///
/// The second end of the same attempt adds what it knows; an end without a beginning is an attempt
/// of its own.
pub(super) fn end<'a>(
    attempts: &'a mut Vec<Attempt>,
    step: &StepCompleted,
    now: Timestamp,
) -> &'a mut Attempt {
    let attempt = ending(attempts, step.attempt);
    attempt.status.clone_from(&step.status);
    if step.error.is_some() {
        attempt.error.clone_from(&step.error);
    }
    let elapsed = attempt.started.map(|started| now.millis_since(started));
    attempt.duration_ms = step.duration_ms.or(attempt.duration_ms).or(elapsed);
    attempt
}

fn ending(attempts: &mut Vec<Attempt>, number: Option<u32>) -> &mut Attempt {
    let position = match number {
        Some(number) => find_recent(attempts, |attempt| attempt.number == number),
        None => {
            let open = find_recent(attempts, |attempt| attempt.status.is_none());
            open.or(attempts.len().checked_sub(1))
        }
    };
    let position = position.unwrap_or_else(|| {
        attempts.push(Attempt { number: number.unwrap_or(1), ..Attempt::default() });
        attempts.len() - 1
    });
    &mut attempts[position]
}

fn find_recent(attempts: &[Attempt], wanted: impl Fn(&Attempt) -> bool) -> Option<usize> {
    let older = attempts.len().saturating_sub(RECENT);
    attempts[older..].iter().rposition(wanted).map(|position| older + position)
}
