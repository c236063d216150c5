//! Everybody a program has started, wherever they went.
//!
//! Agents give their commands a session of their own, where no signal to the agent's group reaches
//! them. They are found by who started them, so one must look before the program ends: afterwards
//! nobody knows whose they were.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// The processes below a program. Empty where the system does not tell.
#[derive(Debug, Default)]
pub(super) struct Family(Vec<Member>);

/// A process, told apart from a later one with the same number by when it began.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    pid: i32,
    parent: i32,
    began: u64,
    is_dead: bool,
}

impl Family {
    /// Adds those who are below `program` now.
    pub(super) fn look(&mut self, program: Pid) {
        let all: Vec<Member> = all_processes().collect();
        let mut parents = vec![program.as_raw_nonzero().get()];
        while let Some(parent) = parents.pop() {
            for child in all.iter().filter(|member| member.parent == parent) {
                parents.push(child.pid);
                if !self.0.iter().any(|known| known.is_same(child)) {
                    self.0.push(child.clone());
                }
            }
        }
    }

    /// Sends a signal to everyone who is still there.
    pub(super) fn signal(&self, signal: Signal) {
        for member in self.0.iter().filter(|member| member.is_there()) {
            if let Some(pid) = Pid::from_raw(member.pid) {
                // An error means that it is gone.
                let _ = kill_process(pid, signal);
            }
        }
    }

    /// Tells whether anyone is still there.
    pub(super) fn is_there(&self) -> bool {
        self.0.iter().any(Member::is_there)
    }
}

impl Member {
    fn is_same(&self, other: &Member) -> bool {
        (self.pid, self.began) == (other.pid, other.began)
    }

    fn is_there(&self) -> bool {
        read(self.pid).is_some_and(|now| now.is_same(self) && !now.is_dead)
    }
}

fn all_processes() -> impl Iterator<Item = Member> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?))
}

fn read(pid: i32) -> Option<Member> {
    parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads `PID (NAME) STATE PARENT …`. The name may hold anything, brackets and spaces too.
fn parse(pid: i32, stat: &str) -> Option<Member> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    // Counted from the state, which is the third: the 22nd of all.
    let began = fields.nth(17)?.parse().ok()?;
    Some(Member { pid, parent, began, is_dead: matches!(state, "Z" | "X") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_the_rest_of_the_line() {
        let rest = "S 7 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
        for name in ["sh", "a b", "(x) Z 1", ")"] {
            let member = parse(12, &format!("12 ({name}) {rest}")).unwrap();
            assert_eq!((member.parent, member.began, member.is_dead), (7, 4711, false), "{name}");
        }
        assert_eq!(parse(1, "1 (sh) S"), None);
    }
}
