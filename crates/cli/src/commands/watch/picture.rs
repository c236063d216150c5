//! A board as lines of text: totals, titles, one row per run. It fits whatever paper it is given.

use anstyle::{AnsiColor, Effects, Style};
use quipu_event::payload::{RunKind, TokenCounts};
use quipu_view::activity::State;

use super::face::{Board, Row};
use crate::format::visible::{columns, one_line};
use crate::format::{count, span, style};

/// What is waited for must be seen from afar.
const CALLING: Style =
    AnsiColor::Yellow.on_default().effects(Effects::BOLD.insert(Effects::INVERT));
/// Below this height the titles give way to one more row.
const ROOM_FOR_TITLES: usize = 8;

/// What a board is drawn on.
pub(super) struct Paper {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Whether it is painted over and over.
    pub(super) is_live: bool,
}

/// Draws a board.
pub(super) fn picture(board: &Board<'_>, paper: &Paper) -> Vec<String> {
    let dim = style::DIM;
    let mut lines = vec![header(board, paper)];
    if board.rows.is_empty() {
        let text = match paper.is_live {
            true => "Nothing runs now. A session that begins appears here.",
            false => "Nothing runs now.",
        };
        lines.push(format!("{dim}{}{dim:#}", one_line(text, paper.width.saturating_sub(1))));
        return lines;
    }
    let plan = Plan::of(board, paper.width);
    if paper.height >= ROOM_FOR_TITLES {
        lines.push(format!("{dim}{}{dim:#}", plan.titles()));
    }
    // The line below the last one stays free: it is where the cursor rests.
    let room = paper.height.saturating_sub(lines.len() + 1).max(1);
    let shown = match board.rows.len() {
        all if all <= room => all,
        _ => room.saturating_sub(1),
    };
    lines.extend(board.rows[..shown].iter().map(|row| plan.row(row, board)));
    if shown < board.rows.len() {
        let rest = &board.rows[shown..];
        let waiting = rest.iter().filter(|row| row.state == State::Waiting).count();
        let waiting = if waiting > 0 { format!(", {waiting} waiting") } else { String::new() };
        lines.push(format!("{dim}… and {} more{waiting}{dim:#}", rest.len()));
    }
    lines
}

fn header(board: &Board<'_>, paper: &Paper) -> String {
    let number = |state: State| board.rows.iter().filter(|row| row.state == state).count();
    let (waiting, working, idle) =
        (number(State::Waiting), number(State::Working), number(State::Idle));
    let mut usage = TokenCounts::default();
    board.rows.iter().for_each(|row| usage.add(&row.activity.usage));
    let mut parts = Vec::new();
    parts.extend((waiting > 0).then(|| (CALLING, format!(" {waiting} waiting "))));
    parts.push((style::BUSY, format!("{working} working")));
    parts.extend((idle > 0).then(|| (style::DIM, format!("{idle} idle"))));
    parts.extend(
        usage.total().map(|total| (style::PLAIN, format!("{} tokens", count::short(total)))),
    );
    parts.extend(usage.cost_usd.map(|cost| (style::PLAIN, count::dollars(cost))));
    parts.extend(board.note.map(|note| (style::ODD, note.to_owned())));
    parts.extend(paper.is_live.then(|| (style::DIM, "q leaves".to_owned())));
    let bold = style::BOLD;
    let mut line = format!("{bold}quipu watch{bold:#}");
    let mut room = paper.width.saturating_sub("quipu watch".len() + 1);
    for (style, text) in parts {
        let text = match text.starts_with(' ') {
            true => text,
            false => one_line(&text, room.saturating_sub(2)),
        };
        if columns(&text) + 2 > room || text == "…" {
            break;
        }
        room -= columns(&text) + 2;
        line += &format!("  {style}{text}{style:#}");
    }
    line
}

/// How wide each column is; one that is not shown is 0 wide.
struct Plan {
    has_long_words: bool,
    state: usize,
    agent: usize,
    model: usize,
    project: usize,
    action: usize,
    tokens: usize,
    cost: usize,
}

/// How wide an age is.
const AGE: usize = 4;

