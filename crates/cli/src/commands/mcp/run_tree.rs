//! The tool `run_tree`.

use quipu_journal::Layout;

use super::bounds::ANSWER;
use super::find;
use super::toolset::Said;
use super::wire::RunTree;
use crate::commands::tree::drawn;

pub(super) fn said(layout: &Layout, asked: &RunTree) -> anyhow::Result<Said> {
    let run = find::run(layout, &asked.run)?;
    let mut text = match drawn(layout, &run, asked.depth)? {
        Some(text) => text,
        None => format!("run {run} has no event yet\n"),
    };
    if text.len() > ANSWER {
        let end = text[..text.floor_char_boundary(ANSWER)].rfind('\n').map_or(0, |at| at + 1);
        let hidden = text[end..].lines().count();
        text.truncate(end);
        text.push_str(&format!(
            "[{hidden} more lines: ask with a smaller depth, or read_run with a path]\n"
        ));
    }
    Ok(Said { text, structured: None })
}
