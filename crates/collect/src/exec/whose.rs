//! Whose agent a command line starts, and whether it asks for output that is made for programs.
//!
//! Both are guesses from names. What an agent really speaks is decided by what it prints.

use std::ffi::OsString;
use std::path::Path;

/// How an agent is known by its command line.
struct Agent {
    /// Who reads what it prints.
    provider: &'static str,
    /// What its program and its packages are called.
    names: &'static [&'static str],
    /// Words that each alone ask for output made for programs; `a=b` stands for `a b` too.
    machine: &'static [&'static str],
}

/// The agents that have a program.
const AGENTS: &[Agent] = &[
    Agent {
        provider: "claude",
        names: &["claude", "claude-code"],
        machine: &["--output-format=stream-json", "--output-format=json"],
    },
    Agent {
        provider: "codex",
        names: &["codex"],
        machine: &["--json", "--experimental-json", "app-server", "mcp-server"],
    },
    Agent {
        provider: "gemini",
        names: &["gemini", "gemini-cli"],
        machine: &[
            "--output-format=stream-json",
            "--output-format=json",
            "-o=stream-json",
            "-o=json",
            "--acp",
            "--experimental-acp",
        ],
    },
    Agent { provider: "copilot", names: &["copilot"], machine: &["--output-format=json", "--acp"] },
    Agent {
        provider: "opencode",
        names: &["opencode", "opencode-ai"],
        machine: &["--format=json", "acp"],
    },
];

/// Words that ask for it whoever the agent is.
const MACHINE: &[&str] = &["--output-format=stream-json", "--output-format=json"];

/// Programs that start the one that they are told of.
const LAUNCHERS: &[&str] = &[
    "bun",
    "bunx",
    "caffeinate",
    "deno",
    "env",
    "nice",
    "node",
    "nohup",
    "npx",
    "pnpm",
    "setsid",
    "stdbuf",
    "sudo",
    "time",
    "timeout",
    "yarn",
];

/// How many words behind a launcher may be its own.
const LAUNCHER_WORDS: usize = 8;

/// Returns the provider whose agent a command line seems to start.
pub fn guess_provider(program: &OsString, args: &[OsString]) -> Option<&'static str> {
    find(program, args).map(|agent| agent.provider)
}

/// Tells whether a command line asks its agent for output that is made for programs.
pub fn wants_machine_output(program: &OsString, args: &[OsString]) -> bool {
    let words = find(program, args).map_or(MACHINE, |agent| agent.machine);
    let asked = |at: usize, word: &str| match (word.split_once('='), args[at].to_str()) {
        (_, Some(arg)) if arg == word => true,
        (Some((option, value)), Some(arg)) => {
            arg == option && args.get(at + 1).is_some_and(|next| next == value)
        }
        _ => false,
    };
    (0..args.len()).any(|at| words.iter().any(|word| asked(at, word)))
}

fn find(program: &OsString, args: &[OsString]) -> Option<&'static Agent> {
    let name = short(program)?;
    if let Some(agent) = named(&name) {
        return Some(agent);
    }
    let behind = args.iter().take(LAUNCHER_WORDS).filter_map(short);
    LAUNCHERS.contains(&&*name).then(|| behind.into_iter().find_map(|word| named(&word)))?
}

fn named(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.names.contains(&name))
}

/// Returns the last part of a path or package, without ending and version.
fn short(word: &OsString) -> Option<String> {
    let name = Path::new(word).file_name()?.to_str()?;
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    let endings = [".js", ".mjs", ".cjs", ".cmd", ".exe", ".sh"];
    let bare = endings.iter().find_map(|ending| name.strip_suffix(ending));
    Some(bare.unwrap_or(name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> (OsString, Vec<OsString>) {
        let mut words = line.split(' ').map(OsString::from);
        (words.next().unwrap(), words.collect())
    }

    #[test]
    fn an_agent_is_known_by_its_name_and_behind_a_launcher() {
        for (line, provider) in [
            ("claude -p hi", Some("claude")),
            ("/opt/bin/codex exec hi", Some("codex")),
            ("npx -y @anthropic-ai/claude-code@2.1.0 -p hi", Some("claude")),
            ("env A=b nice gemini -p hi", Some("gemini")),
            ("node /x/node_modules/.bin/copilot.js", Some("copilot")),
            ("grep claude notes.txt", None),
            ("sh -c claude", None),
        ] {
            let (program, args) = words(line);
            assert_eq!(guess_provider(&program, &args), provider, "{line}");
        }
    }

    #[test]
    fn output_for_programs_is_known_by_its_option() {
        for (line, asks) in [
            ("claude -p hi --output-format stream-json --verbose", true),
            ("claude -p hi --output-format=json", true),
            ("claude -p hi --output-format text", false),
            ("claude -p --json", false),
            ("codex exec --json hi", true),
            ("codex app-server", true),
            ("gemini -o json -p hi", true),
            ("gemini --acp", true),
            ("copilot --output-format json", true),
            ("opencode run --format json hi", true),
            ("opencode run hi", false),
            ("my-wrapper --output-format stream-json", true),
            ("gh pr list --json title", false),
        ] {
            let (program, args) = words(line);
            assert_eq!(wants_machine_output(&program, &args), asks, "{line}");
        }
    }
}