impl Plan {
    fn of(board: &Board<'_>, width: usize) -> Plan {
        let widest = |title: &str, text: &dyn Fn(&Row<'_>) -> String, most: usize| {
            let cells = board.rows.iter().map(|row| columns(&text(row)));
            cells.max().unwrap_or(0).max(title.len()).min(most)
        };
        let when = |is_shown: bool, columns: usize| if is_shown { columns } else { 0 };
        let has_long_words = width >= 90;
        let state = widest("", &|row| word(row, has_long_words).to_owned(), 20);
        let mut plan = Plan {
            has_long_words,
            state,
            agent: when(width >= 60, widest("AGENT", &agent, 10)),
            model: when(width >= 130, widest("MODEL", &model, 20)),
            project: widest("PROJECT", &project, if width < 70 { 12 } else { 20 }),
            action: 0,
            tokens: when(width >= 48, widest("TOKENS", &tokens, 8)),
            cost: when(width >= 72, widest("COST", &cost, 9)),
        };
        let cells = [plan.state, AGE, plan.agent, plan.model, plan.project, plan.tokens, plan.cost];
        let taken: usize = cells.iter().filter(|cell| **cell > 0).map(|cell| cell + 2).sum();
        // The sign stands in front, and the last column stays free.
        plan.action = width.saturating_sub(taken + 3).max(8);
        plan
    }

    fn titles(&self) -> String {
        let cells = Cells {
            state: "STATE".to_owned(),
            age: String::new(),
            agent: "AGENT".to_owned(),
            model: "MODEL".to_owned(),
            project: "PROJECT".to_owned(),
            action: "DOING".to_owned(),
            tokens: "TOKENS".to_owned(),
            cost: "COST".to_owned(),
        };
        format!("  {}{}", self.left(&cells.state, self.state), self.rest(&cells, style::PLAIN))
    }

    fn row(&self, row: &Row<'_>, board: &Board<'_>) -> String {
        let (sign, colour, rest) = looks(row);
        let cells = Cells {
            state: word(row, self.has_long_words).to_owned(),
            age: row.activity.since().map_or(String::new(), |since| span::age(board.now, since)),
            agent: agent(row),
            model: model(row),
            project: project(row),
            action: match row.is_behind && row.activity.latest.is_none() {
                true => "reading…".to_owned(),
                false => row.activity.action().to_string(),
            },
            tokens: tokens(row),
            cost: cost(row),
        };
        let state = self.left(&cells.state, self.state);
        format!("{colour}{sign} {state}{colour:#}{}", self.rest(&cells, rest))
    }

    /// Returns everything behind the state.
    fn rest(&self, cells: &Cells, colour: Style) -> String {
        let bold = if colour == style::DIM { style::DIM } else { style::BOLD };
        let mut line = format!("  {colour}{}", self.right(&cells.age, AGE));
        let mut add = |text: String| {
            line += "  ";
            line += &text;
        };
        if self.agent > 0 {
            add(self.left(&cells.agent, self.agent));
        }
        if self.model > 0 {
            add(self.left(&cells.model, self.model));
        }
        add(format!("{colour:#}{bold}{}{bold:#}{colour}", self.left(&cells.project, self.project)));
        add(self.left(&cells.action, self.action));
        if self.tokens > 0 {
            add(self.right(&cells.tokens, self.tokens));
        }
        if self.cost > 0 {
            add(self.right(&cells.cost, self.cost));
        }
        line += &format!("{colour:#}");
        line
    }

    fn left(&self, text: &str, width: usize) -> String {
        let text = one_line(text, width);
        let padding = width.saturating_sub(columns(&text));
        format!("{text}{:padding$}", "")
    }

    fn right(&self, text: &str, width: usize) -> String {
        let text = one_line(text, width);
        let padding = width.saturating_sub(columns(&text));
        format!("{:padding$}{text}", "")
    }
}

struct Cells {
    state: String,
    age: String,
    agent: String,
    model: String,
    project: String,
    action: String,
    tokens: String,
    cost: String,
}

/// Returns the sign of a row, the colour of its state, and that of the rest.
fn looks(row: &Row<'_>) -> (&'static str, Style, Style) {
    match &row.state {
        State::Waiting => ("▶", CALLING, style::PLAIN),
        State::Working => ("●", style::BUSY, style::PLAIN),
        State::Idle => ("○", style::DIM, style::DIM),
        State::Ended(status) if status.is_failure() => ("✗", style::BAD, style::DIM),
        State::Ended(_) => ("✓", style::GOOD, style::DIM),
        State::Interrupted => ("!", style::ODD, style::DIM),
    }
}

fn word<'a>(row: &'a Row<'_>, is_long: bool) -> &'a str {
    match &row.state {
        State::Waiting if is_long => "waiting for you",
        state => state.word(),
    }
}

