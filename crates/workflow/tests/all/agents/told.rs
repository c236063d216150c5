//! What reaches an agent: the prompt and the system prompt, in every mode, whatever they look like.

use quipu_event::Kind;
use quipu_workflow::agent::ask;
use quipu_workflow::engine::WorkStatus;
use serde_json::json;

use super::asking::{AGENTS, Asking};

fn hello() -> serde_json::Value {
    json!({ "steps": [{ "text": "Hello." }] })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_system_prompt_reaches_the_agent_and_is_recorded_for_what_it_is() {
    for (provider, language) in AGENTS {
        for resume in [None, Some("earlier-session")] {
            let mut asking =
                Asking::of_fake(provider, language, "Do it.", &hello()).system("Be brief.");
            asking.job.resume = resume.map(str::to_owned);
            let asked = asking.ask().await;
            let call = asked.call();
            assert!(call.was_told("Be brief."), "{provider}: {:?}", call.args);
            assert!(call.prompt.contains("Do it."), "{provider}: {:?}", call.args);
            assert_eq!(call.resume.as_deref(), resume, "{provider}");
            let recorded = &asked.payloads(&Kind::MessageUser)[0]["blocks"];
            let expected = json!([
                { "type": "text", "fidelity": "router", "text": "Be brief.", "purpose": "system_prompt" },
                { "type": "text", "fidelity": "router", "text": "Do it.", "purpose": "prompt" },
            ]);
            assert_eq!(recorded, &expected, "{provider}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_prompt_arrives_as_it_is() {
    let long = "long ".repeat(60_000);
    let prompts =
        ["-p is a flag", "--help", "two\nlines", "quotes \" ' ` $HOME $(ls)", "ünï 💡", "-", &long];
    for (provider, language) in AGENTS {
        for prompt in prompts {
            let asked = Asking::of_fake(provider, language, prompt, &hello()).ask().await;
            assert_eq!(asked.outcome.status, WorkStatus::Succeeded, "{provider} {prompt:.40}");
            assert!(asked.call().prompt == prompt, "{provider} {prompt:.40}");
            assert_eq!(asked.of(&Kind::MessageUser).len(), 1, "{provider} {prompt:.40}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_our_own_prompt_is_an_echo() {
    let line = json!({ "type": "message", "role": "user", "content": "Please continue." });
    let script = json!({ "steps": [{ "text": "Half." }, { "raw": line.to_string() }, { "text": "Whole." }] });
    let asked = Asking::of_fake("gemini", "gemini", "Go.", &script).ask().await;
    assert_eq!(asked.facts("prompt_echo").len(), 1);
    let said: Vec<_> = asked
        .payloads(&Kind::MessageUser)
        .iter()
        .map(|message| {
            (message["blocks"][0]["text"].clone(), message["blocks"][0]["fidelity"].clone())
        })
        .collect();
    let said_by = |text: &str, who: &str| (json!(text), json!(who));
    assert_eq!(said, [said_by("Go.", "router"), said_by("Please continue.", "agent_emitted")]);
    let echo = asked
        .of(&Kind::System)
        .into_iter()
        .find(|draft| draft.payload.as_str().contains("prompt_echo"));
    assert!(echo.unwrap().raw.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_step_decides_where_and_with_which_variables() {
    let mut asking = Asking::of_fake("codex", "codex", "Go.", &hello());
    asking.job.env.insert("COLOUR".to_owned(), "red".to_owned());
    let folder = asking.folder.path().canonicalize().unwrap();
    let log = asking.folder.path().join("calls.jsonl");
    let asked = asking.ask().await;
    assert!(!log.exists(), "the folder is gone with the question");
    assert_eq!(asked.call().env["COLOUR"], "red");
    assert_eq!(asked.call().dir, folder.display().to_string());
    assert_eq!(asked.call().env["PWD"], asked.call().dir);
}

#[tokio::test(flavor = "multi_thread")]
async fn options_that_have_no_effect_are_told() {
    for (provider, language) in AGENTS {
        let asking = Asking::of_fake(provider, language, "Go.", &hello());
        let asked = asking.option("model", "m-1").option("colour", "red").ask().await;
        let facts = asked.facts("option_ignored");
        assert_eq!(facts.len(), 1, "{provider}");
        assert_eq!(facts[0]["option"], "colour", "{provider}");
        assert!(asked.call().args.iter().any(|arg| arg.contains("m-1")), "{provider}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_provider_is_named() {
    let asked = Asking::new("cloud", "Go.").ask().await;
    assert_eq!(asked.outcome.status, WorkStatus::Failed);
    assert!(asked.outcome.error.unwrap().contains("`cloud`"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_prompt_is_not_asked() {
    for prompt in ["", " \n"] {
        let asked = Asking::of_fake("claude", "claude", prompt, &hello()).ask().await;
        assert_eq!(asked.outcome.error.as_deref(), Some("the prompt is empty"));
        assert!(asked.calls.is_empty() && asked.drafts.is_empty());
    }
}

#[test]
fn a_question_can_be_asked_on_any_thread() {
    fn is_send<T: Send>(
        _: impl Fn(quipu_workflow::engine::AgentJob, quipu_workflow::agent::Desk) -> T,
    ) {
    }
    is_send(ask);
}
