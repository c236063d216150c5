//! Real runs: commands as processes, transcripts and audit trails on disk.

mod calls;
mod fixture;
mod golden;
mod resuming;
mod running;
mod stopping;
