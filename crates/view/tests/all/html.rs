//! The page for a browser: one file, whole, and obeyed by nobody but us.
//!
//! What it does in a browser is tested there: `tests/browser/test.mjs`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use quipu_event::Event;
use quipu_view::html::{RunCard, index};
use quipu_view::{FileTree, FileView, HtmlView};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::transcript::{event, events, summary_of};

const RUN: &str = include_str!("cases/one-of-everything.jsonl");
const HOSTILE: &str = "</script><script>alert(1)</script><!-- --> <img src=x onerror=alert(1)> ]]> '\" {{script}} \u{2028}";

fn page(events: &[Event]) -> String {
    let mut view = HtmlView::new();
    let mut shelf = FileTree::default();
    events.iter().for_each(|event| view.add(event, &mut shelf));
    view.finish(&mut shelf);
    assert_eq!(view.losses().total(), 0);
    assert_eq!(shelf.0.len(), 1, "a run is one file");
    String::from_utf8(shelf.0.pop_first().expect("the test made it so").1)
        .expect("the test made it so")
}

/// Returns the data of a page, line by line, as a browser finds it.
fn data(page: &str) -> Vec<Value> {
    let chunks = page.split("<script type=\"application/json\" class=\"events\">").skip(1);
    let lines = chunks
        .flat_map(|chunk| chunk.split("</script>").next().expect("the test made it so").lines());
    lines
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).expect("the test made it so"))
        .collect()
}

/// Returns what stands between the first `open` and the next `close`.
fn between<'a>(page: &'a str, open: &str, close: &str) -> &'a str {
    let begin = page.find(open).expect("the test made it so") + open.len();
    &page[begin..begin + page[begin..].find(close).expect("the test made it so")]
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

