//! Keys that people write where they mean something else, and what they mean.

/// What is meant by a key of other languages, or of older versions of this one.
const MEANT: [(&str, &str); 31] = [
    ("next", "use `on_success` to say which step comes next"),
    ("when", "a condition belongs into `transitions: [{when: …, goto: …}]` of the step before"),
    ("if", "a condition belongs into `transitions: [{when: …, goto: …}]` of the step before"),
    ("loop", "a loop is a step of its own: `type: for_each` or `type: while` with a `body`"),
    ("branches", "use `parallel` with a list of step names; each branch is a step of its own"),
    ("model", "provider options belong into `options: {model: …}`"),
    ("max_tokens", "provider options belong into `options: {max_tokens: …}`"),
    ("temperature", "provider options belong into `options: {temperature: …}`"),
    ("until", "use `break_when`"),
    ("condition", "use `while`"),
    ("steps", "use `body` in a loop, or `parallel`"),
    ("cwd", "use `dir`"),
    ("working_dir", "use `dir`"),
    ("working_directory", "use `dir`"),
    ("run", "use `command`"),
    ("cmd", "use `command`"),
    ("script", "use `command`, or `script_file` for a file"),
    ("initial_prompt", "use `prompt`"),
    ("inject_context", "put what the agent should know into `prompt`"),
    ("depends_on", "the order of steps is given by `on_success` and `transitions`"),
    ("retries", "use `retry: {max_attempts: …}`"),
    ("catch", "use `on_failure`"),
    ("on_error", "use `on_failure`"),
    ("goto", "use `on_success`, or `transitions: [{goto: …}]`"),
    ("pre_hook", "use `hooks: {pre: [{command: …}]}`"),
    ("post_hook", "use `hooks: {post: [{command: …}]}`"),
    ("pre_hooks", "use `hooks: {pre: […]}`"),
    ("post_hooks", "use `hooks: {post: […]}`"),
    (
        "call_workflow",
        "its parts stand in the step itself: `workflow: …`, `inputs: …`, `outputs: …`",
    ),
    ("environment", "use `env`"),
    ("foreach", "use `items`"),
];

/// Which kind of step a key is a key of.
const BELONGS: [(&str, &str); 21] = [
    ("command", "command steps"),
    ("script_file", "command steps"),
    ("dir", "command steps"),
    ("capture", "command steps"),
    ("provider", "agent steps"),
    ("prompt", "agent steps"),
    ("prompt_file", "agent steps"),
    ("system_prompt", "agent steps"),
    ("options", "agent steps"),
    ("output_format", "agent steps"),
    ("conversation", "agent steps"),
    ("operation", "operation steps: `type: operation`"),
    ("parallel", "parallel steps"),
    ("strategy", "parallel steps"),
    ("max_concurrent", "parallel steps"),
    ("items", "for_each steps"),
    ("body", "for_each and while steps"),
    ("max_iterations", "for_each and while steps"),
    ("break_when", "for_each and while steps"),
    ("workflow", "call_workflow steps"),
    ("status", "terminal steps"),
];

/// What is meant by a key of a part of a workflow: the part, the key, and what to write.
const IN_PARTS: [(&str, &str, &str); 16] = [
    ("the workflow", "initial", "it belongs into `states`"),
    ("the workflow", "steps", "use `states`, with `initial` and the steps by name"),
    ("the workflow", "jobs", "use `states`, with `initial` and the steps by name"),
    ("a transition", "default", "a transition without `when` always holds: `goto: …`"),
    ("a transition", "else", "a transition without `when` always holds: `goto: …`"),
    ("a transition", "if", "use `when`"),
    ("a transition", "condition", "use `when`"),
    ("a transition", "to", "use `goto`"),
    ("a transition", "target", "use `goto`"),
    ("`retry`", "attempts", "use `max_attempts`"),
    ("`retry`", "delay", "use `initial_delay`"),
    ("the hooks of a step", "before", "use `pre`"),
    ("the hooks of a step", "after", "use `post`"),
    ("the hooks of the workflow", "on_start", "use `workflow_start`"),
    ("the hooks of the workflow", "on_end", "use `workflow_end`"),
    ("the hooks of the workflow", "on_error", "use `workflow_error`"),
];

const VALIDATION: [&str; 6] = ["pattern", "enum", "min", "max", "file_exists", "file_extension"];

/// Returns what is meant by a key that stands in the wrong place.
pub(super) fn hint(of: &str, key: &str) -> Option<String> {
    if of.starts_with("input") && VALIDATION.contains(&key) {
        return Some(format!("it belongs into `validation: {{{key}: …}}`"));
    }
    let in_part = IN_PARTS.iter().find(|(part, name, _)| *part == of && *name == key);
    if let Some((_, _, meant)) = in_part {
        return Some((*meant).to_owned());
    }
    if !of.ends_with("step") {
        return None;
    }
    if of == "a parallel step" && key == "steps" {
        return Some(
            "use `parallel` with a list of step names; each is a step of its own".to_owned(),
        );
    }
    MEANT.iter().find(|(name, _)| *name == key).map(|(_, meant)| (*meant).to_owned())
}

/// Returns what is meant by a text or number where a mapping belongs.
pub(super) fn short_form(of: &str, text: &str) -> Option<String> {
    match of {
        "`retry`" => Some(format!("write `retry: {{max_attempts: {text}}}`")),
        "`capture`" => Some(format!("write `capture: {{stdout: {text}}}`")),
        of if of.starts_with("input `") => Some(format!("write `{{type: {text}}}`")),
        _ => None,
    }
}

/// Returns whose key it is.
pub(super) fn belongs(key: &str) -> Option<String> {
    let (_, whose) = BELONGS.iter().find(|(name, _)| *name == key)?;
    Some(format!("it is a key of {whose}"))
}
