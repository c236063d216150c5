//! The page of Markdown: what stands on it, and what can never stand on it.

use proptest::prelude::*;
use pulldown_cmark::{Event as Part, LinkType, Options, Parser, Tag, TagEnd};
use quipu_event::Event;
use quipu_view::markdown::Length;
use quipu_view::{FileTree, FileView, MarkdownView};
use serde_json::json;

use super::transcript::{event, events};

/// A run with one of everything, and the page it becomes.
const RUN: &str = include_str!("cases/one-of-everything.jsonl");
const PAGE: &str = include_str!("cases/one-of-everything.md");

fn page(events: &[Event], length: Length) -> String {
    let mut view = MarkdownView::new(length);
    let mut shelf = FileTree::default();
    events.iter().for_each(|event| view.add(event, &mut shelf));
    view.finish(&mut shelf);
    assert_eq!(view.losses().total(), 0);
    assert!(shelf.0.len() <= 1);
    shelf
        .0
        .pop_first()
        .map_or_else(String::new, |(_, page)| String::from_utf8(page).expect("the test made it so"))
}

fn said(text: &str) -> Vec<Event> {
    let payload = json!({ "role": "user", "blocks": [{ "type": "text", "text": text }] });
    let line = json!({ "type": "message.user", "path": "", "payload": payload });
    vec![event(1, line.as_object().expect("the test made it so").clone())]
}

#[test]
fn a_page_of_markdown_shows_every_event_where_it_happened() {
    let page = page(&events(RUN), Length::Short);
    if std::env::var_os("QUIPU_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/cases/one-of-everything.md");
        std::fs::write(path, &page).unwrap();
    }
    assert_eq!(page, PAGE, "QUIPU_BLESS=1 writes it anew");
}

#[test]
fn the_page_is_named_after_the_run_and_grows_with_it() {
    let mut view = MarkdownView::default();
    let mut shelf = FileTree::default();
    view.finish(&mut shelf);
    assert_eq!(shelf, FileTree::default(), "a run without events has no page");
    let mut before = 0;
    for event in &events(RUN) {
        view.add(event, &mut shelf);
        let now = shelf.text("run.md").unwrap().len();
        assert!(now >= before);
        before = now;
    }
}

#[test]
fn all_of_an_output_is_shown_when_it_is_asked_for() {
    let output = "line\n".repeat(500) + "the end";
    let payload = json!({ "name": "Bash", "call_id": "c", "output": output });
    let line = json!({ "type": "tool.result", "path": "", "payload": payload });
    let events = [event(1, line.as_object().unwrap().clone())];
    let (short, full) = (page(&events, Length::Short), page(&events, Length::Full));
    assert!(full.contains(&output));
    assert!(
        short.len() < 1000 && short.contains("lines, ") && short.contains("the end"),
        "{short}"
    );
}

#[test]
fn a_call_that_was_asked_for_and_never_made_is_shown() {
    let lines = r#"
        {"type":"message.assistant","path":"","payload":{"blocks":[{"type":"tool_use","tool_name":"Made","tool_id":"1","tool_input":{}},{"type":"tool_use","tool_name":"Dropped","tool_id":"2","tool_input":{"a":"b"}}]}}
        {"type":"tool.call","path":"","payload":{"name":"Made","call_id":"1","input":{}}}
        {"type":"message.assistant","path":"","payload":{"blocks":[{"type":"text","text":"on"}]}}
        {"type":"message.assistant","path":"","payload":{"blocks":[{"type":"tool_use","tool_name":"Last","tool_id":"3","tool_input":{}}]}}"#;
    let page = page(&events(lines), Length::Short);
    assert_eq!(page.matches("**→ Made**").count(), 1, "{page}");
    let dropped = page.find("**→ Dropped** · asked for; no call was recorded\n\n- a: `b`").unwrap();
    assert!(dropped < page.find("> on").unwrap());
    assert!(page.contains("**→ Last** · asked for; no call was recorded"));
}

#[test]
fn another_day_is_told_where_it_begins() {
    let said = |time: &str| {
        format!(
            r#"{{"type":"message.user","timestamp":"{time}","payload":{{"blocks":[{{"type":"text","text":"Hi."}}]}}}}"#
        )
    };
    let times = ["2026-01-01T23:59:59Z", "2026-01-02T00:00:01Z", "2026-01-02T08:00:00Z"];
    let page = page(&events(&times.map(said).join("\n")), Length::Short);
    let heads: Vec<&str> =
        page.lines().filter(|line| line.starts_with('*') && !line.contains("no end")).collect();
    assert_eq!(
        heads,
        [
            "**User** · 23:59:59 · #1",
            "*on 2026-01-02:*",
            "**User** · 00:00:01 · #2",
            "**User** · 08:00:00 · #3"
        ]
    );
}

