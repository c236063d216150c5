//! What the framer makes of good and of broken input.

use proptest::prelude::*;

use super::*;

/// Describes what `input` becomes: `{…}` for a record, `!what` for damage.
fn frame(framing: Framing, pieces: &[&[u8]]) -> Vec<String> {
    let mut seen = Vec::new();
    let mut sink = |fragment: Fragment<'_>| {
        seen.push(match fragment {
            Fragment::Record(record) => {
                let Place { line, offset, .. } = record.place;
                format!("{line}@{offset} {}", record.source)
            }
            Fragment::Damage { exact, place, what, worth } => {
                let kept = if worth == Worth::Kept { exact.len() } else { 0 };
                format!("{}@{} !{what} ({kept} kept)", place.line, place.offset)
            }
        });
    };
    let mut framer = Framer::new(framing);
    for piece in pieces {
        framer.push(piece, &mut sink);
    }
    framer.finish(&mut sink);
    seen
}

#[test]
fn whole_lines_are_records() {
    let cases: [(&[u8], &[&str]); 8] = [
        (b"", &[]),
        (b"{\"a\":1}\n{\"b\":2}\n", &["1@0 {\"a\":1}", "2@8 {\"b\":2}"]),
        (b"{\"a\":1}\r\n\r\n  \n{\"b\":2}", &["1@0 {\"a\":1}", "4@14 {\"b\":2}"]),
        (b"\xEF\xBB\xBF{\"a\":1}\n\xEF\xBB\xBF{\"b\":2}\n", &["1@3 {\"a\":1}", "2@14 {\"b\":2}"]),
        (b"{\"a\":1,\"a\":2}\n", &["1@0 {\"a\":1,\"a\":2}"]),
        (b"{\"a\":\"\\ud83d\"}\n", &["1@0 {\"a\":\"\\ufffd\"}"]),
        ("{\"a\":\"\u{2028}\"}\n".as_bytes(), &["1@0 {\"a\":\"\u{2028}\"}"]),
        (
            b"7\n\"x\"\n[]\n[{\"a\":1},{\"b\":2}]\n",
            &["1@0 7", "2@2 \"x\"", "3@6 []", "4@10 {\"a\":1}", "4@18 {\"b\":2}"],
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(frame(Framing::Lines, &[input]), expected, "{}", input.escape_ascii());
    }
}

#[test]
fn what_can_be_saved_of_a_broken_line_is_saved() {
    let cut = "!cut off in the middle of a record";
    let cases: [(&[u8], Vec<String>); 12] = [
        (b"{\"a\":\"x\",\"b\":{\"c\":1}", vec![format!("1@0 {cut} (20 kept)")]),
        (b"{\"a\":1}{\"b\":2}\n", vec!["1@0 {\"a\":1}".into(), "1@7 {\"b\":2}".into()]),
        (
            b"{\"a\":\"tr{\"b\":2}\n",
            vec!["1@0 !a record cut off by the next one (8 kept)".into(), "1@8 {\"b\":2}".into()],
        ),
        (b"{\"a\":\"x\xffy\"}\n", vec!["1@0 {\"a\":\"x\u{fffd}y\"}".into()]),
        (b"{\"a\":\"x\x00\ty\"}\n", vec!["1@0 {\"a\":\"x\\u0000\\u0009y\"}".into()]),
        (
            b"{\"a\":\"x\ny\"}\n{\"b\":2}\n",
            vec![
                "1@0 {\"a\":\"x\\u000ay\"}".into(),
                "1@0 !a raw line feed inside a string (0 kept)".into(),
                "3@12 {\"b\":2}".into(),
            ],
        ),
        (b"{\"a\":\"x\n{\"b\":2}\n", vec![format!("1@0 {cut} (7 kept)"), "2@8 {\"b\":2}".into()]),
        (b"{\"a\":1}\n{\"b\":\"x", vec!["1@0 {\"a\":1}".into(), format!("2@8 {cut} (7 kept)")]),
        (
            b"{\"a\":1}\0\0\0\n\0\0\n",
            vec![
                "1@0 {\"a\":1}".into(),
                "1@0 !NUL bytes instead of text (0 kept)".into(),
                "2@13 !NUL bytes instead of text (0 kept)".into(),
            ],
        ),
        (b"[DEBUG] hello {\"a\":1}\n", vec!["1@0 !not JSON (21 kept)".into()]),
        (b"{\"a\":1}{\"b\":}\n", vec!["1@0 {\"a\":1}".into(), "1@7 !not JSON (6 kept)".into()]),
        (b"{\"a\":1} trailing\n", vec!["1@0 {\"a\":1}".into(), "1@8 !not JSON (8 kept)".into()]),
    ];
    for (input, expected) in cases {
        assert_eq!(frame(Framing::Lines, &[input]), expected, "{}", input.escape_ascii());
    }
}

#[test]
fn a_record_nested_however_deep_is_a_record() {
    let deep = format!("{{\"a\":{}{}}}\n", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(frame(Framing::Lines, &[deep.as_bytes()]).len(), 1);
}

#[test]
fn a_document_over_many_lines_is_one_record() {
    let document = b"\n{\n  \"a\": [1,\n2]\n}\n";
    let cases: [(&[u8], &[&str]); 4] = [
        (document, &["2@1 {\n  \"a\": [1,\n2]\n}"]),
        (b"{\"a\":1}\n{\"b\":2}\n", &["1@0 {\"a\":1}", "2@8 {\"b\":2}"]),
        (b"{\"a\":\"x", &["1@0 !cut off in the middle of a record (7 kept)"]),
        (
            b"{\n\"a\"\n{\"b\":2}\n",
            &["1@0 !cut off in the middle of a record (1 kept)", "2@2 \"a\"", "3@6 {\"b\":2}"],
        ),
    ];
    for framing in [Framing::LinesOrDocument, Framing::Http] {
        for (input, expected) in cases {
            assert_eq!(frame(framing, &[input]), expected, "{}", input.escape_ascii());
        }
    }
}

#[test]
fn the_data_of_server_sent_events_are_records() {
    let cases: [(&[u8], &[&str]); 3] = [
        (
            b": hi\nevent: x\r\ndata: {\"a\":1}\r\n\r\nid: 7\ndata:{\"b\":2}\n\ndata: [DONE]\n\n",
            &["3@21 {\"a\":1}", "6@43 {\"b\":2}"],
        ),
        (b"data: {\"a\":\ndata: 1}\n\n", &["1@6 {\"a\":\n1}"]),
        (
            b"data: {\"a\":\n\ndata: {\"b\":2}\n\n",
            &["1@6 !cut off in the middle of a record (5 kept)", "3@19 {\"b\":2}"],
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(frame(Framing::Http, &[input]), expected, "{}", input.escape_ascii());
    }
}

/// Input made of the pieces that break readers.
fn any_input() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"{\"a\":1}".to_vec()),
        Just(b"{\"a\":\"x".to_vec()),
        Just(b"y\"}".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\0\0".to_vec()),
        Just(b"\xff".to_vec()),
        Just(b"\\ud83d".to_vec()),
        Just(b"data: ".to_vec()),
        Just(b"event: e\n".to_vec()),
        Just(b"\xEF\xBB\xBF".to_vec()),
        Just(b"[{".to_vec()),
        Just(b"}]".to_vec()),
        "[ -~]{0,4}".prop_map(String::into_bytes),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_records(input in any_input(), cuts in proptest::collection::vec(0_usize..200, 0..6)) {
        for framing in [Framing::Lines, Framing::LinesOrDocument, Framing::Http] {
            let mut cuts: Vec<_> = cuts.iter().map(|cut| (*cut).min(input.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&input[from..cut]);
                from = cut;
            }
            pieces.push(&input[from..]);
            prop_assert_eq!(frame(framing, &pieces), frame(framing, &[&input]));
        }
    }
}
