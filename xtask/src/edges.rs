//! The crate edges are the ones drawn in `ARCHITECTURE.md`, no more and no fewer.
//!
//! The drawing is the table under `## Crates`, with the columns `crate | may use | invariant`,
//! crates by folder name, `–` for none. Packages outside `crates/` ship nothing and are not drawn.
//! Dev-dependencies are free, and `testkit` may be nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::report::Report;
use crate::repository::Repository;

const DRAWING: &str = "ARCHITECTURE.md";

/// Compares the edges that cargo knows with the table.
pub(crate) fn check(repository: &Repository, report: &mut Report) -> anyhow::Result<()> {
    let real = edges_of(&metadata(repository.root())?);
    let Some(text) = repository.read(DRAWING) else {
        report.fail(DRAWING, 1, "is missing; write it, with a table of crates under `## Crates`");
        return Ok(());
    };
    compare(&real, &rows_of(&text), report);
    Ok(())
}

/// Folder name of each crate to the folder names of what it uses outside its tests.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// One line of the table.
#[derive(Debug, PartialEq)]
struct Row {
    line: usize,
    folder: String,
    may_use: BTreeSet<String>,
}

fn metadata(root: &Path) -> anyhow::Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root)
        .output()
        .context("cannot run cargo metadata")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo metadata failed: {complaint}");
    serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")
}

fn edges_of(metadata: &Value) -> Edges {
    let packages = || metadata["packages"].as_array().into_iter().flatten();
    let folders: BTreeMap<&str, &Path> = packages()
        .filter_map(|p| Some((p["name"].as_str()?, Path::new(p["manifest_path"].as_str()?))))
        .filter_map(|(name, manifest)| Some((name, manifest.parent()?)))
        .collect();
    let folder_name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    let uses = |package: &Value| {
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        dependencies
            .filter(|dependency| dependency["kind"] != "dev")
            .filter_map(|dependency| folder_name(folders.get(dependency["name"].as_str()?)?))
            .collect()
    };
    packages()
        .filter_map(|package| Some((folders.get(package["name"].as_str()?)?, package)))
        .filter(|(folder, _)| folder.parent().is_some_and(|above| above.ends_with("crates")))
        .filter_map(|(folder, package)| Some((folder_name(folder)?, uses(package))))
        .collect()
}

fn rows_of(markdown: &str) -> Vec<Row> {
    let numbered = markdown.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    numbered
        .skip_while(|(_, line)| *line != "## Crates")
        .skip(1)
        .take_while(|(_, line)| !line.starts_with("## "))
        .filter_map(|(line, text)| {
            let mut cells = text.strip_prefix('|')?.split('|').map(str::trim);
            let folder = names_in(cells.next()?).pop_first()?;
            let may_use = names_in(cells.next()?);
            (folder != "crate").then_some(Row { line, folder, may_use })
        })
        .collect()
}

/// Returns the crate names in a cell: split at commas, without quotes, links and dashes.
fn names_in(cell: &str) -> BTreeSet<String> {
    let bare = |name: &str| {
        let name = name.trim();
        let text = name.strip_prefix('[').and_then(|link| link.split(']').next()).unwrap_or(name);
        text.trim_matches('`').to_owned()
    };
    let is_name = |name: &String| name.chars().any(char::is_alphanumeric);
    cell.split(',').map(bare).filter(is_name).collect()
}

fn compare(real: &Edges, rows: &[Row], report: &mut Report) {
    if rows.is_empty() {
        report.fail(
            DRAWING,
            1,
            "has no table of crates; add one under `## Crates` with the columns \
             `crate | may use | invariant`",
        );
        return;
    }
    for (folder, uses) in real {
        match rows.iter().find(|row| row.folder == *folder) {
            Some(row) => compare_row(row, uses, report),
            None => report.fail(
                DRAWING,
                rows[0].line,
                format!("`crates/{folder}` is not in the table; add a row for it"),
            ),
        }
        if uses.contains("testkit") {
            report.fail(
                &format!("crates/{folder}/Cargo.toml"),
                1,
                "uses `testkit` outside its tests; move it to [dev-dependencies]",
            );
        }
    }
    for row in rows.iter().filter(|row| !real.contains_key(&row.folder)) {
        let text = format!("`{}` is no crate of this workspace; remove the row", row.folder);
        report.fail(DRAWING, row.line, text);
    }
}

