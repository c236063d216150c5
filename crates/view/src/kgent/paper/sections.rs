//! The eight sections, written from what the paper keeps.

use super::super::brief::duration;
use super::super::ledger::Ledger;
use super::super::state::State;
use super::{Paper, markdown};

impl Paper {
    /// Returns the transcript: the whole, or what it is after so many events of a run that may go on.
    pub(in crate::kgent) fn write(
        &self,
        ledger: &Ledger,
        state: &State,
        so_far: Option<u64>,
    ) -> String {
        let mut out = String::from("# Run Transcript\n");
        if let Some(events) = so_far {
            let more = "[events.jsonl](events.jsonl) has what came since.";
            out.push_str(&format!("\nThe run after {events} events. It goes on; {more}\n"));
        }
        let mut section = |title: &str, write: &dyn Fn(&mut String)| {
            out.push_str(&format!("\n## {title}\n\n"));
            write(&mut out);
        };
        section("Metadata", &|out| self.write_metadata(ledger, state, out));
        section("Prompt", &|out| {
            lines_or(out, "No prompt was recorded.", self.prompts.is_empty(), &|out| {
                self.prompts.write(out);
            });
        });
        section("Effective Role Summary", &|out| self.write_role(out));
        section("Skills Used", &|out| {
            lines_or(out, "None.", self.skills.is_empty(), &|out| {
                let skill = |name: &String| format!("- {}\n", markdown::code(name));
                out.extend(self.skills.iter().map(skill));
            });
        });
        section("Tool Activity Summary", &|out| self.write_tools(out));
        section("Work Notes", &|out| self.write_notes(out));
        section("Deliverables", &|out| {
            self.deliverables.write(out, &|path| self.link(ledger, path));
        });
        section("Errors and Warnings", &|out| {
            lines_or(out, "None.", self.failures.is_empty(), &|out| {
                self.failures.write(out);
                out.push_str("\nIn full: [logs/errors.jsonl](logs/errors.jsonl)\n");
            });
        });
        out
    }

    fn write_metadata(&self, ledger: &Ledger, state: &State, out: &mut String) {
        let names = &ledger.identity;
        let mut row = |what: &str, value: Option<String>| {
            if let Some(value) = value {
                out.push_str(&format!("- {what}: {value}\n"));
            }
        };
        let code = |text: &String| markdown::code(text);
        let start = self.start.as_ref();
        row("Run", Some(code(&names.run_id)));
        row("Name", state.name.as_deref().map(markdown::inline));
        row("Kind", state.kind.as_deref().map(markdown::inline));
        row("Status", Some(format!("**{}**", state.status)));
        row("Session", Some(code(&names.session_id)));
        row("Task", Some(code(&names.task_id)));
        row("Called by", names.parent_run_id.as_ref().map(code));
        row("Started", state.started.map(|at| at.to_string()));
        row("Ended", state.completed.map(|at| at.to_string()));
        row("Duration", state.duration_ms.map(duration));
        row("Definition", start.and_then(|s| s.definition.as_ref()).map(|d| code(&d.path)));
        row("Working directory", start.and_then(|s| s.cwd.as_ref()).map(code));
        let tokens = [self.tokens.input_tokens, self.tokens.output_tokens];
        if tokens.iter().any(Option::is_some) {
            let [input, output] = tokens.map(|n| n.map_or("unknown".to_owned(), |n| n.to_string()));
            row("Tokens", Some(format!("{input} in, {output} out")));
        }
        row(
            "Records",
            Some(
                "[events.jsonl](events.jsonl), [logs/tools.jsonl](logs/tools.jsonl), \
                 [logs/errors.jsonl](logs/errors.jsonl), [run.json](run.json)"
                    .to_owned(),
            ),
        );
    }

