//! Coming back to a run after its writer died.
//!
//! The only code that may cut a file, and only behind its last event: torn bytes are moved to a
//! file beside it first. Everything else that was found is told in events, not mended in place.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use quipu_event::payload::{RunCompleted, Status, StepCompleted, TokenCounts};
use quipu_event::{Draft, EncodeError, Event, Kind, Payload, Timestamp, decode_line, peek};
use serde_json::json;

use crate::layout::FILE_MODE;
use crate::lines::{LineEnd, Lines, LinesBackward};
use crate::spans::{OpenSpan, OpenSpans, Started};

/// What reopening a run found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recovery {
    /// The number of the last event that was there.
    pub last_seq: u64,
    /// Bytes behind that event, now in the run's `.torn` file.
    pub torn: Option<Torn>,
    /// What had started and not completed, the innermost first; closed as aborted.
    pub aborted: Vec<OpenSpan>,
}

/// Bytes that were behind the last event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Where they began in the transcript.
    pub offset: u64,
    /// How many there were.
    pub bytes: u64,
    /// Where they begin in the `.torn` file.
    pub kept_at: u64,
}

impl Recovery {
    /// Tells whether the run had been left in order.
    pub fn is_clean(&self) -> bool {
        self.torn.is_none() && self.aborted.is_empty()
    }
}

/// The end of a transcript.
pub(crate) struct Tail {
    /// The last event, unless the file is empty.
    pub(crate) last: Option<Event>,
    /// Where the first byte behind it is.
    pub(crate) end: u64,
    /// How many bytes there are behind it.
    pub(crate) torn: u64,
}

/// Finds the last event of a transcript. Reads from the end, and no further than needed.
///
/// Whole lines behind the last event count as torn too: a file system that loses power may leave
/// any bytes at all at the end of a file. Returns nothing when there are lines but no event.
pub(crate) fn find_tail(file: &File) -> io::Result<Option<Tail>> {
    let size = file.metadata()?.len();
    let mut lines = LinesBackward::new(file.try_clone()?)?;
    let mut saw_whole_line = false;
    while let Some(line) = lines.next()? {
        if line.end == LineEnd::Missing {
            continue;
        }
        saw_whole_line = true;
        if let Ok(last) = decode_line(line.bytes) {
            let end = line.end_offset();
            return Ok(Some(Tail { last: Some(last), end, torn: size - end }));
        }
    }
    Ok((!saw_whole_line).then_some(Tail { last: None, end: 0, torn: size }))
}

/// Moves the bytes behind `tail` into the file at `torn_path` and cuts them off.
///
/// They are on disk in their new place before they are cut, so a crash in between leaves them
/// twice and never not at all.
pub(crate) fn move_torn_bytes(file: &File, tail: &Tail, torn_path: &Path) -> io::Result<Torn> {
    let mut kept = OpenOptions::new().create(true).append(true).mode(FILE_MODE).open(torn_path)?;
    crate::layout::narrow(torn_path, FILE_MODE)?;
    let kept_at = kept.seek(SeekFrom::End(0))?;
    let mut buffer = vec![0; 64 * 1024];
    let (mut at, end) = (tail.end, tail.end + tail.torn);
    while at < end {
        let wanted = (end - at).min(buffer.len() as u64) as usize;
        let read = file.read_at(&mut buffer[..wanted], at)?;
        if read == 0 {
            break;
        }
        kept.write_all(&buffer[..read])?;
        at += read as u64;
    }
    kept.sync_all()?;
    file.set_len(tail.end)?;
    file.sync_all()?;
    Ok(Torn { offset: tail.end, bytes: tail.torn, kept_at })
}

/// What the whole of a transcript leaves behind, as far as its closing lines repeat it.
#[derive(Default)]
pub(crate) struct Remains {
    pub(crate) open: OpenSpans,
    /// When the first event happened.
    first: Option<Timestamp>,
    usage: TokenCounts,
}

