//! List: what is in a directory.

use super::MOST_LINES;
use super::arguments::{Argument, Arguments, Shape};
use super::on_files::{Site, Work};
use crate::Answer;
use crate::sandbox::{FoundKind, Place, Trouble, names_in};

pub(super) const LIST: Work = Work {
    name: "List",
    description: "Lists a directory, a line for each entry in the order of the names: `name/` for a \
                  directory, `name -> target` for a link, the name and the size in bytes for a file.",
    arguments: &[Argument::optional(
        "path",
        Shape::Text,
        "The directory; the working directory if it is left out.",
    )],
    is_read_only: true,
    perform: list,
};

fn list(arguments: &Arguments, site: &Site) -> Result<Answer, Trouble> {
    let place = match arguments.text("path") {
        Some(path) => site.root.place(path)?,
        None => Place::root(),
    };
    let dir = site.root.open_dir(&place)?;
    let names = names_in(&dir);
    let more = names.len().saturating_sub(MOST_LINES);
    let mut lines: Vec<String> = Vec::new();
    for (name, kind) in names.into_iter().take(MOST_LINES) {
        let shown = name.to_string_lossy();
        lines.push(match kind {
            FoundKind::Dir => format!("{shown}/"),
            FoundKind::Link => match dir.read_link_contents(&name) {
                Ok(target) => format!("{shown} -> {}", target.display()),
                Err(_) => format!("{shown} -> ?"),
            },
            FoundKind::File => match dir.symlink_metadata(&name) {
                Ok(metadata) => format!("{shown}\t{}", metadata.len()),
                Err(_) => shown.into_owned(),
            },
        });
    }
    if more > 0 {
        lines.push(format!("[… {more} more entries …]"));
    }
    Ok(Answer::completed(match lines.is_empty() {
        true => "the directory is empty".to_owned(),
        false => lines.join("\n"),
    }))
}