fn agent(row: &Row<'_>) -> String {
    let kind = match row.activity.kind {
        Some(RunKind::Workflow) => "workflow",
        _ => "–",
    };
    one_line(row.activity.agent.as_deref().unwrap_or(kind), 40)
}

fn model(row: &Row<'_>) -> String {
    one_line(row.activity.model.as_deref().unwrap_or("–"), 40)
}

fn project(row: &Row<'_>) -> String {
    one_line(row.activity.project().unwrap_or("–"), 40)
}

fn tokens(row: &Row<'_>) -> String {
    row.activity.usage.total().map_or_else(|| "–".to_owned(), count::short)
}

fn cost(row: &Row<'_>) -> String {
    row.activity.usage.cost_usd.map_or_else(|| "–".to_owned(), count::dollars)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anstream::adapter::strip_str;
    use quipu_event::{RunId, Timestamp, decode_line};
    use quipu_view::Activity;

    fn activity(text: &str) -> Activity {
        let text = serde_json::to_string(text).unwrap();
        let lines = [
            r#"{"seq":1,"run_id":"r","type":"run.started","timestamp":"2026-01-01T00:00:00Z","payload":{"name":"claude","kind":"session","cwd":"/home/ada/quipu","agent":{"provider":"claude"}}}"#.to_owned(),
            r#"{"seq":2,"run_id":"r","type":"usage","timestamp":"2026-01-01T00:00:01Z","payload":{"input_tokens":12345}}"#.to_owned(),
            format!(r#"{{"seq":3,"run_id":"r","type":"message.assistant","timestamp":"2026-01-01T00:00:02Z","payload":{{"stop_reason":"end_turn","blocks":[{{"type":"text","text":{text}}}]}}}}"#),
        ];
        let mut activity = Activity::default();
        for line in lines {
            activity.add(&decode_line(line.as_bytes()).unwrap());
        }
        activity
    }

    /// Draws `states` of a run that said `text`.
    fn drawn(states: &[State], text: &str, width: usize, height: usize) -> Vec<String> {
        let (run, activity) = (RunId::parse("r").unwrap(), activity(text));
        let row = |state: &State| Row {
            run: &run,
            activity: &activity,
            state: state.clone(),
            is_behind: false,
        };
        let rows = states.iter().map(row).collect();
        let now = Timestamp::parse("2026-01-01T00:03:02Z").unwrap();
        let board = Board { rows, now, note: None };
        picture(&board, &Paper { width, height, is_live: true })
    }

    fn plain(lines: &[String]) -> Vec<String> {
        lines.iter().map(|line| strip_str(line).to_string().trim_end().to_owned()).collect()
    }

    #[test]
    fn a_row_says_who_is_where_and_does_what() {
        let lines = drawn(&[State::Waiting, State::Working], "All pass.", 96, 30);
        assert_eq!(
            plain(&lines),
            [
                "quipu watch   1 waiting   1 working  24.6k tokens  q leaves",
                "  STATE                  AGENT   PROJECT  DOING                                    TOKENS  COST",
                "▶ waiting for you    3m  claude  quipu    wrote: All pass.                          12.3k     –",
                "● working            3m  claude  quipu    wrote: All pass.                          12.3k     –",
            ]
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_or_more_than_it_has() {
        let states = [State::Waiting, State::Working, State::Idle, State::Interrupted];
        let states: Vec<State> = states.iter().cycle().take(40).cloned().collect();
        for (width, height) in [(40, 10), (50, 10), (60, 5), (72, 24), (100, 30), (140, 60)] {
            let lines = plain(&drawn(&states, &"長い text ".repeat(50), width, height));
            assert!(lines.len() < height, "{} lines of {height}", lines.len());
            for line in &lines {
                assert!(columns(line) < width, "{} of {width}: {line}", columns(line));
            }
            let is_cut = height < 42;
            assert_eq!(lines.last().unwrap().starts_with("… and "), is_cut, "{lines:#?}");
        }
    }

    #[test]
    fn foreign_text_cannot_steer_the_terminal() {
        let lines = drawn(&[State::Waiting], "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}H\rover", 100, 30);
        for line in &lines {
            assert!(!strip_str(line).to_string().chars().any(char::is_control), "{line:?}");
            assert!(!line.contains("\u{1b}[2J") && !line.contains("\u{1b}]"), "{line:?}");
        }
    }

    #[test]
    fn where_nothing_runs_it_is_said() {
        assert!(plain(&drawn(&[], "", 40, 10))[1].starts_with("Nothing runs now."));
    }
}
