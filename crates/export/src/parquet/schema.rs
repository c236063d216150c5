//! The columns of each table, in the order in which rows give them.

/// Every event of a run.
pub(super) const EVENTS: &str = "message events {
    required binary run_id (STRING);
    required int64 seq;
    required int64 timestamp (TIMESTAMP(MICROS, true));
    required binary type (STRING);
    required binary path (STRING);
    required int64 iteration;
    optional binary source (STRING);
    optional binary parent_run_id (STRING);
    optional binary child_run_id (STRING);
    required binary payload (JSON);
    optional binary origin (JSON);
    optional binary raw;
    optional binary extra (JSON);
}";

/// A row per block of a message; one row for a message without blocks.
pub(super) const MESSAGES: &str = "message messages {
    required binary run_id (STRING);
    required int64 seq;
    required int64 timestamp (TIMESTAMP(MICROS, true));
    required binary path (STRING);
    optional binary source (STRING);
    required binary role (STRING);
    optional int64 block;
    optional binary block_type (STRING);
    optional binary fidelity (STRING);
    optional binary purpose (STRING);
    optional binary text (STRING);
    optional binary tool_name (STRING);
    optional binary call_id (STRING);
    optional binary content (JSON);
    optional binary message_id (STRING);
    optional binary model (STRING);
    optional binary stop_reason (STRING);
    optional int64 turn;
}";

/// A row per tool call, with its result where one came.
pub(super) const TOOL_CALLS: &str = "message tool_calls {
    required binary run_id (STRING);
    optional int64 seq;
    optional int64 result_seq;
    optional int64 called_at (TIMESTAMP(MICROS, true));
    optional int64 answered_at (TIMESTAMP(MICROS, true));
    required binary path (STRING);
    optional binary source (STRING);
    required binary call_id (STRING);
    required binary name (STRING);
    optional binary provider (STRING);
    required binary fidelity (STRING);
    optional binary input (JSON);
    optional binary output (JSON);
    optional binary status (STRING);
    optional binary error (STRING);
    optional int64 duration_ms;
}";

/// A row per `usage` event: sums over it are right without further thought.
pub(super) const USAGE: &str = "message usage {
    required binary run_id (STRING);
    required int64 seq;
    required int64 timestamp (TIMESTAMP(MICROS, true));
    required binary path (STRING);
    optional binary source (STRING);
    optional binary model (STRING);
    optional binary scope (STRING);
    optional binary message_id (STRING);
    optional int64 input_tokens;
    optional int64 output_tokens;
    optional int64 cache_read_tokens;
    optional int64 cache_write_tokens;
    optional int64 reasoning_tokens;
    optional double cost_usd;
}";

/// One row.
pub(super) const RUNS: &str = "message runs {
    required binary run_id (STRING);
    optional binary parent_run_id (STRING);
    optional binary name (STRING);
    optional binary kind (STRING);
    optional binary status (STRING);
    optional binary error (STRING);
    optional int64 started_at (TIMESTAMP(MICROS, true));
    optional int64 ended_at (TIMESTAMP(MICROS, true));
    optional int64 duration_ms;
    optional binary session_id (STRING);
    optional binary task_id (STRING);
    optional binary cwd (STRING);
    optional binary provider (STRING);
    optional binary adapter (STRING);
    optional binary model (STRING);
    optional binary cli_version (STRING);
    optional binary labels (JSON);
    required int64 events;
    required int64 messages;
    required int64 tool_calls;
    required int64 errors;
    optional int64 input_tokens;
    optional int64 output_tokens;
    optional int64 cache_read_tokens;
    optional int64 cache_write_tokens;
    optional int64 reasoning_tokens;
    optional double cost_usd;
}";
