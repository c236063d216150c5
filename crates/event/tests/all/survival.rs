//! Nothing that was read is lost by writing it again.

use proptest::prelude::*;
use quipu_event::{BlockContent, Event, Kind, Payload, decode_line, encode_line};

use crate::any::any_event;

fn line_of(event: &Event) -> String {
    let mut line = String::new();
    encode_line(event, &mut line);
    line
}

proptest! {
    #[test]
    fn any_event_survives_encode_and_decode(event in any_event()) {
        let line = line_of(&event);
        let read = decode_line(line.as_bytes()).unwrap();
        prop_assert_eq!(&read, &event);
        prop_assert_eq!(read.raw.and_then(|raw| raw.bytes()), event.raw.and_then(|raw| raw.bytes()));
        prop_assert_eq!(line_of(&decode_line(line.trim_end_matches('\n').as_bytes()).unwrap()), line);
    }

    #[test]
    fn a_line_has_exactly_one_line_feed_at_its_end(event in any_event()) {
        let line = line_of(&event);
        prop_assert_eq!(line.bytes().filter(|&byte| byte == b'\n').count(), 1);
        prop_assert!(line.ends_with('\n'));
    }
}

/// A line from the future, in the order in which envelopes are written.
const FUTURE: &str = concat!(
    r#"{"seq":7,"run_id":"r","type":"message.assistant","path":"a","iteration":0,"#,
    r#""timestamp":"2026-01-02T03:04:05.000000Z","payload":{"role":"assistant","#,
    r#""mood":{"b":1.50,"a":1E5,"b":"twice"},"blocks":[{"type":"hologram","fidelity":"oracle","#,
    r#""depth":0.10,"layers":[ 1 ]},{"type":"text","fidelity":"router","text":"\u0041\/","#,
    r#""font":"serif"}]},"source":"subagent:1","trace":{"id":"\ud800","n":-0},"trace":[1,2.0]}"#,
    "\n"
);

#[test]
fn unknown_types_blocks_and_fields_survive_a_read_and_a_re_encode_unchanged() {
    let event = decode_line(FUTURE.as_bytes()).unwrap();
    assert_eq!(line_of(&event), FUTURE);
    let Ok(Payload::Message(message)) = event.decode_payload() else { panic!() };
    let BlockContent::Other { block_type, .. } = &message.blocks[0].content else { panic!() };
    assert_eq!((block_type.as_str(), message.blocks[0].fidelity.as_str()), ("hologram", "oracle"));

    let of_new_type = FUTURE.replace("message.assistant", "thought.shared");
    let event = decode_line(of_new_type.as_bytes()).unwrap();
    assert_eq!(event.kind, Kind::Other("thought.shared".into()));
    assert_eq!(event.decode_payload().unwrap(), Payload::Facts(event.payload.clone()));
    assert_eq!(line_of(&event), of_new_type);
}

#[test]
fn keys_in_another_order_keep_their_values() {
    let shuffled = concat!(
        r#"{"later":[1.0],"payload":{"x":1},"timestamp":"2026-01-02T03:04:05+01:00","raw":"a","#,
        r#""type":"usage","raw_b64":"YQ==","run_id":"r","seq":3}"#,
    );
    let ordered = concat!(
        r#"{"seq":3,"run_id":"r","type":"usage","path":"","iteration":0,"#,
        r#""timestamp":"2026-01-02T02:04:05.000000Z","payload":{"x":1},"raw":"a","#,
        r#""later":[1.0],"raw_b64":"YQ=="}"#,
        "\n"
    );
    assert_eq!(line_of(&decode_line(shuffled.as_bytes()).unwrap()), ordered);
}
