//! Arrays, objects and enum variants while their elements arrive.

use serde::Serialize;
use serde::ser;

use super::{EncodeError, Encoder, Next};
use crate::escape::{find_special, write_string};

/// An array, object or raw value under construction.
pub(super) struct Compound<'a, 'b> {
    encoder: &'a mut Encoder<'b>,
    state: State,
}

#[derive(PartialEq)]
enum State {
    /// Nothing written yet inside the brackets.
    Empty,
    /// Something written; a comma comes first.
    Rest,
    /// The one field holds JSON text that goes out as it is.
    Raw,
    /// Not even the bracket is written: the first field has it in its name.
    Opening,
}

impl<'a, 'b> Compound<'a, 'b> {
    pub(super) fn empty(encoder: &'a mut Encoder<'b>) -> Self {
        Compound { encoder, state: State::Empty }
    }

    /// The next and only field holds JSON text.
    pub(super) fn raw(encoder: &'a mut Encoder<'b>) -> Self {
        Compound { encoder, state: State::Raw }
    }

    /// The next field has for a name what opens the object.
    pub(super) fn opening(encoder: &'a mut Encoder<'b>) -> Self {
        Compound { encoder, state: State::Opening }
    }

    #[inline(always)]
    fn separate(&mut self) {
        match self.state {
            State::Empty => self.state = State::Rest,
            State::Rest | State::Raw | State::Opening => self.encoder.out.push(','),
        }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        self.separate();
        value.serialize(&mut *self.encoder)
    }

    #[inline(always)]
    fn field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        let out = &mut *self.encoder.out;
        match self.state {
            State::Raw => {
                self.encoder.next = Next::Raw;
                let written = value.serialize(&mut *self.encoder);
                self.encoder.next = Next::Plain;
                return written;
            }
            State::Opening => out.push_str(key),
            State::Empty => write_key(out, "\"", key),
            State::Rest => write_key(out, ",\"", key),
        }
        self.state = State::Rest;
        value.serialize(&mut *self.encoder)
    }

    fn finish(self, bracket: char) -> Result<(), EncodeError> {
        if self.state != State::Raw {
            self.encoder.close(bracket);
        }
        Ok(())
    }
}

/// Appends the name of a field, which needs no look for characters to escape any more than other names.
#[inline(always)]
fn write_key(out: &mut String, before: &str, key: &str) {
    debug_assert!(find_special(key.as_bytes(), 0).is_none(), "{key:?} is no name");
    out.push_str(before);
    out.push_str(key);
    out.push_str("\":");
}

/// Appends the name of a variant, or a word of a list. It is written in the source of a
/// program, not handed in by a producer, and so needs no look for characters to escape.
///
/// Where it is inlined its length is known, and copying it takes a few moves instead of a call.
#[inline(always)]
pub(super) fn write_name(out: &mut String, name: &str) {
    debug_assert!(find_special(name.as_bytes(), 0).is_none(), "{name:?} is no name");
    out.reserve(name.len() + 3);
    out.push('"');
    out.push_str(name);
    out.push('"');
}

impl ser::SerializeSeq for Compound<'_, '_> {
    type Ok = ();
    type Error = EncodeError;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        self.element(value)
    }
    fn end(self) -> Result<(), EncodeError> {
        self.finish(']')
    }
}

impl ser::SerializeTuple for Compound<'_, '_> {
    type Ok = ();
    type Error = EncodeError;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        self.element(value)
    }
    fn end(self) -> Result<(), EncodeError> {
        self.finish(']')
    }
}

impl ser::SerializeTupleStruct for Compound<'_, '_> {
    type Ok = ();
    type Error = EncodeError;
    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        self.element(value)
    }
    fn end(self) -> Result<(), EncodeError> {
        self.finish(']')
    }
}

impl ser::SerializeMap for Compound<'_, '_> {
    type Ok = ();
    type Error = EncodeError;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), EncodeError> {
        self.separate();
        // Keys are few and short: serde_json's own rules for what may be a key are taken over.
        let key = match serde_json::to_value(key) {
            Ok(serde_json::Value::String(text)) => text,
            Ok(value @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_))) => {
                value.to_string()
            }
            _ => return Err(EncodeError::BadKey),
        };
        write_string(self.encoder.out, &key);
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        self.encoder.out.push(':');
        value.serialize(&mut *self.encoder)
    }
    fn end(self) -> Result<(), EncodeError> {
        self.finish('}')
    }
}

impl ser::SerializeStruct for Compound<'_, '_> {
    type Ok = ();
    type Error = EncodeError;
    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        self.field(key, value)
    }
    fn end(self) -> Result<(), EncodeError> {
        self.finish('}')
    }
}

/// The content of an enum variant: `{"variant": [...]}` or `{"variant": {...}}`.
pub(super) struct Variant<'a, 'b> {
    inner: Compound<'a, 'b>,
}

impl<'a, 'b> Variant<'a, 'b> {
    pub(super) fn open(
        encoder: &'a mut Encoder<'b>,
        variant: &str,
        bracket: char,
    ) -> Result<Self, EncodeError> {
        encoder.open('{')?;
        write_string(encoder.out, variant);
        encoder.out.push(':');
        encoder.open(bracket)?;
        Ok(Variant { inner: Compound { encoder, state: State::Empty } })
    }

    fn finish(self, bracket: char) -> Result<(), EncodeError> {
        self.inner.encoder.close(bracket);
        self.inner.encoder.close('}');
        Ok(())
    }
}

impl ser::SerializeTupleVariant for Variant<'_, '_> {
    type Ok = ();
    type Error = EncodeError;
    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        self.inner.element(value)
    }
    fn end(self) -> Result<(), EncodeError> {
        self.finish(']')
    }
}

impl ser::SerializeStructVariant for Variant<'_, '_> {
    type Ok = ();
    type Error = EncodeError;
    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        self.inner.field(key, value)
    }
    fn end(self) -> Result<(), EncodeError> {
        self.finish('}')
    }
}
