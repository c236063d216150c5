//! Arbitrary bytes against the normalisers of `codex`.

#![no_main]

mod normalize;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| normalize::check("codex", bytes));
