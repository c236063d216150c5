//! When a request is made again, and after how long.

use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// How often a request is made again, and how long it waits at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetrySettings {
    /// How often at most.
    pub retries: u32,
    /// The first wait; each next one is twice as long.
    pub first_delay: Duration,
    /// The longest wait, whatever a server asks for.
    pub longest_delay: Duration,
}

impl Default for RetrySettings {
    fn default() -> Self {
        RetrySettings {
            retries: 4,
            first_delay: Duration::from_millis(500),
            longest_delay: Duration::from_secs(60),
        }
    }
}

impl RetrySettings {
    /// Returns how long to wait after attempt number `attempt`, from 1.
    pub(super) fn delay(&self, attempt: u32, asked: Option<Duration>) -> Duration {
        let doubled =
            self.first_delay.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)));
        asked.unwrap_or(doubled).min(self.longest_delay)
    }
}

/// Tells whether a server that answers so may answer otherwise a moment later.
pub(super) fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..=599)
}

/// Returns how long a server asks to wait.
pub(super) fn asked_delay(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|ms| ms.parse().ok()) {
        return Some(Duration::from_millis(ms));
    }
    let after = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = after.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let when = jiff::fmt::rfc2822::parse(after).ok()?.timestamp();
    Duration::try_from(when.duration_since(jiff::Timestamp::now())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_servers_are_heard() {
        let settings = RetrySettings {
            retries: 3,
            first_delay: Duration::from_millis(100),
            longest_delay: Duration::from_millis(350),
        };
        let waits: Vec<u128> =
            (1..=4).map(|attempt| settings.delay(attempt, None).as_millis()).collect();
        assert_eq!(waits, [100, 200, 350, 350]);
        let asked = Some(Duration::from_millis(7));
        assert_eq!(settings.delay(3, asked).as_millis(), 7);
        assert_eq!(settings.delay(1, Some(Duration::from_secs(9))).as_millis(), 350);
    }

    #[test]
    fn a_server_may_ask_in_several_ways() {
        for (name, value, expected) in [
            ("retry-after", "2", Some(2000)),
            ("retry-after", "0.5", Some(500)),
            ("retry-after-ms", "30", Some(30)),
            ("retry-after", "soon", None),
            ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            let asked = asked_delay(&headers).map(|delay| delay.as_millis());
            assert_eq!(asked, expected, "{name}: {value}");
        }
    }
}
