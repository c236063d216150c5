//! Command steps: `command` or `script_file`, `dir`, `capture`.

use super::fields::Fields;
use super::flow::blank;
use super::reader::Reader;
use super::size;
use crate::definition::library::NamedFile;
use crate::definition::problem::Problem;
use crate::definition::yaml::Node;
use crate::definition::{Capture, CommandStep, CommandText, StepKind};

const EXPECTED: &str = "`command` with a shell command, or `script_file` with the path of a script";

/// Reads what a command step has of its own.
pub(super) fn read(reader: &mut Reader, fields: &mut Fields<'_>) -> StepKind {
    let (command, script) = (fields.entry("command"), fields.entry("script_file"));
    let text = match (command, script) {
        (Some(entry), None) => reader.template("`command`", &entry.value).map(CommandText::Inline),
        (None, Some(entry)) => {
            let file = reader.file_template("`script_file`", &entry.value, NamedFile::Text);
            file.map(CommandText::File)
        }
        (Some(_), Some(entry)) => {
            let message = "the step has both `command` and `script_file`";
            reader.error(&entry.key_place, message, "one of them");
            None
        }
        (None, None) => {
            let message = format!("{} has neither `command` nor `script_file`", fields.of);
            let hint = fields
                .has("operation")
                .then(|| "a step with `operation` is `type: operation`".to_owned());
            let problem = Problem::error(&fields.place, message).expected(EXPECTED).hint(hint);
            reader.problems.push(problem);
            None
        }
    };
    if let Some(entry) = command.or(script)
        && entry.value.scalar().is_some_and(|scalar| scalar.text.trim().is_empty())
    {
        reader.error(&entry.value.place, format!("`{}` is empty", entry.key), EXPECTED);
    }
    StepKind::Command(CommandStep {
        text: text.unwrap_or_else(|| CommandText::Inline(blank())),
        dir: fields.template(reader, "dir"),
        capture: fields.take("capture").and_then(|node| read_capture(reader, node)),
    })
}

fn read_capture(reader: &mut Reader, node: &Node) -> Option<Capture> {
    let mut fields = Fields::of(reader, "`capture`", node)?;
    let capture = Capture {
        stdout: fields.text(reader, "stdout"),
        stderr: fields.text(reader, "stderr"),
        max_size: fields.take("max_size").and_then(|node| size::read(reader, "`max_size`", node)),
    };
    // Older files name the encoding of the output; it makes no difference to bytes.
    fields.take("encoding");
    fields.finish(reader);
    Some(capture)
}
