//! The page that lists many runs, those that others called below them.
//!
//! It is whole without its script, which only sorts and filters.

use std::collections::{BTreeMap, BTreeSet};

use quipu_event::payload::Status;
use quipu_event::{RunId, Timestamp};

use super::{markup, page_name, seal};
use crate::Summary;
use crate::figure;

const PAGE: &str = include_str!("list/list.html");
const STYLE: &str = include_str!("list/list.css");
const SCRIPT: &str = include_str!("list/list.js");

/// Runs further in than this are not set in any further.
const DEEPEST: usize = 3;

/// What the list says of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunCard {
    /// Which run.
    pub run_id: RunId,
    /// The run that called it.
    pub parent_run_id: Option<RunId>,
    /// Its name.
    pub name: Option<String>,
    /// How it ended; nothing while it has not.
    pub status: Option<Status>,
    /// When it began.
    pub started: Option<Timestamp>,
    /// How long it took so far.
    pub duration_ms: Option<u64>,
    /// The models that did the work.
    pub models: Vec<String>,
    /// All tokens that passed, if any were given.
    pub tokens: Option<u64>,
    /// How many events it has.
    pub events: u64,
}

impl RunCard {
    /// Makes the card of a run; nothing if the summary is of no run or of several.
    pub fn of(summary: &Summary) -> Option<Self> {
        Some(RunCard {
            run_id: summary.run_id.clone()?,
            parent_run_id: summary.parent_run_id.clone(),
            name: summary.name.clone(),
            status: summary.status.clone(),
            started: summary.started,
            duration_ms: summary.duration_ms(),
            models: summary.models.keys().cloned().collect(),
            tokens: summary.usage().and_then(|usage| usage.total()),
            events: summary.events,
        })
    }
}

/// Returns `index.html`: a list of runs, each a link to its page beside it. The newest come first.
pub fn index(cards: &[RunCard]) -> Vec<u8> {
    let mut rows = String::new();
    for (depth, card) in in_families(cards) {
        write_row(&mut rows, card, depth);
    }
    let count = cards.len().to_string();
    let page = markup::filled(
        PAGE,
        &[
            ("{{count}}", &count),
            ("{{runs}}", &rows),
            ("{{script-hash}}", seal::INDEX_SCRIPT),
            ("{{style-hash}}", seal::INDEX_STYLE),
            ("{{style}}", STYLE),
            ("{{script}}", SCRIPT),
        ],
    );
    page.into_bytes()
}

/// Puts the runs that others called below those, with how deep they stand.
fn in_families(cards: &[RunCard]) -> Vec<(usize, &RunCard)> {
    let known: BTreeSet<&RunId> = cards.iter().map(|card| &card.run_id).collect();
    let mut called: BTreeMap<&RunId, Vec<&RunCard>> = BTreeMap::new();
    let mut heads = Vec::new();
    for card in cards {
        match card.parent_run_id.as_ref().filter(|parent| known.contains(parent)) {
            Some(parent) => called.entry(parent).or_default().push(card),
            None => heads.push(card),
        }
    }
    heads.sort_by(|a, b| b.started.cmp(&a.started).then_with(|| a.run_id.cmp(&b.run_id)));
    let mut placed = Vec::with_capacity(cards.len());
    let mut waiting: Vec<_> = heads.into_iter().rev().map(|card| (0, card)).collect();
    loop {
        while let Some((depth, card)) = waiting.pop() {
            placed.push((depth, card));
            let mut children = called.remove(&card.run_id).unwrap_or_default();
            children
                .sort_by(|a, b| b.started.cmp(&a.started).then_with(|| b.run_id.cmp(&a.run_id)));
            waiting.extend(children.into_iter().map(|child| (depth + 1, child)));
        }
        // Runs that call each other in a circle have no head; one of them becomes it.
        let Some((_, circle)) = called.pop_first() else { return placed };
        waiting.extend(circle.into_iter().map(|card| (0, card)));
    }
}

fn write_row(out: &mut String, card: &RunCard, depth: usize) {
    let started = card.started.map(|time| time.to_string()).unwrap_or_default();
    let status = card.status.as_ref().map_or("no end was recorded", Status::as_str);
    let name = card.name.as_deref().unwrap_or(card.run_id.as_str());
    let models = card.models.join(", ");
    let number = |number: Option<u64>| number.map(|n| n.to_string()).unwrap_or_default();
    out.push_str(&format!("<tr class=\"depth{}\" data-depth=\"{depth}\"", depth.min(DEEPEST)));
    attribute(out, "name", &name.to_lowercase());
    attribute(out, "status", status);
    attribute(out, "started", &started);
    attribute(out, "took", &number(card.duration_ms));
    attribute(out, "model", &models);
    attribute(out, "tokens", &number(card.tokens));
    attribute(out, "events", &card.events.to_string());
    // A run's id may have a colon, which a bare path could not begin with.
    out.push_str("><td><a href=\"./");
    markup::text(out, &page_name::of(&card.run_id));
    out.push_str("\">");
    markup::text(out, if name.trim().is_empty() { card.run_id.as_str() } else { name });
    out.push_str("</a><small>");
    markup::text(out, card.run_id.as_str());
    let tone = match &card.status {
        Some(status) if status.is_failure() => "bad",
        Some(Status::Succeeded) => "good",
        _ => "open",
    };
    out.push_str(&format!("</small></td><td class=\"{tone}\">"));
    markup::text(out, status);
    out.push_str("</td><td>");
    if let Some(time) = card.started {
        figure::moment(out, time);
        out.truncate(out.len() - " UTC".len());
    }
    out.push_str("</td><td class=\"number\">");
    card.duration_ms.iter().for_each(|millis| figure::duration(out, *millis));
    out.push_str("</td><td class=\"model\">");
    markup::text(out, &models);
    out.push_str("</td><td class=\"number\">");
    match card.tokens {
        Some(tokens) => figure::full(out, tokens),
        None => out.push('–'),
    }
    out.push_str("</td><td class=\"number\">");
    figure::full(out, card.events);
    out.push_str("</td></tr>\n");
}

fn attribute(out: &mut String, key: &str, text: &str) {
    out.push_str(" data-");
    out.push_str(key);
    out.push_str("=\"");
    markup::text(out, text);
    out.push('"');
}
