//! `quipu tree`: the steps of a run and of the runs it called, as one tree.

use std::io::{self, Write};

use quipu_event::RunId;
use quipu_journal::{Layout, Reader, RunListing, RunState, find_run, look_at};
use quipu_view::tree::{RenderOptions, Row, RowPart, join, render};
use quipu_view::{RunTree, TreeBuilder};

use crate::Context;
use crate::exit::{Exit, UserError};
use crate::format::damage::DamageCount;
use crate::format::entry::short_id;
use crate::format::status::Standing;
use crate::format::styled::Styled;
use crate::format::visible::{columns, one_line};
use crate::format::{count, span, style};

/// How many columns each level of the tree stands in.
const INDENT: usize = 3;
/// How much of an error fits beside its step.
const WIDEST_ERROR: usize = 200;
/// How much of an error is worth more than any other fact.
const LEAST_ERROR: usize = 24;
/// What stands between two facts.
const JOINT: &str = " · ";

/// Show the steps of a run as a tree
///
/// Each step with how it ended, how long it took, its iterations, tool calls and tokens. Runs that
/// it called are joined into the same tree. Long stretches of iterations that all went well are
/// folded into one line; nothing that failed ever is.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu tree last\n  \
    quipu tree 3f2a --depth 2\n  \
    quipu tree last --json | jq '.steps[].name'")]
pub(crate) struct Args {
    /// The run: any unique beginning of its id, or `last`
    run: String,
    /// Show no more than so many levels below the run
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// Show every iteration of long loops
    #[arg(long)]
    all: bool,
    /// Leave out the runs that it called
    #[arg(long)]
    no_children: bool,
}

pub(crate) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let run = find_run(&layout, &args.run)?;
    print(context, &run, &args)
}

/// Prints the whole tree of `run`.
pub(crate) fn print_tree(context: &Context, run: &RunId) -> anyhow::Result<Exit> {
    let args = Args { run: run.to_string(), depth: None, all: false, no_children: false };
    print(context, run, &args)
}

fn print(context: &Context, run: &RunId, args: &Args) -> anyhow::Result<Exit> {
    let layout = context.settings.layout();
    let mut loader = Loader { layout: &layout, damage: DamageCount::default(), failure: None };
    let Some(mut tree) = loader.load(run)? else {
        let path = layout.transcript(run);
        let message = format!("{} has no event yet", path.display());
        return match loader.damage.conclude(&context.settings, Some(run)) {
            Exit::Ok => Err(UserError::new(message).into()),
            exit => Ok(exit),
        };
    };
    if !args.no_children {
        tree = join(tree, &mut |child| loader.find(child));
        if let Some(failure) = loader.failure {
            return Err(failure);
        }
    }
    if context.screen.json {
        context.screen.print_json(&tree)?;
    } else {
        let fold_above = if args.all { usize::MAX } else { RenderOptions::default().fold_above };
        let rows = render(&tree, &RenderOptions { fold_above });
        let screen = context.screen;
        let width = if screen.is_terminal() { screen.width() } else { usize::MAX };
        let drawing = Drawing { layout: &layout, rows: &rows, depth: args.depth, width };
        let mut out = context.screen.stdout();
        drawing.write(&mut out)?;
        out.flush()?;
    }
    Ok(loader.damage.conclude(&context.settings, Some(run)))
}

/// Returns the tree of `run` and of the runs it called, as text without colours, if it has any event.
pub(crate) fn drawn(
    layout: &Layout,
    run: &RunId,
    depth: Option<usize>,
) -> anyhow::Result<Option<String>> {
    let mut loader = Loader { layout, damage: DamageCount::default(), failure: None };
    let Some(tree) = loader.load(run)? else { return Ok(None) };
    let tree = join(tree, &mut |child| loader.find(child));
    if let Some(failure) = loader.failure {
        return Err(failure);
    }
    let rows = render(&tree, &RenderOptions::default());
    let mut out = anstream::StripStream::new(Vec::new());
    Drawing { layout, rows: &rows, depth, width: usize::MAX }.write(&mut out)?;
    Ok(Some(String::from_utf8_lossy(&out.into_inner()).into_owned()))
}

/// Reads runs and keeps in mind what was wrong with them.
struct Loader<'a> {
    layout: &'a Layout,
    damage: DamageCount,
    failure: Option<anyhow::Error>,
}

impl Loader<'_> {
    fn load(&mut self, run: &RunId) -> anyhow::Result<Option<RunTree>> {
        let mut builder = TreeBuilder::default();
        for item in Reader::open(self.layout.transcript(run))? {
            match item {
                Ok(event) => builder.add(&event),
                Err(problem) => drop(self.damage.note(problem)?),
            }
        }
        // A run goes by the name of its file; what other writers write in its lines may differ.
        Ok(builder.finish().map(|tree| RunTree { run_id: run.clone(), ..tree }))
    }

    /// Reads a run if it is in the same storage.
    fn find(&mut self, run: &RunId) -> Option<RunTree> {
        if !self.layout.transcript(run).is_file() {
            return None;
        }
        self.load(run).unwrap_or_else(|failure| {
            self.failure = Some(failure);
            None
        })
    }
}

