//! Price lists: what they may say, which price holds, and the list that comes with the program.

use std::sync::Arc;

use quipu_event::Timestamp;
use quipu_event::payload::{Usage, UsageScope};
use quipu_view::price::{PriceSheet, PriceTable, Pricer, Quote};

const LIST: &str = r#"{
  "version": "test",
  "currency": "USD",
  "prices": [
    { "models": ["m"], "until": "2026-02-01", "input": 1, "output": 10, "cache_read": 0.1, "cache_write": 1.25 },
    { "models": ["m"], "from": "2026-02-01", "input": 2, "output": "20.5" },
    { "models": ["long"], "input": 1, "output": 2, "cache_read": 0.5,
      "above": { "prompt": 1000, "input": 10, "output": 20, "cache_read": 5 } },
    { "models": ["free*"], "input": 0, "output": 0 }
  ]
}"#;

fn table() -> PriceTable {
    PriceTable::from(PriceSheet::parse(LIST).expect("a sound list"))
}

fn quote_of(table: PriceTable, model: &str, day: &str, usage: &Usage) -> Option<Quote> {
    let moment = Timestamp::parse(&format!("{day}T12:00:00Z")).expect("a day");
    Pricer::new(Arc::new(table)).quote(usage, model, moment)
}

fn usage(input: u64, output: u64) -> Usage {
    Usage { input_tokens: Some(input), output_tokens: Some(output), ..Usage::default() }
}

#[test]
fn usage_is_priced_with_the_prices_of_its_day() {
    let price = |day| quote_of(table(), "m", day, &usage(1_000_000, 100)).unwrap().amount.decimal();
    assert_eq!(price("2020-01-01"), "1.001");
    assert_eq!(price("2026-01-31"), "1.001");
    assert_eq!(price("2026-02-01"), "2.00205");
}

#[test]
fn one_token_is_priced_exactly() {
    let one = Usage { cache_write_tokens: Some(1), ..usage(3, 7) };
    let quote = quote_of(table(), "m", "2026-01-01", &one).unwrap();
    assert_eq!((quote.amount.decimal().as_str(), quote.is_partial), ("0.00007425", false));
}

#[test]
fn a_kind_without_a_price_makes_the_price_partial() {
    let cached = Usage { cache_read_tokens: Some(5), ..usage(1, 1) };
    let quote = |usage: &Usage| quote_of(table(), "m", "2026-03-01", usage).unwrap();
    assert!(quote(&cached).is_partial);
    assert!(!quote(&Usage { cache_read_tokens: Some(0), ..usage(1, 1) }).is_partial);
}

#[test]
fn a_long_prompt_has_its_own_price() {
    let prompt = |cached, scope| Usage {
        cache_read_tokens: Some(cached),
        scope: Some(scope),
        ..usage(600, 0)
    };
    let price = |usage: &Usage| {
        let quote = quote_of(table(), "long", "2026-01-01", usage).unwrap();
        (quote.amount.decimal(), quote.is_partial)
    };
    assert_eq!(price(&prompt(400, UsageScope::Message)), ("0.0008".to_owned(), false));
    assert_eq!(price(&prompt(401, UsageScope::Message)), ("0.008005".to_owned(), false));
    // A turn may have been many short prompts: at least that much.
    assert_eq!(price(&prompt(401, UsageScope::Turn)), ("0.0008005".to_owned(), true));
}

#[test]
fn prices_of_the_user_win() {
    let own = r#"{"version": "mine", "prices": [{"models": ["m"], "input": 7, "output": 0}]}"#;
    let table = table().overridden_by(PriceSheet::parse(own).unwrap());
    let quote = quote_of(table.clone(), "m", "2026-01-01", &usage(1_000_000, 5)).unwrap();
    assert_eq!(quote.amount.decimal(), "7");
    assert_eq!(table.version(quote.sheet), Some("mine"));
    let other = quote_of(table.clone(), "long", "2026-01-01", &usage(1_000_000, 0)).unwrap();
    assert_eq!(table.version(other.sheet), Some("test"));
}

#[test]
fn a_model_that_no_list_knows_has_no_price() {
    assert_eq!(quote_of(table(), "m-mini", "2026-01-01", &usage(1, 1)), None);
    let other_kind = r#"{"version": "v", "prices": [{"models": ["m"], "output": 1}]}"#;
    let table_of_output = PriceTable::from(PriceSheet::parse(other_kind).unwrap());
    assert_eq!(quote_of(table_of_output, "m", "2026-01-01", &usage(9, 0)), None);
    let free = quote_of(table(), "free-as-in-beer", "2026-01-01", &usage(9, 9)).unwrap();
    assert_eq!(free.amount.decimal(), "0");
}

