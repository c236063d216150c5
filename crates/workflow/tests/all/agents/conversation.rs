//! Conversations: turns, sessions, and what ends them.

use quipu_event::Kind;
use quipu_workflow::definition::OutputFormat;
use quipu_workflow::engine::WorkStatus;
use quipu_workflow::language::Expression;
use quipu_workflow::process::StopReason;
use serde_json::json;

use super::asking::{AGENTS, Asking};

fn script() -> serde_json::Value {
    json!({ "turns": [
        { "when": "Second", "steps": [{ "text": "Two." }], "spent_before": { "input": 10, "output": 5 } },
        { "when": "Third", "steps": [{ "text": "Three." }], "spent_before": { "input": 20, "output": 10 } },
        { "when": "First", "steps": [{ "text": "One." }] },
    ] })
}

#[tokio::test(flavor = "multi_thread")]
async fn each_turn_is_recorded_and_continues_the_session() {
    for (provider, language) in AGENTS {
        let asking = Asking::of_fake(provider, language, "First", &script()).system("Be brief.");
        let asked = asking.conversation(&["Second", "Third", "", "Fourth"]).ask().await;
        assert_eq!(asked.outcome.status, WorkStatus::Succeeded, "{provider}");
        assert_eq!(asked.outcome.output, "Three.", "{provider}");
        assert_eq!(asked.outcome.session.as_deref(), Some("fake-session"), "{provider}");
        assert_eq!(asked.texts(), ["One.", "Two.", "Three."], "{provider}");
        for kind in [Kind::MessageUser, Kind::MessageAssistant] {
            let turns: Vec<_> =
                asked.payloads(&kind).iter().map(|message| message["turn"].clone()).collect();
            assert_eq!(turns, [1, 2, 3], "{provider} {kind:?}");
        }
        let resumed: Vec<_> = asked.calls.iter().map(|call| call.resume.as_deref()).collect();
        assert_eq!(resumed, [None, Some("fake-session"), Some("fake-session")], "{provider}");
        assert!(asked.calls[0].was_told("Be brief."), "{provider}");
        assert_eq!(asked.facts("conversation_ended")[0]["reason"], "person", "{provider}");
        assert_eq!(asked.facts("conversation_ended")[0]["turns"], 3, "{provider}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_is_counted_once_however_an_agent_counts() {
    for (provider, language) in AGENTS {
        let asking = Asking::of_fake(provider, language, "First", &script());
        let asked = asking.conversation(&["Second", "Third"]).ask().await;
        let usage = asked.outcome.usage.unwrap();
        assert_eq!(usage.output_tokens, Some(15), "{provider}");
        assert_eq!(usage, asked.usage(), "{provider}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_ends_when_there_is_no_more_to_say() {
    for (lines, reason, turns) in [
        (&[][..], "end_of_input", 1),
        (&[" "], "person", 1),
        (&["exit"], "person", 1),
        (&["Second", "quit"], "person", 2),
        (&["Second", "Third", "First", "First"], "max_turns", 3),
    ] {
        let mut asking =
            Asking::of_fake("claude", "claude", "First", &script()).conversation(lines);
        asking.job.max_turns = Some(3);
        let asked = asking.ask().await;
        let facts = &asked.facts("conversation_ended")[0];
        assert_eq!(
            (&facts["reason"], &facts["turns"]),
            (&json!(reason), &json!(turns)),
            "{lines:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_condition_ends_a_conversation() {
    for (condition, turns) in
        [("response contains 'Two'", 2), ("turn_count >= 3", 3), ("response == 'Never'", 4)]
    {
        let lines = ["Second", "Third", "First"];
        let mut asking =
            Asking::of_fake("claude", "claude", "First", &script()).conversation(&lines);
        asking.job.stop_condition = Some(Expression::parse(condition).unwrap());
        let asked = asking.ask().await;
        assert_eq!(asked.facts("conversation_ended")[0]["turns"], turns, "{condition}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_says_nothing_can_be_interrupted() {
    struct Silent;
    impl quipu_workflow::agent::Person for Silent {
        fn next_line<'a>(
            &'a self,
            _: &'a quipu_workflow::engine::Occurrence,
            _: &'a str,
        ) -> quipu_workflow::agent::NextLine<'a> {
            Box::pin(std::future::pending())
        }
    }
    let mut asking = Asking::of_fake("claude", "claude", "First", &script()).conversation(&[]);
    asking.person = std::sync::Arc::new(Silent);
    let asked = asking
        .ask_and_stop(StopReason::Canceled, |collected| collected.has(&Kind::MessageAssistant))
        .await;
    assert_eq!(asked.outcome.status, WorkStatus::Canceled);
    assert_eq!(asked.texts(), ["One."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_question_has_no_turns_and_keeps_its_session() {
    for (provider, language) in AGENTS {
        let asked = Asking::of_fake(provider, language, "First", &script()).ask().await;
        assert_eq!(asked.outcome.session.as_deref(), Some("fake-session"), "{provider}");
        assert!(asked.payloads(&Kind::MessageAssistant)[0].get("turn").is_none(), "{provider}");
        assert!(asked.facts("conversation_ended").is_empty(), "{provider}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_read_as_the_step_wants() {
    let fenced = json!({ "steps": [{ "text": "Here:\n```json\n{\"ok\": true}\n```" }] });
    let mut asking = Asking::of_fake("gemini", "gemini", "Go.", &fenced);
    asking.job.output_format = Some(OutputFormat::Json);
    let asked = asking.ask().await;
    assert_eq!(asked.outcome.json, Some(json!({ "ok": true })));
    assert_eq!(asked.outcome.output, "{\"ok\": true}");

    let mut asking = Asking::of_fake("gemini", "gemini", "First", &script());
    asking.job.output_format = Some(OutputFormat::Json);
    let asked = asking.ask().await;
    assert_eq!(asked.outcome.status, WorkStatus::Failed);
    assert!(asked.outcome.error.clone().unwrap().contains("\"One.\""));
    assert_eq!(asked.texts(), ["One."]);
}
