//! What is drawn, and what is folded into one row.

use quipu_view::tree::{RenderOptions, Row, RowPart, render};

use super::transcript::tree;

/// Draws a loop whose iterations end as `statuses` say; an empty one stays open.
fn draw_loop(statuses: &[&str], fold_above: usize) -> Vec<Row> {
    let mut lines = String::from("{\"type\":\"step.started\",\"path\":\"each\"}\n");
    for (n, status) in statuses.iter().enumerate() {
        let path = format!("each[{n}].check");
        lines += &format!("{{\"type\":\"step.started\",\"path\":\"{path}\"}}\n");
        lines += &format!(
            "{{\"type\":\"usage\",\"path\":\"{path}\",\"payload\":{{\"input_tokens\":1}}}}\n"
        );
        if !status.is_empty() {
            let payload = format!("{{\"status\":\"{status}\"}}");
            lines += &format!(
                "{{\"type\":\"step.completed\",\"path\":\"{path}\",\"payload\":{payload}}}\n"
            );
        }
    }
    render(&tree(&lines), &RenderOptions { fold_above })
}

fn labels(rows: &[Row]) -> Vec<&str> {
    rows[2..].iter().map(|row| row.label.as_str()).collect()
}

#[test]
fn a_long_stretch_of_successful_iterations_is_one_row() {
    let mut statuses = vec!["succeeded"; 1000];
    statuses[2] = "failed";
    statuses[998] = "";
    let rows = draw_loop(&statuses, 20);
    assert_eq!(
        labels(&rows),
        [
            "[0]",
            "check",
            "[1]",
            "check",
            "[2]",
            "check",
            "[3..=997] 995 iterations, all succeeded",
            "[998]",
            "check",
            "[999]",
            "check",
        ]
    );
    let folded = &rows[8];
    assert_eq!(folded.part, RowPart::Iterations(995));
    assert_eq!(folded.work.usage.input_tokens, Some(995));
    assert_eq!(folded.prefix, "   ├─ ");
}

#[test]
fn a_stretch_is_folded_only_above_the_limit() {
    let one_by_one = draw_loop(&["succeeded"; 20], 20);
    assert_eq!(one_by_one.len(), 2 + 20 * 2);
    let folded = draw_loop(&["succeeded"; 21], 20);
    assert_eq!(labels(&folded), ["[0..=20] 21 iterations, all succeeded"]);
}

#[test]
fn a_failure_is_never_folded_away() {
    for status in ["failed", "canceled", "aborted", "blocked", "from_the_future", ""] {
        let mut statuses = vec!["succeeded"; 100];
        statuses[50] = status;
        let rows = draw_loop(&statuses, 2);
        let shown = rows.iter().any(|row| row.label == "[50]");
        assert!(shown, "{status:?} is not among {:?}", labels(&rows));
    }
}

#[test]
fn a_failure_inside_a_step_that_succeeded_is_not_folded_away_either() {
    let mut lines = String::new();
    for n in 0..50 {
        let branch = if n == 30 { "failed" } else { "succeeded" };
        for (path, status) in
            [(format!("each[{n}].all"), "succeeded"), (format!("each[{n}].all.one"), branch)]
        {
            lines += &format!(
                "{{\"type\":\"step.completed\",\"path\":\"{path}\",\"payload\":{{\"status\":\"{status}\"}}}}\n"
            );
        }
    }
    let rows = render(&tree(&lines), &RenderOptions { fold_above: 5 });
    let labels: Vec<_> = labels(&rows);
    assert_eq!(
        labels,
        [
            "[0..=29] 30 iterations, all succeeded",
            "[30]",
            "all",
            "one",
            "[31..=49] 19 iterations, all succeeded",
        ]
    );
}
