//! Agents that are not there.

use quipu_event::Kind;
use quipu_workflow::agent::PROVIDER_NAMES;
use quipu_workflow::definition::OutputFormat;
use quipu_workflow::engine::WorkStatus;
use serde_json::json;

use super::asking::Asking;

#[tokio::test]
async fn a_stub_says_that_it_is_one_and_costs_nothing() {
    let asked = Asking::new("stub", "Go.").system("Be brief.").ask().await;
    let text = "[STUB] Completed step review. In production, this would contain the actual Claude response.";
    assert_eq!(asked.outcome.output, text);
    assert_eq!(asked.outcome.model.as_deref(), Some("claude-stub"));
    assert_eq!(asked.outcome.usage.unwrap().total(), Some(0));
    assert_eq!(asked.payloads(&Kind::MessageUser)[0]["blocks"][0]["purpose"], "system_prompt");
    assert_eq!(asked.payloads(&Kind::MessageAssistant)[0]["model"], "claude-stub");
    let usage = &asked.payloads(&Kind::Usage)[0];
    assert_eq!((&usage["model"], &usage["input_tokens"]), (&json!("claude-stub"), &json!(0)));
}

#[tokio::test]
async fn every_agent_can_be_a_stub() {
    for provider in PROVIDER_NAMES {
        let mut asking = Asking::new(provider, "Go.");
        asking.settings.stub = true;
        let asked = asking.ask().await;
        assert!(asked.outcome.output.starts_with("[STUB] "), "{provider}");
        let model = if *provider == "stub" { "claude-stub" } else { &format!("{provider}-stub") };
        assert_eq!(asked.outcome.model.as_deref(), Some(model), "{provider}");
    }
}

#[tokio::test]
async fn a_script_says_what_its_answer_took() {
    let mut asking = Asking::new("stub", "Go.");
    let script = json!([
        { "usage": { "input_tokens": 800, "cache_read_tokens": 50 } },
        { "text": "Done." },
        { "usage": { "input_tokens": 12, "output_tokens": 40 } },
        { "usage": "nonsense" },
    ]);
    asking.job.options.insert("stub_script".to_owned(), script);
    let asked = asking.ask().await;
    let usage = &asked.payloads(&Kind::Usage)[0];
    let told = json!([usage["input_tokens"], usage["output_tokens"], usage["cache_read_tokens"]]);
    assert_eq!(told, json!([812, 40, 50]));
    assert_eq!(asked.outcome.usage.unwrap().total(), Some(902));
}

#[tokio::test]
async fn a_stub_that_is_to_answer_with_json_does() {
    let mut asking = Asking::new("stub", "Go.");
    asking.job.output_format = Some(OutputFormat::Json);
    let asked = asking.ask().await;
    assert_eq!(asked.outcome.status, WorkStatus::Succeeded);
    assert_eq!(asked.outcome.json, Some(json!({ "step": "review", "stub": true })));
    assert!(asked.texts()[0].starts_with("[STUB] "));
}

#[tokio::test]
async fn a_conversation_with_a_stub_keeps_its_session() {
    let asked = Asking::new("stub", "Go.").conversation(&["More.", ""]).ask().await;
    assert_eq!(asked.texts().len(), 2);
    assert!(asked.outcome.session.unwrap().starts_with("stub-"));
}
