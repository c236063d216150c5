//! Arbitrary text against the expression reader.
//!
//! What can be read must name only places inside itself, and have a value or fail without a panic.

#![no_main]

#[path = "language/mod.rs"]
mod language;

use libfuzzer_sys::fuzz_target;
use quipu_workflow::language::Expression;

fuzz_target!(|text: &str| {
    let expression = match Expression::parse(text) {
        Ok(expression) => expression,
        Err(error) => return assert!(error.offset <= text.len(), "{error}"),
    };
    for reference in expression.references() {
        assert!(text.is_char_boundary(reference.offset));
    }
    if let Err(error) = expression.holds(&language::Names) {
        assert!(error.offset <= text.len(), "{error}");
    }
});
