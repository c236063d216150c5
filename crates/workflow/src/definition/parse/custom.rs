//! Steps of kinds that plugins bring: `<plugin>.<type>`.

use super::fields::Fields;
use super::reader::Reader;
use super::values;
use crate::definition::{CustomStep, StepKind};

/// Tells whether a type has the shape of a plugin's.
pub(super) fn is_custom(word: &str) -> bool {
    let is_name = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
    };
    word.contains('.') && word.split('.').all(is_name)
}

/// Reads what a plugin's step has of its own.
pub(super) fn read(reader: &mut Reader, fields: &mut Fields<'_>, word: &str) -> StepKind {
    let mut config = values::read_map(reader, fields, "config");
    config.extend(values::read_map(reader, fields, "inputs"));
    StepKind::Custom(CustomStep { step_type: word.to_owned(), config })
}
