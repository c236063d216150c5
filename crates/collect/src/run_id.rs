//! Which run a session is: always the same one.

use quipu_event::RunId;
use uuid::Uuid;

/// The name space of sessions, among all that is named by UUIDs.
const SESSIONS: Uuid = Uuid::from_u128(0x9d1c_6f0e_52b7_4c2e_8f0a_3b61_7a5e_9c44);

/// Returns the run that session `session` of `provider` is recorded as.
pub fn run_of_session(provider: &str, session: &str) -> RunId {
    let name = format!("{provider}:{session}");
    let id = Uuid::new_v5(&SESSIONS, name.as_bytes()).hyphenated().to_string();
    // A UUID is a run id; nothing else comes out of here.
    RunId::parse(&id).unwrap_or_else(|_| RunId::random())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_always_the_same_run() {
        let run = run_of_session("claude", "639aec0e-541b-4e92-8755-749baa04576d");
        assert_eq!(run.as_str(), "bc305171-1706-539a-84c2-0bdf75df5d5b");
        assert_ne!(run, run_of_session("codex", "639aec0e-541b-4e92-8755-749baa04576d"));
    }
}
