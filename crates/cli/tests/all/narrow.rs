//! Tables and trees on narrow screens: no line is broken, and what matters most stays.

use crate::live::on_a_terminal_as_wide_as;
use crate::session::Session;
use crate::transcripts::{REVIEW_ID, session};

fn lines(width: u16, session: &Session, arguments: &[&str]) -> Vec<String> {
    let lines = on_a_terminal_as_wide_as(width, session, arguments);
    // A sentence may be broken, and a command that is suggested must not be cut.
    let is_sentence = |line: &&String| ["note: ", "hint: "].iter().any(|it| line.starts_with(it));
    for line in lines.iter().filter(|line| !is_sentence(line)) {
        let columns = line.chars().count();
        assert!(columns <= usize::from(width), "{columns} of {width} in {arguments:?}: {line}");
    }
    lines
}

#[test]
fn no_line_is_wider_than_the_screen() {
    let session = session();
    for width in [24, 40, 60, 100] {
        for arguments in [&["tree", "last"][..], &["stats", "last"], &["stats"]] {
            assert!(lines(width, &session, arguments).len() > 4, "{arguments:?} at {width}");
        }
    }
    lines(40, &session, &["ls"]);
}

#[test]
fn a_narrow_tree_does_without_its_last_facts_but_says_what_went_wrong() {
    let session = session();
    let narrow = lines(60, &session, &["tree", REVIEW_ID]);
    let lint = narrow.iter().find(|line| line.contains("call_workflow")).unwrap();
    assert!(lint.contains("exit code 1") && !lint.contains("→ run"), "{lint}");
    let wide = lines(100, &session, &["tree", REVIEW_ID]);
    assert_eq!(wide.join("\n").trim_end(), session.ok(&["tree", REVIEW_ID]).trim_end());
    let narrowest = lines(24, &session, &["tree", REVIEW_ID]);
    assert!(narrowest.iter().any(|line| line.ends_with('…')), "{narrowest:?}");
}

#[test]
fn narrow_numbers_keep_what_failed_and_an_id_that_can_be_copied() {
    let session = session();
    let narrow = lines(40, &session, &["stats", REVIEW_ID]);
    assert_eq!(narrow[0], "run       11111111");
    assert!(narrow.contains(&"STEP        KIND           TIMES  FAILED".to_owned()), "{narrow:?}");
    assert!(narrow.contains(&"TOOL  CALLS  FAILED  BLOCKED  DANGLING".to_owned()), "{narrow:?}");
}
