//! Which id a client's model gave to a call, as far as the client says so. Guesses nothing.

use serde_json::{Map, Value};

/// What clients call it, in the `_meta` of a call.
const KEYS: [&str; 6] =
    ["claudecode/toolUseId", "toolUseId", "tool_use_id", "toolCallId", "callId", "call_id"];
/// The longest id that is believed to be one.
const LONGEST: usize = 256;

/// Returns the id.
pub(super) fn tool_use_id(meta: &Map<String, Value>) -> Option<String> {
    let named = |key: &&str| meta.get(*key).and_then(Value::as_str);
    let id = KEYS.iter().find_map(named)?;
    (!id.is_empty() && id.len() <= LONGEST).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_what_the_client_says_and_nothing_else() {
        let cases = [
            (r#"{"claudecode/toolUseId":"toolu_1","progressToken":4}"#, Some("toolu_1")),
            (r#"{"callId":"call_2"}"#, Some("call_2")),
            (r#"{"progressToken":7}"#, None),
            (r#"{"claudecode/toolUseId":12}"#, None),
            (r#"{"claudecode/toolUseId":""}"#, None),
            ("{}", None),
        ];
        for (meta, expected) in cases {
            let meta = serde_json::from_str(meta).unwrap();
            assert_eq!(tool_use_id(&meta).as_deref(), expected, "{meta:?}");
        }
        let meta = Map::from_iter([("callId".to_owned(), Value::from("x".repeat(LONGEST + 1)))]);
        assert_eq!(tool_use_id(&meta), None);
    }
}
