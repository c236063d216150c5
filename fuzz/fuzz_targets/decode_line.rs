//! Arbitrary bytes against the line decoder.
//!
//! Bytes are split into lines as a reader splits them, on the line feed alone, so that every
//! input is something that could really stand in a file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quipu_event::{Event, decode_line, encode_line, peek};

fuzz_target!(|bytes: &[u8]| bytes.split(|&byte| byte == b'\n').for_each(check));

fn check(line: &[u8]) {
    let peeked = peek(line);
    let Ok(event) = decode_line(line) else { return };

    if let Some(peeked) = peeked {
        assert_eq!((peeked.seq, peeked.kind), (event.seq, event.kind.as_str()));
    }
    survives_encoding(&event);
    // A payload of another shape is an error, never a panic.
    let _ = event.decode_payload();
    let _ = event.raw.as_ref().map(|raw| raw.bytes());
    let _ = event.path.segments().count();
}

fn survives_encoding(event: &Event) {
    let mut encoded = String::new();
    encode_line(event, &mut encoded);
    assert_eq!(encoded.find('\n'), Some(encoded.len() - 1), "an event is exactly one line");

    let again = decode_line(encoded.as_bytes()).expect("what was encoded decodes");
    assert_eq!(&again, event);
    if let Some(peeked) = peek(encoded.as_bytes()) {
        assert_eq!((peeked.seq, peeked.kind), (event.seq, event.kind.as_str()));
    }
}
