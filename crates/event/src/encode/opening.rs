//! Objects that begin with a text of their own.
//!
//! A message has the same few words before its text each time, and to put them together one by one
//! takes as long as to escape the text. Here all of them are one constant. What is written is the same
//! with any other serializer, name by name.

use serde::Serialize;
use serde::ser;

/// The name under which a value offers an object whose first field brings its own opening along.
///
/// A serializer that does not know it passes over it, as over the name of any newtype, and the value
/// behind it finds it human-readable as before. Ours alone has become otherwise, for that one answer.
pub(super) const OPENING_TOKEN: &str = "$quipu::opening";

/// A value as an object that may begin with an opening: all of its text before the value of some field.
pub(crate) trait Opening {
    /// Serialises the value as an object whose first field has its opening for a name.
    fn serialize_opened<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// Serialises the value as any other.
    fn serialize_named<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
}

/// Serialises a value with its opening where that is understood.
#[inline]
pub(crate) fn serialize_with_opening<T: Opening, S: ser::Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        serializer.serialize_newtype_struct(OPENING_TOKEN, &Offered(value))
    } else {
        value.serialize_named(serializer)
    }
}

/// A value that offers its opening.
struct Offered<'a, T>(&'a T);

impl<T: Opening> Serialize for Offered<'_, T> {
    #[inline]
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            self.0.serialize_named(serializer)
        } else {
            self.0.serialize_opened(serializer)
        }
    }
}
