//! Arbitrary text against the template reader.
//!
//! What can be read must keep its text, name only places inside itself, and render or fail without
//! a panic in a scope where some names are there and others are not.

#![no_main]

#[path = "language/mod.rs"]
mod language;

use libfuzzer_sys::fuzz_target;
use quipu_workflow::language::Template;

fuzz_target!(|text: &str| {
    let template = match Template::parse(text) {
        Ok(template) => template,
        Err(error) => return assert!(error.offset <= text.len(), "{error}"),
    };
    assert_eq!(template.source(), text);
    for reference in template.references() {
        assert!(text.is_char_boundary(reference.offset));
    }
    match template.render(&language::Names) {
        Ok(rendered) if template.is_literal() && !text.contains("{{") => assert_eq!(rendered, text),
        Ok(_) => {}
        Err(error) => assert!(error.offset <= text.len(), "{error}"),
    }
});
