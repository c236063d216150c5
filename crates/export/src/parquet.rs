//! Runs as Parquet tables: a file per run and table, for DuckDB, pandas and whatever else reads them.
//!
//! Rows leave in groups of bounded size while events come in; the footer is written at the end. The
//! table of events holds all there is, the others are cut from it for convenience.

mod calls;
mod rows;
mod schema;
mod table;

use quipu_event::{Event, RunId};
use quipu_view::{FileView, Losses, SessionCost, Shelf, Summary};

use calls::Calls;
use rows::Start;
use table::Table;

/// Folds one run into `events/`, `messages/`, `tool_calls/`, `usage/` and `runs/<run-id>.parquet`.
#[derive(Debug, Default)]
pub struct ParquetView {
    run: Option<Run>,
    losses: Losses,
}

#[derive(Debug)]
struct Run {
    id: RunId,
    events: Table,
    messages: Table,
    tool_calls: Table,
    usage: Table,
    runs: Table,
    calls: Calls,
    start: Start,
    summary: Summary,
    cost: SessionCost,
}

impl ParquetView {
    /// Begins a run.
    pub fn new() -> Self {
        ParquetView::default()
    }
}

impl FileView for ParquetView {
    fn add(&mut self, event: &Event, shelf: &mut dyn Shelf) {
        let run = self.run.get_or_insert_with(|| Run::of(&event.run_id));
        run.events.push(rows::event(event));
        // What does not decode still stands among the events.
        if let Ok(payload) = event.decode_payload() {
            run.messages.extend(rows::messages(event, &payload));
            run.usage.extend(rows::usage(event, &payload));
            run.tool_calls.extend(run.calls.take(event, &payload));
            run.start.take(&payload);
        }
        run.summary.add(event);
        run.cost.add(event);
        run.for_each_table(|run_id, table| table.make_room(run_id, shelf));
    }

    fn finish(&mut self, shelf: &mut dyn Shelf) {
        let Some(mut run) = self.run.take() else { return };
        run.tool_calls.extend(run.calls.left());
        run.runs.push(rows::run(&run.id, &run.summary, run.cost.untold(), &run.start));
        run.for_each_table(|run_id, table| table.finish(run_id, shelf));
    }

    fn losses(&self) -> &Losses {
        &self.losses
    }
}

impl Run {
    fn of(id: &RunId) -> Self {
        Run {
            id: id.clone(),
            events: Table::new("events", schema::EVENTS),
            messages: Table::new("messages", schema::MESSAGES),
            tool_calls: Table::new("tool_calls", schema::TOOL_CALLS),
            usage: Table::new("usage", schema::USAGE),
            runs: Table::new("runs", schema::RUNS),
            calls: Calls::default(),
            start: Start::default(),
            summary: Summary::default(),
            cost: SessionCost::default(),
        }
    }

    fn for_each_table(&mut self, mut act: impl FnMut(&RunId, &mut Table)) {
        let Run { id, events, messages, tool_calls, usage, runs, .. } = self;
        for table in [events, messages, tool_calls, usage, runs] {
            act(id, table);
        }
    }
}
