//! What the outbox owes to every record.

use serde_json::json;

use super::*;
use crate::value::Members;

/// Lets `write` look at `records` one after the other, and describes what came of it: the
/// subtype, and the foreign bytes.
fn outcome(
    kept: KeptBytes,
    records: &[&str],
    mut write: impl FnMut(usize, &mut Outbox<'_>),
) -> Vec<String> {
    let mut queue = Queue::new(kept);
    queue.give_up_first();
    let mut made = Vec::new();
    for (number, source) in records.iter().enumerate() {
        let members = Members::parse(source).unwrap();
        let record = Record {
            fields: members.fields(),
            source,
            shared: None,
            exact: source.as_bytes(),
            place: Place { line: number as u64 + 1, offset: 0, len: source.len() as u64 },
        };
        let mut out = Outbox::new(&mut queue, Some(&record));
        write(number, &mut out);
        out.close();
        queue.drain_into(&mut made);
    }
    made.iter().map(describe).collect()
}

fn describe(made: &Made) -> String {
    let payload: serde_json::Value = made.draft.payload.decode().unwrap();
    let name = payload["subtype"].as_str().unwrap_or("unknown").to_owned();
    match &made.draft.raw {
        Some(raw) => format!("{name} {}", String::from_utf8(raw.bytes().unwrap()).unwrap()),
        None => name,
    }
}

fn fact(out: &mut Outbox<'_>, name: &str) {
    out.system(&Stamp::default(), name, json!({}));
}

#[test]
fn the_first_event_of_a_record_carries_its_bytes() {
    let seen = outcome(KeptBytes::Full, &["{\"n\":1}"], |_, out| {
        fact(out, "a");
        fact(out, "b");
    });
    assert_eq!(seen, ["a {\"n\":1}", "b"]);
}

#[test]
fn a_record_that_made_nothing_is_unknown() {
    for kept in [KeptBytes::Full, KeptBytes::Unknown] {
        assert_eq!(outcome(kept, &["{\"n\":1}"], |_, _| {}), ["unknown {\"n\":1}"]);
    }
}

#[test]
fn what_comes_behind_a_reserved_place_waits_for_it() {
    let (mut slot, mut scraps) = (None, Scraps::default());
    let seen = outcome(KeptBytes::Full, &["{\"n\":1}", "{\"n\":2}", "{\"n\":3}"], |number, out| {
        match number {
            0 => {
                slot = Some(out.reserve());
                out.absorb(&mut scraps);
            }
            1 => fact(out, "behind"),
            _ => {
                out.absorb(&mut scraps);
                fact(out, "later");
                out.fill(slot.unwrap(), std::mem::take(&mut scraps), |out| {
                    fact(out, "first");
                    fact(out, "second");
                });
            }
        }
    });
    assert_eq!(seen, ["first {\"n\":1}\n{\"n\":3}", "second", "behind {\"n\":2}", "later"]);
}

#[test]
fn bytes_are_kept_for_the_unknown_alone_when_that_is_asked_for() {
    let seen = outcome(KeptBytes::Unknown, &["{\"n\":1}", "{\"n\":2}"], |number, out| {
        if number == 0 {
            fact(out, "a");
        }
    });
    assert_eq!(seen, ["a", "unknown {\"n\":2}"]);
}

#[test]
fn facts_that_are_null_are_left_out() {
    let mut queue = Queue::default();
    let facts = json!({ "here": 1, "not": null });
    Outbox::new(&mut queue, None).system(&Stamp::default(), "a", facts);
    let mut made = Vec::new();
    queue.drain_into(&mut made);
    assert_eq!(made[0].draft.payload.as_str(), r#"{"subtype":"a","here":1}"#);
}
