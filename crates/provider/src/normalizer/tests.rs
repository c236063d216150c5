//! Where a normaliser stands in its input, and inputs that follow one another.

use quipu_event::Kind;

use super::*;
use crate::find_provider;

const THREAD: &[u8] = b"{\"type\":\"thread.started\",\"thread_id\":\"t1\"}\n";
const TURN: &[u8] = b"{\"type\":\"turn.started\"}\n";

fn normalizer(provider: &str, surface: &str) -> Normalizer {
    let surfaces = find_provider(provider).expect("a provider").surfaces;
    let surface = surfaces.iter().find(|known| known.name == surface).expect("a surface");
    Normalizer::new(surface, KeptBytes::Full)
}

fn kinds(made: &[Made]) -> Vec<&Kind> {
    made.iter().map(|made| &made.draft.kind).collect()
}

#[test]
fn what_has_no_end_yet_is_known_and_where_it_begins() {
    let mut normalizer = normalizer("codex", "exec");
    let mut made = Vec::new();
    normalizer.push(THREAD, &mut made);
    assert_eq!((normalizer.unfinished(), normalizer.offset()), (&b""[..], THREAD.len() as u64));
    normalizer.push(&TURN[..5], &mut made);
    assert_eq!(normalizer.unfinished(), &TURN[..5]);
    assert_eq!(normalizer.offset(), THREAD.len() as u64);
    normalizer.push(&TURN[5..], &mut made);
    assert_eq!(normalizer.unfinished(), b"");
    assert_eq!(normalizer.offset(), (THREAD.len() + TURN.len()) as u64);
}

#[test]
fn a_tail_is_whole_if_it_is_one_value() {
    let cases: [(&[u8], bool); 13] = [
        (b"", false),
        (b"  \0", false),
        (b"{\"a\":1}", true),
        (b" {\"a\":[1,2]} \r\0\0", true),
        (b"[{\"a\":1}]", true),
        (b"\"a\"", true),
        (b"{\"a\":1", false),
        (b"{\"a\":1}{", false),
        (b"{\"a\":1}{\"a\":1}", false),
        (b"{\"a\":\"\xff\"}", false),
        (b"12", false),
        (b"nonsense", false),
        (b"{\"a\":\"\\ud83d\"}", true),
    ];
    for (tail, expected) in cases {
        for surface in ["session", "stream"] {
            let mut normalizer = normalizer("gemini", surface);
            normalizer.push(tail, &mut Vec::new());
            assert_eq!(normalizer.has_whole_tail(), expected, "{}", tail.escape_ascii());
        }
    }
}

#[test]
fn a_document_is_a_whole_tail_once_it_is_closed() {
    let mut normalizer = normalizer("gemini", "session");
    normalizer.push(b"{\n \"sessionId\": \"s\",\n", &mut Vec::new());
    assert!(!normalizer.has_whole_tail());
    normalizer.push(b" \"messages\": []\n}\n", &mut Vec::new());
    assert!(normalizer.has_whole_tail());
    assert_eq!((normalizer.offset(), normalizer.unfinished().len()), (0, 39));
}

#[test]
fn what_would_go_on_a_torn_record_is_no_whole_tail() {
    let mut normalizer = normalizer("codex", "exec");
    normalizer.push(b"{\"a\":\"x\n\"y\"", &mut Vec::new());
    assert!(!normalizer.has_whole_tail());
}

#[test]
fn a_line_that_is_skipped_counts_and_says_nothing() {
    let mut normalizer = normalizer("codex", "exec");
    let mut made = Vec::new();
    normalizer.push(THREAD, &mut made);
    normalizer.skip(1000);
    normalizer.push(TURN, &mut made);
    normalizer.finish(&mut made);
    let place =
        made.iter().find(|made| made.draft.kind == Kind::System).and_then(|made| made.place);
    let place = place.expect("the turn has a place");
    assert_eq!((place.line, place.offset), (3, THREAD.len() as u64 + 1000));
}

#[test]
fn what_stands_behind_a_skipped_line_does_not_end_a_torn_record() {
    let mut normalizer = normalizer("codex", "exec");
    let mut made = Vec::new();
    normalizer.push(b"{\"a\":\"x\n", &mut made);
    normalizer.skip(10);
    normalizer.push(b"y\"}\n", &mut made);
    normalizer.finish(&mut made);
    assert_eq!(normalizer.tally().problems.len(), 2, "{:?}", normalizer.tally().problems);
}

#[test]
fn a_conclusion_leaves_the_unfinished_line_alone() {
    let whole = [THREAD, b"{\"torn\":\"x\n", &TURN[..9]].concat();
    let mut concluded = normalizer("codex", "exec");
    let mut made = Vec::new();
    concluded.push(&whole, &mut made);
    concluded.conclude(&mut made);
    // The torn line has ended, so that it is not left alone.
    assert_eq!(kinds(&made), [&Kind::RunStarted, &Kind::Unknown, &Kind::RunCompleted]);
    assert_eq!(concluded.unfinished(), &TURN[..9]);

    let mut finished = normalizer("codex", "exec");
    let mut expected = Vec::new();
    finished.push(&whole[..whole.len() - 9], &mut expected);
    finished.finish(&mut expected);
    assert_eq!(made, expected);
}

#[test]
fn one_input_ends_and_the_next_begins_at_its_own_beginning() {
    let mut normalizer = normalizer("codex", "exec");
    let mut made = Vec::new();
    normalizer.push(&[THREAD, &TURN[..TURN.len() - 1]].concat(), &mut made);
    normalizer.end_input(&mut made);
    assert_eq!((normalizer.unfinished(), normalizer.offset()), (&b""[..], 0));
    assert!(!kinds(&made).contains(&&Kind::RunCompleted), "the run goes on");
    let before = made.len();
    normalizer.push(TURN, &mut made);
    normalizer.finish(&mut made);
    let place = made[before].place.expect("the second input's turn has a place");
    assert_eq!((place.line, place.offset), (1, 0));
    assert_eq!(made.last().expect("an end").draft.kind, Kind::RunCompleted);
}
