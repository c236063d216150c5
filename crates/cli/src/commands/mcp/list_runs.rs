//! The tool `list_runs`.

use anyhow::{anyhow, bail};
use quipu_event::Timestamp;
use quipu_journal::Layout;
use serde_json::{Value, json};

use super::bounds::{EITHER, cut};
use super::find;
use super::toolset::Said;
use super::wire::ListRuns;
use crate::commands::ls::{Facts, fill_in_tokens, newest_first, now};
use crate::format::status::STANDINGS;
use crate::format::visible::one_line;
use crate::format::{count, span};

/// How many runs are listed unless asked otherwise, and at most.
const USUAL: usize = 20;
const MOST: usize = 200;
/// How much of a name is shown.
const WIDEST_NAME: usize = 120;

pub(super) fn said(layout: &Layout, asked: &ListRuns) -> anyhow::Result<Said> {
    let now = now()?;
    let since = asked.since.as_deref().map(|text| begin(text, now)).transpose()?;
    let mut runs = newest_first(layout, now)?.runs;
    let total = runs.len();
    if total == 0 {
        return Ok(Said { text: find::none(layout), structured: Some(json!({ "runs": [] })) });
    }
    runs.retain(|run| is_wanted(run, asked, since));
    let matching = runs.len();
    if let (0, Some(status)) = (matching, &asked.status)
        && !STANDINGS.iter().any(|known| known.eq_ignore_ascii_case(status))
    {
        bail!("status is {status:?}: expected one of {}", STANDINGS.join(", "));
    }
    let skipped = asked.offset.unwrap_or(0).min(matching);
    runs.drain(..skipped);
    runs.truncate(asked.limit.unwrap_or(USUAL).clamp(1, MOST));
    fill_in_tokens(&mut runs);
    let mut text = format!(
        "{} of {} that match, of {}:\n",
        runs.len(),
        matching,
        count::of(total as u64, "run")
    );
    let (mut rows, mut length) = (Vec::new(), 0);
    for run in &runs {
        let (row, structured) = (row(run, now), structured(run)?);
        length += structured.to_string().len();
        if text.len() + row.len() > EITHER || length > EITHER {
            break;
        }
        text.push_str(&row);
        rows.push(structured);
    }
    let next = Some(skipped + rows.len()).filter(|next| *next < matching);
    if let Some(next) = next {
        text.push_str(&format!(
            "There are more: continue with offset {next}, or narrow it by name, status or since.\n"
        ));
    }
    let shown = rows.len();
    let structured = json!({
        "runs": rows, "shown": shown, "matching": matching, "total": total, "next_offset": next,
    });
    Ok(Said { text, structured: Some(structured) })
}

fn is_wanted(run: &Facts, asked: &ListRuns, since: Option<Timestamp>) -> bool {
    let name = run.name.as_deref().unwrap_or_default().to_lowercase();
    asked.status.as_ref().is_none_or(|status| run.standing.word().eq_ignore_ascii_case(status))
        && asked.name.as_ref().is_none_or(|text| name.contains(&text.to_lowercase()))
        && since.is_none_or(|since| run.started.is_some_and(|started| started >= since))
}

fn row(run: &Facts, now: Timestamp) -> String {
    let name = run.name.as_deref().unwrap_or("-");
    let mut facts = vec![run.standing.word().to_owned()];
    facts.extend(run.started.map(|started| format!("{} ago", span::age(now, started))));
    facts.extend(run.duration_ms.map(|ms| format!("took {}", span::duration(ms))));
    facts.extend(run.events.map(|events| count::of(events, "event")));
    let tokens = run.tokens.and_then(|tokens| tokens.total());
    facts.extend(tokens.map(|tokens| format!("{} tokens", count::short(tokens))));
    facts.extend((!run.agents.is_empty()).then(|| run.agents.join(", ")));
    facts.extend(run.parent.as_ref().map(|parent| format!("called by {parent}")));
    format!(
        "{}  {}  {}\n",
        run.run_id,
        one_line(name, WIDEST_NAME),
        one_line(&facts.join(" · "), 400)
    )
}

fn structured(run: &Facts) -> anyhow::Result<Value> {
    let mut run = serde_json::to_value(run)?;
    if let Some(Value::String(name)) = run.get_mut("name") {
        cut(name, WIDEST_NAME * 4);
    }
    Ok(run)
}

/// Reads a time, or an age such as `30m`, `2h` or `7d`.
fn begin(text: &str, now: Timestamp) -> anyhow::Result<Timestamp> {
    let wrong = || {
        anyhow!(
            "since is {text:?}: expected a time such as 2026-01-31T12:00:00Z, or an age such as 30m, 2h or 7d"
        )
    };
    let unit = |unit: char| match unit {
        's' => Some(1_i64),
        'm' => Some(60),
        'h' => Some(3600),
        'd' => Some(86_400),
        _ => None,
    };
    let text = text.trim();
    if let Some(seconds) = text.chars().next_back().and_then(unit)
        && let Ok(number) = text[..text.len() - 1].trim().parse::<u32>()
    {
        let micros = i64::from(number).saturating_mul(seconds).saturating_mul(1_000_000);
        return Ok(Timestamp::from_micros(now.as_micros().saturating_sub(micros)));
    }
    let day = format!("{text}T00:00:00Z");
    Timestamp::parse(text).or_else(|_| Timestamp::parse(&day)).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_is_a_time_a_day_or_an_age() {
        let now = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        let cases = [
            ("2h", Some("2026-01-31T10:00:00Z")),
            ("7d", Some("2026-01-24T12:00:00Z")),
            ("2026-01-30", Some("2026-01-30T00:00:00Z")),
            ("2026-01-30T01:02:03Z", Some("2026-01-30T01:02:03Z")),
            ("yesterday", None),
            ("", None),
            ("-1h", None),
            ("4294967295d", Some("")),
        ];
        for (text, expected) in cases {
            let begun = begin(text, now);
            match expected {
                None => assert!(begun.is_err(), "{text}"),
                Some("") => assert!(begun.is_ok(), "{text}"),
                Some(time) => assert_eq!(begun.unwrap(), Timestamp::parse(time).unwrap(), "{text}"),
            }
        }
    }
}
