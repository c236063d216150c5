//! What a run is given becomes what its inputs take, or is refused with what was expected.

use std::collections::BTreeMap;
use std::path::Path;

use quipu_workflow::definition::{GivenValue, check_inputs};
use serde_json::json;

use super::{valid, with_top};

const INPUTS: &str = "inputs:
  n: {type: integer, required: true, validation: {min: 1, max: 9}}
  x: {type: number, default: 1.5}
  b: {type: boolean, default: false}
  l: {type: array, default: [a]}
  s: {type: string, validation: {pattern: '^v', enum: [v1, v2]}}
  f: {validation: {file_exists: true, file_extension: [.md, txt]}}";

#[test]
fn what_a_run_is_given_becomes_what_its_inputs_take() {
    let declared = valid(&with_top(INPUTS)).inputs;
    let exists = |path: &Path| path == Path::new("here.md");
    let given = |pairs: &[(&str, &str)]| -> BTreeMap<String, GivenValue> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), GivenValue::Text((*v).to_owned()))).collect()
    };
    let cases = [
        (given(&[("n", "5")]), json!({"n": 5, "x": 1.5, "b": false, "l": ["a"]})),
        (
            given(&[
                ("n", "1"),
                ("x", "2"),
                ("b", "YES"),
                ("l", "p, q"),
                ("s", "v1"),
                ("f", "here.md"),
            ]),
            json!({"n": 1, "x": 2, "b": true, "l": ["p", "q"], "s": "v1", "f": "here.md"}),
        ),
        (
            given(&[("n", "9"), ("l", "[1, {\"k\": 2}]"), ("b", "0"), ("extra", "kept")]),
            json!({"n": 9, "x": 1.5, "b": false, "l": [1, {"k": 2}], "extra": "kept"}),
        ),
    ];
    for (given, expected) in cases {
        let values = check_inputs(&declared, given.clone(), &exists);
        assert_eq!(values.map(serde_json::Value::Object), Ok(expected), "{given:?}");
    }
    let wrong = given(&[("x", "wide"), ("b", "maybe"), ("l", "[1"), ("s", "x"), ("f", "gone.rs")]);
    let told: Vec<String> = check_inputs(&declared, wrong, &exists)
        .unwrap_err()
        .iter()
        .map(ToString::to_string)
        .collect();
    let expected = [
        "input `n` is missing; expected a whole number",
        "input `x` is \"wide\"; expected a number",
        "input `b` is \"maybe\"; expected `true` or `false`",
        "input `l` is \"[1\"; expected a list: JSON, or parts between commas",
        "input `s` is \"x\"; expected something that matches `^v`",
        "input `s` is \"x\"; expected `v1` or `v2`",
        "input `f` is \"gone.rs\", and there is no such file; expected the path of a file",
        "input `f` is \"gone.rs\"; expected a file name that ends in `.md` or `txt`",
    ];
    assert_eq!(told, expected);
    for (n, message) in [("0", "at least 1"), ("10", "at most 9"), ("1.5", "a whole number")] {
        let told = check_inputs(&declared, given(&[("n", n)]), &exists).unwrap_err();
        assert!(told[0].expected.contains(message), "{told:?}");
    }
}

#[test]
fn an_empty_text_is_nothing_for_a_required_input_and_no_matter_for_an_optional_default() {
    let declared = valid(&with_top(
        "inputs:\n  r: {type: string, required: true}\n  o: {type: string, default: '', validation: {pattern: '^v', file_exists: true}}",
    ))
    .inputs;
    let given = |text: &str| BTreeMap::from([("r".to_owned(), GivenValue::Text(text.to_owned()))]);
    let values = check_inputs(&declared, given("x"), &|_| false);
    assert_eq!(values.map(serde_json::Value::Object), Ok(json!({"r": "x", "o": ""})));
    let told = check_inputs(&declared, given(""), &|_| false).unwrap_err();
    assert_eq!(told[0].to_string(), "input `r` is empty; expected a text");
}
