//! An element of the Trace Event Format.

use quipu_event::payload::TokenCounts;
use serde::Serialize;
use serde_json::{Map, Value};

/// So much of a text is shown.
const LONGEST: usize = 1000;

/// One element of `traceEvents`. Times are microseconds.
#[derive(Debug, Default, Serialize)]
pub(super) struct Element<'a> {
    #[serde(rename = "ph")]
    pub(super) phase: char,
    pub(super) name: &'a str,
    #[serde(rename = "cat", skip_serializing_if = "Option::is_none")]
    pub(super) category: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ts: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dur: Option<i64>,
    pub(super) pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tid: Option<u32>,
    /// How far an instant reaches: `t` is its track.
    #[serde(rename = "s", skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<&'static str>,
    pub(super) args: Args,
}

/// What is known of an element.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Args(Map<String, Value>);

impl Args {
    /// Says a name.
    pub(super) fn name(name: &str) -> Self {
        Args(Map::from_iter([("name".to_owned(), name.into())]))
    }

    /// Says a number.
    pub(super) fn number(key: &str, number: u64) -> Self {
        Args(Map::from_iter([(key.to_owned(), number.into())]))
    }

    /// Says a number that need not be whole.
    pub(super) fn real(key: &str, number: f64) -> Self {
        Args(Map::from_iter([(key.to_owned(), number.into())]))
    }

    /// Says how many tokens there were of each kind.
    pub(super) fn tokens(tokens: &TokenCounts) -> Self {
        let mut args = Args::default();
        args.count(tokens);
        // Series of a counter are stacked, and reasoning is a part of the output.
        args.0.remove("reasoning_tokens");
        args.0.remove("cost_usd");
        args
    }

    /// Tells whether nothing is known.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a text, or the beginning of a long one.
    pub(super) fn text(&mut self, key: &str, text: Option<&str>) {
        let Some(text) = text else { return };
        let end = text.floor_char_boundary(LONGEST.min(text.len()));
        let shown = if end < text.len() { format!("{}…", &text[..end]) } else { text.to_owned() };
        self.0.insert(key.to_owned(), shown.into());
    }

    /// Adds the counts that are known.
    pub(super) fn count(&mut self, tokens: &TokenCounts) {
        for (key, count) in [
            ("input_tokens", tokens.input_tokens),
            ("output_tokens", tokens.output_tokens),
            ("cache_read_tokens", tokens.cache_read_tokens),
            ("cache_write_tokens", tokens.cache_write_tokens),
            ("reasoning_tokens", tokens.reasoning_tokens),
        ] {
            self.0.extend(count.map(|count| (key.to_owned(), count.into())));
        }
        let cost = tokens.cost_usd.filter(|cost| cost.is_finite());
        self.0.extend(cost.map(|cost| ("cost_usd".to_owned(), cost.into())));
    }
}
