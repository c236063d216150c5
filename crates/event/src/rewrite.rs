//! Replaces strings and numbers inside JSON text without touching anything else in it.
//!
//! It knows where each of them stands, and nothing of what it means.

use std::borrow::Cow;

use crate::escape::write_string;
use crate::json::{Json, Piece, Pieces};

/// Where in a value a string or a number stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// It is a key.
    Key,
    /// It is a value below these keys, the nearest last; an array has no key of its own.
    Below(&'a [Cow<'a, str>]),
}

/// What can be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar<'a> {
    /// A string, without its quotes and escapes.
    String(&'a str),
    /// A number, as it is spelled.
    Number(&'a str),
}

/// Shows every string and number of JSON text to `replace` and puts in the string that it answers.
///
/// Returns nothing when nothing was replaced. Everything but what was replaced stays as it was, to
/// the byte, white space included. The caller knows that `text` is one JSON value.
pub fn rewrite_scalars(
    text: &str,
    mut replace: impl FnMut(Place<'_>, Scalar<'_>) -> Option<String>,
) -> Option<String> {
    let mut out = String::new();
    let mut kept = 0;
    let mut put = |start: usize, end: usize, replacement: Option<String>| {
        if let Some(replacement) = replacement {
            out.push_str(&text[kept..start]);
            write_string(&mut out, &replacement);
            kept = end;
        }
    };
    let mut keys = Keys::default();
    let (mut at, mut number) = (0, None);
    for piece in Pieces::of(text) {
        let start = at;
        at += match piece {
            Piece::Mark(_) => 1,
            Piece::String(literal) => literal.len(),
        };
        let in_number = matches!(piece, Piece::Mark(byte) if is_of_number(byte));
        if let (Some(first), false) = (number, in_number) {
            put(first, start, replace(keys.place(), Scalar::Number(&text[first..start])));
            number = None;
        }
        match piece {
            Piece::Mark(b'{' | b'[') => keys.open(),
            Piece::Mark(b'}' | b']') => keys.close(),
            Piece::Mark(b'-' | b'0'..=b'9') => number = number.or(Some(start)),
            Piece::Mark(_) => {}
            Piece::String(literal) => {
                let decoded = decode(literal);
                let is_key = text[at..].trim_ascii_start().starts_with(':');
                let place = if is_key { Place::Key } else { keys.place() };
                put(start, at, replace(place, Scalar::String(&decoded)));
                if is_key {
                    keys.enter(decoded);
                }
            }
        }
    }
    if let Some(first) = number {
        put(first, at, replace(keys.place(), Scalar::Number(&text[first..])));
    }
    (kept > 0).then(|| out + &text[kept..])
}

impl Json {
    /// Shows every string and number of the value to `replace`, as [`rewrite_scalars`].
    pub fn rewrite_scalars(
        &self,
        replace: impl FnMut(Place<'_>, Scalar<'_>) -> Option<String>,
    ) -> Option<Json> {
        rewrite_scalars(self.as_str(), replace).map(|text| self.with_text(text))
    }

    /// Shows every string of the value to `replace`, as [`rewrite_scalars`].
    pub fn rewrite_strings(
        &self,
        mut replace: impl FnMut(Place<'_>, &str) -> Option<String>,
    ) -> Option<Json> {
        self.rewrite_scalars(|place, scalar| match scalar {
            Scalar::String(text) => replace(place, text),
            Scalar::Number(_) => None,
        })
    }
}

/// The keys on the way to where we are.
#[derive(Default)]
struct Keys<'t> {
    keys: Vec<Cow<'t, str>>,
    /// For each array and object that is open, whether one of its keys is among the keys.
    open: Vec<bool>,
}

impl<'t> Keys<'t> {
    fn place(&self) -> Place<'_> {
        Place::Below(&self.keys)
    }

    fn open(&mut self) {
        self.open.push(false);
    }

    fn close(&mut self) {
        if self.open.pop() == Some(true) {
            self.keys.pop();
        }
    }

    fn enter(&mut self, key: Cow<'t, str>) {
        if let Some(has_key) = self.open.last_mut() {
            if std::mem::replace(has_key, true) {
                self.keys.pop();
            }
            self.keys.push(key);
        }
    }
}

fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

fn decode(literal: &str) -> Cow<'_, str> {
    let inside = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inside.filter(|inside| memchr::memchr(b'\\', inside.as_bytes()).is_none()) {
        Some(inside) => Cow::Borrowed(inside),
        // Half a surrogate pair has no text; the decoder puts U+FFFD in its place.
        None => Cow::Owned(Json::trusted(literal.to_owned()).decode().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_replaced_changes() {
        let text = " {\"a\" :\n\"x\", \"b\":[1.50,\"x\",{\"x\":\"y\"}, -2e+1],\"n\":\"\\u0041\" } ";
        let rewritten = rewrite_scalars(text, |place, scalar| match (place, scalar) {
            (Place::Below(_), Scalar::String("x")) => Some("\"z\"".to_owned()),
            (_, Scalar::Number("-2e+1")) => Some("n".to_owned()),
            _ => None,
        });
        assert_eq!(
            rewritten.unwrap(),
            " {\"a\" :\n\"\\\"z\\\"\", \"b\":[1.50,\"\\\"z\\\"\",{\"x\":\"y\"}, \"n\"],\"n\":\"\\u0041\" } "
        );
        let json = Json::parse(text).unwrap();
        let rewritten = json.rewrite_strings(|_, text| (text == "A").then(|| "B".to_owned()));
        assert_eq!(
            rewritten.unwrap().as_str(),
            r#"{"a":"x","b":[1.50,"x",{"x":"y"},-2e+1],"n":"B"}"#
        );
    }

    #[test]
    fn each_is_shown_with_the_keys_above_it() {
        let text = r#"{"a":"x","b":[1,["x"],{"c":true,"d":{"e":2},"f":null}],"\u0041":"\n"}"#;
        let mut seen = Vec::new();
        rewrite_scalars(text, |place, scalar| {
            let keys = match place {
                Place::Key => "key".to_owned(),
                Place::Below(keys) => keys.join("."),
            };
            seen.push(match scalar {
                Scalar::String(text) => format!("{keys} {text:?}"),
                Scalar::Number(number) => format!("{keys} {number}"),
            });
            None
        });
        let expected = [
            "key \"a\"",
            "a \"x\"",
            "key \"b\"",
            "b 1",
            "b \"x\"",
            "key \"c\"",
            "key \"d\"",
            "key \"e\"",
            "b.d.e 2",
            "key \"f\"",
            "key \"A\"",
            "A \"\\n\"",
        ];
        assert_eq!(seen, expected);
        for (text, number) in [("12", "12"), ("[-0.5]", "-0.5")] {
            let told = rewrite_scalars(text, |_, scalar| {
                (scalar == Scalar::Number(number)).then(|| "n".to_owned())
            });
            assert_eq!(told.unwrap(), text.replace(number, "\"n\""));
        }
    }

    #[test]
    fn nothing_replaced_is_nothing_returned() {
        assert_eq!(Json::parse("[1,\"a\"]").unwrap().rewrite_strings(|_, _| None), None);
    }
}