/// A tree in rows, as it is printed.
struct Drawing<'a> {
    layout: &'a Layout,
    rows: &'a [Row],
    depth: Option<usize>,
    /// How wide a line may be. A narrow screen does without the last facts of a row.
    width: usize,
}

impl Drawing<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let deepest = self.depth.unwrap_or(usize::MAX);
        let looked = self.look_at(&self.rows[0]);
        let state = looked.map_or(RunState::Interrupted, |run| run.state);
        for (at, row) in self.rows.iter().enumerate() {
            if depth_of(row) > deepest {
                continue;
            }
            let below = &self.rows[at + 1..];
            let below = &below[..below.iter().take_while(|r| depth_of(r) > depth_of(row)).count()];
            let hidden = if depth_of(row) == deepest { below.len() } else { 0 };
            self.print_row(out, row, &state, iterations(row, below), hidden)?;
        }
        Ok(())
    }

    fn print_row(
        &self,
        out: &mut dyn Write,
        row: &Row,
        state: &RunState,
        iterations: usize,
        hidden: usize,
    ) -> io::Result<()> {
        let standing = self.standing(row, state);
        let (dim, colour) = (style::DIM, standing.style());
        let name = if row.part == RowPart::Run { style::BOLD } else { style::PLAIN };
        let mut line = Styled::default();
        line.add(dim, &row.prefix);
        line.add(colour, standing.sign());
        line.add_plain(" ");
        line.add(name, &one_line(&row.label, WIDEST_ERROR));
        if row.part == RowPart::Run
            && let Some(run) = &row.run_id
        {
            line.add(dim, &format!(" {}", short_id(run)));
        }
        if let Some(kind) = &row.kind {
            line.add(dim, &format!(" ({})", one_line(kind, 60)));
        }
        if standing.sign() != "✓" {
            line.add(colour, &format!(" {}", one_line(standing.word(), 40)));
        }
        let error = row.error.as_deref().map(|error| one_line(error, WIDEST_ERROR));
        let below = if hidden > 0 { format!(" … {hidden} below") } else { String::new() };
        let kept = error.as_deref().map_or(0, |error| columns(error).min(LEAST_ERROR));
        let mut facts = facts(row, iterations);
        let told = |facts: &[String]| -> usize {
            facts.iter().map(|fact| columns(JOINT) + columns(fact)).sum()
        };
        let room = self.width.saturating_sub(line.columns() + kept + columns(&below));
        while room < told(&facts) && facts.pop().is_some() {}
        for fact in &facts {
            line.add(dim, JOINT);
            line.add_plain(fact);
        }
        if let Some(error) = &error {
            line.add(dim, JOINT);
            line.add(style::BAD, error);
        }
        line.add(dim, &below);
        writeln!(out, "{}", line.fit(self.width))
    }

    /// Says how a row stands. What has not ended goes on if its run does.
    fn standing(&self, row: &Row, root: &RunState) -> Standing {
        match (&row.status, row.part) {
            (Some(status), _) => Standing::Ended(status.clone()),
            (None, RowPart::Run) => match self.look_at(row) {
                Some(run) => Standing::of_listing(&run),
                None => Standing::Interrupted,
            },
            (None, _) => Standing::of_open(root),
        }
    }

    fn look_at(&self, row: &Row) -> Option<RunListing> {
        look_at(self.layout, row.run_id.as_ref()?).ok()
    }
}

/// Returns how many levels below the run a row stands.
fn depth_of(row: &Row) -> usize {
    row.prefix.chars().count() / INDENT
}

/// Counts the iterations directly below a row.
fn iterations(row: &Row, below: &[Row]) -> usize {
    let direct = below.iter().filter(|other| depth_of(other) == depth_of(row) + 1);
    direct
        .map(|row| match row.part {
            RowPart::Iteration => 1,
            RowPart::Iterations(count) => count,
            RowPart::Run | RowPart::Step => 0,
        })
        .sum()
}

fn facts(row: &Row, iterations: usize) -> Vec<String> {
    let work = &row.work;
    let mut facts = Vec::new();
    facts.extend(row.duration_ms.map(span::duration));
    facts.extend((row.attempts > 1).then(|| count::of(row.attempts as u64, "attempt")));
    facts.extend((iterations > 0).then(|| count::of(iterations as u64, "iteration")));
    if work.tool_calls > 0 {
        let failed = match work.tool_failures {
            0 => String::new(),
            failures => format!(" ({failures} failed)"),
        };
        facts.push(count::of(work.tool_calls, "tool call") + &failed);
    }
    facts.extend(work.usage.total().map(|total| format!("{} tokens", count::short(total))));
    facts.extend(row.agent.as_deref().map(|agent| one_line(agent, 80)));
    if row.part == RowPart::Step
        && let Some(run) = &row.run_id
    {
        facts.push(format!("→ run {}", short_id(run)));
    }
    facts
}