fn check_policy(page: &str) {
    let policy = between(page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    let script = hash(between(page, "<script>", "</script>"));
    let style = hash(between(page, "<style>", "</style>"));
    let expected = format!(
        "default-src 'none'; script-src '{script}'; style-src '{style}'; base-uri 'none'; form-action 'none'"
    );
    assert_eq!(policy, expected, "the hashes in html/seal.rs are {script} and {style}");
}

fn hostile() -> Vec<Event> {
    let x = HOSTILE;
    let lines = [
        json!({ "type": "run.started", "path": "", "payload": { "name": x, "kind": x, "labels": { x: x } } }),
        json!({ "type": "step.started", "path": x, "payload": { "name": x, "kind": x } }),
        json!({ "type": "message.user", "path": x, "payload": { "blocks": [{ "type": "text", "text": x }, { "type": x }] } }),
        json!({ "type": "tool.call", "path": x, "source": x, "payload": { "name": x, "call_id": x, "input": { x: x } } }),
        json!({ "type": "unknown", "path": "", "raw": x, "payload": { "native_type": x, "reason": x } }),
        json!({ "type": x, "path": "", x: { x: x }, "payload": x }),
    ];
    (1..)
        .zip(lines)
        .map(|(n, line)| event(n, line.as_object().expect("the test made it so").clone()))
        .collect()
}

#[test]
fn a_page_obeys_no_script_but_its_own() {
    let page = page(&hostile());
    check_policy(&page);
    let (own, rest) = page.split_once("<script>").unwrap();
    assert!(!own.contains("<script"));
    let (_, behind) = rest.split_once("</script>").unwrap();
    for element in behind.split("<script").skip(1) {
        assert!(element.starts_with(" type=\"application/json\""), "{element}");
        let (inside, _) = element.split_once("</script>").unwrap();
        assert!(!inside.contains('<'), "{inside}");
    }
    assert_eq!(data(&page)[0][4]["name"], HOSTILE);
    assert_eq!(data(&page)[5][5]["extra"][HOSTILE][HOSTILE], HOSTILE);
}

#[test]
fn a_page_fetches_nothing() {
    let page = page(&events(RUN));
    let ours = page.split("<script type=\"application/json\"").next().unwrap();
    for way in
        ["src=", "url(", "@import", "fetch(", "XMLHttpRequest", "WebSocket", "<link", "import("]
    {
        assert!(!ours.contains(way), "{way}");
    }
    // The one address in the script is the beginning of those that it makes links of.
    assert!(!ours.replace("(https?:\\/\\/[", "").contains("://"));
}

#[test]
fn a_page_holds_every_event_whole() {
    let events = events(RUN);
    let data = data(&page(&events));
    assert_eq!(data.len(), events.len());
    for (line, event) in data.iter().zip(&events) {
        assert_eq!(line[0], event.seq);
        assert_eq!(line[1], event.kind.as_str());
        assert_eq!(line[2], event.path.as_str());
        assert_eq!(line[3], event.timestamp.to_string());
        assert_eq!(line[4], serde_json::from_str::<Value>(event.payload.as_str()).unwrap());
        let child = event.child_run_id.as_ref().map(|run| run.as_str());
        assert_eq!(line[5].get("child").and_then(Value::as_str), child);
        assert_eq!(line[5].get("source").and_then(Value::as_str), event.source.as_deref());
    }
    let unknown = data.iter().find(|line| line[1] == "unknown").unwrap();
    assert_eq!(unknown[5]["raw"], "{\"type\":\"odd\"}");
}

#[test]
fn a_page_is_handed_over_piece_by_piece() {
    let text = "x".repeat(100_000);
    let line = json!({ "type": "message.user", "path": "", "payload": { "blocks": [{ "type": "text", "text": text }] } });
    let mut view = HtmlView::new();
    let mut shelf = FileTree::default();
    for n in 1..=30 {
        view.add(&event(n, line.as_object().unwrap().clone()), &mut shelf);
        let missing =
            n as usize * 100_000 - shelf.text("run.html").unwrap().len().min(n as usize * 100_000);
        assert!(missing < 400_000, "{missing} bytes are held back");
    }
    view.finish(&mut shelf);
    assert_eq!(data(shelf.text("run.html").unwrap()).len(), 30);
}

#[test]
fn a_list_of_runs_shows_called_runs_below_their_callers() {
    let card = |id: &str, parent: Option<&str>, second: u64| {
        let mut line = json!({ "run_id": id, "type": "run.started", "path": "", "payload": { "name": format!("run {id}") } });
        if let Some(parent) = parent {
            line["parent_run_id"] = parent.into();
        }
        let events = [event(second, line.as_object().unwrap().clone())];
        RunCard::of(&summary_of(&events)).unwrap()
    };
    let cards = [
        card("a", None, 1),
        card("c", Some("b:1"), 4),
        card("b:1", Some("a"), 3),
        card("d", None, 9),
        card("x", Some("y"), 5),
        card("y", Some("x"), 6),
        card("e", Some("elsewhere"), 2),
        card("index", None, 0),
    ];
    let list = String::from_utf8(index(&cards)).unwrap();
    check_policy(&list);
    let links: Vec<_> =
        list.split("href=\"").skip(1).map(|link| link.split('"').next().unwrap()).collect();
    assert_eq!(
        links,
        [
            "./d.html",
            "./e.html",
            "./a.html",
            "./b:1.html",
            "./c.html",
            "./index_.html",
            "./y.html",
            "./x.html"
        ]
    );
    let depths: Vec<_> = list.split("data-depth=\"").skip(1).map(|row| &row[..1]).collect();
    assert_eq!(depths, ["0", "0", "0", "1", "2", "0", "0", "1"]);
}

#[test]
fn a_list_of_runs_shows_names_as_text() {
    let line = json!({ "type": "run.started", "path": "", "payload": { "name": HOSTILE } });
    let usage = json!({ "type": "usage", "path": "", "payload": { "model": HOSTILE } });
    let events: Vec<_> = (1..)
        .zip([line, usage])
        .map(|(n, line)| event(n, line.as_object().unwrap().clone()))
        .collect();
    let list = String::from_utf8(index(&[RunCard::of(&summary_of(&events)).unwrap()])).unwrap();
    check_policy(&list);
    assert_eq!(list.matches("<script").count(), 1);
    assert!(!list.contains("<img") && !list.contains("onerror=alert(1)>"));
    let row = between(&list, "<tr class", "</tr>");
    assert!(row.contains("&lt;/script&gt;") && row.contains("{{script}}"));
}

#[test]
fn our_scripts_are_scripts() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/html");
    if std::process::Command::new("node").arg("--version").output().is_err() {
        println!("!! NOT CHECKED, because node is missing: the syntax of the page's scripts");
        return;
    }
    let mut checked = 0;
    for part in ["page", "list"] {
        for file in std::fs::read_dir(format!("{folder}/{part}")).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_some_and(|extension| extension == "js") {
                let check = std::process::Command::new("node").arg("--check").arg(&file).output();
                let check = check.unwrap();
                assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
                checked += 1;
            }
        }
    }
    assert!(checked >= 8);
}

proptest! {
    #[test]
    fn any_text_stands_in_a_page_as_it_was_said(text in "(\\PC|[<>&\\x00-\\x1f]|</script|<!--){0,40}") {
        let line = json!({ "type": "message.user", "path": text, "payload": { "blocks": [text] } });
        let page = page(&[event(1, line.as_object().unwrap().clone())]);
        let data = data(&page);
        prop_assert_eq!(&data[0][4]["blocks"][0], &Value::from(text.as_str()));
        prop_assert_eq!(&data[0][2], &Value::from(text));
    }
}
