//! The members of objects and lists, and values that are taken over as text.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

use super::{Answer, Decoder, Refused};
use crate::json::RAW_TOKEN;

/// How far a walk through the members of something has come.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// No member has been passed.
    Opened,
    /// One has.
    Going,
    /// The closing bracket has been passed.
    Closed,
}

/// The members of an object or a list whose opening bracket has been passed.
struct Members<'a, 'de> {
    decoder: &'a mut Decoder<'de>,
    close: u8,
    stage: Stage,
}

impl Members<'_, '_> {
    /// Goes to the next member. Answers whether there is one.
    fn advance(&mut self) -> Answer<bool> {
        if self.stage == Stage::Closed {
            return Ok(false);
        }
        if self.decoder.mark()? == self.close {
            self.stage = Stage::Closed;
            return self.decoder.pass(self.close).map(|()| false);
        }
        if self.stage == Stage::Going {
            self.decoder.pass(b',')?;
        }
        self.stage = Stage::Going;
        Ok(true)
    }

    /// Refuses where somebody stopped before the last member.
    fn end(mut self) -> Answer<()> {
        if self.advance()? { Err(Refused) } else { Ok(()) }
    }
}

/// The members of an object.
pub(super) struct Object<'a, 'de>(Members<'a, 'de>);

impl<'a, 'de> Object<'a, 'de> {
    pub(super) fn new(decoder: &'a mut Decoder<'de>) -> Self {
        Object(Members { decoder, close: b'}', stage: Stage::Opened })
    }

    pub(super) fn end(self) -> Answer<()> {
        self.0.end()
    }
}

impl<'de> MapAccess<'de> for &mut Object<'_, 'de> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Answer<Option<K::Value>> {
        if !self.0.advance()? {
            return Ok(None);
        }
        seed.deserialize(Key(self.0.decoder)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Answer<V::Value> {
        self.0.decoder.pass(b':')?;
        seed.deserialize(&mut *self.0.decoder)
    }
}

/// The items of a list.
pub(super) struct List<'a, 'de>(Members<'a, 'de>);

impl<'a, 'de> List<'a, 'de> {
    pub(super) fn new(decoder: &'a mut Decoder<'de>) -> Self {
        List(Members { decoder, close: b']', stage: Stage::Opened })
    }

    pub(super) fn end(self) -> Answer<()> {
        self.0.end()
    }
}

impl<'de> SeqAccess<'de> for &mut List<'_, 'de> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Answer<Option<T::Value>> {
        if !self.0.advance()? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.0.decoder).map(Some)
    }
}

/// A key. It is text, whatever is asked for: keys that spell numbers are for `serde_json`.
struct Key<'a, 'de>(&'a mut Decoder<'de>);

impl<'de> Deserializer<'de> for Key<'_, 'de> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Answer<V::Value> {
        self.0.visit_string(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

/// A value as text, handed over as `serde_json` hands over its raw values.
pub(super) struct RawText<'de> {
    text: &'de str,
    is_named: bool,
}

impl<'de> RawText<'de> {
    pub(super) fn of(text: &'de str) -> Self {
        RawText { text, is_named: false }
    }
}

impl<'de> MapAccess<'de> for RawText<'de> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Answer<Option<K::Value>> {
        if std::mem::replace(&mut self.is_named, true) {
            return Ok(None);
        }
        seed.deserialize(RAW_TOKEN.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Answer<V::Value> {
        seed.deserialize(BorrowedStrDeserializer::new(self.text))
    }
}
