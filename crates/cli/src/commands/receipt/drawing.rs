//! A receipt as people read it: a few facts, one row per step, totals, and what the words mean.

use std::io::{self, Write};

use quipu_view::receipt::{Bill, CalledRun, Part, Receipt, StepReceipt};

use super::grid::{Grid, legend};
use crate::format::entry::short_id;
use crate::format::status::Standing;
use crate::format::visible::one_line;
use crate::format::{count, span, style};
use crate::output::Screen;

/// How many called runs have rows of their own.
const SHOWN_RUNS: usize = 40;

const TITLES: [(&str, bool); 7] = [
    ("STEP", false),
    ("KIND", false),
    ("ENGINE", false),
    ("MODEL", false),
    ("STATUS", false),
    ("TIMES", true),
    ("TIME", true),
];

/// A receipt on its way to a person.
pub(super) struct Drawing<'a> {
    pub(super) receipt: &'a Receipt,
    pub(super) standing: Standing,
    pub(super) screen: Screen,
    pub(super) md: bool,
}

impl Drawing<'_> {
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let grid = self.grid();
        let legend = legend(&grid.ways(), self.receipt.price_lists().into_iter());
        if self.md {
            self.write_markdown_facts(out)?;
            grid.write_markdown(out)?;
            writeln!(out)?;
            return legend.iter().try_for_each(|line| writeln!(out, "- {line}"));
        }
        self.write_facts(out)?;
        writeln!(out)?;
        let width = if self.screen.is_terminal() { self.screen.width() } else { usize::MAX };
        grid.write(out, width)?;
        if !legend.is_empty() {
            writeln!(out)?;
        }
        let dim = style::DIM;
        legend.iter().try_for_each(|line| writeln!(out, "{dim}{line}{dim:#}"))
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let receipt = self.receipt;
        let mut facts = vec![("run", receipt.run_id.to_string())];
        let mut fact = |name, text: Option<String>| facts.extend(text.map(|text| (name, text)));
        fact("called by", receipt.parent_run_id.as_ref().map(|run| short_id(run).to_owned()));
        fact("name", receipt.name.clone());
        fact("engine", receipt.agent.clone());
        fact("status", Some(self.standing.word().to_owned()));
        fact("error", receipt.error.clone().filter(|error| !error.is_empty()));
        fact("started", Some(receipt.started.to_string()));
        let duration = span::duration(receipt.duration_ms);
        fact(
            "duration",
            Some(match self.standing {
                Standing::Running => format!("{duration} to its last event"),
                _ => duration,
            }),
        );
        let undecoded = receipt.undecoded;
        fact("undecoded", (undecoded > 0).then(|| count::of(undecoded, "payload")));
        facts
    }

    fn write_facts(&self, out: &mut dyn Write) -> io::Result<()> {
        let dim = style::DIM;
        let mut facts = self.facts().into_iter();
        facts.try_for_each(|(name, text)| {
            writeln!(out, "{dim}{name:<9}{dim:#} {}", one_line(&text, usize::MAX))
        })
    }

    fn write_markdown_facts(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "## Receipt of {}\n", one_line(self.receipt.label(), usize::MAX))?;
        for (name, text) in self.facts() {
            writeln!(out, "- {name}: {}", one_line(&text, usize::MAX))?;
        }
        writeln!(out)
    }

    fn grid(&self) -> Grid {
        let receipt = self.receipt;
        let mut grid = Grid::new(&TITLES);
        for step in &receipt.steps {
            self.add_step(&mut grid, step);
        }
        if !receipt.outside.is_empty() {
            let label = if receipt.steps.is_empty() { "session" } else { "outside steps" };
            let about = About { engine: receipt.agent.clone(), ..About::new(label) };
            add_bill(&mut grid, about, &receipt.outside);
        }
        let own = receipt.own();
        let millis = (!matches!(self.standing, Standing::Running)).then_some(receipt.duration_ms);
        add_total(&mut grid, "total", millis, own.total());
        if receipt.called.is_empty() {
            return grid;
        }
        for run in receipt.called.iter().take(SHOWN_RUNS) {
            add_called(&mut grid, run);
        }
        let more = receipt.called.iter().skip(SHOWN_RUNS);
        let mut rest = Bill::default();
        more.clone().for_each(|run| rest.merge(&run.bill()));
        if more.clone().next().is_some() {
            let label = format!("→ {} more", count::of(more.count() as u64, "run"));
            add_bill(&mut grid, About::new(label), &rest);
        }
        add_total(&mut grid, "total with the runs it called", None, receipt.with_called().total());
        grid
    }

    fn add_step(&self, grid: &mut Grid, step: &StepReceipt) {
        let label = match step.attempt {
            Some(attempt) if attempt > 1 => format!("{} (attempt {attempt})", step.path),
            _ => step.path.clone(),
        };
        let retried = step.attempts > step.times;
        let times = match retried {
            true => format!("{} in {}", step.times, count::of(step.attempts, "attempt")),
            false => count::full(step.times),
        };
        let times = (step.times > 1 || retried).then_some(times);
        let about = About {
            kind: step.kind.clone(),
            engine: step.agent.clone(),
            model: step.model.clone(),
            status: status_of(step, &self.standing),
            times,
            time: step.duration_ms.map(span::duration),
            ..About::new(label)
        };
        add_bill(grid, about, &step.bill);
    }
}

