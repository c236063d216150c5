//! How recorded things look in a terminal: words, numbers, colours, tables.
//!
//! Everything here makes text; nothing here prints. Recorded text goes through [`visible`] before
//! it reaches a terminal, so a hostile transcript cannot drive one.

pub(crate) mod bar;
pub(crate) mod count;
pub(crate) mod damage;
pub(crate) mod entry;
pub(crate) mod exact;
pub(crate) mod line;
pub(crate) mod note;
pub(crate) mod shell_word;
pub(crate) mod span;
pub(crate) mod status;
pub(crate) mod style;
pub(crate) mod styled;
pub(crate) mod table;
pub(crate) mod unreadable;
pub(crate) mod visible;
