//! Whether a step is tried again, and how long it waits before.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use super::work::{Outcome, WorkStatus};
use crate::definition::{Backoff, Retry};

/// The longest wait that anybody can mean.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// Tells whether the step is tried again after its `tries`-th attempt came to `outcome`.
pub(super) fn is_retried(retry: &Retry, tries: u32, outcome: &Outcome) -> bool {
    let failed = matches!(outcome.status, WorkStatus::Failed | WorkStatus::TimedOut);
    let codes = &retry.retryable_exit_codes;
    let code_is_worth_it = match outcome.code() {
        _ if codes.is_empty() => true,
        Some(code) => codes.contains(&code),
        None => false,
    };
    failed && tries < retry.max_attempts && code_is_worth_it
}

/// Works out the wait after the `tries`-th attempt. `seed` decides the jitter.
pub(super) fn delay(retry: &Retry, tries: u32, seed: impl Hash) -> Duration {
    let first = retry.initial_delay.as_secs_f64();
    let grown = match retry.backoff {
        Backoff::Constant => first,
        Backoff::Linear => first * f64::from(tries),
        Backoff::Exponential => first * retry.multiplier.powi(tries.saturating_sub(1) as i32),
    };
    let longest = match retry.max_delay {
        Some(max) if !max.is_zero() => max.as_secs_f64(),
        _ => f64::INFINITY,
    };
    let mut hasher = DefaultHasher::new();
    seed.hash(&mut hasher);
    let dice = (hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64;
    let jitter = 1.0 + retry.jitter.clamp(0.0, 1.0) * (2.0 * dice - 1.0);
    // Jitter shortens the longest wait, but never lengthens it.
    let jittered = (grown.min(longest) * jitter).min(longest);
    Duration::try_from_secs_f64(jittered.max(0.0)).map_or(LONGEST, |wait| wait.min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry(backoff: Backoff) -> Retry {
        Retry {
            max_attempts: 4,
            initial_delay: Duration::from_millis(200),
            max_delay: Some(Duration::from_millis(700)),
            backoff,
            multiplier: 2.0,
            jitter: 0.0,
            retryable_exit_codes: Vec::new(),
        }
    }

    #[test]
    fn waits_grow_as_the_backoff_says_and_no_further_than_the_longest() {
        for (backoff, expected) in [
            (Backoff::Constant, [200, 200, 200, 200]),
            (Backoff::Linear, [200, 400, 600, 700]),
            (Backoff::Exponential, [200, 400, 700, 700]),
        ] {
            let waits = [1, 2, 3, 4].map(|tries| delay(&retry(backoff), tries, 0).as_millis());
            assert_eq!(waits, expected, "{backoff:?}");
        }
    }

    #[test]
    fn jitter_stays_within_its_part_and_is_the_same_for_the_same_seed() {
        let retry = Retry { jitter: 0.5, ..retry(Backoff::Constant) };
        let waits: Vec<_> = (0..200).map(|seed| delay(&retry, 1, seed)).collect();
        assert!(waits.iter().all(|wait| (100..=300).contains(&wait.as_millis())));
        assert!(waits.iter().any(|wait| wait != &waits[0]));
        assert_eq!(waits[7], delay(&retry, 1, 7));
    }

    #[test]
    fn jitter_never_goes_beyond_the_longest_wait() {
        let retry = Retry { jitter: 1.0, ..retry(Backoff::Exponential) };
        let waits: Vec<_> = (0..200).map(|seed| delay(&retry, 4, seed).as_millis()).collect();
        assert!(waits.iter().all(|wait| *wait <= 700));
        assert!(waits.iter().any(|wait| *wait < 700));
    }

    #[test]
    fn absurd_waits_are_bounded() {
        let retry = Retry { multiplier: f64::MAX, max_delay: None, ..retry(Backoff::Exponential) };
        assert_eq!(delay(&retry, 9, 0), LONGEST);
    }

    #[test]
    fn only_failures_with_a_code_worth_it_are_retried_and_not_for_ever() {
        let codes = Retry { retryable_exit_codes: vec![1, 2], ..retry(Backoff::Constant) };
        let failed =
            |code| Outcome { status: WorkStatus::Failed, exit_code: code, ..Outcome::default() };
        assert!(is_retried(&codes, 1, &failed(Some(2))));
        assert!(!is_retried(&codes, 1, &failed(Some(3))));
        assert!(!is_retried(&codes, 1, &failed(None)));
        let called = Outcome { exit_status: Some(2), ..failed(None) };
        assert!(is_retried(&codes, 1, &called));
        assert!(!is_retried(&codes, 4, &failed(Some(2))));
        assert!(is_retried(&retry(Backoff::Constant), 3, &failed(None)));
        assert!(!is_retried(&retry(Backoff::Constant), 1, &Outcome::default()));
        let canceled = Outcome { status: WorkStatus::Canceled, ..Outcome::default() };
        assert!(!is_retried(&retry(Backoff::Constant), 1, &canceled));
    }
}
