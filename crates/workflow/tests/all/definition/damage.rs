//! No text and no damage makes checking panic or tell a place that is not there.

use proptest::prelude::*;

use super::check_text;

proptest! {
    #[test]
    fn no_text_makes_checking_panic(text in ".{0,200}") {
        check_text(&text);
    }

    #[test]
    fn no_damage_to_a_workflow_makes_checking_panic(
        at in 0usize..4000,
        cut in 0usize..40,
        put in "[ \\n\\-:{}\\[\\]'\"|>&*!#a-z0-9]{0,12}",
    ) {
        let text = include_str!("everything.yaml");
        let floor = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
        let (begin, end) = (floor(at), floor(at + cut));
        let damaged = format!("{}{put}{}", &text[..begin], &text[end..]);
        let checked = check_text(&damaged);
        let lines = damaged.lines().count() + 1;
        for problem in &checked.problems {
            prop_assert!(problem.line >= 1 && problem.line <= lines, "{}", problem);
            prop_assert!(problem.column >= 1, "{}", problem);
        }
    }
}
