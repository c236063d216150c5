//! Parquet files, read back by a reader of the format.

use std::collections::BTreeMap;
use std::io::Write;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use quipu_event::{Event, decode_line};
use quipu_export::ParquetView;
use quipu_testkit::{TestStorage, complete_run, run_id};
use quipu_view::{FileTree, FileView};

const TABLES: [&str; 5] = ["events", "messages", "runs", "tool_calls", "usage"];

type Row = BTreeMap<String, Field>;

fn fold(events: &[Event]) -> (FileTree, u64) {
    let mut view = ParquetView::new();
    let mut tree = FileTree::default();
    events.iter().for_each(|event| view.add(event, &mut tree));
    view.finish(&mut tree);
    let lost = view.losses().total();
    (tree, lost)
}

fn open(tree: &FileTree, path: &str) -> SerializedFileReader<std::fs::File> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&tree.0[path]).unwrap();
    SerializedFileReader::new(file).unwrap()
}

fn rows(tree: &FileTree, path: &str) -> Vec<Row> {
    let reader = open(tree, path);
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().into_columns().into_iter().collect()).collect()
}

fn text(field: &Field) -> &str {
    match field {
        Field::Str(text) => text,
        other => panic!("{other} is no text"),
    }
}

#[test]
fn every_event_stands_in_a_table_whole() {
    let storage = TestStorage::new();
    storage.record("r", complete_run(&run_id("child")));
    let events = storage.events("r");
    let (tree, lost) = fold(&events);
    assert_eq!(lost, 0);
    let paths: Vec<_> = TABLES.iter().map(|table| format!("{table}/r.parquet")).collect();
    assert_eq!(tree.0.keys().cloned().collect::<Vec<_>>(), paths);
    let rows = rows(&tree, "events/r.parquet");
    assert_eq!(rows.len(), events.len());
    for (row, event) in rows.iter().zip(&events) {
        assert_eq!(row["seq"], Field::Long(event.seq as i64));
        assert_eq!(row["timestamp"], Field::TimestampMicros(event.timestamp.as_micros()));
        assert_eq!(text(&row["type"]), event.kind.as_str());
        assert_eq!(text(&row["payload"]), event.payload.as_str());
        assert_eq!(row["raw"] == Field::Null, event.raw.is_none());
        if let Some(raw) = event.raw.as_ref().and_then(|raw| raw.bytes()) {
            assert_eq!(row["raw"], Field::Bytes(raw.into()));
        }
        assert_eq!(row["origin"] == Field::Null, event.origin.is_none());
    }
}

#[test]
fn calls_stand_beside_their_results_and_unknown_numbers_are_null() {
    let lines = [
        r#"{"type":"run.started","payload":{"name":"w","kind":"session","agent":{"provider":"claude"}}}"#,
        r#"{"type":"message.assistant","payload":{"role":"assistant","model":"m","blocks":[{"type":"text","text":"a"},{"type":"tool_use","tool_name":"Read","tool_id":"1","tool_input":{"f":1}}]}}"#,
        r#"{"type":"tool.call","payload":{"name":"Read","call_id":"1","input":{"f":1}}}"#,
        r#"{"type":"tool.call","payload":{"name":"Grep","call_id":"2","input":{}}}"#,
        r#"{"type":"tool.result","payload":{"name":"Read","call_id":"1","output":"x","status":"completed","duration_ms":5}}"#,
        r#"{"type":"usage","payload":{"output_tokens":3,"cost_usd":0.5}}"#,
        r#"{"type":"tool.result","payload":{"name":"Late","call_id":"3","output":null,"status":"failed"}}"#,
    ];
    let (tree, _) = fold(&events(&lines));
    let calls = rows(&tree, "tool_calls/r.parquet");
    assert_eq!(calls.len(), 3);
    assert_eq!((text(&calls[0]["name"]), text(&calls[0]["output"])), ("Read", "\"x\""));
    assert_eq!((&calls[0]["seq"], &calls[0]["result_seq"]), (&Field::Long(3), &Field::Long(5)));
    let unasked = &calls[1];
    assert_eq!((text(&unasked["name"]), &unasked["seq"]), ("Late", &Field::Null));
    assert_eq!((&unasked["input"], text(&unasked["output"])), (&Field::Null, "null"));
    assert_eq!((text(&calls[2]["name"]), &calls[2]["result_seq"]), ("Grep", &Field::Null));
    let usage = rows(&tree, "usage/r.parquet");
    assert_eq!(
        (&usage[0]["input_tokens"], &usage[0]["cost_usd"]),
        (&Field::Null, &Field::Double(0.5))
    );
    let blocks = rows(&tree, "messages/r.parquet");
    assert_eq!((text(&blocks[0]["text"]), text(&blocks[1]["content"])), ("a", "{\"f\":1}"));
    let run = &rows(&tree, "runs/r.parquet")[0];
    assert_eq!((text(&run["provider"]), &run["events"]), ("claude", &Field::Long(7)));
    assert_eq!((&run["output_tokens"], &run["status"]), (&Field::Long(3), &Field::Null));
}

#[test]
fn a_cost_that_a_session_names_at_its_end_is_that_of_the_run() {
    let lines = [
        r#"{"type":"run.started","payload":{"name":"s","kind":"session"}}"#,
        r#"{"type":"usage","payload":{"output_tokens":3}}"#,
        r#"{"type":"run.completed","payload":{"name":"s","status":"succeeded","result":{"cost_usd":0.5}}}"#,
    ];
    let cost = |lines: &[&str]| {
        let (tree, _) = fold(&events(lines));
        rows(&tree, "runs/r.parquet")[0]["cost_usd"].clone()
    };
    assert_eq!(cost(&lines), Field::Double(0.5));
    assert_eq!(cost(&lines[..2]), Field::Null);
}

#[test]
fn a_long_run_leaves_in_groups_while_it_goes_on() {
    let filler = "x".repeat(100_000);
    let line =
        format!(r#"{{"type":"system","payload":{{"subtype":"note","content":"{filler}"}}}}"#);
    let lines = vec![line.as_str(); 200];
    let mut view = ParquetView::new();
    let mut tree = FileTree::default();
    for event in events(&lines) {
        view.add(&event, &mut tree);
    }
    let before = tree.0["events/r.parquet"].len();
    view.finish(&mut tree);
    assert!(before > 0);
    let reader = open(&tree, "events/r.parquet");
    assert_eq!(reader.metadata().num_row_groups(), 3);
    assert_eq!(reader.metadata().file_metadata().num_rows(), 200);
}

fn events(lines: &[&str]) -> Vec<Event> {
    let numbered = lines.iter().zip(1..);
    let line = |(line, seq): (&&str, u64)| {
        let rest = line.strip_prefix('{').unwrap();
        let head = format!(r#"{{"seq":{seq},"run_id":"r","timestamp":"2026-01-01T00:00:00Z","#);
        decode_line((head + rest).as_bytes()).unwrap()
    };
    numbered.map(line).collect()
}
