//! A tool that cannot be had: calling it fails and says why, so that the attempt is recorded.

use quipu_tool::{Answer, CallContext, Calling, Tool, ToolSpec};
use serde_json::{Value, json};

/// A tool that cannot be had.
pub(super) struct Absent {
    spec: ToolSpec,
    reason: String,
}

impl Absent {
    pub(super) fn new(name: String, provider: String, reason: String) -> Absent {
        let spec = ToolSpec {
            name,
            description: String::new(),
            input_schema: json!({ "type": "object" }),
            provider,
            is_read_only: true,
        };
        Absent { spec, reason }
    }
}

impl Tool for Absent {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, _: Value, _: &'a CallContext) -> Calling<'a> {
        Box::pin(std::future::ready(Answer::failed(self.reason.clone())))
    }
}
