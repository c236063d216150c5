//! Every provider has the same files as its siblings, and cases for each of its surfaces.

use crate::report::Report;
use crate::repository::Repository;

const SOURCES: &str = "crates/provider/src/";
const CASES: &str = "crates/provider/tests/cases/";

/// What every provider's folder has, somewhere: the essay, its field names, where it leaves files.
const FILES: [&str; 3] = ["mod.rs", "wire.rs", "files.rs"];

/// Looks at every folder that has a provider in it.
pub(crate) fn check(repository: &Repository, report: &mut Report) -> anyhow::Result<()> {
    let sources = repository.files(SOURCES)?;
    let cases = repository.files(CASES)?;
    for file in sources.iter().filter(|file| file.ends_with("/mod.rs")) {
        let Some(provider) =
            file.strip_prefix(SOURCES).and_then(|rest| rest.strip_suffix("/mod.rs"))
        else {
            continue;
        };
        let text = repository.read(file).unwrap_or_default();
        if provider.contains('/') || !text.contains("static PROVIDER: Provider") {
            continue;
        }
        let folder = format!("{SOURCES}{provider}/");
        for wanted in FILES {
            let is_there =
                |file: &&String| file.starts_with(&folder) && file.ends_with(&format!("/{wanted}"));
            if !sources.iter().any(|file| is_there(&file)) {
                report.fail(file, 1, format!("the folder has no `{wanted}`, as its siblings have"));
            }
        }
        check_cases(file, &text, &format!("{CASES}{provider}/"), &cases, report);
    }
    Ok(())
}

/// Looks for at least one case of each surface that the provider lists.
fn check_cases(file: &str, text: &str, folder: &str, cases: &[String], report: &mut Report) {
    let surfaces = text.split("Surface {").skip(1).filter_map(|rest| {
        rest.split_once("name: \"").and_then(|(_, rest)| rest.split_once('"')).map(|(name, _)| name)
    });
    for surface in surfaces {
        let folder = format!("{folder}{surface}/");
        if !cases.iter().any(|case| case.starts_with(&folder) && case.contains(".in.")) {
            report.fail(file, 1, format!("surface `{surface}` has no case in {folder}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_surface_without_a_case_is_found() {
        let text = "surfaces: &[Surface { name: \"a\", x }, Surface { name: \"b\", x }]";
        let mut report = Report::default();
        check_cases("m.rs", text, "c/", &["c/a/x.in.jsonl".into()], &mut report);
        assert_eq!(report.failures().len(), 1);
        assert!(report.failures()[0].contains("surface `b`"), "{:?}", report.failures());
    }
}
