//! Edit: a text in a file, replaced by another.

use std::io::Read;
use std::sync::{Mutex, PoisonError};

use quipu_event::Kind;

use super::LONGEST_FILE;
use super::arguments::{Argument, Arguments, Shape};
use super::on_files::{Site, Work};
use crate::Answer;
use crate::sandbox::{Place, Trouble};

pub(super) const EDIT: Work = Work {
    name: "Edit",
    description: "Replaces a text in a file of at most 5 MiB. `old` must stand in the file exactly once, \
                  unless `replace_all` is true. The path is relative to the working directory, or \
                  absolute and within it.",
    arguments: &[
        Argument::required("path", Shape::Text, "The file to change.").or("file_path"),
        Argument::required("old", Shape::Text, "The text to replace, exactly as it stands there.")
            .or("old_string"),
        Argument::required("new", Shape::Text, "The text to put in its place.").or("new_string"),
        Argument::optional("replace_all", Shape::Flag, "Whether to replace it everywhere."),
    ],
    is_read_only: false,
    perform: edit,
};

/// Held while a file is changed: of two edits at the same time, neither undoes the other.
static EDITING: Mutex<()> = Mutex::new(());

fn edit(arguments: &Arguments, site: &Site) -> Result<Answer, Trouble> {
    let place = site.root.place(arguments.required("path"))?;
    let (old, new) = (arguments.required("old"), arguments.required("new"));
    if old.is_empty() {
        return Err(Trouble::Failed("`old` is empty: Write makes a new file".to_owned()));
    }
    if old == new {
        return Err(Trouble::Failed("`old` and `new` are the same".to_owned()));
    }
    let _alone = EDITING.lock().unwrap_or_else(PoisonError::into_inner);
    let text = whole(&place, site)?;
    let count = text.matches(old).count();
    match count {
        0 => return Err(Trouble::Failed(not_there(&place, &text, old))),
        1 => {}
        _ if arguments.flag("replace_all") => {}
        _ => {
            let advice = "give more of the text around it, or set `replace_all`";
            let why = format!("{place}: `old` stands there {count} times: {advice}");
            return Err(Trouble::Failed(why));
        }
    }
    // Told before it is made: a short text that stands there often may become a very long one.
    let length = (text.len() - count * old.len()).saturating_add(count.saturating_mul(new.len()));
    if length as u64 > LONGEST_FILE {
        return Err(Trouble::Failed(format!("{place}: would be {length} bytes, more than 5 MiB")));
    }
    let edited = text.replace(old, new);
    site.root.replace(&place, edited.as_bytes(), || site.is_wanted())?;
    site.passed(Kind::FileWritten, &place, edited.as_bytes());
    let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    Ok(Answer::completed(format!("replaced it {times} in {place}")))
}

fn whole(place: &Place, site: &Site) -> Result<String, Trouble> {
    let opened = site.root.open_file(place)?;
    let mut bytes = Vec::new();
    let read = opened.file.take(LONGEST_FILE + 1).read_to_end(&mut bytes);
    read.map_err(|cause| Trouble::Failed(format!("{place}: {cause}")))?;
    if bytes.len() as u64 > LONGEST_FILE {
        return Err(Trouble::Failed(format!("{place}: is more than 5 MiB long")));
    }
    String::from_utf8(bytes)
        .map_err(|_| Trouble::Failed(format!("{place}: is not text in UTF-8, and is left alone")))
}

fn not_there(place: &Place, text: &str, old: &str) -> String {
    let has_returns = text.contains("\r\n") && !old.contains('\r');
    if has_returns && text.replace("\r\n", "\n").contains(old) {
        return format!("{place}: `old` is not there: the lines of this file end in \\r\\n");
    }
    let is_spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match is_spaced(text).contains(&is_spaced(old)) {
        true => format!("{place}: `old` is not there, but a text that differs in white space is"),
        false => format!("{place}: `old` is not there"),
    }
}