#[test]
fn a_cost_is_told_as_a_receipt_tells_it() {
    let cases = [
        (r#""cost_usd":0.00002"#, r#""cost_usd":1.5"#, ["$0.000020", "$1.50", "$1.50"]),
        (r#""cost_usd":0.5"#, r#""output_tokens":2"#, ["$0.5000", "unknown", "≥ $0.5000"]),
    ];
    for (a, b, costs) in cases {
        let run = format!(
            r#"{{"type":"usage","payload":{{"model":"a","input_tokens":1,{a}}}}}
               {{"type":"usage","payload":{{"model":"b","input_tokens":1,{b}}}}}"#
        );
        let page = page(&events(&run), Length::Short);
        let rows = page.lines().rev().take(3).map(|row| row.rsplit('|').nth(1).unwrap().trim());
        let mut told: Vec<&str> = rows.collect();
        told.reverse();
        assert_eq!(told, costs, "{page}");
    }
}

/// Returns what a reader of Markdown makes of a page: headings, and everything that could act.
fn outline(page: &str) -> (Vec<String>, Vec<String>) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS;
    let (mut headings, mut acts) = (Vec::new(), Vec::new());
    let mut heading: Option<String> = None;
    let mut quoted = 0;
    for part in Parser::new_ext(page, options) {
        match part {
            Part::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Part::End(TagEnd::Heading(_)) => headings.extend(heading.take()),
            Part::Text(text) => heading.iter_mut().for_each(|heading| heading.push_str(&text)),
            Part::Start(Tag::BlockQuote(_)) => quoted += 1,
            Part::End(TagEnd::BlockQuote(_)) => quoted -= 1,
            Part::Html(html) | Part::InlineHtml(html) => acts.push(html.to_string()),
            Part::Start(Tag::Link { link_type, dest_url, .. })
                if link_type != LinkType::Autolink || !dest_url.starts_with("http") =>
            {
                acts.push(dest_url.to_string());
            }
            Part::Start(Tag::Image { dest_url, .. }) => acts.push(dest_url.to_string()),
            _ => {}
        }
    }
    assert_eq!(quoted, 0);
    (headings, acts)
}

fn check_harmless(text: &str) -> Result<(), TestCaseError> {
    let page = page(&said(text), Length::Short);
    let (headings, acts) = outline(&page);
    prop_assert_eq!(headings, ["run", "Outcome"], "{}", page);
    prop_assert!(acts.is_empty(), "{acts:?} in {page}");
    Ok(())
}

#[test]
fn nothing_that_was_said_can_be_taken_for_a_part_of_the_page() {
    let cases = [
        "# heading\n\nheading\n===\n\n- # heading\n\n> # heading\n> ---",
        "```\nopen fence",
        "~~~~\n```\n~~~\n# still inside",
        "</details><script>alert(1)</script><!--",
        "[a](javascript:alert(1)) ![b](http://example.org/x) [c]\n\n[c]: javascript:x",
        "a ` b\n` <b> `\n",
        "| a | b |\n|---|---|\n| ` | <b> | ` |\n| ` | x ` y ` <i> ` |",
        "    <b>\n\t<b>\n- x\n\n      <b>",
        "line\r# heading\r\n<b>\u{2028}# no\u{85}# no",
        "1. a\n\n   ```\n   <b>\n   ```\n2. b\n\n<b>",
        "[foo\nbar]: javascript:x\n\n[foo bar]",
        "<https://example.org> <b@example.org> &lt;b&gt;",
        "\\<b> \\\\<b> \\`<b>` `\\`<b>",
        "- ```\n  <b>\n  ```\n  # heading\n-\n-",
        "[^1] text\n\n[^1]: note",
        "x\n-\ny\n=",
        "[click]\u{202e} [click]\u{85}",
    ];
    for case in cases {
        check_harmless(case).unwrap_or_else(|error| panic!("{case:?}: {error}"));
    }
}

proptest! {
    #[test]
    fn no_mix_of_marks_leaves_its_quotation(
        pieces in proptest::collection::vec(prop_oneof![
            Just("`"), Just("``"), Just("```"), Just("~~~"), Just("<b>"), Just("</details>"), Just("<!--"),
            Just("\n"), Just("\n\n"), Just("\r"), Just("# "), Just("#"), Just("==="), Just("---"), Just("- "),
            Just("1. "), Just("> "), Just("    "), Just("\t"), Just("|"), Just("|---|"), Just("["), Just("]"),
            Just("]("), Just("]: "), Just("!["), Just("(javascript:x)"), Just("\\"), Just("a"), Just(" "), Just("<"),
            Just("&lt;"), Just("[x]"), Just("*"), Just("_"), Just("[^1]"), Just("<http://a>"),
        ], 0..40)
    ) {
        check_harmless(&pieces.concat())?;
    }

    #[test]
    fn no_name_leaves_its_line(name in "[\\PC\\n\\r`<>#*_\\[\\]()!|&\\\\-]{0,20}") {
        let lines = [
            json!({ "type": "run.started", "path": "", "payload": { "name": name, "labels": { &name: &name } } }),
            json!({ "type": "step.started", "path": &name, "payload": { "name": name, "kind": name } }),
            json!({ "type": "tool.call", "path": &name, "payload": { "name": name, "call_id": name, "input": { &name: &name } } }),
            json!({ "type": "error", "path": "", "payload": { "code": name, "category": name, "message": name } }),
            json!({ "type": format!("x{name}"), "path": "", "source": name, "payload": { &name: [&name] } }),
        ];
        let events: Vec<Event> = (1..).zip(lines).map(|(n, line)| event(n, line.as_object().unwrap().clone())).collect();
        let page = page(&events, Length::Short);
        let (headings, acts) = outline(&page);
        prop_assert!(acts.is_empty(), "{acts:?} in {page}");
        prop_assert!(headings.len() >= 3 && headings.last().unwrap() == "Outcome", "{page}");
    }
}
