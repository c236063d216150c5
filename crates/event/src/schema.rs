//! The JSON Schema of a transcript line, made from the types that write it.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::kind::Kind;
use crate::payload::{
    DeliverableCheck, ErrorReport, FileAccess, Message, RunCompleted, RunCreated, RunStarted,
    StepCompleted, StepStarted, System, ToolCall, ToolResult, UnknownRecord, Usage,
};
use crate::raw::Origin;

/// Returns the JSON Schema (draft 2020-12) of one line, as readers accept it.
///
/// It is open: unknown types, envelope keys and payload keys are valid, as the format promises,
/// and so is a payload without some of its fields. Only what is there and known is constrained.
pub fn line_schema() -> Value {
    schema_of_line(SchemaSettings::draft2020_12().for_deserialize().into_generator())
}

/// Returns the JSON Schema of one line as our own types write it: fields that are always written
/// are required.
pub fn written_line_schema() -> Value {
    schema_of_line(SchemaSettings::draft2020_12().for_serialize().into_generator())
}

fn schema_of_line(mut generator: SchemaGenerator) -> Value {
    let origin = subschema::<Origin>(&mut generator);
    let by_type: Vec<Value> = Kind::ALL
        .iter()
        .map(|kind| {
            json!({
                "if": { "properties": { "type": { "const": kind.as_str() } } },
                "then": { "properties": { "payload": {
                    "anyOf": [payload_schema(kind, &mut generator), { "type": "null" }],
                } } },
            })
        })
        .collect();
    let definitions = definitions(&mut generator);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Quipu transcript line, format version 1",
        "type": "object",
        "required": ["seq", "run_id", "type", "path", "iteration", "timestamp", "payload"],
        "properties": envelope(&origin),
        "allOf": by_type,
        "$defs": definitions,
    })
}

fn envelope(origin: &Value) -> Value {
    let run_id = json!({ "type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$" });
    json!({
        "seq": { "type": "integer", "minimum": 1, "description": "Number of the line, from 1, without gaps." },
        "run_id": run_id,
        "parent_run_id": run_id,
        "child_run_id": run_id,
        "type": { "type": "string", "minLength": 1,
            "description": "What happened. Writers use only the listed words; readers accept any.",
            "examples": Kind::ALL.iter().map(Kind::as_str).collect::<Vec<_>>() },
        "path": { "type": "string", "description": "Where in the workflow; empty at run level." },
        "iteration": { "type": "integer", "minimum": 0,
            "description": "Index of the innermost enclosing loop, 0 outside loops." },
        "timestamp": { "type": "string", "format": "date-time",
            "description": "When it happened: RFC 3339, UTC, microseconds." },
        "payload": { "description": "Shaped by type, or null." },
        "source": { "type": "string", "description": "Who did it, when not the main agent: subagent:<id>." },
        "origin": origin,
        "raw": { "type": "string", "description": "The exact text of the foreign record." },
        "raw_b64": { "type": "string", "contentEncoding": "base64",
            "description": "The exact bytes of a foreign record that is not UTF-8." },
    })
}

fn payload_schema(kind: &Kind, generator: &mut SchemaGenerator) -> Value {
    match kind {
        Kind::RunStarted => subschema::<RunStarted>(generator),
        Kind::RunCompleted => subschema::<RunCompleted>(generator),
        Kind::RunCreated => subschema::<RunCreated>(generator),
        Kind::StepStarted | Kind::CallWorkflowStarted => subschema::<StepStarted>(generator),
        Kind::StepCompleted | Kind::CallWorkflowCompleted => subschema::<StepCompleted>(generator),
        Kind::MessageUser | Kind::MessageAssistant => subschema::<Message>(generator),
        Kind::ToolCall => subschema::<ToolCall>(generator),
        Kind::ToolResult => subschema::<ToolResult>(generator),
        Kind::Usage => subschema::<Usage>(generator),
        Kind::System => subschema::<System>(generator),
        Kind::Error => subschema::<ErrorReport>(generator),
        Kind::Unknown => subschema::<UnknownRecord>(generator),
        Kind::FileRead | Kind::FileWritten | Kind::FileRejected => {
            subschema::<FileAccess>(generator)
        }
        Kind::DeliverableCheckStarted
        | Kind::DeliverableCheckCompleted
        | Kind::DeliverableMissing => subschema::<DeliverableCheck>(generator),
        _ => json!({ "type": "object" }),
    }
}

fn subschema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

fn definitions(generator: &mut SchemaGenerator) -> Map<String, Value> {
    generator.take_definitions(true)
}
