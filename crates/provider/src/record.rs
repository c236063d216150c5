//! One record of a foreign input, and where it stood.

use std::sync::Arc;

use quipu_event::Raw;

use crate::value::Fields;

/// Where in the input something stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1.
    pub line: u64,
    /// The first byte, from 0.
    pub offset: u64,
    /// How many bytes.
    pub len: u64,
}

/// One JSON value of the input.
pub(crate) struct Record<'a> {
    /// Its members; none if it is no object.
    pub(crate) fields: Fields<'a>,
    /// The value itself, readable even where its bytes were not.
    pub(crate) source: &'a str,
    /// Its bytes as they stood.
    pub(crate) exact: &'a [u8],
    /// Where it stood.
    pub(crate) place: Place,
    /// The same bytes, if the record is so large that they had better be shared than copied.
    pub(crate) shared: Option<Arc<Vec<u8>>>,
}

impl Record<'_> {
    /// Keeps its bytes.
    pub(crate) fn raw(&self) -> Raw {
        match &self.shared {
            Some(bytes) => Raw::Bytes(Arc::clone(bytes)),
            None => Raw::of(self.exact),
        }
    }

    /// Tells whether it is an object.
    pub(crate) fn is_object(&self) -> bool {
        self.source.starts_with('{')
    }
}

/// What the framer makes of the bytes it is given.
pub(crate) enum Fragment<'a> {
    /// A record.
    Record(Record<'a>),
    /// Bytes that are no record, and why.
    Damage {
        /// The bytes.
        exact: &'a [u8],
        /// Where they stood.
        place: Place,
        /// What is wrong with them.
        what: &'static str,
        /// Whether they say anything that is worth keeping.
        worth: Worth,
    },
}

/// Whether damaged bytes are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    /// They may hold something that an agent said.
    Kept,
    /// They are filling, or a record has them already.
    Reported,
}
