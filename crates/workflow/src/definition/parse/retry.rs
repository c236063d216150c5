//! `retry`: how a step is tried again.

use std::time::Duration;

use super::fields::Fields;
use super::reader::Reader;
use crate::definition::yaml::{Content, Node};
use crate::definition::{Backoff, Retry};

const BACKOFFS: [(&str, Backoff); 3] = [
    ("constant", Backoff::Constant),
    ("linear", Backoff::Linear),
    ("exponential", Backoff::Exponential),
];

/// Reads it.
pub(super) fn read(reader: &mut Reader, node: &Node) -> Option<Retry> {
    let mut fields = Fields::of(reader, "`retry`", node)?;
    let max_attempts = fields.whole(reader, "max_attempts", 1, i64::from(u32::MAX));
    if !fields.has("max_attempts") {
        fields.missing(reader, "max_attempts", "how often the step is tried in all");
    }
    let retry = Retry {
        max_attempts: max_attempts.and_then(|n| u32::try_from(n).ok()).unwrap_or(1),
        initial_delay: fields.duration(reader, "initial_delay").unwrap_or(Duration::ZERO),
        max_delay: fields.duration(reader, "max_delay").filter(|delay| !delay.is_zero()),
        backoff: fields.word(reader, "backoff", &BACKOFFS).unwrap_or_default(),
        multiplier: part(reader, &mut fields, "multiplier", 0.0..=1e9).unwrap_or(2.0),
        jitter: part(reader, &mut fields, "jitter", 0.0..=1.0).unwrap_or(0.0),
        retryable_exit_codes: fields
            .take("retryable_exit_codes")
            .map(|node| codes(reader, node))
            .unwrap_or_default(),
    };
    fields.finish(reader);
    Some(retry)
}

fn part(
    reader: &mut Reader,
    fields: &mut Fields<'_>,
    key: &'static str,
    range: std::ops::RangeInclusive<f64>,
) -> Option<f64> {
    let node = fields.take(key)?;
    let number = reader.number(&format!("`{key}`"), node)?;
    if !range.contains(&number) {
        let expected = format!("a number from {} to {}", range.start(), range.end());
        reader.error(&node.place, format!("`{key}` is {number}"), &expected);
        return None;
    }
    Some(number)
}

fn codes(reader: &mut Reader, node: &Node) -> Vec<i64> {
    let what = "`retryable_exit_codes`";
    match &node.content {
        Content::Sequence(items) => {
            items.iter().filter_map(|item| reader.whole(what, item, -255, 255)).collect()
        }
        _ => {
            reader.error(&node.place, format!("{what} is {}", node.describe()), "a list of codes");
            Vec::new()
        }
    }
}