/// Folds the transcript up to `end`. Lines that matter to nobody here are not decoded.
pub(crate) fn find_remains(file: &File, end: u64) -> io::Result<Remains> {
    let mut remains = Remains::default();
    let mut lines = Lines::new(file.try_clone()?, 0);
    while lines.offset() < end {
        let Some(line) = lines.next()? else { break };
        let is_first = remains.first.is_none();
        if !is_first && peek(line.bytes).is_some_and(|seen| !matters(&Kind::from(seen.kind))) {
            continue;
        }
        let Ok(event) = decode_line(line.bytes) else { continue };
        remains.first.get_or_insert(event.timestamp);
        // A completion of what never started is verify's to report; here it closes nothing.
        let _ = remains.open.add(&event);
        if let (Kind::Usage, Ok(Payload::Usage(usage))) = (&event.kind, event.decode_payload()) {
            remains.usage.add(&usage.tokens());
        }
    }
    Ok(remains)
}

fn matters(kind: &Kind) -> bool {
    kind.completion().is_some()
        || kind.is_completion()
        || matches!(kind, Kind::Usage | Kind::Other(_))
}

/// Drafts the lines that tell what recovery found: `system/recovered`, then each end.
pub(crate) fn closing_drafts(
    recovery: &Recovery,
    remains: &Remains,
    torn_name: &str,
    heard_until: Timestamp,
) -> Result<Vec<Draft>, EncodeError> {
    let open = recovery.aborted.iter().map(
        |span| json!({ "type": span.kind.as_str(), "path": span.path.as_str(), "seq": span.seq }),
    );
    let mut facts = json!({ "last_seq": recovery.last_seq, "aborted": open.collect::<Vec<_>>() });
    if let Some(torn) = recovery.torn {
        facts["torn"] = json!({
            "offset": torn.offset, "bytes": torn.bytes, "file": torn_name, "kept_at": torn.kept_at,
        });
    }
    let mut drafts = vec![Draft::system("recovered", facts)?];
    for span in &recovery.aborted {
        drafts.push(abort(span, remains, heard_until)?);
    }
    Ok(drafts)
}

const ABORT_REASON: &str = "the recorder stopped before this ended";

/// Drafts the end of `span`. It lasted as long as it was heard of: that nobody came back to the run
/// for a month does not make it a month long.
fn abort(span: &OpenSpan, remains: &Remains, heard_until: Timestamp) -> Result<Draft, EncodeError> {
    let completion = span.kind.completion().unwrap_or(Kind::StepCompleted);
    let status = Some(Status::Aborted);
    let error = Some(ABORT_REASON.to_owned());
    let duration_ms = Some(heard_until.millis_since(span.started));
    let draft = match &span.what {
        Started::Run { name, kind } => {
            let (name, kind) = (name.clone(), kind.clone());
            let usage = Some(remains.usage).filter(|usage| !usage.is_empty());
            // One that was resumed began with its first line, like what it used.
            let first = remains.first.unwrap_or(span.started);
            let duration_ms = Some(heard_until.millis_since(first));
            let run = RunCompleted {
                name,
                kind,
                status,
                error,
                duration_ms,
                usage,
                ..Default::default()
            };
            Draft::new(completion, &run)?
        }
        Started::Step { name, kind, attempt } => {
            let (name, kind, attempt) = (name.clone(), kind.clone(), *attempt);
            let step = StepCompleted {
                name,
                kind,
                attempt,
                status,
                error,
                duration_ms,
                ..Default::default()
            };
            Draft::new(completion, &step)?
        }
        Started::Check { required } => {
            let why = [ABORT_REASON];
            let check = json!({ "required": required, "missing": [], "problems": why,
                "status": "aborted", "duration_ms": duration_ms });
            Draft::new(completion, &check)?
        }
        Started::Other => Draft::new(
            completion,
            &json!({ "status": "aborted", "error": ABORT_REASON, "duration_ms": duration_ms }),
        )?,
    };
    let draft = Draft { source: span.source.clone(), ..draft };
    let draft = draft.at(span.path.clone(), span.iteration);
    Ok(match &span.child_run_id {
        Some(child) => draft.calling(child.clone()),
        None => draft,
    })
}
