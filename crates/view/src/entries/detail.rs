//! What an entry says beyond its envelope: the event that it was made from.

use std::borrow::Cow;

use quipu_event::{Event, Json, MAX_DEPTH, Timestamp, mend_surrogates};
use serde::{Serialize, Serializer};

use super::MAIN;
use super::split::Piece;

/// Returns the detail of the entry that `piece` of `event` becomes, of `source` and dated
/// `timestamp`.
pub(super) fn detail(event: &Event, piece: &Piece<'_>, source: &str, timestamp: Timestamp) -> Json {
    let payload = mend_surrogates(&piece.payload);
    // Our own lines never nest so deep. Others' may, and then their text is all that readers take.
    let too_deep = Json::text_nests_deeper_than(&payload, MAX_DEPTH);
    let (payload, payload_text) =
        if too_deep { (None, Some(payload)) } else { (Some(Verbatim(payload)), None) };
    let detail = Detail {
        event: About {
            kind: event.kind.as_str(),
            run_id: event.run_id.as_str(),
            seq: event.seq,
            source: event
                .source
                .as_deref()
                .filter(|said| source == MAIN && !said.is_empty() && *said != MAIN),
            path: Some(event.path.as_str()).filter(|path| !path.is_empty()),
            timestamp: Some(event.timestamp).filter(|happened| *happened != timestamp),
            payload,
            payload_text,
        },
        subtype: piece.subtype.as_deref(),
    };
    // Every key is text, so there is nothing to fail.
    serde_json::to_string(&detail).map_or_else(|_| Json::null(), |text| Json::from_valid(&text))
}

#[derive(Serialize)]
struct Detail<'a> {
    event: About<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subtype: Option<&'a str>,
}

#[derive(Serialize)]
struct About<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    run_id: &'a str,
    seq: u64,
    /// Who did it, where the entry cannot say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    /// When it happened, where the entry has to say something later.
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<Verbatim<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload_text: Option<Cow<'a, str>>,
}

/// JSON text that is put down as it is.
struct Verbatim<'a>(Cow<'a, str>);

impl Serialize for Verbatim<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json::serialize_valid(&self.0, serializer)
    }
}
