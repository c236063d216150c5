//! Finds a numbered event in a transcript without reading the file whole.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use quipu_event::{Kind, decode_line, payload::Payload, peek};

use crate::lines::{LineEnd, Lines};

/// Below this many bytes it is cheaper to read on than to halve again.
const NEAR: u64 = 64 * 1024;

/// Returns where the first event numbered `seq` or higher begins, or the end of the file.
///
/// Halving needs lines in the order of their numbers, which only our own writer promises. In a
/// file of another writer the walk begins at the first line.
pub(crate) fn offset_of(file: &File, seq: u64) -> io::Result<u64> {
    if seq <= 1 {
        return Ok(0);
    }
    let (mut low, mut high) = (0, file.metadata()?.len());
    if !is_in_order(file)? {
        high = 0;
    }
    // Every event that begins before `low` is numbered below `seq`.
    while high.saturating_sub(low) > NEAR {
        let middle = low + (high - low) / 2;
        match first_number_after(file, middle, high)? {
            Some((number, end)) if number < seq => low = end,
            Some(_) | None => high = middle,
        }
    }
    first_at_or_after(file, low, seq)
}

/// Tells whether the file begins as our own writer begins one.
fn is_in_order(file: &File) -> io::Result<bool> {
    let mut lines = Lines::new(file.try_clone()?, 0);
    let Some(line) = lines.next()? else { return Ok(false) };
    let Ok(first) = decode_line(line.bytes) else { return Ok(false) };
    let starts_run = matches!(first.kind, Kind::RunStarted | Kind::RunCreated);
    Ok(match first.decode_payload() {
        Ok(Payload::RunStarted(started)) => starts_run && started.format.is_some(),
        Ok(Payload::RunCreated(_)) => starts_run,
        _ => false,
    })
}

/// Returns the number of the first whole event that begins after `from` and before `until`, and
/// where it ends. Lines that hold no event are passed over.
fn first_number_after(file: &File, from: u64, until: u64) -> io::Result<Option<(u64, u64)>> {
    // `from` is somewhere inside a line; what is left of that line is not an event.
    let mut lines = Lines::new(file.try_clone()?, from);
    lines.next()?;
    while let Some(line) = lines.next()? {
        if line.offset >= until || line.end == LineEnd::Missing {
            return Ok(None);
        }
        if let Some(number) = number_of(line.bytes) {
            return Ok(Some((number, line.end_offset())));
        }
    }
    Ok(None)
}

fn first_at_or_after(file: &File, from: u64, seq: u64) -> io::Result<u64> {
    let mut lines = Lines::new(file.try_clone()?, from);
    // A torn tail is not passed over: it may yet become an event, or be cut off.
    while let Some(line) = lines.next_whole()? {
        if number_of(line.bytes).is_some_and(|number| number >= seq) {
            return Ok(line.offset);
        }
    }
    Ok(lines.offset())
}

fn number_of(line: &[u8]) -> Option<u64> {
    peek(line).map(|seen| seen.seq).or_else(|| decode_line(line).ok().map(|event| event.seq))
}

/// Counts the line feeds before `offset`.
pub(crate) fn count_lines_before(file: &File, offset: u64) -> io::Result<u64> {
    let mut buffer = vec![0; 256 * 1024];
    let (mut at, mut count) = (0, 0);
    while at < offset {
        let wanted = (offset - at).min(buffer.len() as u64) as usize;
        let read = file.read_at(&mut buffer[..wanted], at)?;
        if read == 0 {
            break;
        }
        count += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64;
        at += read as u64;
    }
    Ok(count)
}
