//! The cases on disk: `tests/cases/<provider>/<surface>/<case>.in.<any>`.

use std::fs;
use std::path::{Path, PathBuf};

use quipu_provider::{PROVIDERS, Provider, Surface};

/// One case.
pub(crate) struct Case {
    /// `<case>`.
    pub(crate) name: String,
    pub(crate) provider: &'static Provider,
    pub(crate) surface: &'static Surface,
    pub(crate) input: Vec<u8>,
    /// Where it is written what becomes of it.
    pub(crate) expected: PathBuf,
}

impl Case {
    /// Returns `<provider>/<surface>/<case>`.
    pub(crate) fn title(&self) -> String {
        format!("{}/{}/{}", self.provider.name, self.surface.name, self.name)
    }
}

/// Returns every case there is; each surface has at least one.
pub(crate) fn all() -> Vec<Case> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut cases = Vec::new();
    for provider in PROVIDERS.iter().copied() {
        for surface in provider.surfaces {
            let folder = home.join(provider.name).join(surface.name);
            let before = cases.len();
            let entries = fs::read_dir(&folder)
                .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
            paths.sort();
            for path in paths {
                let file = path.file_name().unwrap().to_str().unwrap();
                let Some((name, _)) = file.split_once(".in.") else { continue };
                cases.push(Case {
                    name: name.to_owned(),
                    provider,
                    surface,
                    input: fs::read(&path).unwrap(),
                    expected: folder.join(format!("{name}.out.jsonl")),
                });
            }
            assert!(cases.len() > before, "{} has no case", folder.display());
        }
    }
    cases
}

/// Returns the cases called `name`.
pub(crate) fn called(name: &str) -> Vec<Case> {
    all().into_iter().filter(|case| case.name == name).collect()
}
