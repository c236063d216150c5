//! `quipu config`: each effective setting, and where it came from.

use std::io::Write;

use clap::ValueEnum;
use serde_json::json;

use crate::Context;
use crate::exit::Exit;
use crate::settings::{Setting, Settings, Source, durability_text};

/// Show each setting and where it came from
///
/// Flags go over QUIPU_* variables, those over the nearest quipu.toml, that over defaults. The
/// nearest quipu.toml is the one in this directory or in the closest directory above it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    quipu config\n  \
    QUIPU_STORAGE=/var/lib/quipu quipu config --json")]
pub(crate) struct Args {}

pub(crate) fn run(context: &Context, _args: Args) -> anyhow::Result<Exit> {
    let settings = &context.settings;
    let rows = rows(settings);
    if context.screen.json {
        let told: serde_json::Map<_, _> = rows
            .iter()
            .map(|row| {
                let from = row.from.to_string();
                (row.name.to_owned(), json!({ "value": row.value, "from": from }))
            })
            .collect();
        context.screen.print_json(&json!({ "file": settings.file, "settings": told }))?;
        return Ok(Exit::Ok);
    }
    let width = rows.iter().map(|row| row.text().chars().count()).max().unwrap_or(0);
    let mut out = context.screen.stdout();
    for row in &rows {
        writeln!(out, "{:10}  {:width$}  {}", row.name, row.text(), row.from)?;
    }
    match &settings.file {
        Some(path) => writeln!(out, "\nsettings file: {}", path.display())?,
        None => writeln!(out, "\nsettings file: none; no quipu.toml here or above")?,
    }
    out.flush()?;
    Ok(Exit::Ok)
}

struct Row<'a> {
    name: &'static str,
    /// Nothing where there is no value to be had, as of a file that nobody named.
    value: Option<String>,
    from: &'a Source,
}

impl Row<'_> {
    fn text(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }
}

fn rows(settings: &Settings) -> Vec<Row<'_>> {
    fn row<'a, T>(
        name: &'static str,
        setting: &'a Setting<T>,
        value: impl Into<Option<String>>,
    ) -> Row<'a> {
        Row { name, value: value.into(), from: &setting.from }
    }
    let Settings { file: _, storage, color, durability, mask, mask_env, log_file, .. } = settings;
    let Settings { prices, providers, plugins, .. } = settings;
    let price_path = prices.value.as_deref().map(|path| path.display().to_string());
    let log_path = log_file.value.as_deref().map(|path| path.display().to_string());
    vec![
        row("storage", storage, storage.value.display().to_string()),
        row("color", color, word(&color.value)),
        row("durability", durability, durability_text(durability.value)),
        row("mask", mask, word(&mask.value)),
        row("mask_env", mask_env, mask_env.value.join(",")),
        row("log_file", log_file, log_path),
        row("prices", prices, price_path),
        row("providers", providers, names(providers.value.keys())),
        row("plugins", plugins, names(plugins.value.keys())),
    ]
}

fn names<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(String::as_str).collect::<Vec<_>>().join(",")
}

/// Prints a choice as flags, variables and the settings file spell it.
fn word(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
