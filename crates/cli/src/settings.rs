//! Settings: flags over `QUIPU_*` variables over the nearest `quipu.toml` over defaults.

mod plugins;

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quipu_journal::{Durability, Layout};
use quipu_workflow::agent::ProviderSettings;
use quipu_workflow::toolbox::PluginConfig;
use serde::Deserialize;

use crate::args::Global;
use crate::format::shell_word::shell_word;
use plugins::PluginTable;

/// The name of the settings file.
const FILE_NAME: &str = "quipu.toml";

/// Every effective setting, each with where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The settings file that was found.
    pub(crate) file: Option<PathBuf>,
    pub(crate) storage: Setting<PathBuf>,
    pub(crate) color: Setting<ColorChoice>,
    pub(crate) durability: Setting<Durability>,
    pub(crate) mask: Setting<MaskChoice>,
    pub(crate) mask_env: Setting<Vec<String>>,
    /// Where what is recorded is logged for other tools.
    pub(crate) log_file: Setting<Option<PathBuf>>,
    /// A price list that goes before the one that comes with the program.
    pub(crate) prices: Setting<Option<PathBuf>>,
    /// Programs, models and addresses of agents, by provider.
    pub(crate) providers: Setting<BTreeMap<String, ProviderSettings>>,
    /// MCP servers whose tools workflows can use, by name.
    pub(crate) plugins: Setting<BTreeMap<String, PluginConfig>>,
}

/// A value and where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) from: Source,
}

/// Where a setting came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Flag(&'static str),
    Variable(&'static str),
    File(PathBuf),
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Flag(name) => write!(f, "{name}"),
            Source::Variable(name) => write!(f, "${name}"),
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Default => f.write_str("default"),
        }
    }
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ColorChoice {
    /// When a person looks
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What to hide before anything is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MaskChoice {
    /// Nothing
    #[default]
    None,
    /// Well-known secret shapes: API keys, tokens, private keys, password pairs; not in a path
    Secrets,
}

impl MaskChoice {
    /// Returns the word for it, as flags, variables and the settings file spell it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            MaskChoice::None => "none",
            MaskChoice::Secrets => "secrets",
        }
    }
}

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("{}: {message}", path.display())]
    File { path: PathBuf, message: String },
    #[error("${name} is {value:?}: {expected}")]
    Variable { name: &'static str, value: String, expected: String },
    #[error("cannot read {}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
}

/// What a `quipu.toml` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsFile {
    storage: Option<PathBuf>,
    color: Option<ColorChoice>,
    durability: Option<String>,
    mask: Option<MaskChoice>,
    mask_env: Option<Vec<String>>,
    log_file: Option<PathBuf>,
    prices: Option<PathBuf>,
    providers: Option<BTreeMap<String, ProviderTable>>,
    plugins: Option<BTreeMap<String, PluginTable>>,
}

/// What a `quipu.toml` may say of a provider: `[providers.claude]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ProviderTable {
    command: Option<Vec<String>>,
    env: BTreeMap<String, String>,
    model: Option<String>,
    base_url: Option<String>,
}

impl From<ProviderTable> for ProviderSettings {
    fn from(table: ProviderTable) -> Self {
        let ProviderTable { command, env, model, base_url } = table;
        ProviderSettings { command, env, model, base_url, ..ProviderSettings::default() }
    }
}

impl Settings {
    /// Finds out every setting. Command-specific flags are laid over it by their commands.
    pub(crate) fn load(global: &Global) -> Result<Self, SettingsError> {
        let found = match env::current_dir().ok().and_then(|dir| nearest_file(&dir)) {
            Some(path) => Some((read_file(&path)?, path)),
            None => None,
        };
        let found_at = found.as_ref().map(|(_, path)| path.clone());
        let (file, path) = found.unwrap_or_default();
        let from_file = |path: &Path| Source::File(path.to_owned());
        let durability = match &file.durability {
            Some(text) => Some(parse_durability(text).map_err(|message| SettingsError::File {
                path: path.clone(),
                message: format!("durability is {text:?}: {message}"),
            })?),
            None => None,
        };
        let at_file = |named: PathBuf| match path.parent() {
            Some(dir) => dir.join(named),
            None => named,
        };
        let mask_env = pick(
            None,
            variable("QUIPU_MASK_ENV", |text| Ok(split_names(text)))?,
            file.mask_env.map(|value| (value, from_file(&path))),
            Vec::new(),
        );
        let mask = pick(
            None,
            variable("QUIPU_MASK", parse_enum)?,
            file.mask.map(|value| (value, from_file(&path))),
            MaskChoice::default(),
        );
        let plugins = file.plugins.map(|tables| plugins::configured(tables, &path)).transpose()?;
        Ok(Settings {
            file: found_at,
            storage: pick(
                global.storage.clone().map(|value| (value, Source::Flag("--storage"))),
                variable("QUIPU_STORAGE", |text| Ok(PathBuf::from(text)))?,
                file.storage.map(|value| (at_file(value), from_file(&path))),
                PathBuf::from("storage"),
            ),
            color: pick(
                global.color.map(|value| (value, Source::Flag("--color"))),
                variable("QUIPU_COLOR", parse_enum)?,
                file.color.map(|value| (value, from_file(&path))),
                ColorChoice::default(),
            ),
            durability: pick(
                None,
                variable("QUIPU_DURABILITY", parse_durability)?,
                durability.map(|value| (value, from_file(&path))),
                Durability::default(),
            ),
            mask: mask.implied_by(&mask_env),
            mask_env,
            log_file: pick(
                global.log_file.clone().map(|value| (Some(value), Source::Flag("--log-file"))),
                variable("QUIPU_LOG_FILE", |text| Ok(Some(PathBuf::from(text))))?,
                file.log_file.map(|value| (Some(at_file(value)), from_file(&path))),
                None,
            ),
            prices: pick(
                None,
                variable("QUIPU_PRICES", |text| Ok(Some(PathBuf::from(text))))?,
                file.prices.map(|value| (Some(at_file(value)), from_file(&path))),
                None,
            ),
            providers: pick(
                None,
                None,
                file.providers.map(|tables| {
                    let tables = tables.into_iter();
                    let settings = tables.map(|(name, table)| (name, table.into())).collect();
                    (settings, from_file(&path))
                }),
                BTreeMap::new(),
            ),
            plugins: pick(
                None,
                None,
                plugins.map(|plugins| (plugins, from_file(&path))),
                BTreeMap::new(),
            ),
        })
    }

