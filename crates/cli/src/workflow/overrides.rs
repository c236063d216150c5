//! `--set KEY=VALUE`: changes to a workflow for one run, without touching its file.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quipu_workflow::agent::{PROVIDER_NAMES, ProviderSettings, is_provider};
use quipu_workflow::definition::{
    AgentStep, Step, StepKind, ValueTemplate, Workflow, did_you_mean,
};
use quipu_workflow::driver::is_masked;
use quipu_workflow::language::{Template, Value};
use serde_json::Map;

use crate::exit::UserError;

/// The key under which it is recorded that agents are replaced by stubs.
const STUB: &str = "stub";

/// The key under which the files are recorded that this run was to make, beside those of its
/// workflow. The dot keeps it from the workflows that are called.
const DELIVERABLES: &str = "run.deliverables";

/// What `--set` says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overrides {
    /// For all agent steps, those of called workflows too.
    everywhere: AgentChange,
    /// For one step each.
    steps: BTreeMap<String, StepChange>,
    /// For providers.
    providers: BTreeMap<String, ProviderSettings>,
    /// The files that must be there at the end, beside those that the workflow names.
    deliverables: Vec<Template>,
    /// Each key and its value as they were given: what a run records, and what it is resumed with.
    said: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default)]
struct AgentChange {
    provider: Option<String>,
    model: Option<String>,
}

#[derive(Clone, Debug, Default)]
struct StepChange {
    agent: AgentChange,
    timeout: Option<Duration>,
}

impl Overrides {
    /// Reads `KEY=VALUE` texts.
    pub(crate) fn parse(texts: &[String]) -> Result<Self, UserError> {
        let mut overrides = Overrides::default();
        for text in texts {
            let Some((key, value)) = text.split_once('=') else {
                return Err(wrong(text, "expected KEY=VALUE"));
            };
            overrides.say(key.trim(), value.trim())?;
        }
        Ok(overrides)
    }

    /// Takes what a run was started with, as it is recorded, and `KEY=VALUE` texts that go over it.
    pub(crate) fn again(
        recorded: &Map<String, Value>,
        texts: &[String],
    ) -> Result<Self, UserError> {
        let mut overrides = Overrides::parse(texts)?;
        for (key, value) in recorded.iter().filter(|(key, _)| key.as_str() != STUB) {
            if overrides.said.contains_key(key) {
                continue;
            }
            if is_masked(value) {
                let text = format!("--set {key} held a secret, which is not recorded");
                return Err(
                    UserError::new(text).with_hint(format!("give it again: --set {key}=VALUE"))
                );
            }
            overrides.say(key, value.as_str().unwrap_or_default())?;
        }
        if recorded.contains_key(STUB) {
            overrides.stub(Some(true));
        }
        Ok(overrides)
    }

    /// Says whether agents are replaced by stubs; nothing leaves it as it is.
    pub(crate) fn stub(&mut self, wanted: Option<bool>) {
        match wanted {
            Some(true) => _ = self.said.insert(STUB.to_owned(), "true".to_owned()),
            Some(false) => _ = self.said.remove(STUB),
            None => {}
        }
    }

    /// Asks for files that must be there when the run ends.
    pub(crate) fn require(&mut self, paths: &[String]) -> Result<(), UserError> {
        if paths.is_empty() {
            return Ok(());
        }
        self.say(DELIVERABLES, &Value::from(paths.to_vec()).to_string())
    }

    /// Tells whether agents are replaced by stubs.
    pub(crate) fn is_stubbed(&self) -> bool {
        self.said.contains_key(STUB)
    }

    /// Changes the workflow that was asked for.
    pub(crate) fn apply(&self, workflow: &mut Workflow) -> Result<(), UserError> {
        self.apply_everywhere(workflow);
        workflow.changes.clone_from(&self.said);
        workflow.deliverables.extend(self.deliverables.iter().cloned());
        for (name, change) in &self.steps {
            let Some(step) = workflow.steps.get_mut(name) else {
                let hint = did_you_mean(name, workflow.steps.keys().map(String::as_str));
                let error = UserError::new(format!("--set: the workflow has no step `{name}`"));
                return Err(match hint {
                    Some(hint) => error.with_hint(hint),
                    None => error,
                });
            };
            change.apply(Arc::make_mut(step))?;
        }
        Ok(())
    }

