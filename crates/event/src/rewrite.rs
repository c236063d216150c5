//! Replaces strings inside a JSON value without touching anything else in it.

use crate::escape::write_string;
use crate::json::{Json, Piece, Pieces};

/// Where in a value a string stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StringPlace {
    /// It is a key.
    Key,
    /// It is the value of this key.
    ValueOf(String),
    /// It is an element of an array, or the whole value.
    Element,
}

impl Json {
    /// Shows every string of the value to `replace` and puts in what it answers.
    ///
    /// Returns nothing when nothing was replaced. Everything but the replaced strings stays as it
    /// was, to the byte.
    pub fn rewrite_strings(
        &self,
        mut replace: impl FnMut(&StringPlace, &str) -> Option<String>,
    ) -> Option<Json> {
        let text = self.as_str();
        let mut out = String::with_capacity(text.len());
        let mut changed = false;
        let mut pieces = Pieces::of(text).peekable();
        let mut key: Option<String> = None;
        while let Some(piece) = pieces.next() {
            let literal = match piece {
                Piece::Mark(byte) => {
                    if matches!(byte, b',' | b'[' | b'{') {
                        key = None;
                    }
                    out.push(byte as char);
                    continue;
                }
                Piece::String(literal) => literal,
            };
            // Half a surrogate pair has no text; the decoder puts U+FFFD in its place.
            let decoded: String = Json::trusted(literal.to_owned()).decode().unwrap_or_default();
            let is_key = matches!(pieces.peek(), Some(Piece::Mark(b':')));
            let place = match key.take() {
                _ if is_key => StringPlace::Key,
                Some(key) => StringPlace::ValueOf(key),
                None => StringPlace::Element,
            };
            match replace(&place, &decoded) {
                Some(replacement) => {
                    changed = true;
                    write_string(&mut out, &replacement);
                }
                None => out.push_str(literal),
            }
            if is_key {
                key = Some(decoded);
            }
        }
        changed.then(|| self.with_text(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_strings_that_were_replaced_change() {
        let json = Json::parse(r#"{"a":"x","b":[1.50,"x",{"x":"y"}],"n":"\u0041"}"#).unwrap();
        let mut seen = Vec::new();
        let rewritten = json.rewrite_strings(|place, text| {
            seen.push((place.clone(), text.to_owned()));
            (text == "x" && *place != StringPlace::Key).then(|| "\"z\"".to_owned())
        });
        assert_eq!(
            rewritten.unwrap().as_str(),
            r#"{"a":"\"z\"","b":[1.50,"\"z\"",{"x":"y"}],"n":"\u0041"}"#
        );
        assert!(seen.contains(&(StringPlace::ValueOf("x".into()), "y".into())));
        assert!(seen.contains(&(StringPlace::ValueOf("n".into()), "A".into())));
        assert!(seen.contains(&(StringPlace::Element, "x".into())));
    }

    #[test]
    fn nothing_replaced_is_nothing_returned() {
        assert_eq!(Json::parse("[1,\"a\"]").unwrap().rewrite_strings(|_, _| None), None);
    }
}