    /// Returns where runs are kept.
    pub(crate) fn layout(&self) -> Layout {
        Layout::new(&self.storage.value)
    }

    /// Returns what a command that is suggested needs so that it looks in the same place.
    ///
    /// Variables and files say the same to that command as to this one; a flag has to be repeated.
    pub(crate) fn storage_flag(&self) -> String {
        let is_flag = matches!(self.storage.from, Source::Flag(_));
        storage_flag(is_flag.then_some(&self.storage.value))
    }

    /// Returns a command that a person can copy: `words` for `quipu`, about the same storage.
    pub(crate) fn command(&self, words: impl fmt::Display) -> String {
        format!("quipu {words}{}", self.storage_flag())
    }

    /// Returns what to try where there are no runs.
    pub(crate) fn hint_at_first_run(&self) -> String {
        hint_at_first_run(&self.storage_flag())
    }
}

/// Returns what a command that is suggested needs so that it looks where the flag `--storage` says.
pub(crate) fn storage_flag(flag: Option<&PathBuf>) -> String {
    let Some(path) = flag else { return String::new() };
    let path = path.to_string_lossy();
    // A path that begins like a flag has to be tied to the one it belongs to.
    let joint = if path.starts_with('-') { '=' } else { ' ' };
    format!(" --storage{joint}{}", shell_word(&path))
}

/// Returns what to try where there are no runs.
pub(crate) fn hint_at_first_run(storage: &str) -> String {
    format!("`quipu demo{storage}` records one; --storage looks elsewhere")
}

impl<T> Setting<T> {
    /// Lays a command's own flag over the setting.
    pub(crate) fn overruled_by(self, flag: Option<T>, name: &'static str) -> Self {
        match flag {
            Some(value) => Setting { value, from: Source::Flag(name) },
            None => self,
        }
    }
}

impl Setting<MaskChoice> {
    /// Naming variables asks for the mask where nobody says anything of it.
    fn implied_by(self, names: &Setting<Vec<String>>) -> Self {
        if self.from == Source::Default && !names.value.is_empty() {
            return Setting { value: MaskChoice::Secrets, from: names.from.clone() };
        }
        self
    }
}

/// Reads `never`, `always` or an interval such as `200ms` or `2s`.
pub(crate) fn parse_durability(text: &str) -> Result<Durability, String> {
    let expected = || "expected never, always, or an interval such as 200ms or 2s".to_owned();
    match text {
        "never" => Ok(Durability::Never),
        "always" => Ok(Durability::Always),
        _ => {
            let text = text.strip_prefix("interval:").unwrap_or(text);
            let (digits, millis) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
                (Some(digits), _) => (digits, 1),
                (None, Some(digits)) => (digits, 1000),
                (None, None) => (text, 1),
            };
            let count: u64 = digits.trim().parse().map_err(|_| expected())?;
            if count == 0 {
                return Err(expected());
            }
            Ok(Durability::Interval(Duration::from_millis(count.saturating_mul(millis))))
        }
    }
}

/// Prints a durability as [`parse_durability`] reads it.
pub(crate) fn durability_text(durability: Durability) -> String {
    match durability {
        Durability::Never => "never".to_owned(),
        Durability::Always => "always".to_owned(),
        Durability::Interval(interval) => format!("{}ms", interval.as_millis()),
    }
}

fn split_names(text: &str) -> Vec<String> {
    text.split([',', ' ']).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn pick<T>(
    flag: Option<(T, Source)>,
    variable: Option<(T, Source)>,
    file: Option<(T, Source)>,
    default: T,
) -> Setting<T> {
    let (value, from) = flag.or(variable).or(file).unwrap_or((default, Source::Default));
    Setting { value, from }
}

fn variable<T>(
    name: &'static str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<(T, Source)>, SettingsError> {
    let Ok(value) = env::var(name) else { return Ok(None) };
    if value.is_empty() {
        return Ok(None);
    }
    match parse(&value) {
        Ok(parsed) => Ok(Some((parsed, Source::Variable(name)))),
        Err(expected) => Err(SettingsError::Variable { name, value, expected }),
    }
}

fn parse_enum<T: clap::ValueEnum>(text: &str) -> Result<T, String> {
    T::from_str(text, true).map_err(|_| {
        let names: Vec<String> = T::value_variants()
            .iter()
            .filter_map(|variant| Some(variant.to_possible_value()?.get_name().to_owned()))
            .collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn nearest_file(start: &Path) -> Option<PathBuf> {
    start.ancestors().map(|dir| dir.join(FILE_NAME)).find(|path| path.is_file())
}

fn read_file(path: &Path) -> Result<SettingsFile, SettingsError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| SettingsError::Unreadable { path: path.to_owned(), source })?;
    toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        let message = format!("line {line}: {}", error.message());
        SettingsError::File { path: path.to_owned(), message }
    })
}
