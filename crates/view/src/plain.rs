//! JSON as the readers of other systems can take it. The values stay what they are.
//!
//! Some take U+2028, U+2029 and U+0085 for the end of a line, or refuse half a surrogate pair. Most
//! give up on the whole file over a number that their language cannot hold.

use std::borrow::Cow;

use quipu_event::{Json, mend_surrogates};

/// A number longer than this is one that nobody computes with.
const LONG: usize = 300;

/// Returns `json` as one line, its end included.
pub(crate) fn line(json: &Json) -> Vec<u8> {
    let mut line = text(json.as_str()).into_owned();
    line.push('\n');
    line.into_bytes()
}

/// Returns the same JSON, spelled so that every reader can take it.
pub(crate) fn text(json: &str) -> Cow<'_, str> {
    let mended = match mend_surrogates(json) {
        Cow::Borrowed(same) => quote_numbers(same),
        Cow::Owned(mended) => Cow::Owned(quote_numbers(&mended).into_owned()),
    };
    if !mended.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
        return mended;
    }
    // Such a character can only stand in a string, where its escape means the same.
    let spelled = mended.replace('\u{85}', "\\u0085").replace('\u{2028}', "\\u2028");
    Cow::Owned(spelled.replace('\u{2029}', "\\u2029"))
}

/// Makes a string of every number that is too long or too large.
fn quote_numbers(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let mut out = String::new();
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at),
            b'-' | b'0'..=b'9' => {
                let end = end_of_number(bytes, at);
                let number = &json[at..end];
                if is_beyond(number) {
                    out.push_str(&json[copied..at]);
                    out.extend(["\"", number, "\""]);
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(&json[copied..]);
    Cow::Owned(out)
}

fn is_beyond(number: &str) -> bool {
    number.len() > LONG
        || (number.contains(['e', 'E']) && !number.parse::<f64>().is_ok_and(f64::is_finite))
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

fn end_of_number(bytes: &[u8], start: usize) -> usize {
    let rest = bytes[start..].iter();
    let length =
        rest.take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    start + length.count()
}
