//! The `quipu` command as a person or a script meets it: a process, its streams, its exit code.
//!
//! One module per command, named like the command; a new command's tests get a new module here.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

/// The harness: runs `quipu` in a directory of its own with a clean environment.
mod session;

/// Agents that call our tools through `quipu mcp-serve`: each call is counted once.
mod agent_tools;
/// Sessions that agents left, collected and followed, also by a process that is killed.
mod collect;
/// Settings, and where `quipu config` says each came from; completions and man pages.
mod config;
/// What all runs cost, by day, model, project, agent and run.
mod cost;
/// Kill -9, a full disk and a file size limit against a recording process.
mod crash;
/// The files that a run was to make.
mod deliverables;
/// The demo run: complete, sound, and shown with what to try next.
mod demo;
/// Where two runs part, and what differs between them.
mod diff;
/// The workflows in `examples/`, each validated and run.
mod examples;
/// An agent under the recorder: its streams, its exit code, signals, and what is recorded meanwhile.
mod exec;
/// Runs as files in other layouts, afterwards and while they go on.
mod export;
/// Commands that are suggested, copied as they stand.
mod hints;
/// The files of other recorders become runs, once.
mod import;
/// Values that want to be commands, given to a run in every place a shell knows.
mod injection;
/// The `jq` one-liners that the format's users know, against a demo run.
mod jq;
/// Kill -9 against runs and resumed runs, at any moment.
mod kill;
/// How a recorded run begins, ends, is called and is gone on with.
mod lifecycle;
/// A run on a real terminal: what stays, what moves, and what is left when it is over.
mod live;
/// What is recorded, as log records in a file for other tools.
mod log_file;
/// Runs listed, newest first, by their heads and tails.
mod ls;
/// Transcripts for agents, through a real MCP client; and the pipe to the tools of a run.
mod mcp;
/// Tables and trees on narrow screens.
mod narrow;
/// What an agent left becomes events, and what is broken is told with its place.
mod normalize;
/// Words for a run, whoever writes it at the moment.
mod note;
/// Plugins in the settings: known, and started only when a step needs them.
mod plugins;
/// Spans sent to an endpoint.
mod push;
/// Real workflow files, where they are at hand, run to their ends.
mod real_workflows;
/// What a run cost, step by step.
mod receipt;
/// Drafts on standard input become lines; everything else is kept or refused.
mod record;
/// What a crash left behind is put in order, and nothing else is touched.
mod repair;
/// Runs played again: as they were seen, from anywhere, and by hand on a real terminal.
mod replay;
/// A run that stopped is gone on with, and nothing is done twice.
mod resume;
/// A workflow is run: inputs, changes for one run, what is shown, exit codes, signals.
mod run;
/// Every recorded line is valid by the schema that is printed.
mod schema;
/// A transcript as a person reads it, filtered, and without danger to the terminal.
mod show;
/// Runs in numbers, all or one table at a time.
mod stats;
/// Where a run is: which steps run, what is done, how it ended.
mod status;
/// The end of a run, and what comes after it.
mod tail;
/// A workflow with a plugin that others have written, where it is installed.
mod third_party;
/// Hand-written transcripts that the reading commands are shown.
mod transcripts;
/// Steps, loops and called runs as one tree.
mod tree;
/// Transcripts that cannot be read: told, and not in the way of the others.
mod unreadable;
/// Workflow files checked: all problems at once, with their places and what was meant.
mod validate;
/// Sound runs are called sound, and each kind of damage is found and placed.
mod verify;
/// Sessions as they run: through pipes, through JSON, and on a real terminal.
mod watch;
