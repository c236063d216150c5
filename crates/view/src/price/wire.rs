//! A price list as it stands in its file. Prices are read digit by digit, never as fractions.

use quipu_event::{Json, Timestamp};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::amount::Amount;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SheetWire {
    pub(super) version: Name,
    #[serde(rename = "currency", default)]
    _currency: Dollars,
    pub(super) prices: Vec<SoundEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryWire {
    pub(super) models: Vec<String>,
    pub(super) from: Option<Day>,
    pub(super) until: Option<Day>,
    pub(super) input: Option<Rate>,
    pub(super) output: Option<Rate>,
    pub(super) cache_read: Option<Rate>,
    pub(super) cache_write: Option<Rate>,
    pub(super) above: Option<AboveWire>,
    /// For whoever reads the file.
    #[serde(rename = "note", default)]
    _note: Option<String>,
    /// For whoever checks the file.
    #[serde(rename = "source", default)]
    _source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AboveWire {
    pub(super) prompt: u64,
    pub(super) input: Option<Rate>,
    pub(super) output: Option<Rate>,
    pub(super) cache_read: Option<Rate>,
    pub(super) cache_write: Option<Rate>,
}

/// What a list calls itself: every figure that it priced names it.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Name(pub(super) String);

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        match name.trim().is_empty() {
            true => Err("the version is empty: expected a name for the list"),
            false => Ok(Name(name)),
        }
    }
}

/// An entry that can mean something.
#[derive(Deserialize)]
#[serde(try_from = "EntryWire")]
pub(super) struct SoundEntry(pub(super) EntryWire);

impl TryFrom<EntryWire> for SoundEntry {
    type Error = &'static str;

    fn try_from(entry: EntryWire) -> Result<Self, Self::Error> {
        let rates = [&entry.input, &entry.output, &entry.cache_read, &entry.cache_write];
        if entry.models.is_empty() || entry.models.iter().any(|name| name.trim().is_empty()) {
            return Err("no model is named");
        }
        // It would hide the prices of the lists behind it.
        if rates.iter().all(|rate| rate.is_none()) {
            return Err("no price is named");
        }
        let is_backward = |from: &Day| entry.until.as_ref().is_some_and(|until| until.0 <= from.0);
        if entry.from.as_ref().is_some_and(is_backward) {
            return Err("it ends before it begins: `until` is not later than `from`");
        }
        Ok(SoundEntry(entry))
    }
}

/// The one currency that is understood.
#[derive(Default)]
struct Dollars;

/// Dollars for a million tokens.
pub(super) struct Rate(pub(super) Amount);

/// A day in UTC: its first moment.
pub(super) struct Day(pub(super) Timestamp);

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "USD" => Ok(Dollars),
            other => Err(D::Error::custom(format!("currency is {other:?}: expected USD"))),
        }
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        Amount::parse(raw.trim_matches('"')).filter(|rate| rate.is_a_price()).map(Rate).ok_or_else(
            || {
                let expected = "expected dollars for a million tokens, such as 1.25";
                D::Error::custom(format!("{raw} is no price: {expected}"))
            },
        )
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let moment = (text.len() == "2026-01-31".len())
            .then(|| Timestamp::parse(&format!("{text}T00:00:00Z")).ok())
            .flatten();
        let expected = || D::Error::custom(format!("{text:?} is no day: expected 2026-01-31"));
        moment.map(Day).ok_or_else(expected)
    }
}

impl Serialize for Amount {
    /// Writes the exact sum as a number.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json::serialize_valid(&self.decimal(), serializer)
    }
}
