//! Closed lists of words that stay open on reading.
//!
//! Each list is an enum whose last variant keeps a word this version does not know, so that a
//! newer writer's word survives a read and a re-encode by an older reader.

/// Declares an enum of wire words with an `Other` variant for words from the future.
macro_rules! vocabulary {
    ($(#[$meta:meta])* $name:ident { $($(#[$item:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$item])* #[doc = concat!("Written as `", $word, "`.")] $variant,)+
            /// A word this version does not know, kept as it was read.
            Other(Box<str>),
        }

        impl $name {
            /// Every word this version writes, in the order of the format's own table.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// Returns the word as it stands in a transcript line.
            pub fn as_str(&self) -> &str {
                match self {
                    $($name::$variant => $word,)+
                    $name::Other(word) => word,
                }
            }

            /// Tells whether this version knows the word.
            pub fn is_known(&self) -> bool {
                !matches!(self, $name::Other(_))
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $($word => $name::$variant,)+
                    other => $name::Other(other.into()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    // A word of the list is known to need no escaping.
                    $($name::$variant => serializer.serialize_unit_variant(stringify!($name), 0, $word),)+
                    $name::Other(word) => serializer.serialize_str(word),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Word;
                impl serde::de::Visitor<'_> for Word {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a word")
                    }
                    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<$name, E> {
                        Ok($name::from(word))
                    }
                }
                deserializer.deserialize_str(Word)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                // Writers use the listed words; readers accept a newer writer's too.
                if generator.contract().is_serialize() {
                    schemars::json_schema!({ "type": "string", "enum": [$($word,)+] })
                } else {
                    schemars::json_schema!({ "type": "string", "examples": [$($word,)+] })
                }
            }
        }
    };
}

pub(crate) use vocabulary;
