//! What every normaliser owes to arbitrary bytes.

use quipu_event::{RunId, RunIdentity, Timestamp, decode_line, encode_line};
use quipu_provider::{KeptBytes, Made, Normalizer, Surface, find_provider};

/// Feeds `bytes` to every surface of `provider`.
pub(crate) fn check(provider: &str, bytes: &[u8]) {
    let provider = find_provider(provider).expect("the provider is in the list");
    for surface in provider.surfaces {
        let whole = read(surface, &[bytes]);
        let (left, right) = bytes.split_at(bytes.len() / 2);
        assert!(whole == read(surface, &[left, right]), "a split changed the events");
        whole.into_iter().for_each(can_be_recorded);
    }
}

fn read(surface: &Surface, pieces: &[&[u8]]) -> Vec<Made> {
    let mut normalizer = Normalizer::new(surface, KeptBytes::Full);
    let mut made = Vec::new();
    for piece in pieces {
        normalizer.push(piece, &mut made);
    }
    normalizer.finish(&mut made);
    made
}

fn can_be_recorded(made: Made) {
    let run = RunIdentity { run_id: RunId::parse("fuzz").expect("a run id"), parent_run_id: None };
    let event = made.draft.seal(1, &run, Timestamp::from_micros(0));
    let mut line = String::new();
    encode_line(&event, &mut line);
    let again = decode_line(line.as_bytes()).expect("what was encoded decodes");
    assert_eq!(again, event);
    again.decode_payload().expect("a payload of our own has its shape");
}
