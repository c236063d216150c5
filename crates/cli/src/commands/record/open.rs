//! Opens the run to record: a fresh one, or one that is gone on with.

use quipu_emit::FollowingRun;
use quipu_event::payload::RunKind;
use quipu_event::{Event, Payload, RunId, RunIdentity};
use quipu_journal::{LAST, Layout, Options, Reader, Recorder, Recovery, find_run, look_at};
use quipu_view::Summary;

use super::Args;
use super::lifecycle::Title;
use crate::Context;
use crate::exit::UserError;

/// A run that is open for writing.
pub(super) struct Opened {
    pub(super) recorder: Recorder,
    pub(super) title: Title,
    /// What the run held already.
    pub(super) summary: Summary,
    /// Logs what is recorded for as long as it is kept.
    pub(super) log: Option<FollowingRun>,
}

/// Opens what `args` ask for.
pub(super) fn open(context: &Context, args: &Args) -> anyhow::Result<Opened> {
    let layout = context.settings.layout();
    let options = args.keeping.options(context)?;
    if args.append {
        reopen(context, args, &layout, options)
    } else {
        create(context, args, &layout, options)
    }
}

/// Returns the id of a new run: the one that is asked for, or any.
pub(crate) fn id_for(asked: Option<&str>) -> Result<RunId, UserError> {
    match asked {
        Some(LAST) => {
            let hint = "`last` names the newest run; choose another id, or leave --id out";
            Err(UserError::new("a run cannot have the id `last`").with_hint(hint))
        }
        Some(id) => RunId::parse(id).map_err(|error| UserError::new(error.to_string())),
        None => Ok(RunId::random()),
    }
}

fn create(
    context: &Context,
    args: &Args,
    layout: &Layout,
    options: Options,
) -> anyhow::Result<Opened> {
    let run_id = id_for(args.id.as_deref())?;
    let parent_run_id = args.parent.as_deref().map(|run| find_run(layout, run)).transpose()?;
    let recorder = Recorder::create(layout, RunIdentity { run_id, parent_run_id }, options)?;
    let log = context.log.follow(layout, &recorder.run().run_id);
    let title = title(args, None);
    Ok(Opened { recorder, title, summary: Summary::default(), log })
}

fn reopen(
    context: &Context,
    args: &Args,
    layout: &Layout,
    options: Options,
) -> anyhow::Result<Opened> {
    let run_id = find_run(layout, args.id.as_deref().unwrap_or_default())?;
    // Followed first: what reopening records is news too.
    let log = context.log.follow(layout, &run_id);
    let (recorder, recovery) = Recorder::reopen(layout, &run_id, options)?;
    context.screen.note(found_text(&recovery));
    let title = title(args, look_at(layout, &run_id)?.first.as_deref());
    let mut summary = Summary::default();
    for event in Reader::open(recorder.path())?.filter_map(Result::ok) {
        summary.add(&event);
    }
    Ok(Opened { recorder, title, summary, log })
}

fn found_text(recovery: &Recovery) -> String {
    let mut text = format!("going on after event {}", recovery.last_seq);
    if let Some(torn) = recovery.torn {
        text += &format!("; moved {} torn bytes behind it to the .torn file", torn.bytes);
    }
    if !recovery.aborted.is_empty() {
        text += &format!("; closed {} that had been left open", recovery.aborted.len());
    }
    text
}

/// Returns what the flags say; what they leave open is as the run's first event has it.
fn title(args: &Args, first: Option<&Event>) -> Title {
    let started = match first.map(Event::decode_payload) {
        Some(Ok(Payload::RunStarted(started))) => Some(*started),
        _ => None,
    };
    let kind = args.kind.map(RunKind::from);
    let (first_name, first_kind) = started.map(|started| (started.name, started.kind)).unzip();
    Title {
        name: args.name.clone().or(first_name).unwrap_or_default(),
        kind: kind.or(first_kind).unwrap_or(RunKind::Exec),
    }
}
