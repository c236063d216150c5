//! What came of an input, in numbers: for people on stderr, as JSON for scripts.

use quipu_provider::Tally;
use serde_json::{Map, Value, json};

use super::input::Input;
use super::whose::{Certainty, Whose};
use crate::exit::Exit;
use crate::output::Screen;

/// At most this many problems are told to a person.
const PROBLEMS_TOLD: usize = 10;

/// What came of an input.
pub(super) struct Account<'a> {
    pub(super) whose: &'a Whose,
    pub(super) tally: &'a Tally,
    pub(super) input: &'a Input,
}

impl Account<'_> {
    /// Tells it, and returns how the command ends.
    pub(super) fn tell(&self, screen: Screen, instead_of_events: bool) -> anyhow::Result<Exit> {
        if instead_of_events {
            screen.print_json(&self.json())?;
        } else if screen.json {
            screen.note(self.json());
        } else {
            self.tell_person(screen);
        }
        let is_whole = self.tally.problem_count == 0 && self.input.broken().is_none();
        Ok(if is_whole { Exit::Ok } else { Exit::Damaged })
    }

    fn json(&self) -> Value {
        let mut problems: Vec<Value> = self
            .tally
            .problems
            .iter()
            .map(|problem| {
                let place = problem.place;
                json!({ "line": place.line, "offset": place.offset, "what": problem.what })
            })
            .collect();
        problems.extend(self.input.broken().map(damaged_throughout));
        let usage: Map<String, Value> =
            self.tally.usage.iter().map(|(model, counts)| (model.clone(), json!(counts))).collect();
        let certainty = match self.whose.certainty {
            Certainty::Given => "given",
            Certainty::Sure => "sure",
            Certainty::Guess => "guess",
        };
        json!({
            "provider": self.whose.provider.name,
            "surface": self.whose.surface.name,
            "detection": certainty,
            "records": self.tally.records,
            "events": self.tally.events,
            "blocks": self.tally.blocks,
            "unknown": self.tally.unknown(),
            "problems": problems,
            "problem_count": self.tally.problem_count,
            "usage": usage,
        })
    }

    fn tell_person(&self, screen: Screen) {
        let tally = self.tally;
        let events: u64 = tally.events.values().sum();
        let (provider, surface) = (self.whose.provider.name, self.whose.surface.name);
        let unknown = match tally.unknown() {
            0 => String::new(),
            unknown => format!(", {unknown} of them unknown"),
        };
        screen.note(format!(
            "{provider} {surface}: {} records, {events} events{unknown}",
            tally.records
        ));
        for (model, counts) in &tally.usage {
            let input = counts.input_tokens.unwrap_or(0)
                + counts.cache_read_tokens.unwrap_or(0)
                + counts.cache_write_tokens.unwrap_or(0);
            let output = counts.output_tokens.unwrap_or(0);
            screen.note(format!("  {model}: {input} tokens in, {output} out"));
        }
        for problem in tally.problems.iter().take(PROBLEMS_TOLD) {
            let (line, offset) = (problem.place.line, problem.place.offset);
            screen.note(format!("{}:{line}: {} (byte {offset})", self.input.name(), problem.what));
        }
        let untold = tally.problem_count.saturating_sub(PROBLEMS_TOLD as u64);
        if untold > 0 {
            screen.note(format!("… and {untold} more; --summary lists them"));
        }
        if let Some(broken) = self.input.broken() {
            screen.note(format!("{}: {broken}", self.input.name()));
        }
    }
}

/// Tells that there was nothing to read, and returns how the command ends.
pub(super) fn of_nothing(
    input: &Input,
    screen: Screen,
    instead_of_events: bool,
) -> anyhow::Result<Exit> {
    let problems: Vec<Value> = input.broken().map(damaged_throughout).into_iter().collect();
    if instead_of_events {
        screen.print_json(&json!({
            "provider": null, "surface": null, "detection": null, "records": 0, "events": {},
            "blocks": {}, "unknown": 0, "problems": problems, "problem_count": problems.len(),
            "usage": {},
        }))?;
    } else {
        let why = input.broken().unwrap_or("there is nothing in it");
        screen.note(format!("{}: {why}", input.name()));
    }
    Ok(if problems.is_empty() { Exit::Ok } else { Exit::Damaged })
}

/// A problem that has no place in what could be read.
fn damaged_throughout(what: &str) -> Value {
    json!({ "line": null, "offset": null, "what": what })
}
