//! A command step: a shell command or a script, with values that reach the shell as data.

use std::collections::BTreeMap;

use super::super::place;
use super::super::scope::StepScope;
use super::super::work::{CommandJob, ScriptText, Work};
use super::{text, told};
use crate::definition::{CommandStep, CommandText, Step};
use crate::language::{Template, protect};

/// The interpreters whose scripts are protected like commands.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

pub(super) fn prepare(
    step: &Step,
    command: &CommandStep,
    scope: &StepScope<'_>,
) -> Result<Work, String> {
    let script = match &command.text {
        CommandText::Inline(template) => shell(template, scope)?,
        CommandText::File(path) => from_file(&text(path, scope)?, scope)?,
    };
    let dir = command.dir.as_ref().map(|dir| text(dir, scope)).transpose()?;
    let mut env = exported_inputs(scope);
    env.extend(step_env(step, scope)?);
    Ok(Work::Command(CommandJob {
        script,
        dir: dir.map(|dir| scope.setup.working_dir.join(dir)),
        env,
        capture: command.capture.clone(),
    }))
}

/// Returns the variables that the step itself asks for.
pub(in crate::engine) fn step_env(
    step: &Step,
    scope: &StepScope<'_>,
) -> Result<BTreeMap<String, String>, String> {
    step.env.iter().map(|(name, value)| Ok((name.clone(), text(value, scope)?))).collect()
}

/// Returns the inputs that are texts and have names that variables can have, as AWF exports them.
pub(in crate::engine) fn exported_inputs(scope: &StepScope<'_>) -> BTreeMap<String, String> {
    let is_name = |name: &str| {
        let mut letters = name.chars();
        letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    // A run's own environment wins: an input called PATH must not break every command.
    let is_free = |name: &str| !scope.setup.env.contains_key(name);
    let inputs = scope.setup.inputs.iter().filter(|(name, _)| is_name(name) && is_free(name));
    inputs
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .filter(|(_, value)| value.len() < 100_000 && !value.contains('\0'))
        .collect()
}

fn shell(template: &Template, scope: &StepScope<'_>) -> Result<ScriptText, String> {
    let pieces = template.pieces(scope).map_err(|error| told(&error))?;
    protect(&pieces).map(ScriptText::Shell).map_err(|error| error.to_string())
}

fn from_file(name: &str, scope: &StepScope<'_>) -> Result<ScriptText, String> {
    let path = place::of_file(scope.plan, scope.setup, name);
    let text = scope
        .setup
        .files
        .read(&path)
        .map_err(|problem| format!("script_file {}: {problem}", path.display()))?;
    let parse = |text: &str| {
        Template::parse(text).map_err(|error| format!("script_file {}: {error}", path.display()))
    };
    if !text.starts_with("#!") {
        return shell(&parse(&text)?, scope);
    }
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let body = parse(rest)?;
    let (shown, filled) = if names_a_shell(first) {
        let pieces = body.pieces(scope).map_err(|error| told(&error))?;
        let script = protect(&pieces).map_err(|error| error.to_string())?;
        (script.shown, script.run)
    } else {
        let filled = body.render(scope).map_err(|error| told(&error))?;
        (filled.clone(), filled)
    };
    let with_first = |rest: String| format!("{first}\n{rest}");
    Ok(ScriptText::Program { shown: with_first(shown), text: with_first(filled), from: path })
}

/// Tells whether the first line of a script (`#!/usr/bin/env bash -e`) names a shell.
fn names_a_shell(first: &str) -> bool {
    let words = first.trim_start_matches("#!").split_whitespace();
    let mut programs = words.map(|word| word.rsplit('/').next().unwrap_or(word));
    match programs.next() {
        Some("env") => programs
            .find(|word| !word.starts_with('-') && !word.contains('='))
            .is_some_and(|word| SHELLS.contains(&word)),
        Some(program) => SHELLS.contains(&program),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::names_a_shell;

    #[test]
    fn shells_are_told_from_other_interpreters() {
        for (line, is_shell) in [
            ("#!/bin/sh", true),
            ("#! /bin/bash -e", true),
            ("#!/usr/bin/env bash", true),
            ("#!/usr/bin/env -S FOO=1 zsh -f", true),
            ("#!/usr/bin/env python3", false),
            ("#!/usr/bin/python3", false),
            ("#!", false),
        ] {
            assert_eq!(names_a_shell(line), is_shell, "{line}");
        }
    }
}
