//! The deliverables in the transcript: what was to be there, what is, and where.

use quipu_event::payload::{DeliverableCheck, Status};

use super::markdown;

/// So many paths are listed.
const MOST: usize = 200;

/// What is known of the deliverables of a run.
#[derive(Default)]
pub(super) struct Deliverables {
    last: Option<DeliverableCheck>,
    is_done: bool,
    /// Whether the run came to its end, where what it requires is looked for.
    is_over: bool,
    written: Vec<String>,
    unlisted: u64,
}

impl Deliverables {
    pub(super) fn checked(&mut self, check: &DeliverableCheck, is_done: bool) {
        let mut check = check.clone();
        if let Some(before) = self.last.take().filter(|_| is_done || !check.missing.is_empty()) {
            // A writer need not repeat what is required.
            if check.required.is_empty() {
                check.required = before.required;
            }
            if check.missing.is_empty() && check.result.is_none() {
                check.missing = before.missing;
            }
        }
        self.last = Some(check);
        self.is_done = is_done;
    }

    /// Takes note that the run goes on, or how it ended.
    pub(super) fn over(&mut self, end: Option<&Status>) {
        // One that was broken off never came to look for anything.
        self.is_over = end.is_some_and(|status| *status != Status::Aborted);
    }

    pub(super) fn written(&mut self, path: &str) {
        if self.written.iter().any(|known| known == path) {
            return;
        }
        if self.written.len() < MOST {
            self.written.push(path.to_owned());
        } else {
            self.unlisted += 1;
        }
    }

    /// Writes the section. `link` returns where a path leads to.
    pub(super) fn write(&self, out: &mut String, link: &dyn Fn(&str) -> String) {
        match &self.last {
            None if self.is_over => out.push_str("No deliverables were required.\n"),
            None => {
                out.push_str("No deliverables were checked: the run has not come to its end.\n")
            }
            Some(check) => self.write_check(check, out, link),
        }
        if !self.written.is_empty() {
            out.push_str("\nFiles written:\n\n");
            for path in &self.written {
                out.push_str(&format!("- {}\n", link(path)));
            }
            if self.unlisted > 0 {
                out.push_str(&format!("- … and {} more writes\n", self.unlisted));
            }
        }
    }

    fn write_check(
        &self,
        check: &DeliverableCheck,
        out: &mut String,
        link: &dyn Fn(&str) -> String,
    ) {
        let result = match (&check.result, self.is_done) {
            (Some(result), _) => markdown::inline(result.as_str()),
            (None, true) => "not known".to_owned(),
            (None, false) => "under way".to_owned(),
        };
        out.push_str(&format!("Check of deliverables: **{result}**\n\n"));
        let unnamed = check.missing.iter().filter(|path| !check.required.contains(path));
        let paths: Vec<&String> = check.required.iter().chain(unnamed).collect();
        for path in paths.iter().take(MOST) {
            let problem = check
                .problems
                .iter()
                .find_map(|problem| problem.strip_prefix(path.as_str())?.strip_prefix(": "));
            // What there is nothing in is required still, and yet it is not missing.
            let word = match (problem, check.missing.contains(path), self.is_done) {
                (Some(why), ..) => markdown::inline(why),
                (None, true, _) => "missing".to_owned(),
                (None, false, true) => "there".to_owned(),
                (None, false, false) => "not checked".to_owned(),
            };
            out.push_str(&format!("- {}: {word}\n", link(path)));
        }
        if paths.len() > MOST {
            out.push_str(&format!("- … and {} more\n", paths.len() - MOST));
        }
    }
}
