//! Records as lines of JSON.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use quipu_emit::{Emitter, EmitterOptions, JsonLines, TARGET};
use serde_json::{Value, json};
use tracing_subscriber::layer::SubscriberExt;

use crate::listening::{Log, event, heard, session};

#[test]
fn a_line_is_the_record_in_the_documented_shape() {
    let log = Log::default();
    log.listen(|| {
        let emitter = Emitter::new(EmitterOptions::default());
        session().iter().for_each(|event| emitter.emit(event));
    });
    let text = log.text();
    let line = text.lines().nth(2).unwrap();
    let (time, rest) = line.split_once("\",").unwrap();
    let time = time.strip_prefix("{\"timestamp\":\"").unwrap();
    assert!(time.ends_with("+00:00") && time.contains('T'), "{time}");
    let expected = concat!(
        r#""level":"DEBUG","logger":"quipu::transcript","event":"transcript.entry","#,
        r#""message":"transcript entry: user_message","context":{"prompt_name":"review","#,
        r#""adapter":"codex_app_server","entry_type":"user_message","sequence_number":2,"#,
        r#""source":"main","timestamp":"2026-01-02T03:04:05.000000+00:00","session_id":"s-1","#,
        r#""detail":{"event":{"type":"message.user","run_id":"r","seq":2,"#,
        r#""payload":{"blocks":[{"text":"Hi","type":"text"}],"role":"user"}}}}}"#,
    );
    assert_eq!(rest, expected);
}

#[test]
fn no_line_has_a_character_that_splits_it_elsewhere() {
    let said = "a\u{2028}b\u{2029}c\u{85}d\u{b}\u{c}\u{1c}\u{1d}\u{1e}\r\ne";
    let log = Log::default();
    log.listen(|| {
        let emitter = Emitter::new(EmitterOptions::default());
        emitter.emit(&event(1, "system", json!({"subtype": said})));
    });
    let splits =
        ['\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\r'];
    assert!(!log.text().contains(splits));
    let records = log.records();
    assert_eq!(records[1]["context"]["detail"]["subtype"], said);
    assert_eq!(records[1]["context"]["detail"]["event"]["payload"]["subtype"], said);
}

/// A disk that is full now and then, and takes half of what it refuses.
#[derive(Clone, Default)]
struct Full(Arc<Mutex<(u64, Vec<u8>)>>);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (writes, taken) = &mut *self.0.lock().unwrap();
        *writes += 1;
        match *writes % 4 {
            0 => {
                taken.extend_from_slice(&bytes[..bytes.len() / 2]);
                Ok(bytes.len() / 2)
            }
            1 if *writes > 1 => Err(io::Error::other("full")),
            _ => {
                taken.extend_from_slice(bytes);
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_writer_that_fails_is_counted_and_glues_no_lines() {
    let full = Full::default();
    let lines = JsonLines::new(full.clone());
    let losses = lines.losses();
    let listener = tracing_subscriber::registry().with(lines.only_transcripts());
    tracing::subscriber::with_default(listener, || {
        let emitter = Emitter::new(EmitterOptions::default());
        for seq in 1..=28 {
            emitter.emit(&event(seq, "usage", json!({})));
        }
    });
    let written = String::from_utf8(full.0.lock().unwrap().1.clone()).unwrap();
    let whole = written.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count();
    assert!(losses.count() > 5);
    // Start, entries and stop: each is whole or counted.
    assert_eq!(whole as u64 + losses.count(), 30);
}

#[test]
fn other_records_of_the_same_target_are_written_as_they_come() {
    let records = heard(|| {
        tracing::warn!(target: TARGET, event = "transcript.odd", detail = "no JSON", n = -1, ok = true, "odd");
        tracing::warn!(target: "elsewhere", "not ours");
    });
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["context"], json!({"detail": "no JSON", "n": -1, "ok": true}));
    assert_eq!(
        (&records[0]["event"], &records[0]["message"]),
        (&json!("transcript.odd"), &json!("odd"))
    );
}
