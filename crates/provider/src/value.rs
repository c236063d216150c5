//! A foreign JSON value, looked at without being believed.
//!
//! Every answer is optional: a key that is missing, holds `null` or holds another JSON type than
//! asked for is simply not there. Nothing is decoded before it is asked for, and of a key that
//! stands twice the last one counts. It knows no provider.

use std::borrow::Cow;

use memchr::memchr;
use quipu_event::{Json, MAX_DEPTH, Timestamp};

use crate::said::Said;
use crate::scan::{LongStrings, Member, Scanner};
use crate::unescape::unescape;

/// How much of the nesting that a line may have is left to our own payloads.
const OWN_NESTING: usize = 8;

/// One value of a foreign record: its JSON, without white space around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'a> {
    source: &'a str,
    long: &'a LongStrings,
}

/// A text that is not one JSON value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotJson;

impl<'a> Value<'a> {
    /// Reads `text` as one value.
    pub(crate) fn parse(text: &'a str) -> Result<Self, NotJson> {
        let source = Scanner::new(text).whole().ok_or(NotJson)?;
        Ok(Value { source, long: LongStrings::NONE })
    }

    /// Makes a value of a literal that is known to be one.
    pub(crate) fn of_literal(source: &'a str) -> Self {
        Value { source, long: LongStrings::NONE }
    }

    /// Returns its JSON as it stands.
    pub(crate) fn source(self) -> &'a str {
        self.source
    }

    /// Tells whether it is an object.
    pub(crate) fn is_object(self) -> bool {
        self.source().starts_with('{')
    }

    /// Tells whether it is a list.
    pub(crate) fn is_list(self) -> bool {
        self.source().starts_with('[')
    }

    /// Tells whether it is `null`.
    pub(crate) fn is_null(self) -> bool {
        self.source() == "null"
    }

    /// Returns the text, if it is a string.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let inside = self.source.strip_prefix('"')?.strip_suffix('"')?;
        if memchr(b'\\', inside.as_bytes()).is_none() {
            return Some(Cow::Borrowed(inside));
        }
        Some(Cow::Owned(unescape(inside)))
    }

    /// Returns the text as one's own, if it is a string; a long one with room for a payload.
    pub(crate) fn string(self) -> Option<String> {
        let inside = self.source.strip_prefix('"')?.strip_suffix('"')?;
        Some(unescape(inside))
    }

    /// Returns the text where it stands, if it is a string.
    pub(crate) fn said(self) -> Option<Said<'a>> {
        self.source.starts_with('"').then_some(Said::Literal(self.source))
    }

    /// Returns the number, if it is a whole one that is not negative.
    pub(crate) fn count(self) -> Option<u64> {
        let text = self.source();
        text.parse().ok().or_else(|| {
            // `12.0` and `1e3` are whole numbers too, and the largest are not exact anyway.
            let number: f64 = serde_json::from_str(text).ok()?;
            (number >= 0.0 && number.fract() == 0.0 && number < 1.8e19).then_some(number as u64)
        })
    }

    /// Returns the number, if it is a whole one.
    pub(crate) fn integer(self) -> Option<i64> {
        self.source().parse().ok()
    }

    /// Returns the number, if it is one.
    pub(crate) fn number(self) -> Option<f64> {
        serde_json::from_str(self.source()).ok()
    }

    /// Returns the truth value, if it is one.
    pub(crate) fn flag(self) -> Option<bool> {
        match self.source() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Returns its members, if it is an object.
    pub(crate) fn fields(self) -> Option<Fields<'a>> {
        let mut fields = Fields::default();
        Scanner::of_value(self.source, self.long)
            .members(|member| fields.add(member, self.long))
            .map(|_| fields)
    }

    /// Returns its items; none if it is no list.
    pub(crate) fn items(self) -> Vec<Value<'a>> {
        let mut items = Vec::new();
        let long = self.long;
        let add = |source| items.push(Value { source, long });
        match Scanner::of_value(self.source, long).items(add) {
            Some(()) => items,
            None => Vec::new(),
        }
    }

    /// Takes it over as it stands.
    ///
    /// A value that nests too deep for a line is kept as the text of its JSON.
    pub(crate) fn json(self) -> Json {
        if self.nests_too_deep() { json_text(self.source) } else { Json::from_valid(self.source) }
    }

    /// Tells whether it nests too deep for a line.
    pub(crate) fn nests_too_deep(self) -> bool {
        Json::text_nests_deeper_than(self.source, MAX_DEPTH - OWN_NESTING)
    }
}

/// Makes a JSON string.
pub(crate) fn json_text(text: &str) -> Json {
    // A string does not nest.
    Json::encode(text).unwrap_or_default()
}

/// Makes JSON of what is JSON inside a string, or a JSON string of what is not.
pub(crate) fn json_inside(text: &str) -> Json {
    match Value::parse(text) {
        Ok(value) => value.json(),
        Err(NotJson) => json_text(text),
    }
}

/// The members of a foreign object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

impl<'a> Fields<'a> {
    fn add(&mut self, member: Member<'a>, long: &'a LongStrings) {
        let key = match member.key.contains('\\') {
            true => Cow::Owned(unescape(member.key)),
            false => Cow::Borrowed(member.key),
        };
        if self.0.capacity() == 0 {
            self.0.reserve(16);
        }
        self.0.push((key, Value { source: member.value, long }));
    }

