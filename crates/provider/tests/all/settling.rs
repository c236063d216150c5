//! Files that are read while they grow: what is told in between is told once.
//!
//! Whoever follows a session file lets the normaliser settle when the file falls silent. After a
//! restart the same bytes and the same silences have to give the same events again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use quipu_event::payload::{Message, TokenCounts};
use quipu_event::{BlockContent, Kind, Payload};
use quipu_provider::{KeptBytes, Made, Normalizer, Surface, find_provider};

use crate::case;
use crate::conformance::fixtures;
use crate::promises::kept_lines;
use crate::reading::{lines, payloads};

/// The surfaces that are files.
pub(crate) const FILES: [(&str, &str); 4] =
    [("claude", "session"), ("codex", "rollout"), ("copilot", "session"), ("gemini", "session")];

pub(crate) fn surface(provider: &str, name: &str) -> &'static Surface {
    let surfaces = find_provider(provider).unwrap().surfaces;
    surfaces.iter().find(|surface| surface.name == name).unwrap()
}

/// One file that an agent left.
pub(crate) struct File {
    title: String,
    surface: &'static Surface,
    input: Vec<u8>,
}

/// The cases, and the recorded files where there are any.
static ALL: LazyLock<Vec<File>> = LazyLock::new(|| {
    let cases = case::all()
        .into_iter()
        .filter(|case| FILES.contains(&(case.provider.name, case.surface.name)));
    let mut files: Vec<_> = cases
        .map(|case| File { title: case.title(), surface: case.surface, input: case.input })
        .collect();
    if let Some(home) = fixtures() {
        for (provider, name) in FILES {
            let mut paths = Vec::new();
            gather(&home.join("providers").join(provider).join(name), &mut paths);
            for agent in fs::read_dir(home.join("recorded")).into_iter().flatten() {
                gather_sessions(&agent.unwrap().path(), provider, &mut paths);
            }
            for path in paths {
                let (title, surface) = (path.display().to_string(), surface(provider, name));
                files.push(File { title, surface, input: fs::read(path).unwrap() });
            }
        }
    }
    files
});

/// Returns the files that are not too large.
fn files(at_most: usize) -> Vec<&'static File> {
    ALL.iter().filter(|file| file.input.len() <= at_most).collect()
}

/// Adds the session files that runs of a provider's agents have left in their homes.
fn gather_sessions(agent: &Path, provider: &str, paths: &mut Vec<PathBuf>) {
    let home = match provider {
        "gemini" => ".gemini/tmp/project/chats".to_owned(),
        "codex" => ".codex/sessions".to_owned(),
        "copilot" => ".copilot/session-state".to_owned(),
        provider => format!(".{provider}/projects"),
    };
    for run in fs::read_dir(agent).into_iter().flatten() {
        gather(&run.unwrap().path().join("home").join(&home), paths);
    }
}

fn gather(folder: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let is_log = path.extension().is_some_and(|end| end == "jsonl" || end == "json");
        if path.is_dir() {
            gather(&path, paths);
        } else if is_log && !path.to_str().unwrap().ends_with(".meta.json") {
            paths.push(path);
        }
    }
    paths.sort();
}

/// Reads an input that comes cut at `cuts` and falls silent at `silences`.
pub(crate) fn read_settling(
    surface: &Surface,
    input: &[u8],
    silences: &[usize],
    cuts: &[usize],
) -> Vec<Made> {
    let mut normalizer = Normalizer::new(surface, KeptBytes::Full);
    let mut made = Vec::new();
    let silent: BTreeSet<_> = silences.iter().copied().collect();
    let is_silent = |stop: usize| silent.contains(&stop);
    let mut stops: Vec<_> = silences.iter().chain(cuts).copied().collect();
    stops.sort_unstable();
    stops.dedup();
    let mut from = 0;
    for stop in stops.into_iter().map(|stop| stop.min(input.len())) {
        normalizer.push(&input[from..stop], &mut made);
        from = stop;
        if is_silent(stop) {
            normalizer.settle(&mut made);
        }
    }
    normalizer.push(&input[from..], &mut made);
    normalizer.finish(&mut made);
    made
}

/// Tells whether a message may have been told before its id is named.
fn names_late(surface: &Surface) -> bool {
    surface.name == "rollout"
}

/// What has to be the same however often it was told in between.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Sum {
    pub(crate) usage: TokenCounts,
    pub(crate) calls: BTreeMap<String, usize>,
    pub(crate) results: BTreeMap<String, usize>,
    /// Text and thinking by who says it and the message's id.
    pub(crate) said: BTreeMap<(String, Option<String>), (String, String)>,
    pub(crate) kept: BTreeMap<Vec<u8>, usize>,
}

pub(crate) fn sum(made: &[Made], names_late: bool) -> Sum {
    let mut sum = Sum { kept: kept_lines(made), ..Sum::default() };
    for (kind, payload) in payloads(made) {
        match payload {
            Payload::Usage(usage) => sum.usage.add(&usage.tokens()),
            Payload::ToolCall(call) => *sum.calls.entry(call.call_id.clone()).or_default() += 1,
            Payload::ToolResult(result) => {
                *sum.results.entry(result.call_id.clone()).or_default() += 1;
            }
            Payload::Message(mut message) => {
                message.message_id.take_if(|_| names_late);
                add_said(&mut sum, &kind, &message, names_late);
            }
            _ => {}
        }
    }
    sum
}

