//! What the page of a run is called: `<run-id>.html`.
//!
//! `index.html` is the list of runs, also on a disk that knows no capitals. A run of that name has one
//! underscore more, and so has each that would be in its way. The page's own script knows the same rule.

use quipu_event::RunId;

/// Returns the name of the page of `run`.
pub(super) fn of(run: &RunId) -> String {
    let is_taken = run.as_str().trim_end_matches('_').eq_ignore_ascii_case("index");
    format!("{run}{}.html", if is_taken { "_" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_page_is_in_the_way_of_the_list_or_of_another() {
        let cases = [
            ("index", "index_.html"),
            ("Index", "Index_.html"),
            ("index_", "index__.html"),
            ("index_1", "index_1.html"),
            ("_index", "_index.html"),
            ("b:1", "b:1.html"),
        ];
        for (run, name) in cases {
            assert_eq!(of(&RunId::parse(run).unwrap()), name);
        }
    }
}