    /// Returns the value under `key`, unless it is `null`.
    pub(crate) fn get(&self, key: &str) -> Option<Value<'a>> {
        let (_, value) = self.0.iter().rev().find(|(name, _)| name == key)?;
        (!value.is_null()).then_some(*value)
    }

    /// Tells whether there is `key`, even with `null`.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }

    /// Returns the string under `key`.
    pub(crate) fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.text()
    }

    /// Returns the string under `key` where it stands.
    pub(crate) fn said(&self, key: &str) -> Option<Said<'a>> {
        self.get(key)?.said()
    }

    /// Returns the string under `key` as one's own.
    pub(crate) fn string(&self, key: &str) -> Option<String> {
        self.get(key)?.string()
    }

    /// Returns the whole number under `key`, if it is not negative.
    pub(crate) fn count(&self, key: &str) -> Option<u64> {
        self.get(key)?.count()
    }

    /// Returns the whole number under `key`.
    pub(crate) fn integer(&self, key: &str) -> Option<i64> {
        self.get(key)?.integer()
    }

    /// Returns the number under `key`.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        self.get(key)?.number()
    }

    /// Returns the truth value under `key`.
    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        self.get(key)?.flag()
    }

    /// Returns the object under `key`.
    pub(crate) fn fields(&self, key: &str) -> Option<Fields<'a>> {
        self.get(key)?.fields()
    }

    /// Returns the items of the list under `key`; none if there is no list.
    pub(crate) fn items(&self, key: &str) -> Vec<Value<'a>> {
        self.get(key).map(Value::items).unwrap_or_default()
    }

    /// Returns the value under `key` as it stands.
    pub(crate) fn json(&self, key: &str) -> Option<Json> {
        self.get(key).map(Value::json)
    }

    /// Returns the time under `key`, written as in RFC 3339.
    pub(crate) fn time(&self, key: &str) -> Option<Timestamp> {
        Timestamp::parse(&self.text(key)?).ok()
    }

    /// Returns the members in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Value<'a>)> {
        self.0.iter().map(|(key, value)| (&**key, *value))
    }
}

/// The members of an object that has been read, before anybody looks at them.
pub(crate) struct Members<'a> {
    members: Vec<Member<'a>>,
    long: LongStrings,
}

impl<'a> Members<'a> {
    /// Reads the object that `text` is, if it is one.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let mut members = Vec::with_capacity(16);
        let long = Scanner::new(text).members(|member| members.push(member))?;
        Some(Members { members, long })
    }

    /// Reads the members that stand whole at the beginning of a text that has been cut off.
    pub(crate) fn parse_beginning(text: &'a str) -> Self {
        let mut members = Vec::new();
        Scanner::new(text).members(|member| members.push(member));
        Members { members, long: LongStrings::default() }
    }

    /// Returns them to be looked at.
    pub(crate) fn fields<'b>(&'b self) -> Fields<'b>
    where
        'a: 'b,
    {
        let mut fields = Fields::default();
        self.members.iter().for_each(|member| fields.add(*member, &self.long));
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_another_type_is_not_there() {
        let text = r#"{"s":"a\n","n":7,"f":1.5,"b":true,"z":null,"l":[1],"o":{"k":2},"t":"x"}"#;
        let fields = Value::parse(text).unwrap().fields().unwrap();
        assert_eq!(fields.text("s").as_deref(), Some("a\n"));
        assert_eq!(
            (fields.count("n"), fields.integer("n"), fields.number("f")),
            (Some(7), Some(7), Some(1.5))
        );
        assert_eq!(fields.flag("b"), Some(true));
        assert_eq!((fields.items("l").len(), fields.fields("o").unwrap().count("k")), (1, Some(2)));
        assert!(fields.has("z") && fields.get("z").is_none());
        for key in ["s", "f", "b", "z", "l", "o", "none"] {
            assert_eq!(fields.count(key), None, "{key}");
        }
        for key in ["n", "f", "b", "z", "l", "o", "none"] {
            assert_eq!(fields.text(key), None, "{key}");
            assert_eq!(fields.time(key), None, "{key}");
        }
        assert!(fields.items("o").is_empty() && fields.fields("l").is_none());
    }

    #[test]
    fn of_a_key_that_stands_twice_the_last_one_counts() {
        let fields = Value::parse(r#"{"id":"a","id":"b"}"#).unwrap().fields().unwrap();
        assert_eq!(fields.text("id").as_deref(), Some("b"));
        assert_eq!(fields.iter().count(), 2);
    }

    #[test]
    fn whole_numbers_may_be_spelled_in_any_way() {
        let cases = [
            ("0", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("12.0", Some(12)),
            ("1e3", Some(1000)),
            ("-1", None),
            ("1.5", None),
            ("1e400", None),
        ];
        for (text, expected) in cases {
            assert_eq!(Value::parse(text).unwrap().count(), expected, "{text}");
        }
    }

    #[test]
    fn a_value_that_nests_too_deep_for_a_line_is_kept_as_text() {
        let nested = |n: usize| format!("{}\"[\"{}", "[".repeat(n), "]".repeat(n));
        for (depth, is_text) in [(1, false), (MAX_DEPTH - OWN_NESTING, false), (600, true)] {
            let text = nested(depth);
            let json = Value::parse(&text).unwrap().json();
            assert_eq!(json.as_str().starts_with('"'), is_text, "{depth}");
            assert_eq!(json == json_text(&text), is_text, "{depth}");
        }
    }
}
