//! `quipu config`: settings, and where each came from; completions and man pages.

use std::fs;

use serde_json::{Value, json};

use crate::session::Session;

fn row(table: &str, name: &str) -> Vec<String> {
    let row = table.lines().find(|line| line.split_whitespace().next() == Some(name));
    row.unwrap_or_default().split_whitespace().skip(1).map(str::to_owned).collect()
}

#[test]
fn defaults_hold_where_nobody_says_anything() {
    let session = Session::new();
    let table = session.ok(&["config"]);
    let expected =
        [("storage", "storage"), ("color", "auto"), ("durability", "never"), ("mask", "none")];
    for (name, value) in expected {
        assert_eq!(row(&table, name), [value, "default"], "{table}");
    }
    assert!(table.contains("settings file: none"), "{table}");
}

#[test]
fn a_path_that_nobody_gave_is_null_for_scripts() {
    let session = Session::new();
    let told = |session: &Session| session.quipu(&["config", "--json"]).json()["settings"].clone();
    let unset = told(&session);
    for (name, value) in
        [("log_file", Value::Null), ("prices", Value::Null), ("mask_env", "".into())]
    {
        assert_eq!(unset[name], json!({ "value": value, "from": "default" }), "{name}");
    }
    let session = session.with_variable("QUIPU_LOG_FILE", "a.log");
    assert_eq!(told(&session)["log_file"]["value"], "a.log");
}

#[test]
fn flags_go_over_variables_over_the_nearest_file_over_defaults() {
    let session = Session::new()
        .with_variable("QUIPU_STORAGE", "from-variable")
        .with_variable("QUIPU_DURABILITY", "2s");
    let toml =
        "storage = 'from-file'\ndurability = 'always'\nmask = 'secrets'\nmask_env = ['A', 'B']\n";
    fs::write(session.dir().join("quipu.toml"), toml).unwrap();
    let told = session.quipu(&["config", "--json", "--storage", "from-flag"]).json();
    let file = told["file"].as_str().unwrap();
    assert!(file.ends_with("/quipu.toml"), "{file}");
    let expected = [
        ("storage", "from-flag", "--storage"),
        ("color", "auto", "default"),
        ("durability", "2000ms", "$QUIPU_DURABILITY"),
        ("mask", "secrets", file),
        ("mask_env", "A,B", file),
    ];
    for (name, value, from) in expected {
        let setting = &told["settings"][name];
        assert_eq!((&setting["value"], &setting["from"]), (&value.into(), &from.into()), "{name}");
    }
    let table = session.ok(&["config"]);
    assert_eq!(row(&table, "storage"), ["from-variable", "$QUIPU_STORAGE"]);
    assert!(table.contains(&format!("settings file: {file}")), "{table}");
}

#[test]
fn naming_variables_asks_for_the_mask_unless_it_was_declined() {
    let session = Session::new().with_variable("QUIPU_MASK_ENV", "HOME");
    let told = |session: &Session| row(&session.ok(&["config"]), "mask");
    assert_eq!(told(&session), ["secrets", "$QUIPU_MASK_ENV"]);
    fs::write(session.dir().join("quipu.toml"), "mask = 'none'\n").unwrap();
    let declined = told(&session);
    assert_eq!(declined[0], "none", "{declined:?}");
    assert!(declined[1].ends_with("quipu.toml"), "{declined:?}");
}

#[test]
fn storage_in_a_file_further_up_is_beside_that_file() {
    let session = Session::new();
    let below = session.dir().join("a/b");
    fs::create_dir_all(&below).unwrap();
    fs::write(session.dir().join("quipu.toml"), "storage = 'runs'\n").unwrap();
    let output =
        session.command(crate::session::QUIPU).arg("demo").current_dir(&below).output().unwrap();
    assert!(output.status.success());
    assert!(session.dir().join("runs/transcripts").is_dir());
}

#[test]
fn a_setting_that_cannot_be_used_is_told_with_its_place() {
    let cases = [
        ("color = 'green'", "line 1: "),
        ("\ndurability = 'sometimes'", "durability is \"sometimes\": expected never, always"),
        ("storage = 'a'\ncolour = 'auto'", "line 2: unknown field `colour`"),
        ("storage = ", "line 1: "),
    ];
    for (text, told) in cases {
        let session = Session::new();
        fs::write(session.dir().join("quipu.toml"), text).unwrap();
        let outcome = session.quipu(&["config"]);
        assert_eq!(outcome.code, Some(1), "{text}: {outcome:?}");
        assert!(
            outcome.stderr.contains("quipu.toml: ") && outcome.stderr.contains(told),
            "{text}: {}",
            outcome.stderr
        );
    }
    let session = Session::new().with_variable("QUIPU_MASK", "everything");
    let outcome = session.quipu(&["config"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("$QUIPU_MASK is \"everything\""), "{}", outcome.stderr);
}

#[test]
fn completions_know_every_command() {
    let session = Session::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = session.ok(&["completions", shell]);
        for command in ["record", "verify", "tail"] {
            assert!(script.contains(command), "{shell} does not know {command}");
        }
    }
    assert_eq!(session.quipu(&["completions", "cmd.exe"]).code, Some(1));
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let session = Session::new();
    let page = session.ok(&["man"]);
    assert!(
        page.starts_with(".ie") || page.starts_with(".TH") || page.contains(".TH quipu"),
        "{page}"
    );
    session.ok(&["man", "--dir", "pages/man1"]);
    for page in ["quipu.1", "quipu-record.1", "quipu-verify.1", "quipu-man.1"] {
        let text = fs::read_to_string(session.dir().join("pages/man1").join(page)).unwrap();
        assert!(text.contains(".SH NAME"), "{page}");
    }
}

#[test]
fn a_mistake_on_the_command_line_is_told_as_json_where_json_was_asked_for() {
    let session = Session::new();
    let cases = [
        (&["bogus", "--json"][..], "unrecognized subcommand 'bogus'"),
        (&["show", "--json"], "the following required arguments were not provided: <RUN>"),
        (
            &["show", "x", "--json", "--from", "y"],
            "invalid value 'y' for '--from <SEQ>': invalid digit found in string",
        ),
    ];
    for (arguments, error) in cases {
        let outcome = session.quipu(arguments);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{outcome:?}");
        let told: Value = serde_json::from_str(&outcome.stderr).unwrap();
        assert_eq!((&told["error"], &told["exit_code"]), (&error.into(), &1.into()));
    }
    let outcome = session.quipu(&["exec", "--bogus", "--", "agent", "--json"]);
    assert!(outcome.stderr.starts_with("error: unexpected argument '--bogus'"), "{outcome:?}");
}
