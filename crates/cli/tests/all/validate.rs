//! `quipu validate`: all problems at once, each with its place and what was meant.

use std::fs;

use crate::session::Session;

const GOOD: &str = "\
name: review
states:
  initial: build
  build:
    type: step
    command: make
    on_success: done
  done:
    type: terminal
";

/// A session with these files in it.
fn with_files(files: &[(&str, &str)]) -> Session {
    let session = Session::new();
    for (name, text) in files {
        let path = session.dir().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    session
}

#[test]
fn a_valid_workflow_is_called_ok_by_path_and_by_name() {
    let session = with_files(&[("review.yaml", GOOD), (".awf/workflows/other.yml", GOOD)]);
    assert_eq!(session.ok(&["validate", "review.yaml"]), "review.yaml: ok, 2 steps\n");
    assert_eq!(session.ok(&["validate", "review"]), "review.yaml: ok, 2 steps\n");
    assert_eq!(session.ok(&["validate", "other"]), ".awf/workflows/other.yml: ok, 2 steps\n");
}

#[test]
fn problems_are_shown_with_their_line_the_spot_and_what_was_meant() {
    let broken = GOOD.replace("on_success: done", "on_succes: done\n    on_failure: dnoe");
    let session = with_files(&[("review.yaml", &broken)]);
    let outcome = session.quipu(&["validate", "review.yaml"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    let expected = "\
review.yaml:7:5: warning: `on_succes` is no key of a command step, and has no effect
   7 |     on_succes: done
     |     ^
     = did you mean `on_success`?
review.yaml:8:17: error: `on_failure` leads to `dnoe`, which is no step
   8 |     on_failure: dnoe
     |                 ^
     = expected `build` or `done`
     = did you mean `done`?
review.yaml: invalid, 1 error, 1 warning
";
    assert_eq!(outcome.stdout, expected);
}

#[test]
fn warnings_fail_only_when_strictness_is_asked_for() {
    let session = with_files(&[("odd.yaml", &format!("nmae: x\n{GOOD}"))]);
    let lenient = session.quipu(&["validate", "odd.yaml"]);
    assert_eq!(lenient.code, Some(0), "{lenient:?}");
    assert!(lenient.stdout.ends_with("odd.yaml: ok, 2 steps, 1 warning\n"), "{lenient:?}");
    let strict = session.quipu(&["validate", "--strict", "odd.yaml"]);
    assert_eq!(strict.code, Some(2), "{strict:?}");
    assert!(strict.stdout.ends_with("odd.yaml: invalid, 1 warning\n"), "{strict:?}");
}

#[test]
fn bad_yaml_shows_the_spot_and_a_missing_file_what_is_near() {
    let session = with_files(&[("review.yaml", GOOD), ("bad.yaml", "name: a: b\n")]);
    let outcome = session.quipu(&["validate", "bad.yaml"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stdout.starts_with("bad.yaml:1:8: error: this is not YAML"), "{outcome:?}");
    assert!(outcome.stdout.contains("   1 | name: a: b\n     |        ^\n"), "{outcome:?}");

    let outcome = session.quipu(&["validate", "reveiw.yaml", "review.yaml"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert_eq!(
        outcome.stderr,
        "error: there is no file reveiw.yaml\nhint: did you mean `review.yaml`?\n"
    );
    assert_eq!(outcome.stdout, "review.yaml: ok, 2 steps\n");
}

#[test]
fn scripts_get_one_object_for_each_file() {
    let broken = GOOD.replace("initial: build", "initial: biuld");
    let session = with_files(&[("good.yaml", GOOD), ("broken.yaml", &broken)]);
    let outcome = session.quipu(&["validate", "good.yaml", "broken.yaml", "none.yaml", "--json"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    let told = outcome.json();
    assert_eq!((&told[0]["valid"], &told[0]["steps"]), (&true.into(), &2.into()), "{told}");
    assert_eq!(told[0]["problems"].as_array().unwrap().len(), 0);
    let problem = &told[1]["problems"][0];
    assert_eq!(told[1]["valid"], false);
    assert_eq!((&problem["line"], &problem["column"]), (&3.into(), &12.into()), "{told}");
    assert_eq!(problem["hint"], "did you mean `build`?");
    assert_eq!((&told[2]["file"], &told[2]["valid"]), (&"none.yaml".into(), &false.into()));
}

#[test]
fn what_a_file_says_cannot_drive_the_terminal() {
    let session = with_files(&[("evil.yaml", "\"na\\e[31mme\": x\nstates: {}\n")]);
    let outcome = session.quipu(&["validate", "evil.yaml", "--color", "never"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(!outcome.stdout.contains('\u{1b}'), "{outcome:?}");
    assert!(outcome.stdout.contains("is no key of the workflow"), "{outcome:?}");
}
