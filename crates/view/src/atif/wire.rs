//! The objects of ATIF 1.8, field by field as the specification names them.

use quipu_event::{Json, Timestamp};
use serde::{Serialize, Serializer};

/// Who began a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Source {
    System,
    User,
    Agent,
}

/// `StepObject`. Only an agent's step has a model, reasoning, tool calls and metrics.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    pub(super) step_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp: Option<Moment>,
    pub(super) source: Source,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model_name: Option<String>,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<ToolCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) observation: Option<Observation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metrics: Option<Metrics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) llm_call_count: Option<u64>,
    pub(super) extra: StepExtra,
}

impl Step {
    /// Returns about how many bytes it has.
    pub(super) fn weight(&self) -> usize {
        let asked = self.tool_calls.iter().map(|call| call.arguments.as_str().len());
        let results = self.observation.iter().flat_map(|seen| &seen.results);
        let told = results.filter_map(|result| result.content.as_ref()).map(String::len);
        let reasoning = self.reasoning_content.as_ref().map_or(0, String::len);
        self.message.len() + reasoning + asked.sum::<usize>() + told.sum::<usize>()
    }
}

/// What a step says of where it comes from.
#[derive(Debug, Default, Serialize)]
pub(super) struct StepExtra {
    /// The number of the event that began it.
    pub(super) seq: u64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stop_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subtype: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) left_out_blocks: Vec<String>,
}

/// `ToolCallObject`.
#[derive(Debug, Serialize)]
pub(super) struct ToolCall {
    pub(super) tool_call_id: String,
    pub(super) function_name: String,
    pub(super) arguments: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extra: Option<CallExtra>,
}

/// Who vouches for a call, and whose tool it is.
#[derive(Debug, Serialize)]
pub(super) struct CallExtra {
    /// The number of its `tool.call`.
    pub(super) seq: u64,
    pub(super) fidelity: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) provider: Option<String>,
}

/// `ObservationObject`.
#[derive(Debug, Default, Serialize)]
pub(super) struct Observation {
    pub(super) results: Vec<Result>,
}

/// `ObservationResultObject`.
#[derive(Debug, Default, Serialize)]
pub(super) struct Result {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source_call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) subagent_trajectory_ref: Vec<Reference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extra: Option<ResultExtra>,
}

/// How an action ended.
#[derive(Debug, Default, Serialize)]
pub(super) struct ResultExtra {
    /// The number of the event that said so.
    pub(super) seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<u64>,
}

/// `SubagentTrajectoryRefObject`.
#[derive(Debug, Serialize)]
pub(super) struct Reference {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trajectory_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trajectory_path: Option<String>,
}

/// `MetricsSchema`: prompts count cached input too.
#[derive(Debug, Default, Serialize)]
pub(super) struct Metrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prompt_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cached_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extra: Option<TokenExtra>,
}

/// Token counts that the format has no field for.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct TokenExtra {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_write_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_tokens: Option<u64>,
}

/// What stands behind the steps.
#[derive(Debug, Serialize)]
pub(super) struct Tail<'a> {
    pub(super) session_id: &'a str,
    pub(super) agent: Agent<'a>,
    pub(super) final_metrics: FinalMetrics,
    #[serde(skip_serializing_if = "RootExtra::is_empty")]
    pub(super) extra: RootExtra<'a>,
}

/// `AgentSchema`.
#[derive(Debug, Serialize)]
pub(super) struct Agent<'a> {
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extra: Option<AgentExtra<'a>>,
}

/// How the agent was spoken to, and as whose part it worked.
#[derive(Debug, Serialize)]
pub(super) struct AgentExtra<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) adapter: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subagent: Option<&'a str>,
}

/// `FinalMetricsSchema`.
#[derive(Debug, Serialize)]
pub(super) struct FinalMetrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_prompt_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_cached_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_cost_usd: Option<f64>,
    pub(super) total_steps: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extra: Option<TokenExtra>,
}

/// What is known of the run beyond its steps.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct RootExtra<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run_kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent_run_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cwd: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<u64>,
}

impl RootExtra<'_> {
    fn is_empty(&self) -> bool {
        *self == RootExtra::default()
    }
}

/// A time that readers of the format can read: of a year with four digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment(Timestamp);

impl Moment {
    /// Takes a time, unless its year has other than four digits.
    pub(super) fn of(time: Timestamp) -> Option<Self> {
        const YEAR_ONE: i64 = -62_135_596_800_000_000;
        (time.as_micros() >= YEAR_ONE).then_some(Moment(Timestamp::from_micros(time.as_micros())))
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