    /// Changes a workflow that another calls.
    pub(super) fn apply_everywhere(&self, workflow: &mut Workflow) {
        // What is said of single steps is said of those of the first workflow.
        let is_general = |key: &str| !key.contains('.') || key.starts_with("providers.");
        let general = self.said.iter().filter(|(key, _)| is_general(key));
        workflow.changes.extend(general.map(|(key, value)| (key.clone(), value.clone())));
        for step in workflow.steps.values_mut() {
            if let StepKind::Agent(_) = &step.kind
                && let StepKind::Agent(agent) = &mut Arc::make_mut(step).kind
            {
                self.everywhere.apply(agent);
            }
        }
    }

    /// Lays what is set for providers over `providers`.
    pub(super) fn over(
        &self,
        mut providers: BTreeMap<String, ProviderSettings>,
    ) -> BTreeMap<String, ProviderSettings> {
        for (name, change) in &self.providers {
            let provider = providers.entry(name.clone()).or_default();
            if change.command.is_some() {
                provider.command.clone_from(&change.command);
            }
            if change.model.is_some() {
                provider.model.clone_from(&change.model);
            }
            if change.base_url.is_some() {
                provider.base_url.clone_from(&change.base_url);
            }
        }
        providers
    }

    fn say(&mut self, key: &str, value: &str) -> Result<(), UserError> {
        self.take(key, value)?;
        self.said.insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), UserError> {
        let parts: Vec<&str> = key.split('.').collect();
        match parts[..] {
            _ if key == DELIVERABLES => self.deliverables = paths(value)?,
            ["provider"] => self.everywhere.provider = Some(provider(value)?),
            ["model"] => self.everywhere.model = Some(value.to_owned()),
            ["providers", name, field] => {
                let settings = self.providers.entry(provider(name)?).or_default();
                match field {
                    "command" => settings.command = Some(words(value)?),
                    "model" => settings.model = Some(value.to_owned()),
                    "base_url" => settings.base_url = Some(value.to_owned()),
                    _ => return Err(unknown(key, field, &["command", "model", "base_url"])),
                }
            }
            [step, field] => {
                let change = self.steps.entry(step.to_owned()).or_default();
                match field {
                    "provider" => change.agent.provider = Some(provider(value)?),
                    "model" => change.agent.model = Some(value.to_owned()),
                    "timeout" => change.timeout = Some(duration(value)?),
                    _ => return Err(unknown(key, field, &["provider", "model", "timeout"])),
                }
            }
            _ => {
                return Err(unknown(
                    key,
                    key,
                    &[
                        "provider",
                        "model",
                        "STEP.provider",
                        "STEP.model",
                        "STEP.timeout",
                        "providers.NAME.command",
                    ],
                ));
            }
        }
        Ok(())
    }
}

impl StepChange {
    fn apply(&self, step: &mut Step) -> Result<(), UserError> {
        if self.timeout.is_some() {
            step.timeout = self.timeout;
        }
        match &mut step.kind {
            StepKind::Agent(agent) => self.agent.apply(agent),
            kind if self.agent.provider.is_some() || self.agent.model.is_some() => {
                let (name, word) = (&step.name, kind.word());
                let text = format!("--set: step `{name}` is a {word} step, not an agent step");
                return Err(UserError::new(text));
            }
            _ => {}
        }
        Ok(())
    }
}

impl AgentChange {
    fn apply(&self, agent: &mut AgentStep) {
        if let Some(provider) = self.provider.as_deref().and_then(literal) {
            // Another provider has another program and other models.
            if agent.provider.source() != provider.source() {
                agent.command = None;
                agent.options.remove("model");
            }
            agent.provider = provider;
        }
        if let Some(model) = self.model.as_deref().and_then(literal) {
            agent.options.insert("model".to_owned(), ValueTemplate::Text(model));
        }
    }
}

fn literal(text: &str) -> Option<Template> {
    Template::parse(text).ok()
}

