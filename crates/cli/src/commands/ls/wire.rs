//! A run of the list as JSON. What is not known is `null`, never 0.

use quipu_event::payload::{RunKind, TokenCounts};
use quipu_event::{RunId, Timestamp};
use serde::{Serialize, Serializer};

use super::facts::Facts;

impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RunWire {
            run_id: &self.run_id,
            path: &self.path.to_string_lossy(),
            parent_run_id: self.parent.as_ref(),
            name: self.name.as_deref(),
            kind: self.kind.as_ref(),
            status: self.standing.word(),
            started: self.started,
            ended: self.ended,
            duration_ms: self.duration_ms,
            events: self.events,
            bytes: self.bytes,
            tokens: self.tokens.map(TokensWire::of),
            agents: &self.agents,
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct RunWire<'a> {
    run_id: &'a RunId,
    path: &'a str,
    parent_run_id: Option<&'a RunId>,
    name: Option<&'a str>,
    kind: Option<&'a RunKind>,
    status: &'a str,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    duration_ms: Option<u64>,
    events: Option<u64>,
    bytes: u64,
    tokens: Option<TokensWire>,
    agents: &'a [String],
}

#[derive(Serialize)]
struct TokensWire {
    total: Option<u64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
    cost_usd: Option<f64>,
}

impl TokensWire {
    fn of(tokens: TokenCounts) -> Self {
        TokensWire {
            total: tokens.total(),
            input_tokens: tokens.input_tokens,
            output_tokens: tokens.output_tokens,
            cache_read_tokens: tokens.cache_read_tokens,
            cache_write_tokens: tokens.cache_write_tokens,
            reasoning_tokens: tokens.reasoning_tokens,
            cost_usd: tokens.cost_usd,
        }
    }
}
