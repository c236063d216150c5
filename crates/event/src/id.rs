//! Identity: which run, and where in it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The identity of a run, and the stem of its file's name.
///
/// Quipu gives new runs a UUID v4. On reading, any `[A-Za-z0-9._:-]{1,128}` that is not `.` or
/// `..` is accepted, so that foreign runs keep their names and no id can leave its directory.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(Arc<str>);

/// A text that cannot name a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a run id: expected 1 to 128 of A-Z a-z 0-9 . _ : - other than . and ..")]
pub struct RunIdError {
    /// The text, cut to its first 160 characters.
    pub text: String,
}

impl RunId {
    /// Makes a fresh random id.
    pub fn random() -> Self {
        RunId(uuid::Uuid::new_v4().hyphenated().to_string().into())
    }

    /// Takes `text` as a run id.
    ///
    /// Fails when it is empty, longer than 128 bytes, `.`, `..`, or has any other character.
    pub fn parse(text: &str) -> Result<Self, RunIdError> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'-');
        let fits = (1..=128).contains(&text.len()) && text != "." && text != "..";
        if fits && text.bytes().all(allowed) {
            Ok(RunId(text.into()))
        } else {
            Err(RunIdError { text: text.chars().take(160).collect() })
        }
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunId({})", self.0)
    }
}

impl std::str::FromStr for RunId {
    type Err = RunIdError;
    fn from_str(text: &str) -> Result<Self, RunIdError> {
        RunId::parse(text)
    }
}

impl Serialize for RunId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        RunId::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// Where in a workflow something happened: `each_file[3].check`, `fan_out.lint`, or empty.
///
/// Step names joined by `.`, each enclosing loop with its index. Together with the attempt a path
/// names one occurrence of one step. Paths are kept as they were read: other writers use other
/// separators.
///
/// Every draft begins at the root and most are moved from there: the root is nothing that is shared
/// and counted, so that making one touches no memory that other threads touch too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StepPath(Option<Arc<str>>);

/// One step name on a path, with the index of the iteration it stands for, if it is a loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment<'a> {
    /// The name of the step.
    pub name: &'a str,
    /// The iteration, when the path goes through one.
    pub index: Option<u64>,
}

impl StepPath {
    /// Returns the path of the run itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// Tells whether this is the run itself rather than a step in it.
    pub fn is_root(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the path of the step `name` directly inside this one.
    pub fn child(&self, name: &str) -> Self {
        if self.is_root() { name.into() } else { StepPath::from(&*format!("{self}.{name}")) }
    }

    /// Returns the path of iteration `index` of the loop at this path.
    pub fn iteration(&self, index: u64) -> Self {
        StepPath::from(&*format!("{self}[{index}]"))
    }

    /// Returns the path as it stands in a line.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Walks the path from the outside in.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'_>> {
        self.as_str().split('.').filter(|part| !part.is_empty()).map(|part| {
            let indexed = part.strip_suffix(']').and_then(|part| part.rsplit_once('['));
            match indexed.and_then(|(name, index)| Some((name, index.parse().ok()?))) {
                Some((name, index)) => Segment { name, index: Some(index) },
                None => Segment { name: part, index: None },
            }
        })
    }
}

impl From<&str> for StepPath {
    fn from(text: &str) -> Self {
        StepPath((!text.is_empty()).then(|| text.into()))
    }
}

impl fmt::Display for StepPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