fn compare_row(row: &Row, uses: &BTreeSet<String>, report: &mut Report) {
    let folder = &row.folder;
    for used in uses.difference(&row.may_use) {
        let text = format!(
            "`{folder}` uses `{used}`, which is not drawn; remove the dependency, or draw it and \
             say why in the commit"
        );
        report.fail(DRAWING, row.line, text);
    }
    for drawn in row.may_use.difference(uses) {
        let text = format!("`{folder}` does not use `{drawn}`; take it out of the row");
        report.fail(DRAWING, row.line, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TABLE: &str = "# A\n\n| crate | no |\n|---|---|\n| `x` | `y` |\n\n## Crates\n\n\
        | crate | may use | invariant |\n|---|---|---|\n\
        | `event` | – | pure |\n| [`journal`](crates/journal) | `event` | writes |\n\
        | cli | event, `journal` | prints |\n\n## Else\n| `z` | `w` |\n";

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Reads edges written as `cli > event journal; event >`.
    fn real(edges: &str) -> Edges {
        let pairs = edges.split(';').filter_map(|edge| edge.split_once('>'));
        let words = |uses: &str| uses.split_whitespace().map(str::to_owned).collect();
        pairs.map(|(folder, uses)| (folder.trim().to_owned(), words(uses))).collect()
    }

    #[test]
    fn rows_are_read_from_the_table_under_its_heading_only() {
        let row = |line, folder: &str, uses: &[&str]| Row {
            line,
            folder: folder.to_owned(),
            may_use: set(uses),
        };
        let expected = [
            row(11, "event", &[]),
            row(12, "journal", &["event"]),
            row(13, "cli", &["event", "journal"]),
        ];
        assert_eq!(rows_of(TABLE), expected);
    }

    #[test]
    fn edges_leave_out_tests_strangers_and_packages_outside_crates() {
        let package = |name: &str, folder: &str, dependencies: Value| {
            json!({
                "name": name,
                "manifest_path": format!("/a/{folder}/Cargo.toml"),
                "dependencies": dependencies,
            })
        };
        let metadata = json!({ "packages": [
            package("q-event", "crates/event", json!([{ "name": "serde", "kind": null }])),
            package("q-testkit", "crates/testkit", json!([{ "name": "q-event", "kind": "build" }])),
            package("q-cli", "crates/cli", json!([
                { "name": "q-event", "kind": null }, { "name": "q-testkit", "kind": "dev" },
            ])),
            package("xtask", "xtask", json!([{ "name": "q-event", "kind": null }])),
        ]});
        let expected = real("cli > event; event >; testkit > event");
        assert_eq!(edges_of(&metadata), expected);
    }

    #[test]
    fn the_drawing_must_equal_the_edges_exactly() {
        let cases: [(&str, &[&str]); 5] = [
            ("event >; journal > event; cli > event journal", &[]),
            (
                "event > cli; journal > event; cli > event journal",
                &[":11: `event` uses `cli`, which is not drawn"],
            ),
            ("event >; journal > event; cli > event", &[":13: `cli` does not use `journal`"]),
            ("event >; journal > event", &[":13: `cli` is no crate of this workspace"]),
            (
                "event >; journal > event testkit; cli > event journal; new >",
                &[
                    ":12: `journal` uses `testkit`, which is not drawn",
                    "journal/Cargo.toml:1: uses `testkit` outside its tests",
                    ":11: `crates/new` is not in the table",
                ],
            ),
        ];
        for (edges, expected) in cases {
            let mut report = Report::default();
            compare(&real(edges), &rows_of(TABLE), &mut report);
            let failures = report.failures();
            assert_eq!(failures.len(), expected.len(), "{failures:?}");
            for (failure, expected) in failures.iter().zip(expected) {
                assert!(failure.contains(expected), "{failure:?} does not say {expected:?}");
            }
        }
    }
}
