//! Arbitrary scripts with values in them against the reader that keeps values from being code.
//!
//! The input is a script in which a NUL byte stands for a value; the text after the last one is the
//! value. A value that is not plain may stand in the script only as data of the prelude.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quipu_workflow::language::{Piece, protect};

fuzz_target!(|input: &str| {
    let Some((script, value)) = input.rsplit_once('\0') else { return };
    let mut pieces = Vec::new();
    for (at, text) in script.split('\0').enumerate() {
        if at > 0 {
            pieces.push(Piece::Value(value.to_owned()));
        }
        pieces.push(Piece::Literal(text));
    }
    let Ok(protected) = protect(&pieces) else { return };
    assert_eq!(protected.shown, script.replace('\0', value));
    // Only a quoted here-document takes such a value as it is.
    let is_hostile = value.contains("$(") && !script.contains("$(") && !script.contains("<<");
    if is_hostile && script.contains('\0') {
        let start = protected.run.find("QUIPU_VALUE_1='").expect("a hostile value is a variable");
        let prelude = format!("QUIPU_VALUE_1='{}'; ", value.replace('\'', r"'\''"));
        let rest =
            protected.run[start..].strip_prefix(&prelude).expect("the value is in the prelude");
        assert!(!rest.contains("$("), "{rest}");
    }
});
