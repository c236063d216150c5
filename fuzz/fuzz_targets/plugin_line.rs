//! Arbitrary bytes against the reader of what plugins write.
//!
//! Whatever a line holds, it is messages, the wreck of an answer or garbage; a call's result that is
//! read comes out as it went in.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quipu_tool::plugin::{Line, read_line};

fuzz_target!(|line: &[u8]| {
    let Line::Messages(messages) = read_line(line, |_| true) else { return };
    assert!(!messages.is_empty());
    for message in messages {
        let text = serde_json::to_vec(&message).expect("a message that was read can be written");
        match read_line(&text, |_| true) {
            Line::Messages(again) => assert_eq!(again.len(), 1),
            other => panic!("{other:?}"),
        }
    }
});
