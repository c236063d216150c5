//! Golden cases: `<case>.in.<any>` becomes `<case>.out.jsonl`.
//!
//! `BLESS=1` writes what the code makes now; look at the difference before committing it. Cases
//! are written without foreign bytes (`raw`), except those whose name begins with `raw_`.

use std::fs;

use quipu_provider::{KeptBytes, PROVIDERS};

use crate::case;
use crate::reading::{lines, read, read_in_pieces};

#[test]
fn every_case_becomes_what_it_became_before() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for case in case::all() {
        let kept = match case.name.starts_with("raw_") {
            true => KeptBytes::Full,
            false => KeptBytes::Unknown,
        };
        let (made, _) = read(case.surface, kept, &case.input);
        let actual = lines(&made);
        if bless {
            fs::write(&case.expected, &actual).unwrap();
        } else if fs::read_to_string(&case.expected).unwrap_or_default() != actual {
            wrong.push(format!("{}:\n{actual}", case.title()));
        }
    }
    assert!(wrong.is_empty(), "run with BLESS=1 and look at the difference:\n{}", wrong.join("\n"));
}

#[test]
fn any_split_of_the_byte_stream_gives_the_same_events() {
    for case in case::all() {
        let (whole, tally) = read(case.surface, KeptBytes::Full, &case.input);
        for size in [1, 2, 3, 7, 64, 1000] {
            let (pieces, pieces_tally) =
                read_in_pieces(case.surface, KeptBytes::Full, case.input.chunks(size));
            assert_eq!(lines(&pieces), lines(&whole), "{} in pieces of {size}", case.title());
            assert_eq!(pieces_tally, tally, "{} in pieces of {size}", case.title());
        }
    }
}

#[test]
fn every_case_is_known_for_what_it_is() {
    for case in case::all() {
        let found = quipu_provider::detect(&case.input, PROVIDERS)
            .unwrap_or_else(|| panic!("{} looks like nobody's", case.title()));
        let found = format!("{}/{}/", found.provider.name, found.surface.name);
        assert!(case.title().starts_with(&found), "{} is taken for {found}", case.title());
    }
}
