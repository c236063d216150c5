//! JSON text that is known to be valid → a value, by one walk.
//!
//! A payload has been looked at when its line was read. Here it is not doubted again, which saves
//! most of what a parser does; long strings are passed many bytes at a time and copied once.
//!
//! What is unusual is refused without saying why: a value of another shape than asked for, half a
//! surrogate pair, deep nesting. `serde_json` decodes all that and finds the words where it cannot, so
//! that this file may be deleted and every value still means the same (property tests say so).

mod access;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, IntoDeserializer, Visitor};

use crate::cursor::{Cursor, Literal};
use crate::encode::MAX_DEPTH;
use crate::json::RAW_TOKEN;
use crate::unescape::unescape;

use access::{List, Object, RawText};

/// Decodes `text`, which is one JSON value; answers nothing where `serde_json` has to be asked.
pub(crate) fn decode_valid<'de, T: Deserialize<'de>>(text: &'de str) -> Option<T> {
    let mut decoder = Decoder { text, cursor: Cursor::new(text.as_bytes()), room: MAX_DEPTH };
    let value = T::deserialize(&mut decoder).ok()?;
    decoder.cursor.mark().is_none().then_some(value)
}

/// A walk along a value.
struct Decoder<'de> {
    text: &'de str,
    cursor: Cursor<'de>,
    /// How much deeper it may go.
    room: usize,
}

/// It cannot be decoded here. Whoever wants to know why asks `serde_json`.
#[derive(Debug)]
struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not decoded here")
    }
}

impl std::error::Error for Refused {}

impl de::Error for Refused {
    /// The words are not put together: nobody will read them.
    fn custom<T: fmt::Display>(_: T) -> Self {
        Refused
    }
}

type Answer<T> = Result<T, Refused>;

impl<'de> Decoder<'de> {
    fn mark(&mut self) -> Answer<u8> {
        self.cursor.mark().ok_or(Refused)
    }

    fn pass(&mut self, mark: u8) -> Answer<()> {
        self.cursor.pass(mark).ok_or(Refused)
    }

    /// Passes a string and decodes it.
    fn string(&mut self) -> Answer<Cow<'de, str>> {
        self.mark()?;
        let Literal { inside, is_escaped } = self.cursor.string().ok_or(Refused)?;
        let inside = self.text.get(inside).ok_or(Refused)?;
        if is_escaped { unescape(inside).map(Cow::Owned) } else { Some(Cow::Borrowed(inside)) }
            .ok_or(Refused)
    }

    fn visit_string<V: Visitor<'de>>(&mut self, visitor: V) -> Answer<V::Value> {
        match self.string()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    /// Passes a value without decoding it; returns it as it stands.
    fn raw(&mut self) -> Answer<&'de str> {
        self.mark()?;
        let start = self.cursor.at();
        self.cursor.value(self.room).ok_or(Refused)?;
        self.text.get(start..self.cursor.at()).ok_or(Refused)
    }

    fn visit_number<V: Visitor<'de>>(&mut self, visitor: V) -> Answer<V::Value> {
        self.mark()?;
        let mut plain = self.cursor;
        if let Some(number) = plain.whole_number() {
            self.cursor = plain;
            return visitor.visit_u64(number);
        }
        // How the other numbers are rounded is for `serde_json` to say.
        let start = self.cursor.at();
        self.cursor.number().ok_or(Refused)?;
        let number = self.text.get(start..self.cursor.at()).ok_or(Refused)?;
        let mut theirs = serde_json::Deserializer::from_str(number);
        theirs.deserialize_any(visitor).map_err(|_| Refused)
    }

    fn visit_bool<V: Visitor<'de>>(&mut self, visitor: V) -> Answer<V::Value> {
        let is_true = self.mark()? == b't';
        self.word(if is_true { b"true" } else { b"false" })?;
        visitor.visit_bool(is_true)
    }

    fn word(&mut self, word: &[u8]) -> Answer<()> {
        self.cursor.literal(word).ok_or(Refused)
    }

    fn visit_object<V: Visitor<'de>>(&mut self, visitor: V) -> Answer<V::Value> {
        self.pass(b'{')?;
        self.deeper(|decoder| {
            let mut object = Object::new(decoder);
            let value = visitor.visit_map(&mut object)?;
            object.end().map(|()| value)
        })
    }

    fn visit_list<V: Visitor<'de>>(&mut self, visitor: V) -> Answer<V::Value> {
        self.pass(b'[')?;
        self.deeper(|decoder| {
            let mut list = List::new(decoder);
            let value = visitor.visit_seq(&mut list)?;
            list.end().map(|()| value)
        })
    }

    fn deeper<T>(&mut self, visit: impl FnOnce(&mut Self) -> Answer<T>) -> Answer<T> {
        self.room = self.room.checked_sub(1).ok_or(Refused)?;
        let value = visit(self)?;
        self.room += 1;
        Ok(value)
    }
}

/// Declares the ways in which one JSON type is asked for.
macro_rules! asked_as {
    ($($way:ident)+ => $visit:ident) => {
        $(fn $way<V: Visitor<'de>>(self, visitor: V) -> Answer<V::Value> {
            self.$visit(visitor)
        })+
    };
}

impl<'de> Deserializer<'de> for &mut Decoder<'de> {
    type Error = Refused;

    asked_as!(deserialize_str deserialize_string deserialize_identifier => visit_string);
    asked_as!(deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 => visit_number);
    asked_as!(deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 => visit_number);
    asked_as!(deserialize_f32 deserialize_f64 => visit_number);
    asked_as!(deserialize_bool => visit_bool);
    asked_as!(deserialize_seq => visit_list);
    asked_as!(deserialize_map => visit_object);

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Answer<V::Value> {
        match self.mark()? {
            b'"' => self.visit_string(visitor),
            b'{' => self.visit_object(visitor),
            b'[' => self.visit_list(visitor),
            b't' | b'f' => self.visit_bool(visitor),
            b'n' => {
                self.word(b"null")?;
                visitor.visit_unit()
            }
            _ => self.visit_number(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Answer<V::Value> {
        if self.mark()? != b'n' {
            return visitor.visit_some(self);
        }
        self.word(b"null")?;
        visitor.visit_none()
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Answer<V::Value> {
        self.visit_object(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Answer<V::Value> {
        if name == RAW_TOKEN {
            return visitor.visit_map(RawText::of(self.raw()?));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Answer<V::Value> {
        self.raw()?;
        visitor.visit_unit()
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Answer<V::Value> {
        // A variant with something in it is an object.
        let variant: de::value::CowStrDeserializer<'_, Refused> =
            self.string()?.into_deserializer();
        visitor.visit_enum(variant)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, _: V) -> Answer<V::Value> {
        Err(Refused)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Answer<V::Value> {
        self.visit_list(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Answer<V::Value> {
        self.visit_list(visitor)
    }

    asked_as!(deserialize_char deserialize_bytes deserialize_byte_buf deserialize_unit => refuse);
}

impl Decoder<'_> {
    /// No payload asks for these.
    fn refuse<T, V>(&mut self, _: V) -> Answer<T> {
        Err(Refused)
    }
}