fn add_said(sum: &mut Sum, kind: &Kind, message: &Message, is_in_parts: bool) {
    let key = (kind.as_str().to_owned(), message.message_id.clone());
    let (text_said, thought) = sum.said.entry(key).or_default();
    for block in &message.blocks {
        match &block.content {
            BlockContent::Text { text } => text_said.push_str(text),
            // Its parts are put together with empty lines if they come together.
            BlockContent::Thinking { thinking, .. } if is_in_parts => {
                thought.push_str(&thinking.replace('\n', ""));
            }
            BlockContent::Thinking { thinking, .. } => thought.push_str(thinking),
            _ => {}
        }
    }
}

/// Tells whether a file takes back what it said.
fn takes_back(input: &[u8]) -> bool {
    let text = String::from_utf8_lossy(input);
    text.contains("\"$rewindTo\"") || text.contains("{\"$set\":{\"messages\"")
}

fn ends_of_lines(input: &[u8]) -> Vec<usize> {
    let ends = input.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    ends.map(|(at, _)| at + 1).collect()
}

/// Returns what is different, so that a long file is not printed.
pub(crate) fn difference(settled: &Sum, whole: &Sum) -> Vec<String> {
    let mut wrong = Vec::new();
    if settled.usage != whole.usage {
        wrong.push(format!("usage {:?}, should be {:?}", settled.usage, whole.usage));
    }
    for (what, settled, whole) in
        [("call", &settled.calls, &whole.calls), ("result", &settled.results, &whole.results)]
    {
        let ids = settled.keys().chain(whole.keys());
        let other = ids.filter(|id| settled.get(*id) != whole.get(*id));
        wrong.extend(
            other.map(|id| format!("{what} {id}: {:?} {:?}", settled.get(id), whole.get(id))),
        );
    }
    let keys: BTreeSet<_> = settled.said.keys().chain(whole.said.keys()).collect();
    for key in keys {
        let of = |sum: &Sum| sum.said.get(key).cloned().unwrap_or_default();
        let ((text, thought), (whole_text, whole_thought)) = (of(settled), of(whole));
        for (settled, whole) in [(text, whole_text), (thought, whole_thought)] {
            if let Some((settled, whole)) = where_different(&settled, &whole) {
                wrong.push(format!("said {key:?}: …{settled:?}, should be …{whole:?}"));
            }
        }
    }
    let kept = settled.kept.keys().chain(whole.kept.keys());
    for line in kept.filter(|line| settled.kept.get(*line) != whole.kept.get(*line)) {
        let times = (settled.kept.get(line), whole.kept.get(line));
        wrong.push(format!("kept {times:?}: {:.200}", line.escape_ascii().to_string()));
    }
    wrong
}

/// Returns a little of two texts from where they are different.
fn where_different(one: &str, other: &str) -> Option<(String, String)> {
    let mut pairs = one.chars().zip(other.chars());
    let same = pairs.position(|(one, other)| one != other);
    let same = same.unwrap_or_else(|| one.chars().count().min(other.chars().count()));
    let rest = |text: &str| text.chars().skip(same).take(80).collect();
    (one != other).then(|| (rest(one), rest(other)))
}

#[test]
fn settling_loses_and_repeats_nothing() {
    let mut wrong = Vec::new();
    for file in files(300_000).into_iter().filter(|file| !takes_back(&file.input)) {
        let names_late = names_late(file.surface);
        let whole = sum(&read_settling(file.surface, &file.input, &[], &[]), names_late);
        let ends = ends_of_lines(&file.input);
        for step in [1, 2, 3, 7] {
            let silences: Vec<_> = ends.iter().copied().step_by(step).collect();
            let settled = read_settling(file.surface, &file.input, &silences, &[]);
            let settled = sum(&settled, names_late);
            let different = difference(&settled, &whole);
            wrong.extend(
                different.into_iter().map(|line| format!("{} /{step}: {line}", file.title)),
            );
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn settling_where_messages_are_taken_back_keeps_every_record_once() {
    let mut checked = 0;
    for file in files(300_000).into_iter().filter(|file| takes_back(&file.input)) {
        let names_late = names_late(file.surface);
        let whole = sum(&read_settling(file.surface, &file.input, &[], &[]), names_late);
        let settled = read_settling(file.surface, &file.input, &ends_of_lines(&file.input), &[]);
        let settled = sum(&settled, names_late);
        assert_eq!(settled.kept, whole.kept, "{}", file.title);
        assert!(settled.calls.values().chain(settled.results.values()).all(|times| *times == 1));
        checked += 1;
    }
    assert!(checked > 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn settling_at_the_same_places_gives_the_same_events_for_any_cut(
        pick in any::<prop::sample::Index>(),
        silences in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let files = files(60_000);
        let File { title, surface, input } = files[pick.index(files.len())];
        let place = |index: &prop::sample::Index| index.index(input.len() + 1);
        let silences: Vec<_> = silences.iter().map(place).collect();
        let cuts: Vec<_> = cuts.iter().map(place).collect();
        let expected = read_settling(surface, input, &silences, &[]);
        let in_pieces = read_settling(surface, input, &silences, &cuts);
        prop_assert_eq!(lines(&in_pieces), lines(&expected), "{}", title);
        prop_assert_eq!(in_pieces, expected, "{}", title);
    }

    #[test]
    fn settling_anywhere_loses_and_repeats_nothing(
        pick in any::<prop::sample::Index>(),
        silences in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let files = files(60_000);
        let File { title, surface, input } = files[pick.index(files.len())];
        prop_assume!(!takes_back(input));
        let silences: Vec<_> =
            silences.iter().map(|index| index.index(input.len() + 1)).collect();
        let whole = sum(&read_settling(surface, input, &[], &[]), names_late(surface));
        let settled = read_settling(surface, input, &silences, &[]);
        let settled = sum(&settled, names_late(surface));
        prop_assert_eq!(difference(&settled, &whole), Vec::<String>::new(), "{}", title);
    }
}
