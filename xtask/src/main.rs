//! The project's own chores, run as `cargo xtask <chore>`.
//!
//! Chores check what compilers and linters cannot. They build nothing and test nothing: that is
//! the Makefile's business.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to its user")]

mod coverage;
mod edges;
mod format_page;
mod promises;
mod provider_folders;
mod report;
mod repository;
mod schema_file;
mod source_files;
mod tidy;
mod type_tables;
mod words;

use std::process::ExitCode;

use repository::{Mode, Repository};

const USAGE: &str = "\
usage: cargo xtask <chore>

  tidy               check that drawings, documents and promises are true
  tidy --bless       rewrite what is generated first: the schema and parts of FORMAT.md
  coverage REPORT MINIMUM CRATE...
                     print line coverage per crate from a tarpaulin JSON report;
                     fail unless each is above MINIMUM per cent
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["tidy"] => tidy::run(&Repository::here(), Mode::Check),
        ["tidy", "--bless"] => tidy::run(&Repository::here(), Mode::Bless),
        ["coverage", report, minimum, crates @ ..] if !crates.is_empty() => {
            coverage::run(report, minimum, crates)
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
