//! What the system has for everyone: programs, libraries, settings that are no secret.
//!
//! It matters when the user is root, who may read everything: of `/etc` and `/proc` only what others may
//! read too is let through. Processes are not to be seen at all, so neither are their command lines.

use std::fs::{self, Metadata};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Devices that are no more than a convention.
///
/// The terminal is none of them: a command could type into it for the user to run, or draw on it.
pub(super) const DEVICES: [&str; 5] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Directories of programs and what they need.
const PROGRAMS: [&str; 13] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/run/current-system",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/proc/sys",
];

/// Where users keep compilers and interpreters below their home, with nothing else in there.
const TOOLCHAINS: [&str; 14] = [
    ".asdf",
    ".bun/bin",
    ".deno/bin",
    ".local/bin",
    ".local/lib",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman/candidates",
    ".volta",
];

/// Returns what may be read and run, as it was when it was first asked for.
pub(super) fn readable_by_everyone() -> &'static [PathBuf] {
    static READABLE: OnceLock<Vec<PathBuf>> = OnceLock::new();
    READABLE.get_or_init(|| {
        let mut all: Vec<PathBuf> = PROGRAMS.iter().map(PathBuf::from).collect();
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        if home.is_absolute() {
            all.extend(TOOLCHAINS.iter().map(|toolchain| home.join(toolchain)));
        }
        all.extend(search_path(&home));
        let mut beyond = Vec::new();
        match open_parts(Path::new("/etc"), 0, &mut beyond) {
            Parts::All => all.push("/etc".into()),
            Parts::Some(parts) => all.extend(parts),
        }
        beyond.retain(|path| !all.iter().any(|known| path.starts_with(known)));
        all.extend(beyond);
        all.extend(files_of_proc());
        all
    })
}

/// Returns where the user has programs, unless that is where the user has everything.
fn search_path(home: &Path) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&path).filter(|dir| dir.is_absolute());
    let dirs = dirs.filter_map(|dir| dir.canonicalize().ok());
    let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    dirs.filter(|dir| !home.starts_with(dir) && dir.parent().is_some()).collect()
}

fn files_of_proc() -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let files = entries.filter(|entry| {
        entry.metadata().is_ok_and(|metadata| metadata.is_file() && is_for_everyone(&metadata))
    });
    files.map(|entry| entry.path()).collect()
}

/// What of a directory everyone may read.
enum Parts {
    All,
    Some(Vec<PathBuf>),
}

/// How deep a directory of settings is looked through.
const DEEPEST: usize = 8;

fn open_parts(dir: &Path, depth: usize, beyond: &mut Vec<PathBuf>) -> Parts {
    let mut parts = Vec::new();
    let mut is_all = depth < DEEPEST;
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let (Ok(kind), Ok(metadata)) = (entry.file_type(), fs::metadata(&path)) else { continue };
        let is_open = is_for_everyone(&metadata);
        if kind.is_symlink() {
            // The text of a link is for everyone; what it leads to has its own rules.
            beyond.extend(path.canonicalize().ok().filter(|_| is_open && metadata.is_file()));
        } else if is_open && metadata.is_dir() && depth < DEEPEST {
            match open_parts(&path, depth + 1, beyond) {
                Parts::All => parts.push(path),
                Parts::Some(inner) => {
                    is_all = false;
                    parts.extend(inner);
                }
            }
        } else if is_open && metadata.is_file() {
            parts.push(path);
        } else {
            is_all = false;
        }
    }
    if is_all { Parts::All } else { Parts::Some(parts) }
}

fn is_for_everyone(metadata: &Metadata) -> bool {
    let needed = if metadata.is_dir() { 0o005 } else { 0o004 };
    metadata.permissions().mode() & needed == needed
}
