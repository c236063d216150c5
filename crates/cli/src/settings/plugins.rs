//! `[plugins.NAME]` of a `quipu.toml`: the MCP servers that every workflow has.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quipu_workflow::toolbox::{PluginConfig, PluginTransport, plugin_name_problem, split_words};
use serde::{Deserialize, Deserializer};
use toml::Value;

use super::SettingsError;

/// What a `quipu.toml` may say of a plugin.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PluginTable {
    #[serde(deserialize_with = "command")]
    command: Option<Vec<String>>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    dir: Option<PathBuf>,
    url: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    #[serde(deserialize_with = "time")]
    timeout: Option<Duration>,
    #[serde(deserialize_with = "time")]
    start_timeout: Option<Duration>,
}

/// Makes plugins of what the file at `path` says. Directories are meant from where the file is.
pub(super) fn configured(
    tables: BTreeMap<String, PluginTable>,
    path: &Path,
) -> Result<BTreeMap<String, PluginConfig>, SettingsError> {
    let mut plugins = BTreeMap::new();
    for (name, table) in tables {
        let wrong = |message: String| {
            let message = format!("plugins.{name}: {message}");
            SettingsError::File { path: path.to_owned(), message }
        };
        if let Some(problem) = plugin_name_problem(&name) {
            return Err(wrong(format!(
                "{problem}: expected a small letter, and then small letters, digits, `_` and `-`"
            )));
        }
        let config = table.config(&name, path).map_err(|problem| wrong(problem.to_owned()))?;
        plugins.insert(name, config);
    }
    Ok(plugins)
}

impl PluginTable {
    fn config(self, name: &str, path: &Path) -> Result<PluginConfig, &'static str> {
        let is_program = self.args.is_some() || self.env.is_some() || self.dir.is_some();
        let transport = match (self.command, self.url) {
            (Some(_), Some(_)) => return Err("expected `command` or `url`, not both"),
            (None, None) => return Err("expected `command` or `url`"),
            (Some(_), None) if self.headers.is_some() => {
                return Err("`headers` belong to a `url`");
            }
            (None, Some(_)) if is_program => {
                return Err("`args`, `env` and `dir` belong to a `command`");
            }
            (Some(mut command), None) => {
                command.extend(self.args.unwrap_or_default());
                if command.first().is_none_or(String::is_empty) {
                    return Err("`command` names no program");
                }
                let here = path.parent().unwrap_or(Path::new(""));
                let dir = self.dir.map(|dir| here.join(dir));
                PluginTransport::Stdio { command, env: self.env.unwrap_or_default(), dir }
            }
            (None, Some(url)) => {
                if !url.starts_with("http://") && !url.starts_with("https://") {
                    return Err("`url` must begin with http:// or https://");
                }
                PluginTransport::Http { url, headers: self.headers.unwrap_or_default() }
            }
        };
        let usual = PluginConfig::new(name, transport);
        Ok(PluginConfig {
            timeout: self.timeout.unwrap_or(usual.timeout),
            start_timeout: self.start_timeout.unwrap_or(usual.start_timeout),
            ..usual
        })
    }
}

/// Reads a command: a list of words, or one line.
fn command<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    use serde::de::Error;
    match Value::deserialize(from)? {
        Value::String(line) => match split_words(&line) {
            Some(words) => Ok(Some(words)),
            None => Err(D::Error::custom("`command` has a quote that is not closed")),
        },
        Value::Array(words) => words
            .into_iter()
            .map(|word| match word {
                Value::String(word) => Ok(word),
                other => Err(D::Error::custom(format!("`command` has {other}: expected texts"))),
            })
            .collect::<Result<_, _>>()
            .map(Some),
        other => Err(D::Error::custom(format!("`command` is {other}: expected a text or a list"))),
    }
}

/// Reads a length of time: seconds as a number, or such as `500ms`, `30s` or `2m`.
fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    use serde::de::Error;
    let value = Value::deserialize(from)?;
    let seconds = match &value {
        Value::Integer(seconds) => u32::try_from(*seconds).ok().map(f64::from),
        Value::Float(seconds) => Some(*seconds),
        Value::String(text) => seconds_in(text),
        _ => None,
    };
    let found = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match found.filter(|time| !time.is_zero()) {
        Some(time) => Ok(Some(time)),
        None => Err(D::Error::custom(format!(
            "a time is {value}: expected seconds, or a length of time such as 30s or 500ms"
        ))),
    }
}

fn seconds_in(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 4] = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let unit =
        UNITS.into_iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (digits, seconds) = unit.unwrap_or((text, 1.0));
    Some(digits.trim().parse::<f64>().ok()? * seconds)
}