/// Says how a step ended, or how many times it ended how.
fn status_of(step: &StepReceipt, run: &Standing) -> Option<String> {
    let open = match run {
        Standing::Running => "running",
        _ => "interrupted",
    };
    let mut ways: Vec<(u64, &str)> =
        step.ended.iter().map(|(status, count)| (*count, status.as_str())).collect();
    ways.extend((step.open() > 0).then_some((step.open(), open)));
    match ways.as_slice() {
        [] => None,
        [(_, word)] => Some((*word).to_owned()),
        ways => {
            let words = ways.iter().map(|(count, word)| format!("{count} {word}"));
            Some(words.collect::<Vec<_>>().join(", "))
        }
    }
}

/// What a row is about.
#[derive(Default)]
struct About {
    label: String,
    kind: Option<String>,
    engine: Option<String>,
    model: Option<String>,
    status: Option<String>,
    times: Option<String>,
    time: Option<String>,
}

impl About {
    fn new(label: impl Into<String>) -> Self {
        About { label: label.into(), ..About::default() }
    }

    fn cells(self) -> Vec<Option<String>> {
        let About { label, kind, engine, model, status, times, time } = self;
        vec![Some(label), kind, engine, model, status, times, time]
    }
}

/// Adds a row for a bill, and below it one for each who spoke, if there are several.
fn add_bill(grid: &mut Grid, about: About, bill: &Bill) {
    let speakers = bill.by_speaker();
    let mut models: Vec<&str> = speakers.keys().filter_map(|(_, model)| *model).collect();
    models.sort_unstable();
    models.dedup();
    let model = match models.as_slice() {
        [] => about.model.clone(),
        [one] => Some((*one).to_owned()),
        several => Some(count::of(several.len() as u64, "model")),
    };
    grid.add(style::PLAIN, About { model, ..about }.cells(), bill.total());
    if speakers.len() < 2 {
        return;
    }
    for ((source, model), part) in speakers {
        let label = format!("└ {}", source.unwrap_or("main"));
        let model = model.map(str::to_owned);
        grid.add(style::DIM, About { model, ..About::new(label) }.cells(), part);
    }
}

fn add_called(grid: &mut Grid, run: &CalledRun) {
    let Some(receipt) = &run.receipt else {
        let label = format!("→ run {} is not in this storage", short_id(&run.run_id));
        grid.add(style::ODD, About::new(label).cells(), run.bill().total());
        return;
    };
    let about = About {
        engine: receipt.agent.clone(),
        status: receipt.status.as_ref().map(|status| status.as_str().to_owned()),
        time: Some(span::duration(receipt.duration_ms)),
        ..About::new(format!("→ {} {}", receipt.label(), short_id(&run.run_id)))
    };
    add_bill(grid, about, &receipt.own());
}

fn add_total(grid: &mut Grid, label: &str, millis: Option<u64>, total: Part) {
    let about = About { time: millis.map(span::duration), ..About::new(label) };
    grid.add(style::BOLD, about.cells(), total);
}
