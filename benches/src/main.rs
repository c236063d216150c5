//! Benchmarks: each row is a ratio measured in one run, so that noise hits both sides alike.
//!
//! `make bench` runs all rows, prints a table and writes `target/bench/summary.json`. Name rows
//! on the command line to run only those whose name contains one of the words.

mod collect;
mod home;
mod list;
mod machine;
mod measure;
mod normalize;
mod pages;
mod read;
mod receipts;
mod record;
mod row;
mod sample;
mod subscribe;
mod sync;
mod tool;
mod workflow;

use std::path::PathBuf;

use mimalloc::MiMalloc;

use row::{Outcome, Row};

/// The allocator that the command uses too.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Every row, in the order of the table.
const ROWS: &[Row] = &[
    Row {
        name: "machine_write_on_a_new_page",
        goal: "no goal; beside a write within a page",
        run: machine::new_page,
    },
    Row {
        name: "machine_turn_of_a_thread",
        goal: "no goal; beside a raw write",
        run: machine::turn,
    },
    Row {
        name: "machine_write_beside_busy_cores",
        goal: "no goal; beside a raw write with the machine to itself",
        run: machine::company,
    },
    Row {
        name: "record_600b_1_producer",
        goal: "≥ 0.70 of one raw write per line",
        run: record::one_producer,
    },
    Row {
        name: "record_600b_8_producers",
        goal: "≥ 1.0 of one raw write per line by one thread",
        run: record::eight_producers,
    },
    Row { name: "record_100kb", goal: "≥ 0.5 of raw bytes/s", run: record::large_blocks },
    Row {
        name: "record_with_stuck_and_healthy_subscriber",
        goal: "≥ 0.95 of none; the healthy one loses nothing",
        run: subscribe::stuck_and_healthy,
    },
    Row {
        name: "record_always_64_producers",
        goal: "≥ 20 × one fdatasync per event",
        run: sync::group_commit,
    },
    Row { name: "typed_read", goal: "≥ 300 MB/s a core", run: read::typed },
    Row { name: "type_scan", goal: "≥ 2,000 MB/s a core", run: read::by_type },
    Row { name: "flat_memory_5gb", goal: "flat: ≤ 64 MB at its peak", run: read::flat_memory },
    Row {
        name: "normalize_claude_sessions",
        goal: "≥ 250 MB/s a core",
        run: normalize::claude_sessions,
    },
    Row {
        name: "normalize_codex_rollouts",
        goal: "≥ 250 MB/s a core",
        run: normalize::codex_rollouts,
    },
    Row {
        name: "normalize_one_100mb_line",
        goal: "≤ 4 times its size at the peak",
        run: normalize::one_giant_line,
    },
    Row {
        name: "collect_cold",
        goal: "≥ 100 MB/s on two cores; beside copying the files",
        run: collect::cold,
    },
    Row { name: "collect_memory", goal: "flat: < 200 MB at its peak", run: collect::memory },
    Row {
        name: "collect_again_1500_files",
        goal: "< 0.5 s; beside looking at the files",
        run: collect::again,
    },
    Row {
        name: "follow_latency_p50",
        goal: "< 2 ms; beside a poll every 250 ms",
        run: collect::latency_median,
    },
    Row {
        name: "follow_latency_p99",
        goal: "< 10 ms; beside a poll every 250 ms",
        run: collect::latency_worst,
    },
    Row { name: "follow_2000_idle_work", goal: "< 1 % of a core", run: collect::idle_work },
    Row { name: "follow_2000_idle_memory", goal: "< 64 MB", run: collect::idle_memory },
    Row { name: "ls_100k_runs", goal: "< 1 s warm", run: list::hundred_thousand },
    Row { name: "view_receipt", goal: "≥ 150 MB/s a core", run: receipts::receipt },
    Row {
        name: "tool_router_call",
        goal: "< 50 µs a call beyond the tool's own work",
        run: tool::router_call,
    },
    Row {
        name: "workflow_noop_step_recorded",
        goal: "< 1,000 µs a step; beside the engine alone",
        run: workflow::recorded_step,
    },
    Row {
        name: "workflow_engine_step",
        goal: "no slower in a loop of 100,000 than in one of 1,000",
        run: workflow::engine_step,
    },
    Row {
        name: "workflow_loop_memory_100k",
        goal: "flat: as much as 1,000 iterations",
        run: workflow::loop_memory,
    },
    Row {
        name: "workflow_parallel_memory_1000",
        goal: "≤ 20 kB a branch",
        run: workflow::parallel_memory,
    },
    Row {
        name: "view_markdown",
        goal: "≥ 150 MB/s a core; beside a typed read",
        run: pages::markdown,
    },
    Row {
        name: "view_markdown_memory_1gb",
        goal: "flat: as much as 20 MB",
        run: pages::markdown_memory,
    },
    Row { name: "view_html_100mb", goal: "< 3 s; beside a typed read", run: pages::html },
];

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    if std::env::args().nth(1).as_deref() == Some(collect::FOLLOWER) {
        return collect::follow_idle(arguments.by_ref().skip(1));
    }
    let words: Vec<String> = arguments.collect();
    let chosen = |row: &&Row| words.is_empty() || words.iter().any(|word| row.name.contains(word));
    let home = PathBuf::from(std::env::var("QUIPU_BENCH_DIR").unwrap_or("target/bench".into()));
    std::fs::create_dir_all(&home)?;
    let mut outcomes: Vec<(&Row, Outcome)> = Vec::new();
    for row in ROWS.iter().filter(chosen) {
        row::announce(row);
        let place = tempfile::Builder::new().prefix("bench-").tempdir_in(&home)?;
        outcomes.push((row, (row.run)(place.path())?));
    }
    row::print_table(&outcomes);
    row::write_summary(&home.join("summary.json"), &outcomes)
}
