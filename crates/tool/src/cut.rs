//! How much of an answer is kept: nearly all of it in the transcript, less of it for a model.

use serde_json::Value;

use crate::answer::{Answer, Shown};

/// The longest text that a caller is shown, in bytes. Of a longer one it sees both ends.
pub const LONGEST_SHOWN: usize = 64 * 1024;
/// The longest text that is recorded, in bytes. Of a longer one both ends are.
pub const LONGEST_RECORDED: usize = 16 * 1024 * 1024;

/// Cuts what the caller of a tool is shown.
pub(crate) fn cut_for_caller(answer: &mut Answer) {
    match &mut answer.shown {
        Some(shown) => shown.content.iter_mut().for_each(cut_block),
        None => {
            if let Some(text) = text_of(&answer.output).and_then(|text| cut(&text, LONGEST_SHOWN)) {
                answer.shown = Some(Shown::text_only(text));
            }
        }
    }
}

/// Cuts what is recorded, and returns how many bytes there were if it did.
pub(crate) fn cut_for_record(output: &mut Value) -> Option<usize> {
    let text = output.as_str()?;
    let whole = text.len();
    *output = Value::from(cut(text, LONGEST_RECORDED)?);
    Some(whole)
}

fn cut_block(block: &mut Value) {
    if let Some(text) = block["text"].as_str().and_then(|text| cut(text, LONGEST_SHOWN)) {
        block["text"] = Value::from(text);
    }
}

fn text_of(output: &Value) -> Option<std::borrow::Cow<'_, str>> {
    match output {
        Value::String(text) => Some(text.as_str().into()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
        other => Some(other.to_string().into()),
    }
}

/// Returns both ends of a text that is too long, with a note between them.
fn cut(text: &str, longest: usize) -> Option<String> {
    if text.len() <= longest {
        return None;
    }
    let head = text.floor_char_boundary(longest / 4 * 3);
    let tail = text.ceil_char_boundary(text.len() - longest / 4);
    let left_out = tail - head;
    let note = format!("\n[… {left_out} of {} bytes left out …]\n", text.len());
    Some(format!("{}{note}{}", &text[..head], &text[tail..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_text_both_ends_are_shown_and_how_much_is_missing() {
        let text = format!("{}{}{}", "a".repeat(100_000), "ü".repeat(50_000), "z".repeat(100_000));
        let mut answer = Answer::completed(text.clone());
        cut_for_caller(&mut answer);
        assert_eq!(answer.output, text, "what is recorded stays whole");
        let shown = answer.text();
        assert!(shown.len() < LONGEST_SHOWN + 100, "{}", shown.len());
        assert!(shown.starts_with("aaa") && shown.ends_with("zzz"));
        let note = "[… 234464 of 300000 bytes left out …]";
        assert!(shown.contains(note), "{}", &shown[49_000..49_300]);
    }

    #[test]
    fn a_text_of_the_longest_length_is_not_cut() {
        let mut answer = Answer::completed("a".repeat(LONGEST_SHOWN));
        cut_for_caller(&mut answer);
        assert_eq!(answer.shown, None);
        let mut output = Value::from("a".repeat(LONGEST_RECORDED + 1));
        assert_eq!(cut_for_record(&mut output), Some(LONGEST_RECORDED + 1));
        assert!(output.as_str().unwrap().len() < LONGEST_RECORDED + 100);
    }
}
