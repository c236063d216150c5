//! Entries that WINK itself made, in a run that was imported from a bundle: each is told again as it
//! was, by the adapter and in the session that it names.

use quipu_event::{Event, Json, Raw};
use serde::Deserialize;

use super::native::object;
use crate::entries::{Entry, EntryType, Fields};

/// An entry of the imported bundle.
#[derive(Deserialize)]
pub(super) struct Told {
    adapter: String,
    entry_type: String,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    detail: Option<Json>,
    #[serde(default)]
    raw: Option<String>,
}

/// The record that was met last: further events may have been made from it.
#[derive(Default)]
pub(super) struct LastTold {
    place: Option<(String, u64)>,
    adapter: String,
    session_id: Option<String>,
}

impl LastTold {
    /// Returns the entry that `event` was made from, if it is the first that was.
    pub(super) fn by(&mut self, event: &Event) -> Option<Told> {
        #[derive(Deserialize)]
        struct Record {
            event: String,
            context: Told,
        }
        let bytes = event.raw.as_ref().and_then(Raw::bytes)?;
        let record = object(std::str::from_utf8(&bytes).ok()?)?.decode::<Record>().ok();
        let told = record.filter(|record| record.event == "transcript.entry")?.context;
        let origin = event.origin.as_deref();
        self.place = origin.map(|origin| (origin.file.clone(), origin.offset));
        self.adapter.clone_from(&told.adapter);
        self.session_id.clone_from(&told.session_id);
        Some(told)
    }

    /// Lets an entry of `event` be of whom the record is that it was made from.
    pub(super) fn label(&self, event: &Event, entry: &mut Entry) {
        let place = event.origin.as_deref().map(|origin| (origin.file.as_str(), origin.offset));
        let known = self.place.as_ref().map(|(file, offset)| (file.as_str(), *offset));
        if place.is_some() && place == known {
            entry.adapter.clone_from(&self.adapter);
            entry.session_id.clone_from(&self.session_id);
        }
    }
}

impl Told {
    /// Tells the entry again: as it was, with our event beside it.
    pub(super) fn fill(self, entry: &mut Entry) {
        let known = EntryType::ALL.into_iter().find(|sort| sort.as_str() == self.entry_type);
        entry.entry_type = known.unwrap_or(EntryType::Unknown);
        entry.adapter = self.adapter;
        entry.session_id = self.session_id;
        entry.raw = self.raw;
        let Some(theirs) = self.detail.and_then(|detail| detail.decode::<Fields>().ok()) else {
            return;
        };
        let ours = entry.detail.as_ref().and_then(|detail| detail.decode::<Fields>().ok());
        let event = ours.and_then(|mut ours| ours.get_mut("event").cloned());
        let mut fields: Vec<_> = theirs.0.into_iter().filter(|(key, _)| key != "event").collect();
        fields.extend(event.map(|event| ("event".to_owned(), event)));
        entry.detail = Some(Json::from_valid(&Fields(fields).to_json()));
    }
}
