//! Tokens and cost, each counted once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vocabulary::vocabulary;

vocabulary! {
    /// What a usage event covers.
    UsageScope {
        /// One message.
        Message = "message",
        /// One turn.
        Turn = "turn",
        /// A whole session.
        Session = "session",
    }
}

/// Token counts of one kind each. A number the provider did not give is absent, never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TokenCounts {
    /// Input that was not cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Output, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Input read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Input written to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// The part of the output that was reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// The cost the provider itself named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl TokenCounts {
    /// Adds `other`; what neither gives stays absent.
    pub fn add(&mut self, other: &TokenCounts) {
        fn sum(total: &mut Option<u64>, part: Option<u64>) {
            if let Some(part) = part {
                *total = Some(total.unwrap_or(0).saturating_add(part));
            }
        }
        sum(&mut self.input_tokens, other.input_tokens);
        sum(&mut self.output_tokens, other.output_tokens);
        sum(&mut self.cache_read_tokens, other.cache_read_tokens);
        sum(&mut self.cache_write_tokens, other.cache_write_tokens);
        sum(&mut self.reasoning_tokens, other.reasoning_tokens);
        if let Some(cost) = other.cost_usd {
            self.cost_usd = Some(without_dust(self.cost_usd.unwrap_or(0.0) + cost));
        }
    }

    /// Returns all tokens that passed in either direction, or nothing if none were given.
    ///
    /// Reasoning is a part of the output and not added again.
    pub fn total(&self) -> Option<u64> {
        let parts = [
            self.input_tokens,
            self.output_tokens,
            self.cache_read_tokens,
            self.cache_write_tokens,
        ];
        parts.into_iter().flatten().reduce(u64::saturating_add)
    }

    /// Tells whether nothing was given.
    pub fn is_empty(&self) -> bool {
        *self == TokenCounts::default()
    }
}

/// Rounds a sum of money to a billionth, so that a tenth and two tenths are three.
fn without_dust(cost: f64) -> f64 {
    let rounded = (cost * 1e9).round() / 1e9;
    if rounded.is_finite() { rounded } else { cost }
}

/// Payload of `usage`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    /// Which model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Input that was not cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Output, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Input read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Input written to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// The part of the output that was reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// What it covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<UsageScope>,
    /// The message it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The cost the provider itself named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Returns its numbers alone.
    pub fn tokens(&self) -> TokenCounts {
        TokenCounts {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cache_read_tokens: self.cache_read_tokens,
            cache_write_tokens: self.cache_write_tokens,
            reasoning_tokens: self.reasoning_tokens,
            cost_usd: self.cost_usd,
        }
    }
}
