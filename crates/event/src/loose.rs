//! A draft as a line of its own, without number and run: what programs hand to one another.

use std::io;

use crate::draft::Draft;
use crate::escape::write_string;

/// Writes `draft` as one line: `type`, `path` and `iteration` unless at the run's own level,
/// `child_run_id`, `timestamp` and `source` if known, `payload`, and the foreign bytes if kept.
///
/// A payload is never copied on the way, however large it is.
pub fn write_loose_draft(draft: &Draft, out: &mut dyn io::Write) -> io::Result<()> {
    let mut head = String::with_capacity(160);
    head.push_str("{\"type\":");
    write_string(&mut head, draft.kind.as_str());
    let field = |head: &mut String, key: &str, text: &str| {
        head.push_str(key);
        write_string(head, text);
    };
    if !draft.path.as_str().is_empty() || draft.iteration > 0 {
        field(&mut head, ",\"path\":", draft.path.as_str());
        head.push_str(&format!(",\"iteration\":{}", draft.iteration));
    }
    if let Some(child) = &draft.child_run_id {
        field(&mut head, ",\"child_run_id\":", child.as_str());
    }
    if let Some(time) = draft.timestamp {
        head.push_str(",\"timestamp\":\"");
        time.write_to(&mut head);
        head.push('"');
    }
    if let Some(source) = &draft.source {
        field(&mut head, ",\"source\":", source);
    }
    head.push_str(",\"payload\":");
    out.write_all(head.as_bytes())?;
    out.write_all(draft.payload.as_str().as_bytes())?;
    if let Some(raw) = &draft.raw {
        raw.write_field_to(out)?;
    }
    out.write_all(b"}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, RunId, StepPath, Timestamp};

    #[test]
    fn a_loose_draft_says_what_it_knows_and_no_more() {
        let plain = || Draft::new(Kind::System, &serde_json::json!({ "subtype": "note" })).unwrap();
        let full = plain()
            .at(StepPath::from("each[2].check"), 2)
            .calling(RunId::parse("child").unwrap())
            .dated(Timestamp::parse("2026-06-08T10:14:42.1Z").unwrap())
            .by("subagent:7")
            .with_raw(b"{\"a\":1}");
        let cases = [
            (plain(), r#"{"type":"system","payload":{"subtype":"note"}}"#.to_owned()),
            (
                full,
                concat!(
                    r#"{"type":"system","path":"each[2].check","iteration":2,"child_run_id":"child","#,
                    r#""timestamp":"2026-06-08T10:14:42.100000Z","source":"subagent:7","#,
                    r#""payload":{"subtype":"note"},"raw":"{\"a\":1}"}"#
                )
                .to_owned(),
            ),
        ];
        for (draft, expected) in cases {
            let mut line = Vec::new();
            write_loose_draft(&draft, &mut line).unwrap();
            assert_eq!(String::from_utf8(line).unwrap(), expected + "\n");
        }
    }
}