fn provider(name: &str) -> Result<String, UserError> {
    if is_provider(name) {
        return Ok(name.to_owned());
    }
    let known = PROVIDER_NAMES.join(", ");
    let hint = did_you_mean(name, PROVIDER_NAMES.iter().copied());
    let error = UserError::new(format!("--set: there is no provider `{name}`; there are {known}"));
    Err(match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    })
}

/// Reads a program and its first arguments: a JSON list, or words with spaces between.
fn words(text: &str) -> Result<Vec<String>, UserError> {
    let words: Vec<String> = if text.starts_with('[') {
        serde_json::from_str(text)
            .map_err(|error| wrong(text, &format!("expected a JSON list of texts: {error}")))?
    } else {
        text.split_whitespace().map(str::to_owned).collect()
    };
    if words.is_empty() { Err(wrong(text, "expected a program")) } else { Ok(words) }
}

/// Reads a JSON list of paths, in which inputs and results of steps may stand.
fn paths(text: &str) -> Result<Vec<Template>, UserError> {
    let paths: Vec<String> = serde_json::from_str(text)
        .map_err(|error| wrong(text, &format!("expected a JSON list of paths: {error}")))?;
    let path = |path: &String| {
        let wrong = |why: &str| UserError::new(format!("--deliverable {path:?}: {why}"));
        if path.trim().is_empty() {
            return Err(wrong("expected the path of a file"));
        }
        Template::parse(path).map_err(|error| wrong(&error.to_string()))
    };
    paths.iter().map(path).collect()
}

fn duration(text: &str) -> Result<Duration, UserError> {
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let unit = units.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, *size)));
    let (digits, size) = unit.unwrap_or((text, 1.0));
    let seconds = digits.trim().parse::<f64>().ok().map(|count| count * size);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| wrong(text, "expected a duration such as 30s, 5m or 500ms"))
}

fn wrong(text: &str, expected: &str) -> UserError {
    UserError::new(format!("--set {text:?}: {expected}"))
}

fn unknown(key: &str, given: &str, known: &[&str]) -> UserError {
    let error = UserError::new(format!("--set: unknown key `{key}`; known: {}", known.join(", ")));
    match did_you_mean(given, known.iter().copied()) {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_was_started_with_holds_again_unless_flags_say_otherwise() {
        let recorded = serde_json::json!({
            "model": "opus", "provider": "codex", "stub": "true",
            "providers.openai_compatible.base_url": "http://u:[masked:url-password]@h",
        });
        let recorded = recorded.as_object().unwrap();
        let error = Overrides::again(recorded, &[]).unwrap_err().to_string();
        assert!(error.contains("base_url held a secret"), "{error}");
        let flags = ["model=haiku", "providers.openai_compatible.base_url=http://h"];
        let flags = flags.map(str::to_owned);
        let overrides = Overrides::again(recorded, &flags).unwrap();
        assert!(overrides.is_stubbed());
        assert_eq!(overrides.everywhere.model.as_deref(), Some("haiku"));
        assert_eq!(overrides.everywhere.provider.as_deref(), Some("codex"));
    }

    #[test]
    fn each_key_is_read_and_a_wrong_one_is_told() {
        let good = [
            "provider=codex",
            "model=opus",
            "ask.provider=stub",
            "ask.model=gpt-5",
            "ask.timeout=30s",
            "ask.timeout=1.5",
            "providers.claude.command=[\"./fake\", \"claude\"]",
            "providers.claude.command=./fake claude",
            "providers.openai_compatible.base_url=http://127.0.0.1:1",
        ];
        for text in good {
            assert!(Overrides::parse(&[text.to_owned()]).is_ok(), "{text}");
        }
        let bad = [
            ("provider", "expected KEY=VALUE"),
            ("provider=clade", "there is no provider `clade`"),
            ("modle=x", "unknown key `modle`"),
            ("ask.modle=x", "unknown key `ask.modle`"),
            ("ask.timeout=soon", "expected a duration"),
            ("providers.claude.command=", "expected a program"),
            ("providers.claude.command=[1]", "expected a JSON list"),
        ];
        for (text, expected) in bad {
            let error = Overrides::parse(&[text.to_owned()]).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
