//! `deliverables`: the files that must be there when the run ends.

use super::notes::Moment;
use super::reader::Reader;
use crate::definition::yaml::{Content, Node};
use crate::language::Template;

const EXPECTED: &str = "a list of paths, relative to the working directory";

/// Reads a list of paths.
pub(super) fn read(reader: &mut Reader, node: &Node) -> Vec<Template> {
    let Content::Sequence(items) = &node.content else {
        reader.error(&node.place, format!("`deliverables` is {}", node.describe()), EXPECTED);
        return Vec::new();
    };
    reader.moment = Moment::After;
    let paths = items.iter().filter_map(|item| read_one(reader, item)).collect();
    reader.moment = Moment::Before;
    paths
}

fn read_one(reader: &mut Reader, node: &Node) -> Option<Template> {
    if node.is_null() || node.scalar().is_some_and(|scalar| scalar.text.trim().is_empty()) {
        reader.error(&node.place, "a deliverable has no path", EXPECTED);
        return None;
    }
    reader.template("a deliverable", node)
}
