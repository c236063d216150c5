//! The messages of OTLP as its JSON spells them: ids in hexadecimal, long numbers as text.

use quipu_event::Json;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A span inside an application.
pub(super) const INTERNAL: u8 = 1;
/// A span that waits for somebody else.
pub(super) const CLIENT: u8 = 3;

/// `opentelemetry.proto.trace.v1.Span`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Span<'a> {
    pub(super) trace_id: &'a str,
    pub(super) span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent_span_id: Option<String>,
    pub(super) name: String,
    pub(super) kind: u8,
    pub(super) start_time_unix_nano: Nanos,
    pub(super) end_time_unix_nano: Nanos,
    pub(super) attributes: Vec<Attribute>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) events: Vec<SpanEvent>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) dropped_events_count: u32,
    pub(super) status: SpanStatus,
}

/// `Span.Event`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SpanEvent {
    pub(super) time_unix_nano: Nanos,
    pub(super) name: String,
    pub(super) attributes: Vec<Attribute>,
}

/// `Status`: code 2 is an error, none is unset.
#[derive(Debug, Default, Serialize)]
pub(super) struct SpanStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u8>,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
}

impl SpanStatus {
    /// Makes the status of a span that failed.
    pub(super) fn error(message: String) -> Self {
        SpanStatus { code: Some(2), message }
    }
}

/// `KeyValue`.
#[derive(Debug, Serialize)]
pub(super) struct Attribute {
    key: &'static str,
    value: Value,
}

impl Attribute {
    /// Makes an attribute.
    pub(super) fn new(key: &'static str, value: Value) -> Self {
        Attribute { key, value }
    }
}

/// `AnyValue`.
#[derive(Debug)]
pub(super) enum Value {
    Text(String),
    Number(u64),
    Real(f64),
    Bool(bool),
    Texts(Vec<String>),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = serializer.serialize_map(Some(1))?;
        match self {
            Value::Text(text) => value.serialize_entry("stringValue", text)?,
            Value::Number(number) => {
                // The field is signed.
                let number = i64::try_from(*number).unwrap_or(i64::MAX);
                value.serialize_entry("intValue", &number.to_string())?;
            }
            Value::Real(number) => value.serialize_entry("doubleValue", number)?,
            Value::Bool(truth) => value.serialize_entry("boolValue", truth)?,
            Value::Texts(texts) => value.serialize_entry("arrayValue", &Texts::of(texts))?,
        }
        value.end()
    }
}

/// `ArrayValue` of texts.
#[derive(Serialize)]
struct Texts {
    values: Vec<Value>,
}

impl Texts {
    fn of(texts: &[String]) -> Self {
        Texts { values: texts.iter().cloned().map(Value::Text).collect() }
    }
}

/// Microseconds since 1970 that are written as nanoseconds, none before 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nanos(pub(super) i64);

impl Serialize for Nanos {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let micros = u64::try_from(self.0).unwrap_or(0);
        serializer.collect_str(&micros.saturating_mul(1000))
    }
}

/// A message, as the conventions have it.
#[derive(Debug, Serialize)]
pub(super) struct Message {
    pub(super) role: &'static str,
    pub(super) parts: Vec<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) finish_reason: Option<String>,
}

/// A part of a message.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part {
    Text {
        content: String,
    },
    Reasoning {
        content: String,
    },
    ToolCall {
        id: String,
        name: String,
        arguments: Json,
    },
    ToolCallResponse {
        id: String,
        response: Json,
    },
    #[serde(untagged)]
    Other {
        #[serde(rename = "type")]
        block_type: String,
    },
}

impl Part {
    /// Tells whether both are answers to one call.
    pub(super) fn answers_same_call(&self, other: &Part) -> bool {
        match (self, other) {
            (Part::ToolCallResponse { id, .. }, Part::ToolCallResponse { id: other, .. }) => {
                id == other
            }
            _ => false,
        }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
