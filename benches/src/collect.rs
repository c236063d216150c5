//! Collecting the sessions that agents leave on disk, and following them.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use quipu_collect::{
    CollectError, Collector, FollowObserver, Homes, Observer, SessionNews, SessionReport, Store,
    collectable,
};
use quipu_journal::{Durability, Layout, Options};

use crate::home::{self, Home};
use crate::measure::{median, peak_memory, seconds};
use crate::row::Outcome;

/// How much is collected from cold.
const BYTES: u64 = 1_000_000_000;
/// How many files there are when nothing has changed, and when nothing happens.
const UNCHANGED: u64 = 1_500;
const IDLE: u64 = 2_000;
/// How long it is watched that nothing happens.
const WATCHED: Duration = Duration::from_secs(20);
/// How many appends are timed.
const APPENDS: usize = 1_000;

/// The word by which this program is asked to be the follower that is watched.
pub(crate) const FOLLOWER: &str = "follow-idle";

/// Compares with reading the same files and writing them elsewhere.
pub(crate) fn cold(dir: &Path) -> anyhow::Result<Outcome> {
    let home = home::of_size(dir, BYTES)?;
    let (mut subject, mut baseline) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        baseline.push(seconds(&mut || copy(&home.path, &dir.join("copy")))?);
        subject.push(seconds(&mut || collect_all(&home, &dir.join("storage")))?);
    }
    let megabytes = home.bytes as f64 / 1e6;
    let (subject, baseline) = (median(subject.into_iter()), median(baseline.into_iter()));
    Ok(Outcome {
        value: megabytes / subject,
        unit: "MB/s",
        baseline: megabytes / baseline,
        ratio: baseline / subject,
    })
}

/// Compares the most memory ever used with the size of what is collected.
pub(crate) fn memory(dir: &Path) -> anyhow::Result<Outcome> {
    let home = home::of_size(dir, BYTES)?;
    let peak = peak_memory(|| collect_all(&home, &dir.join("storage")))?;
    let megabytes = home.bytes as f64 / 1e6;
    Ok(Outcome { value: peak, unit: "MB", baseline: megabytes, ratio: peak / megabytes })
}

/// Compares with looking at what each file is like, and nothing else.
pub(crate) fn again(dir: &Path) -> anyhow::Result<Outcome> {
    let home = home::made(&dir.join("home"), UNCHANGED, 10)?;
    let storage = dir.join("storage");
    let collector = collector(&home.path, &storage);
    collector.collect(collector.plan(), &Quiet::default());
    let subject = seconds(&mut || {
        let totals = collector.collect(collector.plan(), &Quiet::default());
        let unchanged: u64 = totals.values().map(|totals| totals.unchanged_files).sum();
        ensure!(unchanged == UNCHANGED, "{unchanged} files were left alone");
        Ok(())
    })?;
    let mut bytes = 0;
    let baseline = seconds(&mut || {
        each_file(&home.path, &mut |path| {
            bytes += path.metadata()?.len();
            Ok(())
        })
    })?;
    ensure!(bytes == home.bytes, "{bytes} bytes are there");
    Ok(Outcome { value: subject, unit: "s", baseline, ratio: subject / baseline })
}

/// From an append to the subscriber, half of the time.
pub(crate) fn latency_median(dir: &Path) -> anyhow::Result<Outcome> {
    latency(dir, 0.5)
}

/// From an append to the subscriber, at worst but for one in a hundred.
pub(crate) fn latency_worst(dir: &Path) -> anyhow::Result<Outcome> {
    latency(dir, 0.99)
}

/// Compares with a poll four times a second, which is what others do.
fn latency(dir: &Path, share: f64) -> anyhow::Result<Outcome> {
    let home = dir.join("home");
    home::made(&home, 1, 1)?;
    let session = home.join(".claude/projects/-home-dev-project-0/");
    let session = session.join("00000000-0000-4000-8000-000000000000.jsonl");
    let collector = collector(&home, &dir.join("storage"));
    let (stop, ears) = (AtomicBool::new(false), Ears::default());
    let mut times = std::thread::scope(|scope| {
        let follower = scope.spawn(|| collector.follow(&stop, &ears));
        let times = time_appends(&session, &ears);
        stop.store(true, Ordering::Relaxed);
        follower.join().map_err(|_| anyhow::anyhow!("the follower panicked"))??;
        times
    })?;
    times.sort_by(f64::total_cmp);
    let at = ((times.len() as f64 * share) as usize).min(times.len() - 1);
    let poll = 125.0;
    Ok(Outcome { value: times[at], unit: "ms", baseline: poll, ratio: times[at] / poll })
}

fn time_appends(session: &Path, ears: &Ears) -> anyhow::Result<Vec<f64>> {
    while !ears.is_caught_up.load(Ordering::Acquire) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut file = OpenOptions::new().append(true).open(session)?;
    let mut times = Vec::new();
    for turn in 0..APPENDS {
        let mut text = Vec::new();
        home::write_turn(&mut text, "00000000-0000-4000-8000-000000000000", 7, turn as u64 + 1)?;
        // Prompts and replies alternate, as they do.
        let line = text.split_inclusive(|byte| *byte == b'\n').nth(turn % 2).context("a line")?;
        let before = ears.events.load(Ordering::Acquire);
        let began = Instant::now();
        file.write_all(line)?;
        while ears.events.load(Ordering::Acquire) == before {
            ensure!(began.elapsed() < Duration::from_secs(5), "append {turn} was not noticed");
            std::hint::spin_loop();
        }
        times.push(began.elapsed().as_secs_f64() * 1e3);
        std::thread::sleep(Duration::from_millis(3));
    }
    Ok(times)
}