    fn write_role(&self, out: &mut String) {
        let agent = self.start.as_ref().and_then(|start| start.agent.as_ref());
        if let Some(agent) = agent.and_then(|agent| agent.label()) {
            out.push_str(&format!("Agent: {}\n\n", markdown::inline(agent)));
        }
        if !self.models.is_empty() {
            let models: Vec<String> = self.models.iter().map(|m| markdown::code(m)).collect();
            out.push_str(&format!("Agents and models: {}\n\n", models.join(", ")));
        }
        lines_or(out, "No system prompt was recorded.", self.roles.is_empty(), &|out| {
            out.push_str(&self.roles.join("\n\n"));
            out.push('\n');
        });
    }

    fn write_tools(&self, out: &mut String) {
        lines_or(out, "No tool was called.", self.tools.is_empty(), &|out| {
            out.push_str("| Tool | Calls | Completed | Failed | Blocked | Unfinished | Time |\n");
            out.push_str("|---|---|---|---|---|---|---|\n");
            for (name, tool) in &self.tools {
                let ended = tool.completed + tool.failed + tool.blocked;
                out.push_str(&format!(
                    "| {} | {} | {} | {} | {} | {} | {} |\n",
                    markdown::code(name),
                    tool.calls,
                    tool.completed,
                    tool.failed,
                    tool.blocked,
                    tool.calls.saturating_sub(ended),
                    tool.duration_ms.map_or_else(|| "unknown".to_owned(), duration),
                ));
            }
            out.push_str("\nEach call: [logs/tools.jsonl](logs/tools.jsonl)\n");
        });
        let [read, written, rejected] = self.files;
        if read + written + rejected > 0 {
            out.push_str(&format!(
                "\nFiles: {read} read, {written} written, {rejected} rejected\n"
            ));
        }
    }

    fn write_notes(&self, out: &mut String) {
        let is_idle = self.course.is_empty() && self.open_steps.is_empty();
        lines_or(out, "None.", is_idle && self.notes.is_empty(), &|out| {
            if !is_idle {
                out.push_str("### Course of the run\n\n");
                self.course.write(out);
                self.write_open_steps(out);
            }
            for (n, (title, content)) in self.notes.iter().enumerate() {
                let gap = if n > 0 || !is_idle { "\n" } else { "" };
                out.push_str(&format!("{gap}### {title}\n\n{content}\n"));
            }
        });
    }

    /// Returns a link to a file of the run's working directory.
    fn link(&self, ledger: &Ledger, path: &str) -> String {
        let cwd = self.start.as_ref().and_then(|start| start.cwd.as_deref());
        let target = match (&self.root, cwd) {
            (Some(root), Some(cwd)) => {
                let from = format!("{root}/{}", ledger.folder);
                let to =
                    if path.starts_with('/') { path.to_owned() } else { format!("{cwd}/{path}") };
                relative(&from, &to)
            }
            _ => path.to_owned(),
        };
        format!("[{}]({})", markdown::inline(path), markdown::target(&target))
    }
}

fn lines_or(out: &mut String, nothing: &str, is_empty: bool, write: &dyn Fn(&mut String)) {
    if is_empty {
        out.push_str(nothing);
        out.push('\n');
    } else {
        write(out);
    }
}

/// Returns the way from one absolute folder to a path, as far as their names tell.
fn relative(from: &str, to: &str) -> String {
    let parts = |path: &str| {
        let mut parts: Vec<String> = Vec::new();
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                parts.pop();
            } else {
                parts.push(part.to_owned());
            }
        }
        parts
    };
    let (from, to) = (parts(from), parts(to));
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - shared);
    up.chain(to[shared..].iter().cloned()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn the_way_to_a_deliverable_is_relative() {
        let cases = [
            ("/w/out/runs/1", "/w/report.md", "../../../report.md"),
            ("/w/runs/1", "/w/runs/1/a", "a"),
            ("/a", "/b/./c/../d", "../b/d"),
        ];
        for (from, to, expected) in cases {
            assert_eq!(relative(from, to), expected);
        }
    }
}
