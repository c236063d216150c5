//! How tests read an input, and how they look at what came of it.

use quipu_event::{BlockContent, ContentBlock, Kind, Payload, write_loose_draft};
use quipu_provider::{KeptBytes, Made, Normalizer, Surface, Tally};

/// Normalises `input` in one go.
pub(crate) fn read(surface: &Surface, kept: KeptBytes, input: &[u8]) -> (Vec<Made>, Tally) {
    read_in_pieces(surface, kept, [input])
}

/// Normalises an input that comes in `pieces`.
pub(crate) fn read_in_pieces<'a>(
    surface: &Surface,
    kept: KeptBytes,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Made>, Tally) {
    let mut normalizer = Normalizer::new(surface, kept);
    let mut made = Vec::new();
    for piece in pieces {
        normalizer.push(piece, &mut made);
    }
    normalizer.finish(&mut made);
    (made, normalizer.tally().clone())
}

/// Writes drafts as lines.
pub(crate) fn lines(made: &[Made]) -> String {
    let mut out = Vec::new();
    for made in made {
        write_loose_draft(&made.draft, &mut out).unwrap();
    }
    String::from_utf8(out).unwrap()
}

/// Returns the decoded payloads, each with its type.
pub(crate) fn payloads(made: &[Made]) -> Vec<(Kind, Payload)> {
    let decode = |made: &Made| {
        let kind = made.draft.kind.clone();
        let payload = Payload::decode(&kind, &made.draft.payload).unwrap();
        (kind, payload)
    };
    made.iter().map(decode).collect()
}

/// Returns the blocks of all messages of one kind, in order.
pub(crate) fn blocks(made: &[Made], of: &Kind) -> Vec<ContentBlock> {
    payloads(made)
        .into_iter()
        .filter(|(kind, _)| kind == of)
        .flat_map(|(_, payload)| match payload {
            Payload::Message(message) => message.blocks,
            _ => Vec::new(),
        })
        .collect()
}

/// Returns the id of a call that a block makes.
pub(crate) fn call_of(block: &ContentBlock) -> Option<&str> {
    match &block.content {
        BlockContent::ToolUse { tool_id, .. } => Some(tool_id),
        _ => None,
    }
}
