//! What is around a run that this program starts: where things are, who it is, what is set.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_event::RunId;
use quipu_journal::SystemClock;
use quipu_workflow::agent::{AgentSettings, Person, role_dirs, skill_dirs};
use quipu_workflow::audit::Audit;
use quipu_workflow::definition::Places;
use quipu_workflow::driver::{BuiltIn, DiskFiles, Secrets, World, programs_at_once};
use quipu_workflow::operation::OperationSettings;
use quipu_workflow::toolbox::ToolSettings;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use super::perform::Flight;
use super::sources::Sources;
use crate::Context;
use crate::settings::MaskChoice;

/// Puts together what is around a run of the workflow in `file`.
pub(super) fn world(
    context: &Context,
    flight: &Flight,
    file: &Path,
    person: Arc<dyn Person>,
) -> World {
    let variable = |name: &str| std::env::var(name).ok();
    let working_dir = flight.working_dir.clone();
    let layout = context.settings.layout();
    let agents = AgentSettings {
        stub: flight.stub,
        providers: flight.overrides.over(context.settings.providers.value.clone()),
        ..AgentSettings::default()
    };
    let hands = BuiltIn { agents: Arc::new(agents), person };
    let plugins = context.settings.plugins.value.clone();
    let places = Places::of_environment(&working_dir, |name| std::env::var_os(name))
        .with_plugins(plugins.keys().cloned());
    let workflows = Sources::new(places, working_dir.clone(), flight.overrides.clone());
    let durability =
        context.settings.durability.clone().overruled_by(flight.durability, "--durability");
    let mask = context.settings.mask.clone().overruled_by(flight.mask, "--mask");
    let operations = OperationSettings::from_variables(&working_dir, variable);
    World {
        tools: Arc::new(ToolSettings { plugins, ..ToolSettings::new(operations) }),
        audit: Audit::from_env(layout.storage(), variable),
        layout: flight.record.then_some(layout),
        durability: durability.value,
        secrets: Arc::new(secrets(context, mask.value)),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RunId::random),
        env: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        user: user(&variable),
        hostname: hostname(),
        awf: directories(file, &working_dir, &variable),
        skill_dirs: skill_dirs(&working_dir, &variable),
        role_dirs: role_dirs(&working_dir, &variable),
        working_dir,
        files: Arc::new(DiskFiles),
        workflows: Arc::new(workflows),
        hands: Arc::new(hands),
        programs: Arc::new(Semaphore::new(programs_at_once())),
    }
}

/// Returns what is to be hidden beside the secrets among a run's inputs.
fn secrets(context: &Context, mask: MaskChoice) -> Secrets {
    let secrets = match mask {
        MaskChoice::Secrets => Secrets::with_shapes(),
        MaskChoice::None => Secrets::default(),
    };
    let named = context.settings.mask_env.value.iter();
    // Whatever the variable is called, somebody said that it is secret.
    let values: Map<String, Value> = named
        .filter_map(|name| Some((format!("SECRET_{name}"), Value::from(std::env::var(name).ok()?))))
        .collect();
    secrets.learn(&values, []);
    secrets
}

/// Returns the directories that templates name as `awf.…`.
///
/// What lies beside the workflow's own directory, as in a pack, comes before the project's, and
/// that before the user's.
fn directories(
    file: &Path,
    here: &Path,
    variable: &dyn Fn(&str) -> Option<String>,
) -> BTreeMap<String, String> {
    let home = PathBuf::from(variable("HOME").unwrap_or_default());
    let of = |name: &str, below: &str| {
        let set = variable(name).filter(|dir| !dir.is_empty()).map(PathBuf::from);
        set.unwrap_or_else(|| home.join(below)).join("awf")
    };
    let (config, data) = (of("XDG_CONFIG_HOME", ".config"), of("XDG_DATA_HOME", ".local/share"));
    let pack = std::path::absolute(file).ok();
    let pack = pack.as_deref().and_then(Path::parent).and_then(Path::parent);
    let near: Vec<PathBuf> = pack
        .map(Path::to_owned)
        .into_iter()
        .chain([here.join(".quipu"), here.join(".awf")])
        .collect();
    let mut found = BTreeMap::from([
        ("config_dir".to_owned(), config.display().to_string()),
        ("data_dir".to_owned(), data.display().to_string()),
    ]);
    for (name, users) in [
        ("prompts", &config),
        ("scripts", &config),
        ("workflows", &config),
        ("skills", &config),
        ("roles", &config),
        ("templates", &config),
        ("plugins", &data),
    ] {
        let local = near.iter().map(|dir| dir.join(name)).find(|dir| dir.is_dir());
        let dir = local.unwrap_or_else(|| users.join(name));
        found.insert(format!("{name}_dir"), dir.display().to_string());
    }
    found
}

/// Returns who runs this: as the environment says, else as the system's list of users does.
fn user(variable: &dyn Fn(&str) -> Option<String>) -> String {
    let named = |name: &str| variable(name).filter(|user| !user.is_empty());
    if let Some(user) = named("USER").or_else(|| named("LOGNAME")) {
        return user;
    }
    let id = rustix::process::getuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let found = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == id).then(|| name.to_owned())
    });
    found.unwrap_or(id)
}

fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
