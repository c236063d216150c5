//! Which repository a directory is a clone of, from its git configuration alone.

use std::fs;
use std::path::{Path, PathBuf};

/// Tells whether a text is `owner/name` and can be put into an address as it stands.
pub(super) fn is_name(text: &str) -> bool {
    let fits = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    text.split_once('/').is_some_and(|(owner, name)| fits(owner) && fits(name))
}

/// Returns the repository of the clone that a directory is in: its `origin`, else its first remote.
pub(super) fn of_directory(dir: &Path) -> Option<String> {
    let config = dir.ancestors().find_map(config_file)?;
    let text = fs::read_to_string(config).ok()?;
    let remotes = remotes(&text);
    let origin = remotes.iter().find(|(name, _)| name == "origin").or(remotes.first());
    of_address(&origin?.1)
}

/// Finds the configuration: in `.git`, or where a worktree's `.git` file points.
fn config_file(dir: &Path) -> Option<PathBuf> {
    let git = dir.join(".git");
    if git.is_dir() {
        return Some(git.join("config"));
    }
    let text = fs::read_to_string(&git).ok()?;
    let git_dir = dir.join(text.strip_prefix("gitdir:")?.trim());
    let common = match fs::read_to_string(git_dir.join("commondir")) {
        Ok(common) => git_dir.join(common.trim()),
        Err(_) => git_dir,
    };
    Some(common.join("config"))
}

/// Returns the name and address of each remote, in order.
fn remotes(config: &str) -> Vec<(String, String)> {
    let mut remotes = Vec::new();
    let mut remote = None;
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            remote = section
                .strip_prefix("remote \"")
                .and_then(|rest| rest.split_once('"'))
                .map(|(name, _)| name.to_owned());
        } else if let (Some(name), Some((key, value))) = (&remote, line.split_once('='))
            && key.trim() == "url"
        {
            remotes.push((name.clone(), value.trim().to_owned()));
        }
    }
    remotes
}

/// Takes `owner/name` from the end of `git@host:owner/name.git` or `https://host/owner/name`.
fn of_address(address: &str) -> Option<String> {
    let address = address.trim_end_matches('/');
    let address = address.strip_suffix(".git").unwrap_or(address);
    let mut parts = address.rsplit(['/', ':']);
    let (name, owner) = (parts.next()?, parts.next()?);
    let found = format!("{owner}/{name}");
    is_name(&found).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remote_of_a_clone_names_its_repository() {
        let cases = [
            ("git@github.com:octo/hello.git", Some("octo/hello")),
            ("https://github.com/octo/hello.git", Some("octo/hello")),
            ("https://user:secret@github.example.com/octo/hello/", Some("octo/hello")),
            ("ssh://git@github.com/octo/he.llo", Some("octo/he.llo")),
            ("nonsense", None),
        ];
        for (address, repository) in cases {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir_all(dir.path().join(".git")).unwrap();
            fs::create_dir_all(dir.path().join("deep/er")).unwrap();
            let config = format!(
                "[core]\n\tbare = false\n[remote \"fork\"]\n\turl = git@github.com:me/fork\n\
                 [remote \"origin\"]\n\turl = {address}\n\tfetch = +refs/heads/*\n"
            );
            fs::write(dir.path().join(".git/config"), config).unwrap();
            let found = of_directory(&dir.path().join("deep/er"));
            assert_eq!(found.as_deref(), repository, "{address}");
        }
    }

    #[test]
    fn only_plain_names_are_put_into_an_address() {
        for (text, fits) in [
            ("octo/hello", true),
            ("octo", false),
            ("a/b/c", false),
            ("a/..", false),
            ("a/b?c", false),
        ] {
            assert_eq!(is_name(text), fits, "{text}");
        }
    }
}
