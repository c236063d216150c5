//! Line coverage per crate, from the JSON report that tarpaulin writes.
//!
//! Tarpaulin prints one number for everything it saw; a crate must answer for itself.

use std::path::Path;

use anyhow::Context;
use serde_json::Value;

/// Prints the coverage of each crate and tells whether all are above `minimum` per cent.
pub(crate) fn run(report: &str, minimum: &str, crates: &[&str]) -> anyhow::Result<bool> {
    let minimum: f64 = minimum.parse().context("the minimum is not a number")?;
    let text = std::fs::read_to_string(report).with_context(|| format!("cannot read {report}"))?;
    let report: Value = serde_json::from_str(&text).context("the report is not JSON")?;
    let mut enough = true;
    for folder in crates {
        let lines = lines_of(&report, folder);
        let verdict = if lines.percent() > minimum { "" } else { "  too low" };
        enough &= verdict.is_empty();
        let Lines { covered, coverable } = lines;
        let percent = lines.percent();
        println!("{folder:<10} {percent:6.2} %  {covered:>5} of {coverable} lines{verdict}");
    }
    if !enough {
        println!("each must be above {minimum} %");
    }
    Ok(enough)
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Lines {
    covered: u64,
    coverable: u64,
}

impl Lines {
    /// Nothing to cover counts as nothing covered: a report without the crate must not pass.
    fn percent(self) -> f64 {
        if self.coverable == 0 {
            return 0.0;
        }
        self.covered as f64 * 100.0 / self.coverable as f64
    }
}

/// Sums over the files below `crates/<folder>/src`.
fn lines_of(report: &Value, folder: &str) -> Lines {
    let source = Path::new("crates").join(folder).join("src");
    let is_inside = |file: &Value| {
        let parts = file["path"].as_array().into_iter().flatten();
        let path: std::path::PathBuf = parts.filter_map(Value::as_str).collect();
        path.ancestors().any(|above| above.ends_with(&source))
    };
    let files = report["files"].as_array().into_iter().flatten();
    files.filter(|file| is_inside(file)).fold(Lines::default(), |sum, file| Lines {
        covered: sum.covered + file["covered"].as_u64().unwrap_or(0),
        coverable: sum.coverable + file["coverable"].as_u64().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_are_summed_over_the_sources_of_one_crate() {
        let file = |path: &str, covered: u64| {
            let parts: Vec<&str> = path.split('/').collect();
            json!({ "path": parts, "covered": covered, "coverable": 10 })
        };
        let report = json!({ "files": [
            file("/x/crates/event/src/a.rs", 9),
            file("/x/crates/event/src/b/c.rs", 6),
            file("/x/crates/event/tests/d.rs", 1),
            file("/x/crates/events/src/e.rs", 1),
        ]});
        let lines = lines_of(&report, "event");
        assert_eq!(lines, Lines { covered: 15, coverable: 20 });
        assert_eq!(lines.percent(), 75.0);
    }

    #[test]
    fn a_crate_that_is_not_in_the_report_has_no_coverage() {
        assert_eq!(lines_of(&json!({ "files": [] }), "event").percent(), 0.0);
    }
}
