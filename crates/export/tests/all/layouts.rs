//! What holds for every layout in the catalogue, the ones that are still to come too.

use std::collections::BTreeSet;
use std::path::Path;

use quipu_event::{Event, Json};
use quipu_export::{LAYOUTS, LayoutEntry, Opening};
use quipu_testkit::{TestStorage, complete_run, run_id};
use quipu_view::{FileTree, Losses};

use crate::exporting::prices;

fn every_type() -> Vec<Event> {
    let storage = TestStorage::new();
    storage.record("r", complete_run(&run_id("child")));
    storage.events("r")
}

fn fold<'a>(
    layout: &LayoutEntry,
    events: impl IntoIterator<Item = &'a Event>,
) -> (FileTree, Losses) {
    let root = run_id("r");
    let prices = prices();
    let mut view =
        layout.open(&Opening { root: &root, out: Path::new("out"), full: true, prices: &prices });
    let mut tree = FileTree::default();
    for event in events {
        view.add(event, &mut tree);
    }
    view.finish(&mut tree);
    (tree, view.losses().clone())
}

#[test]
fn layouts_have_names_of_their_own_and_a_page_each() {
    let names: BTreeSet<_> = LAYOUTS.iter().map(|layout| layout.name).collect();
    assert_eq!(names.len(), LAYOUTS.len());
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/layouts");
    for layout in LAYOUTS {
        let page = std::fs::read_to_string(format!("{docs}/{}.md", layout.name));
        let page = page.unwrap_or_else(|_| panic!("{} has no page", layout.name));
        assert!(page.contains("## What it cannot carry"), "{} does not say", layout.name);
    }
}

#[test]
fn an_event_that_leaves_no_trace_is_counted_as_left_out() {
    let events = every_type();
    let mut vanished = Vec::new();
    for layout in LAYOUTS {
        let (whole, losses) = fold(layout, &events);
        for event in &events {
            let kind = event.kind.as_str();
            let (without, fewer) = fold(layout, events.iter().filter(|other| *other != event));
            let counted = |losses: &Losses| losses.events.get(kind).copied().unwrap_or(0);
            if whole == without && counted(&losses) == counted(&fewer) {
                vanished.push((layout.name, kind));
            }
        }
    }
    assert_eq!(vanished, []);
}

#[test]
fn the_same_events_give_the_same_files() {
    let events = every_type();
    for layout in LAYOUTS {
        assert_eq!(fold(layout, &events), fold(layout, &events), "{}", layout.name);
    }
}

#[test]
fn no_layout_fails_on_a_transcript_that_makes_no_sense() {
    let events = every_type();
    let emptied: Vec<Event> =
        events.iter().map(|event| Event { payload: Json::null(), ..event.clone() }).collect();
    let odd = Json::parse(r#"{"name":7,"blocks":"x","call_id":[],"input_tokens":-1}"#).unwrap();
    let odd: Vec<Event> =
        events.iter().map(|event| Event { payload: odd.clone(), ..event.clone() }).collect();
    for layout in LAYOUTS {
        fold(layout, &[]);
        fold(layout, &emptied);
        fold(layout, &odd);
        fold(layout, events.iter().rev());
        for at in 0..events.len() {
            fold(layout, &events[at..]);
            fold(layout, &events[..at]);
        }
    }
}