/// Compares the time that a follower works with the time that passes.
pub(crate) fn idle_work(dir: &Path) -> anyhow::Result<Outcome> {
    let (work, _) = watch_idle(dir)?;
    let passed = WATCHED.as_secs_f64();
    let share = work / passed * 100.0;
    Ok(Outcome { value: share, unit: "% of a core", baseline: 100.0, ratio: share / 100.0 })
}

/// Compares the memory of a follower with what it may have.
pub(crate) fn idle_memory(dir: &Path) -> anyhow::Result<Outcome> {
    let (_, memory) = watch_idle(dir)?;
    Ok(Outcome { value: memory, unit: "MB", baseline: 64.0, ratio: memory / 64.0 })
}

/// Lets a process of its own follow files in which nothing happens; returns how many seconds it
/// worked once it had caught up, and how many MB it had.
fn watch_idle(dir: &Path) -> anyhow::Result<(f64, f64)> {
    let home = home::made(&dir.join("home"), IDLE, 10)?;
    let storage = dir.join("storage");
    let collector = collector(&home.path, &storage);
    collector.collect(collector.plan(), &Quiet::default());
    let program = std::env::current_exe()?;
    let output = Command::new(program).arg(FOLLOWER).args([&home.path, &storage]).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let mut figures = text.split_whitespace().map(str::parse::<f64>);
    let mut next = || anyhow::Ok(figures.next().context("a figure")??);
    Ok((next()?, next()?))
}

/// Is the follower that is watched.
pub(crate) fn follow_idle(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let mut next = || anyhow::Ok(PathBuf::from(arguments.next().context("a folder")?));
    let (home, storage) = (next()?, next()?);
    let (stop, ears) = (AtomicBool::new(false), Ears::default());
    let collector = collector(&home, &storage);
    let work = std::thread::scope(|scope| {
        let follower = scope.spawn(|| collector.follow(&stop, &ears));
        while !ears.is_caught_up.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let before = worked()?;
        std::thread::sleep(WATCHED);
        let work = worked()? - before;
        stop.store(true, Ordering::Relaxed);
        follower.join().map_err(|_| anyhow::anyhow!("the follower panicked"))??;
        anyhow::Ok(work)
    })?;
    let memory = peak_memory(|| Ok(()))?;
    crate::row::print_figures(&[work, memory]);
    Ok(())
}

/// Returns how many seconds this process has worked.
fn worked() -> anyhow::Result<f64> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let (_, behind) = text.rsplit_once(')').context("a name")?;
    let ticks: u64 =
        behind.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum();
    Ok(ticks as f64 / 100.0)
}

fn collector(home: &Path, storage: &Path) -> Collector {
    let options = Options { durability: Durability::Never, ..Options::default() };
    let store = Store::new(Layout::new(storage), options);
    Collector::new(store, &Homes::below(home), &collectable())
}

fn collect_all(home: &Home, storage: &Path) -> anyhow::Result<()> {
    let _ = fs::remove_dir_all(storage);
    let collector = collector(&home.path, storage);
    let quiet = Quiet::default();
    let totals = collector.collect(collector.plan(), &quiet);
    let failed: u64 = totals.values().map(|totals| totals.failed).sum();
    ensure!(failed == 0, "{failed} sessions failed");
    let tokens = quiet.tokens.load(Ordering::Relaxed);
    ensure!(home.output_tokens.is_none_or(|truth| truth == tokens), "{tokens} tokens went out");
    Ok(())
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to)?;
    let mut number = 0;
    let mut piece = vec![0; 256 * 1024];
    each_file(from, &mut |path| {
        number += 1;
        let (mut source, mut copy) =
            (fs::File::open(path)?, fs::File::create(to.join(number.to_string()))?);
        loop {
            match source.read(&mut piece)? {
                0 => return Ok(()),
                read => copy.write_all(&piece[..read])?,
            }
        }
    })
}

fn each_file(
    folder: &Path,
    take: &mut dyn FnMut(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { each_file(&path, take)? } else { take(&path)? }
    }
    Ok(())
}

/// Says nothing, and sums up tokens.
#[derive(Default)]
struct Quiet {
    tokens: AtomicU64,
}

impl Observer for Quiet {
    fn bytes(&self, _: u64) {}

    fn session(&self, report: SessionReport) {
        self.tokens.fetch_add(report.usage.output_tokens.unwrap_or(0), Ordering::Relaxed);
    }
}

/// Hears what a follower tells.
#[derive(Default)]
struct Ears {
    is_caught_up: AtomicBool,
    events: AtomicU64,
    failures: Mutex<Vec<String>>,
}

impl Observer for Ears {
    fn bytes(&self, _: u64) {}
    fn session(&self, _: SessionReport) {}
}

impl FollowObserver for Ears {
    fn caught_up(&self) {
        self.is_caught_up.store(true, Ordering::Release);
    }

    fn blind(&self, _: &Path, _: &str) {}

    fn news(&self, news: &SessionNews) {
        self.events.fetch_add(news.events, Ordering::Release);
    }

    fn failed(&self, path: &Path, error: &CollectError) {
        if let Ok(mut failures) = self.failures.lock() {
            failures.push(format!("{}: {error}", path.display()));
        }
    }
}
