//! What has been told of a message, and what a later version of it has to add.
//!
//! A message that goes on where it ended is told from there on. One that says something else is
//! told again as far as it is new.

use std::collections::HashSet;

use quipu_event::payload::{TokenCounts, Usage};
use quipu_event::{BlockContent, ContentBlock};

/// What has been told of one message.
#[derive(Default)]
pub(super) struct Told {
    /// What the last version said.
    latest: Vec<ContentBlock>,
    /// What only versions before it said.
    older: Vec<ContentBlock>,
    /// The calls that it had an answer for.
    pub(super) answered: HashSet<String>,
    /// What was added to it by the agent, or what it noted.
    pub(super) note: Option<String>,
    usage: Option<TokenCounts>,
}

impl Told {
    /// Tells whether it has said anything.
    pub(super) fn has_said(&self) -> bool {
        !self.latest.is_empty() || !self.older.is_empty()
    }

    /// Returns what has not been told of `blocks`; `remembers` if there may be a later version.
    pub(super) fn news(&mut self, blocks: Vec<ContentBlock>, remembers: bool) -> Vec<ContentBlock> {
        if !self.has_said() {
            if remembers {
                self.latest.clone_from(&blocks);
            }
            return blocks;
        }
        let mut passed: [Option<usize>; 2] = [text, thinking].map(|of| {
            let (said, says) = (joined(&self.latest, of), joined(&blocks, of));
            says.starts_with(&said).then_some(said.len())
        });
        let [text_passed, thinking_passed] = &mut passed;
        let mut news = Vec::new();
        for block in &blocks {
            let is_new = !self.knows(block);
            let rest = match &block.content {
                BlockContent::Text { text } => rest(text, is_new, text_passed),
                BlockContent::Thinking { thinking, .. } => rest(thinking, is_new, thinking_passed),
                _ => is_new.then_some(0),
            };
            news.extend(rest.map(|from| behind(block, from)));
        }
        let before = std::mem::replace(&mut self.latest, blocks);
        let (latest, older) = (&self.latest, &mut self.older);
        older.extend(before.into_iter().filter(|block| !latest.contains(block)));
        news
    }

    fn knows(&self, block: &ContentBlock) -> bool {
        let mut known = self.latest.iter().chain(&self.older);
        match &block.content {
            // The same call, whatever became of its arguments.
            BlockContent::ToolUse { tool_id: id, .. } => known.any(|known| {
                matches!(&known.content, BlockContent::ToolUse { tool_id, .. } if tool_id == id)
            }),
            _ => known.any(|known| known == block),
        }
    }

    /// Returns what `usage` has beyond what has been told, if there is anything.
    pub(super) fn more_usage(&mut self, usage: Usage) -> Option<Usage> {
        let Some(told) = &mut self.usage else {
            self.usage = Some(usage.tokens());
            return Some(usage);
        };
        let before = *told;
        let beyond = |now: Option<u64>, told: Option<u64>| {
            now.map(|now| now.saturating_sub(told.unwrap_or(0)))
        };
        let more = Usage {
            input_tokens: beyond(usage.input_tokens, told.input_tokens),
            output_tokens: beyond(usage.output_tokens, told.output_tokens),
            cache_read_tokens: beyond(usage.cache_read_tokens, told.cache_read_tokens),
            cache_write_tokens: beyond(usage.cache_write_tokens, told.cache_write_tokens),
            reasoning_tokens: beyond(usage.reasoning_tokens, told.reasoning_tokens),
            ..usage
        };
        told.add(&more.tokens());
        // A count that had been absent is news, even if it is zero.
        (*told != before).then_some(more)
    }
}

/// Returns from where on a text is to be told, if at all; what was `passed` has been told.
fn rest(text: &str, is_new: bool, passed: &mut Option<usize>) -> Option<usize> {
    match passed {
        // It says something else than before.
        None => is_new.then_some(0),
        Some(_) if text.is_empty() => is_new.then_some(0),
        Some(left) => {
            let from = text.len().min(*left);
            *left -= from;
            (from < text.len()).then_some(from)
        }
    }
}

/// Returns a block without what stands before `from`.
fn behind(block: &ContentBlock, from: usize) -> ContentBlock {
    let mut block = block.clone();
    if let BlockContent::Text { text } | BlockContent::Thinking { thinking: text, .. } =
        &mut block.content
    {
        *text = text.get(from..).unwrap_or_default().to_owned();
    }
    block
}

fn text(block: &ContentBlock) -> Option<&str> {
    match &block.content {
        BlockContent::Text { text } => Some(text),
        _ => None,
    }
}

fn thinking(block: &ContentBlock) -> Option<&str> {
    match &block.content {
        BlockContent::Thinking { thinking, .. } => Some(thinking),
        _ => None,
    }
}

fn joined(blocks: &[ContentBlock], of: fn(&ContentBlock) -> Option<&str>) -> String {
    blocks.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use quipu_event::Fidelity;

    use super::*;

    fn texts(pieces: &[&str]) -> Vec<ContentBlock> {
        pieces.iter().map(|text| ContentBlock::text(Fidelity::AgentEmitted, *text)).collect()
    }

    #[test]
    fn a_text_that_goes_on_is_told_from_there_on() {
        let cases: [(&[&str], &[&str], &[&str]); 8] = [
            (&["a"], &["a"], &[]),
            (&["a"], &["a", "a"], &["a"]),
            (&["a"], &["abc"], &["bc"]),
            (&["ab"], &["a", "bc", "d"], &["c", "d"]),
            (&["a", "b"], &["ab"], &[]),
            (&["a", "b"], &["x", "b"], &["x"]),
            (&["é"], &["éé"], &["é"]),
            (&["a"], &[], &[]),
        ];
        for (before, after, expected) in cases {
            let mut told = Told::default();
            assert_eq!(told.news(texts(before), true), texts(before));
            assert_eq!(told.news(texts(after), true), texts(expected), "{before:?} {after:?}");
            assert!(told.news(texts(after), true).is_empty(), "{after:?} is told twice");
        }
    }

    #[test]
    fn what_an_old_version_said_is_not_told_again() {
        let mut told = Told::default();
        assert_eq!(told.news(texts(&["a"]), true).len(), 1);
        assert_eq!(told.news(texts(&["b"]), true).len(), 1);
        assert_eq!(told.news(texts(&["a"]), true).len(), 0);
    }

    #[test]
    fn usage_is_told_as_difference() {
        let usage = |input, output| Usage {
            input_tokens: input,
            output_tokens: output,
            ..Usage::default()
        };
        let mut told = Told::default();
        let steps = [
            (usage(Some(5), None), Some(usage(Some(5), None))),
            (usage(Some(5), None), None),
            (usage(Some(7), Some(0)), Some(usage(Some(2), Some(0)))),
            (usage(Some(3), None), None),
            (usage(Some(8), Some(1)), Some(usage(Some(1), Some(1)))),
            (usage(None, None), None),
        ];
        for (now, expected) in steps {
            assert_eq!(told.more_usage(now.clone()), expected, "{now:?}");
        }
    }
}
