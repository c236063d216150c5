//! The event types: which words may stand under `type`.
//!
//! The first ten are the canonical ten; the rest carry what else a run leaves behind. What each
//! type's payload holds is said in [`crate::payload`], not here.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// The type of an event.
    Kind {
        /// A run begins.
        RunStarted = "run.started",
        /// A run ends, whatever its status.
        RunCompleted = "run.completed",
        /// A step begins.
        StepStarted = "step.started",
        /// A step ends.
        StepCompleted = "step.completed",
        /// A step calls another run; the line names it in `child_run_id`.
        CallWorkflowStarted = "step.call_workflow.started",
        /// The called run has ended as the caller sees it.
        CallWorkflowCompleted = "step.call_workflow.completed",
        /// What was said to an agent.
        MessageUser = "message.user",
        /// What an agent replied.
        MessageAssistant = "message.assistant",
        /// A tool invocation begins.
        ToolCall = "tool.call",
        /// A tool invocation ends.
        ToolResult = "tool.result",
        /// A run was accepted and is not yet running.
        RunCreated = "run.created",
        /// Tokens and cost, counted once.
        Usage = "usage",
        /// Something the recorder, engine or agent did that is none of the above.
        System = "system",
        /// Something went wrong.
        Error = "error",
        /// A foreign record that nobody understood; the record itself is in `raw`.
        Unknown = "unknown",
        /// Configuration was read.
        ConfigLoaded = "config.loaded",
        /// A prompt was rendered from its template.
        PromptRendered = "prompt.rendered",
        /// A skill was found.
        SkillIndexed = "skill.indexed",
        /// A skill was put into a prompt.
        SkillLoaded = "skill.loaded",
        /// A memory look-up begins.
        MemoryRecallStarted = "memory.recall.started",
        /// A memory look-up ends.
        MemoryRecallCompleted = "memory.recall.completed",
        /// Something was to be remembered.
        MemoryWriteRequested = "memory.write.requested",
        /// A file was read.
        FileRead = "file.read",
        /// A file was written.
        FileWritten = "file.written",
        /// A file operation was refused.
        FileRejected = "file.rejected",
        /// A check of deliverables begins.
        DeliverableCheckStarted = "deliverable.check.started",
        /// A check of deliverables ends.
        DeliverableCheckCompleted = "deliverable.check.completed",
        /// A deliverable was not there.
        DeliverableMissing = "deliverable.missing",
    }
}

impl Kind {
    /// Returns the type that ends what this type begins, if this type begins anything.
    ///
    /// A `tool.call` is not among them: a dangling call stays as it is.
    pub fn completion(&self) -> Option<Kind> {
        match self {
            Kind::RunStarted => Some(Kind::RunCompleted),
            Kind::StepStarted => Some(Kind::StepCompleted),
            Kind::CallWorkflowStarted => Some(Kind::CallWorkflowCompleted),
            Kind::MemoryRecallStarted => Some(Kind::MemoryRecallCompleted),
            Kind::DeliverableCheckStarted => Some(Kind::DeliverableCheckCompleted),
            _ => None,
        }
    }

    /// Tells whether this type ends what another type began.
    pub fn is_completion(&self) -> bool {
        Kind::ALL.iter().any(|start| start.completion().as_ref() == Some(self))
    }
}
