//! Write: a file that holds a text and nothing else.

use quipu_event::Kind;

use super::LONGEST_FILE;
use super::arguments::{Argument, Arguments, Shape};
use super::on_files::{Site, Work};
use crate::Answer;
use crate::sandbox::Trouble;

pub(super) const WRITE: Work = Work {
    name: "Write",
    description: "Writes a file of at most 5 MiB: makes it, with the directories on the way, or replaces \
                  all that is in it. The path is relative to the working directory, or absolute and \
                  within it.",
    arguments: &[
        Argument::required("path", Shape::Text, "The file to write.").or("file_path"),
        Argument::required("content", Shape::Text, "What it is to hold."),
    ],
    is_read_only: false,
    perform: write,
};

fn write(arguments: &Arguments, site: &Site) -> Result<Answer, Trouble> {
    let place = site.root.place(arguments.required("path"))?;
    let content = arguments.required("content").as_bytes();
    if content.len() as u64 > LONGEST_FILE {
        let length = content.len();
        let why = format!("`content` is {length} bytes long, more than 5 MiB");
        return Err(Trouble::Failed(why));
    }
    site.root.replace(&place, content, || site.is_wanted())?;
    site.passed(Kind::FileWritten, &place, content);
    Ok(Answer::completed(format!("wrote {} bytes to {place}", content.len())))
}