#[test]
fn what_is_wrong_with_a_list_is_told_with_its_line() {
    let entry = |entry: &str| format!("{{\n\"version\": \"v\",\n\"prices\": [\n{entry}\n]}}");
    let cases = [
        (entry(r#"{"models": ["m"], "inptu": 1}"#), 4, "inptu"),
        (entry(r#"{"models": ["m"], "input": -1}"#), 4, "-1 is no price"),
        (entry(r#"{"models": ["m"], "input": "1,25"}"#), 4, "is no price"),
        (entry(r#"{"models": ["m"], "input": 1e-3}"#), 4, "is no price"),
        (entry(r#"{"models": ["m"], "input": 0.0000000001}"#), 4, "is no price"),
        (entry(r#"{"models": ["m"], "from": "tomorrow"}"#), 4, "is no day"),
        (entry(r#"{"input": 1}"#), 4, "models"),
        ("{\n\"version\": 1}".to_owned(), 2, "string"),
        ("{\"version\": \"v\",\n\"currency\": \"EUR\", \"prices\": []}".to_owned(), 2, "EUR"),
        ("not json".to_owned(), 1, "expected"),
        (String::new(), 1, "EOF"),
    ];
    for (text, line, part) in cases {
        let error = PriceSheet::parse(&text).unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.message.contains(part), "{text}: {error}");
    }
}

#[test]
fn an_entry_that_can_mean_nothing_is_a_slip() {
    let cases = [
        (r#"{"models": [], "input": 1}"#, "no model"),
        (r#"{"models": [" "], "input": 1}"#, "no model"),
        (r#"{"models": ["m"], "note": "soon"}"#, "no price"),
        (
            r#"{"models": ["m"], "input": 1, "from": "2026-02-01", "until": "2026-02-01"}"#,
            "before it begins",
        ),
    ];
    for (entry, part) in cases {
        let text = format!("{{\"version\": \"v\", \"prices\": [{entry}]}}");
        let error = PriceSheet::parse(&text).unwrap_err();
        assert!(error.message.contains(part), "{text}: {error}");
    }
    let nameless = PriceSheet::parse("{\"version\": \" \", \"prices\": []}").unwrap_err();
    assert!(nameless.message.contains("version"), "{nameless}");
}

#[test]
fn the_list_that_comes_with_the_program_is_sound() {
    PriceTable::check_built_in().unwrap();
    let list: serde_json::Value = serde_json::from_str(include_str!("../../prices.json")).unwrap();
    for entry in list["prices"].as_array().unwrap() {
        assert!(
            entry["source"].as_str().is_some_and(|text| text.starts_with("https://")),
            "{entry}"
        );
        assert!(entry["input"].is_number() && entry["output"].is_number(), "{entry}");
    }
    let known = [
        ("claude-opus-4-5-20251101", "30"),
        ("claude-sonnet-4.5", "18"),
        ("anthropic/claude-haiku-4-5", "6"),
        ("gpt-5-codex", "11.25"),
        ("gpt-5-mini-2025-08-07", "2.25"),
        ("models/gemini-2.5-flash", "2.8"),
    ];
    for (model, expected) in known {
        let usage = Usage { scope: Some(UsageScope::Turn), ..usage(1_000_000, 1_000_000) };
        let quote = quote_of(PriceTable::built_in(), model, "2026-11-01", &usage).unwrap();
        assert_eq!(quote.amount.decimal(), expected, "{model}");
    }
}

#[test]
fn at_no_moment_do_two_prices_of_the_built_in_list_hold() {
    let list: serde_json::Value = serde_json::from_str(include_str!("../../prices.json")).unwrap();
    let mut stretches: Vec<(String, String, String)> = Vec::new();
    for entry in list["prices"].as_array().unwrap() {
        let day = |key: &str, none: &str| entry[key].as_str().unwrap_or(none).to_owned();
        for model in entry["models"].as_array().unwrap() {
            let name = model.as_str().unwrap().to_owned();
            stretches.push((name, day("from", "0000"), day("until", "9999")));
        }
    }
    stretches.sort();
    for pair in stretches.windows(2) {
        let ((name, _, until), (other, from, _)) = (&pair[0], &pair[1]);
        assert!(name != other || until <= from, "{pair:?}");
    }
}
