//! Well-known shapes of secrets, looked for beside the secrets that have names.
//!
//! A shape such as `token=…` would also hide the mark of a secret that stands there already, and with
//! it the way back; where a mark is all that it hides, the mark stays.

use quipu_event::{Draft, Scalar};
use quipu_journal::{Mask, SecretMask};

use super::mark::{self, between_marks};

/// How every mark of a shape begins, and ends.
pub(super) const OPENING: &str = "[masked:";
const CLOSING: char = ']';

/// Hides shapes in a text that has marks; nothing when there are none.
pub(super) fn mask_text(shapes: &SecretMask, marked: &str) -> Option<String> {
    let (hidden, _) = shapes.mask_text(marked)?;
    Some(keep_marks(shapes, marked, hidden))
}

/// Hides shapes in a draft that has marks.
pub(super) fn mask(shapes: &SecretMask, draft: Draft) -> (Draft, u64) {
    let before = draft.payload.as_str().contains(mark::OPENING).then(|| draft.payload.clone());
    let (mut draft, count) = shapes.mask(draft);
    let Some(before) = before.filter(|before| *before != draft.payload) else {
        return (draft, count);
    };
    let mut marked = Vec::new();
    before.rewrite_scalars(|_, scalar| {
        marked.push(text_of(scalar).to_owned());
        None
    });
    let mut marked = marked.into_iter();
    // A number that is hidden becomes a string: to pair before and after, both are looked at.
    let kept = draft.payload.rewrite_scalars(|_, scalar| {
        let (marked, hidden) = (marked.next()?, text_of(scalar));
        (marked != hidden).then(|| keep_marks(shapes, &marked, hidden.to_owned()))
    });
    if let Some(kept) = kept {
        draft.payload = kept;
    }
    (draft, count)
}

fn text_of(scalar: Scalar<'_>) -> &str {
    match scalar {
        Scalar::String(text) | Scalar::Number(text) => text,
    }
}

/// Returns `marked` with the shapes between its marks hidden, if that hides as much as `hidden` does.
fn keep_marks(shapes: &SecretMask, marked: &str, hidden: String) -> String {
    let (between, marks) = between_marks(marked);
    let between: Vec<String> = between
        .into_iter()
        .map(|text| shapes.mask_text(text).map_or_else(|| text.to_owned(), |(hidden, _)| hidden))
        .collect();
    if marks.is_empty() || !differs_only_in_marks(&hidden, &between, &marks) {
        return hidden;
    }
    let mut kept = between[0].clone();
    for (mark, after) in marks.iter().zip(&between[1..]) {
        kept.extend([*mark, after]);
    }
    kept
}

fn differs_only_in_marks(hidden: &str, between: &[String], marks: &[&str]) -> bool {
    let Some(mut rest) = hidden.strip_prefix(between[0].as_str()) else { return false };
    for (mark, after) in marks.iter().zip(&between[1..]) {
        let beyond = rest.strip_prefix(mark).or_else(|| {
            let inside = rest.strip_prefix(OPENING)?;
            inside.split_once(CLOSING).map(|(_, beyond)| beyond)
        });
        match beyond.and_then(|beyond| beyond.strip_prefix(after.as_str())) {
            Some(beyond) => rest = beyond,
            None => return false,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_mark_outlives_a_shape_that_hides_nothing_else() {
        let shapes = SecretMask::new();
        let cases = [
            ("token=***secret:a***", None),
            (
                "api_key: ***secret:a*** password=hunter2",
                Some("api_key: ***secret:a*** password=[masked:password]"),
            ),
            ("https://me:ab***secret:a***cd@host", Some("https://me:[masked:url-password]@host")),
            ("***secret:550e8400-e29b-41d4-a716-446655440000/api_key***", None),
            ("plain", None),
        ];
        for (text, expected) in cases {
            let masked = mask_text(&shapes, text).filter(|masked| masked != text);
            assert_eq!(masked.as_deref(), expected, "{text}");
        }
        let facts = json!({"pwd": 12345678, "token": "***secret:a***", "password": "x", "text": "token=***secret:a***"});
        let (draft, _) = mask(&shapes, Draft::system("note", facts).unwrap());
        assert_eq!(
            draft.payload.as_str(),
            r#"{"subtype":"note","password":"[masked:password]","pwd":"[masked:password]","text":"token=***secret:a***","token":"***secret:a***"}"#
        );
    }
}
