//! One line that a plugin wrote: a message, or garbage. Nothing is read or answered here.

use rmcp::model::{
    CustomResult, ErrorCode, ErrorData, JsonRpcError, JsonRpcResponse, JsonRpcVersion2_0,
    NumberOrString, RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// What a line is.
#[derive(Debug)]
pub enum Line {
    /// Messages: one, or the several of a batch.
    Messages(Vec<ServerJsonRpcMessage>),
    /// It was meant as the answer to a request and is none.
    BrokenAnswer {
        /// The request.
        id: RequestId,
        /// What is wrong with it.
        reason: String,
    },
    /// Anything else.
    Garbage,
    /// Nothing at all.
    Empty,
}

/// Reads a line, without its end.
///
/// The result of a call is kept as it is, whatever else is in it: `is_call` tells which requests are
/// calls.
pub fn read_line(line: &[u8], is_call: impl Fn(&RequestId) -> bool) -> Line {
    let line = trimmed(line);
    if line.is_empty() {
        return Line::Empty;
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(cause) => return broken(line, cause.to_string()),
    };
    let messages = match value {
        Value::Array(batch) if !batch.is_empty() => batch,
        value => vec![value],
    };
    let messages: Result<Vec<_>, _> =
        messages.into_iter().map(|value| message(value, &is_call)).collect();
    match messages {
        Ok(messages) => Line::Messages(messages),
        Err(reason) => broken(line, reason),
    }
}

/// Makes the message that fails a request.
pub(super) fn failure_of(id: RequestId, reason: &str) -> ServerJsonRpcMessage {
    let error = ErrorData::new(ErrorCode::PARSE_ERROR, reason.to_owned(), None);
    ServerJsonRpcMessage::Error(JsonRpcError::new(Some(id), error))
}

/// Returns which request a line that cannot be read, or the beginning of one, means to answer.
pub(super) fn answered_by(line: &[u8]) -> Option<RequestId> {
    let mut glimpse = Glimpse::default();
    let mut reader = serde_json::Deserializer::from_slice(trimmed(line));
    // What was seen before an error is what this is about.
    let _ = (&mut glimpse).deserialize(&mut reader);
    glimpse.id.filter(|_| !glimpse.is_request)
}

fn broken(line: &[u8], reason: String) -> Line {
    match answered_by(line) {
        Some(id) => Line::BrokenAnswer { id, reason },
        None => Line::Garbage,
    }
}

fn message(
    mut value: Value,
    is_call: &impl Fn(&RequestId) -> bool,
) -> Result<ServerJsonRpcMessage, String> {
    let is_ours = value["jsonrpc"] == "2.0";
    if !is_ours {
        return Err("it does not say that it is JSON-RPC 2.0".to_owned());
    }
    let is_answer = value.get("method").is_none();
    if let Some(id) = value.get("id").and_then(request_id)
        && is_answer
        && is_call(&id)
        && let Some(result) = value.get_mut("result")
    {
        let result = ServerResult::CustomResult(CustomResult(result.take()));
        let jsonrpc = JsonRpcVersion2_0;
        return Ok(ServerJsonRpcMessage::Response(JsonRpcResponse { jsonrpc, id, result }));
    }
    if is_answer && value.get("result").is_none() && value.get("error").is_none() {
        return Err("it has neither a result nor an error".to_owned());
    }
    serde_json::from_value(value).map_err(|cause| cause.to_string())
}

fn request_id(id: &Value) -> Option<RequestId> {
    match id {
        Value::Number(number) => number.as_i64().map(NumberOrString::Number),
        Value::String(text) => Some(match text.parse() {
            // Some servers answer a number with its text.
            Ok(number) => NumberOrString::Number(number),
            Err(_) => NumberOrString::String(text.as_str().into()),
        }),
        _ => None,
    }
}

/// Takes away what is never part of a message: blanks, carriage returns, NUL bytes, a byte order mark.
fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    let start = line.iter().position(|byte| !is_blank(byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
    &line[start..end]
}

/// What can be seen of a message before it breaks off.
#[derive(Default)]
struct Glimpse {
    id: Option<RequestId>,
    is_request: bool,
}

impl<'de> DeserializeSeed<'de> for &mut Glimpse {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Glimpse {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "id" => self.id = request_id(&map.next_value()?),
                "method" => {
                    self.is_request = true;
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn kind(line: &[u8]) -> &'static str {
        match read_line(line, |_| true) {
            Line::Messages(_) => "messages",
            Line::BrokenAnswer { .. } => "broken answer",
            Line::Garbage => "garbage",
            Line::Empty => "empty",
        }
    }

    #[test]
    fn a_line_is_a_message_or_the_wreck_of_an_answer_or_garbage() {
        let cases: &[(&[u8], &str)] = &[
            (br#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#, "messages"),
            (br#"{"jsonrpc":"2.0","id":"1","result":7}"#, "messages"),
            (br#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#, "messages"),
            (br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#, "messages"),
            (br#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#, "messages"),
            (br#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":9,"method":"ping"}]"#, "messages"),
            (b"\0\0{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r", "messages"),
            (br#"{"jsonrpc":"2.0","id":1}"#, "broken answer"),
            (br#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, "broken answer"),
            (br#"{"id":1,"result":{}}"#, "broken answer"),
            (br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"te"#, "broken answer"),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}", "broken answer"),
            (b"{\"jsonrpc\":\"2.0\",\"result\":\"\xff\",\"id\":1}", "broken answer"),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"a\0b\"}", "broken answer"),
            (br#"{"jsonrpc":"2.0","id":9,"method":"ping""#, "garbage"),
            (b"Listening on stdio...", "garbage"),
            (b"{}", "garbage"),
            (b"[]", "garbage"),
            (b"null", "garbage"),
            (b"\xff\xfe", "garbage"),
            (b"\0\0\0", "empty"),
            (b" \r", "empty"),
        ];
        for (line, expected) in cases {
            assert_eq!(kind(line), *expected, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn the_result_of_a_call_is_kept_as_it_is() {
        let result = json!({ "content": [{ "type": "hologram", "x": 1 }], "extra": [null] });
        let line = json!({ "jsonrpc": "2.0", "id": 3, "result": result }).to_string();
        let Line::Messages(messages) = read_line(line.as_bytes(), |_| true) else { panic!() };
        let [ServerJsonRpcMessage::Response(response)] = messages.as_slice() else { panic!() };
        assert_eq!(serde_json::to_value(&response.result).unwrap(), result);
    }

    proptest! {
        #[test]
        fn any_answer_that_breaks_off_after_its_id_is_told_from_garbage(cut in 24usize..60) {
            let line = br#"{"jsonrpc":"2.0","id":77,"result":{"content":[1,2,3,4,5]}}"#;
            match read_line(&line[..cut.min(line.len() - 1)], |_| true) {
                Line::BrokenAnswer { id, .. } => prop_assert_eq!(id, NumberOrString::Number(77)),
                Line::Garbage => prop_assert!(cut < 26),
                other => prop_assert!(false, "{:?}", other),
            }
        }

        #[test]
        fn no_line_breaks_the_reader(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_line(&line, |_| true);
        }
    }
}
