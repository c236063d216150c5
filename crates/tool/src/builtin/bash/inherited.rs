//! Open files that this process was given by whoever started it, and would pass on to every command.
//!
//! Our own are closed by the system when a program starts. Those that were handed to us may be anything,
//! a directory outside included, and no restriction takes back what is open already.

use std::fs;

/// The flag, in the words of the kernel, of a file that is closed when a program starts.
const CLOSED_ON_START: u32 = 0o2_000_000;

/// Returns the arguments of a shell that runs a command with nothing open but its three streams.
pub(super) fn arguments(shell: &str, command: &str) -> Vec<String> {
    closing(shell, command, &passed_on())
}

fn closing(shell: &str, command: &str, passed_on: &[u32]) -> Vec<String> {
    let run = ["-c", "--"].map(str::to_owned);
    // Other shells take only one digit for the number of a file.
    let numbers = passed_on.iter().filter(|number| **number < 10 || shell.ends_with("/bash"));
    let closed: String = numbers.map(|number| format!(" {number}>&-")).collect();
    if closed.is_empty() {
        return run.into_iter().chain([command.to_owned()]).collect();
    }
    let first = format!("exec{closed}; exec \"$0\" -c -- \"$1\"");
    run.into_iter().chain([first, shell.to_owned(), command.to_owned()]).collect()
}

/// Returns the numbers of the files that a program gets, beyond the three streams.
fn passed_on() -> Vec<u32> {
    let entries = fs::read_dir("/proc/self/fdinfo").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|number| *number > 2 && is_passed_on(*number)).collect()
}

fn is_passed_on(number: u32) -> bool {
    let facts = fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap_or_default();
    let flags = facts.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & CLOSED_ON_START == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_handed_to_us_is_closed_before_the_command_is_run() {
        let command = "echo \"$0\" a";
        assert_eq!(closing("/bin/bash", command, &[]), ["-c", "--", command]);
        let closed = closing("/bin/bash", command, &[3, 251]);
        let first = "exec 3>&- 251>&-; exec \"$0\" -c -- \"$1\"";
        assert_eq!(closed, ["-c", "--", first, "/bin/bash", command]);
        assert_eq!(closing("/bin/sh", command, &[12]), ["-c", "--", command]);
    }
}
