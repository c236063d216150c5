//! Every provider has the same files as its siblings, and cases for each of its surfaces.

use crate::report::Report;
use crate::repository::Repository;

const SOURCES: &str = "crates/provider/src";
const CASES: &str = "crates/provider/tests/cases";

/// Looks at every folder that has a provider in it.
pub(crate) fn check(repository: &Repository, report: &mut Report) -> anyhow::Result<()> {
    let sources = repository.files(SOURCES)?;
    let cases = repository.files(CASES)?;
    let mut providers = 0;
    for file in sources.iter().filter(|file| file.ends_with("/mod.rs")) {
        let folder = file.trim_end_matches("/mod.rs");
        let provider = folder.trim_start_matches(SOURCES).trim_start_matches('/');
        let text = repository.read(file).unwrap_or_default();
        if provider.contains('/') || !text.contains("static PROVIDER: Provider") {
            continue;
        }
        providers += 1;
        check_files(file, &text, &sources, report);
        check_cases(file, &text, &format!("{CASES}/{provider}/"), &cases, report);
    }
    if providers == 0 {
        report.fail(SOURCES, 1, "has no provider in it; is it still where they are?");
    }
    Ok(())
}

/// Looks for the files that the siblings have, somewhere in the folder: its field names, and where
/// it leaves sessions, if it leaves any.
fn check_files(file: &str, text: &str, sources: &[String], report: &mut Report) {
    let folder = file.trim_end_matches("mod.rs");
    let leaves_files = !text.contains("files: &[]");
    for wanted in ["/wire.rs", "/files.rs"].into_iter().take(1 + usize::from(leaves_files)) {
        if !sources.iter().any(|file| file.starts_with(folder) && file.ends_with(wanted)) {
            report.fail(file, 1, format!("the folder has no `{wanted}`, as its siblings have"));
        }
    }
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
    fn a_folder_without_its_files_is_found() {
        let sources = ["p/a/mod.rs".to_owned(), "p/a/x/wire.rs".to_owned()];
        for (text, failures) in [("files: &[]", 0), ("files: files::FILES", 1)] {
            let mut report = Report::default();
            check_files("p/a/mod.rs", text, &sources, &mut report);
            assert_eq!(report.failures().len(), failures, "{text}");
        }
    }

    #[test]
    fn a_surface_without_a_case_is_found() {
        let text = "surfaces: &[Surface { name: \"a\", x }, Surface { name: \"b\", x }]";
        let mut report = Report::default();
        check_cases("m.rs", text, "c/", &["c/a/x.in.jsonl".into()], &mut report);
        assert_eq!(report.failures().len(), 1);
        assert!(report.failures()[0].contains("surface `b`"), "{:?}", report.failures());
    }
}
