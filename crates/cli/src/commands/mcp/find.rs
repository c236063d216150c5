//! Which run is meant, and which ones may have been when it is none.

use anyhow::anyhow;
use quipu_event::RunId;
use quipu_journal::{FindError, Layout, find_run};

use crate::commands::ls::{Facts, newest_first, now};
use crate::format::entry::short_id;
use crate::settings::storage_flag;

/// How many runs are named to whoever meant one that is not there.
const NAMED: usize = 5;

/// Finds the run that `name` means.
pub(super) fn run(layout: &Layout, name: &str) -> anyhow::Result<RunId> {
    find_run(layout, name).map_err(|error| match error {
        FindError::NoneSuch { .. } => anyhow!("{error}; {}", near(layout, name)),
        FindError::NoRuns { .. } => anyhow!("{}", none(layout)),
        FindError::Ambiguous { .. } => anyhow!("{error}; give more characters of the id"),
        other => other.into(),
    })
}

/// Says that there are no runs, and how there come to be some.
pub(super) fn none(layout: &Layout) -> String {
    let storage = layout.storage();
    let storage = std::path::absolute(storage).unwrap_or_else(|_| storage.to_owned());
    format!(
        "There are no runs in {} yet. `quipu demo{}` records one, `quipu run` and `quipu record` record real ones; \
         if runs are kept elsewhere, this server has to be started as `quipu mcp --storage DIR`.",
        storage.display(),
        // Whoever reads this knows neither the server's flags nor the directory it is in.
        storage_flag(Some(&storage)),
    )
}

/// Names runs that are like it, or else the newest ones.
fn near(layout: &Layout, name: &str) -> String {
    let all = now().ok().and_then(|now| newest_first(layout, now).ok());
    let all = all.map(|all| all.runs).unwrap_or_default();
    let wanted = name.to_lowercase();
    let begins_alike = |run: &Facts| {
        let alike = run.run_id.as_str().bytes().zip(wanted.bytes()).take_while(|(a, b)| a == b);
        alike.count() >= 3
    };
    let is_named_so = |run: &Facts| {
        let name = run.name.as_deref().unwrap_or_default().to_lowercase();
        !name.is_empty() && (name.contains(&wanted) || wanted.contains(&name))
    };
    let like: Vec<&Facts> =
        all.iter().filter(|run| is_named_so(run) || begins_alike(run)).take(NAMED).collect();
    match like.is_empty() {
        false => format!("did you mean {}?", listed(&like)),
        true => format!("the newest are {}", listed(&all.iter().take(NAMED).collect::<Vec<_>>())),
    }
}

fn listed(runs: &[&Facts]) -> String {
    let one = |run: &&Facts| match &run.name {
        Some(name) => format!("{} ({name:?})", short_id(&run.run_id)),
        None => short_id(&run.run_id).to_owned(),
    };
    runs.iter().map(one).collect::<Vec<_>>().join(", ")
}
