//! Where a program of this crate is: tests of other crates do not get it built for them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs};

/// Returns the path of a program, built if it is not there or older than its sources.
///
/// # Panics
///
/// When it cannot be built: no test can go on without it.
pub(crate) fn built(name: &str) -> PathBuf {
    let folder = profile_folder();
    let program = folder.join(name);
    if !is_fresh(&program) {
        build(name, &folder);
    }
    assert!(program.exists(), "{} was not built", program.display());
    program
}

/// Returns the folder of the running test's profile: `target/debug`.
fn profile_folder() -> PathBuf {
    let test = env::current_exe().expect("a test that runs is a program somewhere");
    let folders = test.ancestors().skip(1);
    let is_deps = |folder: &&Path| folder.file_name().is_some_and(|name| name == "deps");
    let deps = folders.clone().find(is_deps).and_then(Path::parent);
    deps.or_else(|| test.parent()).expect("a program is in a folder").to_owned()
}

fn is_fresh(program: &Path) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|facts| facts.modified()).ok();
    let newest = newest_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    matches!((time(program), newest), (Some(built), Some(written)) if built > written)
}

fn newest_below(folder: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let times = entries.filter_map(|entry| {
        let path = entry.path();
        match path.is_dir() {
            true => newest_below(&path),
            false => entry.metadata().and_then(|facts| facts.modified()).ok(),
        }
    });
    times.max()
}

fn build(name: &str, profile_folder: &Path) {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--package", "quipu-testkit", "--bin", name]);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    if let Some(target) = profile_folder.parent() {
        command.arg("--target-dir").arg(target);
    }
    match profile_folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => {}
        Some(profile) => {
            command.args(["--profile", profile]);
        }
    }
    let status = command.status().expect("cargo runs the tests, so it can be run");
    assert!(status.success(), "{name} cannot be built");
}
