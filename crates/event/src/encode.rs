//! Any serialisable value → compact JSON text, fast, with bounded nesting.
//!
//! The output is what `serde_json` would print, to the byte (a property test holds it to that).
//! It differs in speed, see [`crate::escape`], and in refusing values nested deeper than
//! [`MAX_DEPTH`], so that no producer can make a line that ordinary readers refuse.

mod compound;
mod opening;

use std::fmt::{self, Write as _};

use serde::Serialize;
use serde::ser;

use compound::{Compound, Variant, write_name};
use opening::OPENING_TOKEN;

pub(crate) use opening::{Opening, serialize_with_opening};

use crate::escape::{write_string, write_string_body};
use crate::json::{self, RAW_TOKEN};

/// How deep a payload may nest.
///
/// `serde_json` and several others stop at 128 levels by default; a payload sits one level deep
/// in its line, and a few levels are kept in hand for those who wrap lines again.
pub const MAX_DEPTH: usize = 120;

/// A value that cannot be written as part of a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The value nests deeper than [`MAX_DEPTH`].
    #[error("value nests deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// An object key is not text.
    #[error("object key is not a string, number or boolean")]
    BadKey,
    /// The value's own serialisation failed.
    #[error("{0}")]
    Custom(String),
}

impl ser::Error for EncodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        EncodeError::Custom(message.to_string())
    }
}

/// Appends `value` to `out` as compact JSON.
pub(crate) fn write_value<T: Serialize + ?Sized>(
    out: &mut String,
    value: &T,
) -> Result<(), EncodeError> {
    write_value_at(out, value, 0)
}

/// Appends `value`, which is going to stand `depth` levels deep in something else.
pub(crate) fn write_value_at<T: Serialize + ?Sized>(
    out: &mut String,
    value: &T,
    depth: usize,
) -> Result<(), EncodeError> {
    value.serialize(&mut Encoder { out, depth, next: Next::Plain })
}

/// Writes what is printed to it as the inside of a JSON string.
struct Escaped<'a>(&'a mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        write_string_body(self.0, piece);
        Ok(())
    }
}

struct Encoder<'a> {
    out: &'a mut String,
    depth: usize,
    next: Next,
}

/// What comes next.
#[derive(PartialEq)]
enum Next {
    /// A value like any other.
    Plain,
    /// A string that is JSON itself, to be written as it is.
    Raw,
    /// An object whose first field has for a name what opens it.
    Opening,
}

impl Encoder<'_> {
    fn open(&mut self, bracket: char) -> Result<(), EncodeError> {
        self.enter()?;
        self.out.push(bracket);
        Ok(())
    }

    /// Goes a level deeper.
    fn enter(&mut self) -> Result<(), EncodeError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(EncodeError::TooDeep) } else { Ok(()) }
    }

    fn close(&mut self, bracket: char) {
        self.depth -= 1;
        self.out.push(bracket);
    }

    fn integer(&mut self, value: impl itoa::Integer) {
        self.out.push_str(itoa::Buffer::new().format(value));
    }

    fn float(&mut self, value: f64) {
        // serde_json owns the choice among the shortest spellings of a float.
        match serde_json::Number::from_f64(value) {
            Some(number) => self.out.push_str(&number.to_string()),
            None => self.out.push_str("null"),
        }
    }
}

impl<'a, 'b> ser::Serializer for &'a mut Encoder<'b> {
    type Ok = ();
    type Error = EncodeError;
    type SerializeSeq = Compound<'a, 'b>;
    type SerializeTuple = Compound<'a, 'b>;
    type SerializeTupleStruct = Compound<'a, 'b>;
    type SerializeTupleVariant = Variant<'a, 'b>;
    type SerializeMap = Compound<'a, 'b>;
    type SerializeStruct = Compound<'a, 'b>;
    type SerializeStructVariant = Variant<'a, 'b>;

    #[inline]
    fn is_human_readable(&self) -> bool {
        self.next != Next::Opening
    }

    fn serialize_bool(self, value: bool) -> Result<(), EncodeError> {
        self.out.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), EncodeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), EncodeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), EncodeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), EncodeError> {
        self.integer(value);
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Result<(), EncodeError> {
        self.integer(value);
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Result<(), EncodeError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), EncodeError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), EncodeError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), EncodeError> {
        self.integer(value);
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<(), EncodeError> {
        self.integer(value);
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), EncodeError> {
        if value.is_finite() {
            let text = serde_json::to_string(&value).map_err(ser::Error::custom)?;
            self.out.push_str(&text);
            return Ok(());
        }
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), EncodeError> {
        self.float(value);
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), EncodeError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), EncodeError> {
        if self.next != Next::Raw {
            write_string(self.out, value);
        } else if json::nests_deeper_than(value, MAX_DEPTH - self.depth) {
            return Err(EncodeError::TooDeep);
        } else if json::has_line_feed(value) {
            self.out.push_str(&json::compact(value));
        } else {
            // What follows is mostly small; growing for it would copy a large value once more.
            self.out.reserve(value.len() + 256);
            self.out.push_str(value);
        }
        Ok(())
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), EncodeError> {
        if self.next == Next::Raw {
            return self.serialize_str(&value.to_string());
        }
        // A long text that is printed in pieces need not be put together first.
        self.out.push('"');
        write!(Escaped(self.out), "{value}").map_err(ser::Error::custom)?;
        self.out.push('"');
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), EncodeError> {
        value.serialize(self)
    }

    fn serialize_none(self) -> Result<(), EncodeError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), EncodeError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), EncodeError> {
        self.out.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), EncodeError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), EncodeError> {
        write_name(self.out, variant);
        Ok(())
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        if name == OPENING_TOKEN {
            self.next = Next::Opening;
        }
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        self.open('{')?;
        write_string(self.out, variant);
        self.out.push(':');
        value.serialize(&mut *self)?;
        self.close('}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'a, 'b>, EncodeError> {
        self.open('[')?;
        Ok(Compound::empty(self))
    }

    fn serialize_tuple(self, len: usize) -> Result<Compound<'a, 'b>, EncodeError> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        len: usize,
    ) -> Result<Compound<'a, 'b>, EncodeError> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Variant<'a, 'b>, EncodeError> {
        Variant::open(self, variant, '[')
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'a, 'b>, EncodeError> {
        self.open('{')?;
        Ok(Compound::empty(self))
    }

    fn serialize_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Compound<'a, 'b>, EncodeError> {
        if self.next == Next::Opening {
            self.next = Next::Plain;
            self.enter()?;
            return Ok(Compound::opening(self));
        }
        if name == RAW_TOKEN {
            return Ok(Compound::raw(self));
        }
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Variant<'a, 'b>, EncodeError> {
        Variant::open(self, variant, '{')
    }
}
