//! What an event says beyond what this version has words for. Nothing that is recorded stays unseen.

use quipu_event::{Event, Json, Payload};
use serde_json::Value;

/// Returns the fields of an event that this version does not know, named by the way to them.
pub(super) fn unknown_fields(event: &Event) -> Vec<(String, Value)> {
    let mut unknown = Vec::new();
    if let (Some(known), Ok(all)) = (known(event), event.payload.decode::<Value>()) {
        collect(&all, &known, "", &mut unknown);
    }
    let beside = event.extra.iter().map(|(name, value)| {
        (name.clone(), value.decode().unwrap_or_else(|_| Value::from(value.as_str())))
    });
    unknown.extend(beside);
    unknown
}

/// Returns the payload as this version would write it, if it does not keep all of it anyway.
fn known(event: &Event) -> Option<Value> {
    let known = match event.decode_payload().ok()? {
        Payload::RunCreated(payload) => Json::encode(&payload),
        Payload::RunStarted(payload) => Json::encode(&payload),
        Payload::RunCompleted(payload) => Json::encode(&payload),
        Payload::StepStarted(payload) => Json::encode(&payload),
        Payload::StepCompleted(payload) => Json::encode(&payload),
        Payload::Message(payload) => Json::encode(&payload),
        Payload::ToolCall(payload) => Json::encode(&payload),
        Payload::ToolResult(payload) => Json::encode(&payload),
        Payload::Usage(payload) => Json::encode(&payload),
        Payload::Error(payload) => Json::encode(&payload),
        Payload::Unknown(payload) => Json::encode(&payload),
        Payload::File(payload) => Json::encode(&payload),
        Payload::Deliverable(payload) => Json::encode(&payload),
        Payload::System(_) | Payload::Facts(_) | Payload::Absent => return None,
    };
    known.ok()?.decode().ok()
}

fn collect(all: &Value, known: &Value, at: &str, unknown: &mut Vec<(String, Value)>) {
    match (all, known) {
        (Value::Object(all), Value::Object(known)) => {
            for (name, value) in all {
                let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                match known.get(name) {
                    Some(known) => collect(value, known, &at, unknown),
                    // Something that is not there is not written by everyone.
                    None if value.is_null() => {}
                    None => unknown.push((at, value.clone())),
                }
            }
        }
        (Value::Array(all), Value::Array(known)) => {
            for (index, (value, known)) in all.iter().zip(known).enumerate() {
                collect(value, known, &format!("{at}[{index}]"), unknown);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_known_is_named_by_the_way_to_it() {
        let all = json!({"a": 1, "b": [{"c": 2}, {"c": 3, "d": [4]}], "e": {"f": null}, "g": null});
        let known = json!({"a": 1, "b": [{"c": 2}, {"c": 3}], "e": {}});
        let mut unknown = Vec::new();
        collect(&all, &known, "", &mut unknown);
        assert_eq!(unknown, [("b[1].d".to_owned(), json!([4]))]);
    }
}
