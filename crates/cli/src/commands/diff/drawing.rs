//! Differences as people read them.

use std::io::{self, Write};

use quipu_event::payload::TokenCounts;
use quipu_view::diff::{Change, Comparison, Difference, GroupKey, Item, Report};

use crate::format::entry::short_id;
use crate::format::table::{Cell, Column, Table};
use crate::format::visible::one_line;
use crate::format::{count, span, style};
use crate::output::Screen;

/// How many differences are shown unless all are asked for.
pub(super) const SHOWN: usize = 30;

/// What is said of a tool that was called and never answered.
pub(super) const NO_RESULT: &str = "no result";

/// Two runs on their way to a person.
pub(super) struct Drawing<'a> {
    pub(super) report: &'a Report<'a>,
    /// What both said where they part.
    pub(super) texts: Option<(String, String)>,
    pub(super) shown: usize,
    pub(super) screen: Screen,
}

impl Drawing<'_> {
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(root) = self.report.0.first() else { return Ok(()) };
        self.write_runs(out, root)?;
        let same: u64 = self.report.0.iter().map(|comparison| comparison.same).sum();
        if self.report.is_equal() {
            let good = style::GOOD;
            let things = count::of(same, "thing");
            writeln!(out, "\n{good}no difference{good:#}: {things} said and done the same")?;
        }
        if !self.report.is_equal() && self.report.first().is_none() {
            writeln!(out, "\n{} said and done the same; tokens differ", count::of(same, "thing"))?;
        }
        self.write_first(out)?;
        for comparison in self.report.0 {
            self.write_comparison(out, comparison)?;
        }
        Ok(())
    }

    fn write_runs(&self, out: &mut dyn Write, root: &Comparison) -> io::Result<()> {
        let mut table = Table::new(&[
            Column::words(""),
            Column::words("RUN"),
            Column::shrinking("NAME"),
            Column::words("STATUS"),
            Column::numbers("TIME"),
        ]);
        let (a, b) = both_ids(root);
        let mut add =
            |letter: &str, run: &str, name: &Option<String>, status: &Option<String>, ms| {
                table.add(vec![
                    Cell::new(letter),
                    Cell::new(run),
                    Cell::maybe(name.clone()),
                    Cell::new(status.as_deref().unwrap_or("not ended")),
                    Cell::new(span::duration(ms)),
                ]);
            };
        add("a", a, &root.names.0, &root.statuses.0, root.durations.0);
        add("b", b, &root.names.1, &root.statuses.1, root.durations.1);
        table.write(out, self.width())
    }

    fn write_first(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some((comparison, first)) = self.report.first() else { return Ok(()) };
        let place: Vec<String> =
            comparison.called_at.iter().cloned().chain([step_label(&first.step)]).collect();
        let bold = style::BOLD;
        writeln!(
            out,
            "\n{bold}first divergence{bold:#} in {}: {}",
            one_line(&place.join(" → "), usize::MAX),
            one_line(&what_of(first), usize::MAX)
        )?;
        let (a, b) = self.texts.clone().unwrap_or_default();
        let mut side = |letter: &str, item: &Option<Item>, text: &str, colour: anstyle::Style| {
            let (seq, text) = match item {
                Some(item) => (format!("#{}", item.seq), one_line(text, usize::MAX)),
                None => (String::new(), "nothing".to_owned()),
            };
            writeln!(out, "  {colour}{letter}{colour:#} {seq:>5}  {text}")
        };
        side("a", &first.a, &a, style::BAD)?;
        side("b", &first.b, &b, style::GOOD)
    }

    fn write_comparison(&self, out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
        let is_root = comparison.called_at.is_empty();
        if !is_root && comparison.is_equal() {
            return Ok(());
        }
        if !is_root {
            let at = one_line(&comparison.called_at.join(" → "), usize::MAX);
            let (bold, (a, b)) = (style::BOLD, both_ids(comparison));
            writeln!(out, "\n{bold}called at {at}{bold:#}: {a} and {b}")?;
        }
        self.write_differences(out, comparison)?;
        self.write_tools(out, comparison)?;
        self.write_tokens(out, comparison)?;
        self.write_times(out, comparison)
    }

    fn write_differences(&self, out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
        let mut last: Option<&GroupKey> = None;
        for difference in comparison.differences.iter().take(self.shown) {
            if last != Some(&difference.step) {
                let place = style::PLACE;
                let label = one_line(&step_label(&difference.step), usize::MAX);
                writeln!(out, "\n{place}{label}{place:#}")?;
                last = Some(&difference.step);
            }
            write_difference(out, difference)?;
        }
        match comparison.differences.len().saturating_sub(self.shown) {
            0 => Ok(()),
            more => {
                let more = count::of(more as u64, "more difference");
                writeln!(out, "\n… {more}; --all shows them")
            }
        }
    }

    fn write_tools(&self, out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
        if comparison.tools.is_empty() {
            return Ok(());
        }
        let columns = [Column::shrinking("TOOL CALLS"), Column::numbers("A"), Column::numbers("B")];
        let mut table = Table::new(&columns);
        for (tool, (a, b)) in &comparison.tools {
            table.add(vec![
                Cell::new(tool),
                Cell::new(count::full(*a)),
                Cell::new(count::full(*b)),
            ]);
        }
        writeln!(out)?;
        table.write(out, self.width())
    }

    fn write_tokens(&self, out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
        if comparison.tokens.is_empty() {
            return Ok(());
        }
        let columns = [
            Column::shrinking("TOKENS"),
            Column::words("KIND"),
            Column::numbers("A"),
            Column::numbers("B"),
        ];
        let mut table = Table::new(&columns);
        for (model, (a, b)) in &comparison.tokens {
            let model = if model.is_empty() { "unknown" } else { model };
            for ((kind, a), (_, b)) in kinds(a).into_iter().zip(kinds(b)).filter(|(a, b)| a != b) {
                let number = |count: Option<u64>| Cell::maybe(count.map(count::full));
                table.add(vec![Cell::new(model), Cell::new(kind), number(a), number(b)]);
            }
        }
        writeln!(out)?;
        table.write(out, self.width())
    }

    /// Writes the steps whose times differ most.
    fn write_times(&self, out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
        let mut steps: Vec<_> = comparison.steps.iter().filter(|s| s.a_ms != s.b_ms).collect();
        if steps.is_empty() {
            return Ok(());
        }
        let apart = |a: Option<u64>, b: Option<u64>| a.unwrap_or(0).abs_diff(b.unwrap_or(0));
        steps.sort_by_key(|step| std::cmp::Reverse(apart(step.a_ms, step.b_ms)));
        let columns = [Column::shrinking("TIME"), Column::numbers("A"), Column::numbers("B")];
        let mut table = Table::new(&columns);
        for step in steps.iter().take(self.shown) {
            let time = |millis: Option<u64>| Cell::maybe(millis.map(span::duration));
            let label = Cell::new(step_label(&step.step));
            table.add(vec![label, time(step.a_ms), time(step.b_ms)]);
        }
        writeln!(out)?;
        table.write(out, self.width())
    }

    fn width(&self) -> usize {
        if self.screen.is_terminal() { self.screen.width() } else { usize::MAX }
    }
}

