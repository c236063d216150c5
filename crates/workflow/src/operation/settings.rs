//! What operations take from their surroundings, read once by whoever starts the run.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fmt};

/// What operations take from their surroundings.
#[derive(Clone)]
pub struct OperationSettings {
    /// Where the run was started: its git remote names the repository when nothing else does.
    pub working_dir: PathBuf,
    /// GitHub's command line, `gh`: what is to be done on GitHub is done through it, if it is there.
    pub github_cli: Option<PathBuf>,
    /// Where GitHub's API is.
    pub github_api: String,
    /// The token for it. It is sent to `github_api` and nowhere else, and never told.
    pub github_token: Option<String>,
    /// The repository, `owner/name`, when a step does not say.
    pub github_repository: Option<String>,
    /// The ntfy server.
    pub ntfy: String,
    /// Slack's incoming webhook, when a step does not say.
    pub slack_webhook: Option<String>,
    /// Discord's webhook, when a step does not say.
    pub discord_webhook: Option<String>,
}

impl OperationSettings {
    /// Reads the settings from variables: `GITHUB_TOKEN` or `GH_TOKEN`, `GITHUB_API_URL`,
    /// `GITHUB_REPOSITORY`, `NTFY_URL`, `SLACK_WEBHOOK_URL`, `DISCORD_WEBHOOK_URL`; and looks for `gh` in
    /// the directories of `PATH`.
    pub fn from_variables(
        working_dir: impl Into<PathBuf>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        OperationSettings {
            working_dir: working_dir.into(),
            github_cli: set("PATH").and_then(|path| program("gh", &path)),
            github_api: set("GITHUB_API_URL").unwrap_or_else(|| "https://api.github.com".into()),
            github_token: set("GITHUB_TOKEN").or_else(|| set("GH_TOKEN")),
            github_repository: set("GITHUB_REPOSITORY"),
            ntfy: set("NTFY_URL").unwrap_or_else(|| "https://ntfy.sh".into()),
            slack_webhook: set("SLACK_WEBHOOK_URL"),
            discord_webhook: set("DISCORD_WEBHOOK_URL"),
        }
    }
}

impl fmt::Debug for OperationSettings {
    /// Leaves out what is secret: the token, and webhooks, which are secrets themselves.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperationSettings")
            .field("working_dir", &self.working_dir)
            .field("github_cli", &self.github_cli)
            .field("github_api", &self.github_api)
            .field("github_repository", &self.github_repository)
            .field("ntfy", &self.ntfy)
            .finish_non_exhaustive()
    }
}

/// Finds a program. What is in the working directory is no program of the machine, so directories of
/// `PATH` that depend on it do not count.
fn program(name: &str, path: &str) -> Option<PathBuf> {
    let places = env::split_paths(path).filter(|place| place.is_absolute());
    places.map(|place| place.join(name)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}
