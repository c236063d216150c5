//! Which variables a command does not get: those that hand out access.
//!
//! They are told by their names, and by a password in a URL that they hold. `PATH`, `LANG`, `TERM`,
//! `USER` and whatever else does not look like a secret is passed on. A secret under a harmless name is
//! passed on too: what a model must not see does not belong into the variables of this process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// Parts of a name that make it a secret wherever they stand in it.
const TELLING: [&str; 9] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "APIKEY",
    "PRIVATE",
    "COOKIE",
];
/// Words of a name, between underscores, that make it a secret.
const TELLING_WORDS: [&str; 9] =
    ["KEY", "KEYS", "PASS", "PWD", "PAT", "AUTH", "DSN", "SESSION", "JWT"];
/// Names that lead to somebody who acts for the user, or that shells run at their start.
const LEADING: [&str; 9] = [
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
    "XAUTHORITY",
    "SSH_ASKPASS",
    "BASH_ENV",
    "ENV",
];
/// Names about directories, which are wrong for the command.
const DIRECTORIES: [&str; 2] = ["PWD", "OLDPWD"];

/// Returns the names of the variables that a command does not get.
pub(super) fn hidden() -> Vec<OsString> {
    let variables = std::env::vars_os();
    let hidden = variables.filter(|(name, value)| {
        is_hidden(&name.to_string_lossy()) || has_password(&value.to_string_lossy())
    });
    hidden.map(|(name, _)| name).collect()
}

/// Returns where toolchains are that look for themselves at home, and home may be elsewhere.
pub(super) fn of_toolchains() -> BTreeMap<String, String> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let known = [("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv"), ("NVM_DIR", ".nvm")];
    let known = known.iter().map(|(name, dir)| (*name, home.join(dir)));
    let missing = known.filter(|(name, dir)| std::env::var_os(name).is_none() && dir.is_dir());
    missing.map(|(name, dir)| (name.to_owned(), dir.to_string_lossy().into_owned())).collect()
}

fn is_hidden(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    LEADING.contains(&name.as_str())
        || DIRECTORIES.contains(&name.as_str())
        || TELLING.iter().any(|part| name.contains(part))
        || name.split('_').any(|word| TELLING_WORDS.contains(&word))
}

/// Tells whether a value is a URL with a password: `scheme://user:password@host`.
fn has_password(value: &str) -> bool {
    value.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hands_out_access_is_told_by_its_name() {
        let hidden = "GITHUB_TOKEN OPENAI_API_KEY AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID PGPASSWORD \
                      MYSQL_PWD DB_PASS GH_PAT npm_config__authToken SSH_AUTH_SOCK SENTRY_DSN \
                      GOOGLE_APPLICATION_CREDENTIALS AWS_SESSION_TOKEN BASH_ENV PWD KEY";
        for name in hidden.split_whitespace() {
            assert!(is_hidden(name), "{name}");
        }
        let passed = "PATH HOME LANG LC_ALL TERM USER SHELL EDITOR CARGO_HOME KEYBOARD GIT_AUTHOR_NAME \
                      MONKEY_ISLAND XDG_DATA_DIRS COMPASS QUIPU_STORAGE";
        for name in passed.split_whitespace() {
            assert!(!is_hidden(name), "{name}");
        }
    }

    #[test]
    fn a_url_with_a_password_is_told_by_its_value() {
        assert!(has_password("postgres://me:hunter2@db/x"));
        assert!(has_password("a=1 http://u:p@proxy:8080"));
        for value in ["http://proxy:8080", "https://me@host/a:b@c", "/usr/bin:/bin", "a:b@c"] {
            assert!(!has_password(value), "{value}");
        }
    }
}