/// Returns as much of both ids as tells them apart.
fn both_ids(comparison: &Comparison) -> (&str, &str) {
    let (a, b) = &comparison.runs;
    match (short_id(a), short_id(b)) {
        (short_a, short_b) if short_a == short_b => (a.as_str(), b.as_str()),
        short => short,
    }
}

fn write_difference(out: &mut dyn Write, difference: &Difference) -> io::Result<()> {
    let (sign, colour) = match difference.change {
        Change::OnlyA => ("-", style::BAD),
        Change::OnlyB => ("+", style::GOOD),
        Change::Said | Change::Outcome => ("~", style::ODD),
    };
    let said = |item: &Item| match (&item.outcome_excerpt, difference.change) {
        (Some(outcome), Change::Outcome) => one_line(outcome, usize::MAX),
        (None, Change::Outcome) => NO_RESULT.to_owned(),
        _ => one_line(&item.excerpt, usize::MAX),
    };
    let what = one_line(&what_of(difference), usize::MAX);
    match (&difference.a, &difference.b) {
        (Some(a), Some(b)) => {
            writeln!(out, "{colour}{sign}{colour:#} {what}")?;
            let (bad, good) = (style::BAD, style::GOOD);
            writeln!(out, "    {bad}a{bad:#} #{}  {}", a.seq, said(a))?;
            writeln!(out, "    {good}b{good:#} #{}  {}", b.seq, said(b))
        }
        (Some(item), None) | (None, Some(item)) => {
            writeln!(out, "{colour}{sign}{colour:#} {what}: #{}  {}", item.seq, said(item))
        }
        (None, None) => Ok(()),
    }
}

/// Says what differs: `tool Read, other outcome`.
fn what_of(difference: &Difference) -> String {
    let item = difference.a.as_ref().or(difference.b.as_ref());
    let thing = item.map_or(String::new(), |item| format!("{} {}", item.what.word(), item.name));
    match difference.change {
        Change::OnlyA => format!("{thing}, only in a"),
        Change::OnlyB => format!("{thing}, only in b"),
        Change::Said => thing,
        Change::Outcome => format!("{thing}, another outcome"),
    }
}

fn step_label(key: &GroupKey) -> String {
    let mut label =
        if key.path.is_empty() { "the run itself".to_owned() } else { key.path.clone() };
    if key.attempt > 1 {
        label.push_str(&format!(" (attempt {})", key.attempt));
    }
    if key.visit > 1 {
        label.push_str(&format!(" (visit {})", key.visit));
    }
    if key.subagent > 0 {
        label.push_str(&format!(" (subagent {})", key.subagent));
    }
    label
}

fn kinds(tokens: &TokenCounts) -> [(&'static str, Option<u64>); 5] {
    [
        ("in", tokens.input_tokens),
        ("out", tokens.output_tokens),
        ("cache read", tokens.cache_read_tokens),
        ("cache written", tokens.cache_write_tokens),
        ("reasoning", tokens.reasoning_tokens),
    ]
}
