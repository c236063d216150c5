//! Where files are found, and what loading one gives.

use std::fs;

use quipu_workflow::definition::{LoadError, NoLibrary, Places, load, load_with};

use super::with_top;

#[test]
fn files_are_found_by_path_name_and_pack_in_their_order() {
    let dir = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for path in [
        "p/.awf/workflows/build.yaml",
        "p/.quipu/workflows/build.yml",
        "p/.awf/workflows/only_awf.yaml",
        "p/.awf/workflow-packs/kit/workflows/plan.yaml",
        "p/sub/beside.yaml",
        "p/sub/build.yaml",
        "extra/more.yaml",
        "config/awf/workflows/mine.yaml",
        "data/awf/workflow-packs/kit/workflows/theirs.yaml",
        "p/at/a/path.yaml",
    ] {
        put(path, &with_top(""));
    }
    let at = |name: &str| dir.path().join(name);
    let places = Places::of_environment(at("p"), |name| match name {
        "AWF_WORKFLOWS_PATH" => Some(at("extra").into()),
        "XDG_CONFIG_HOME" => Some(at("config").into()),
        "XDG_DATA_HOME" => Some(at("data").into()),
        _ => None,
    });
    let caller = at("p/sub/caller.yaml");
    let beside_path = at("p/at/caller.yaml");
    let cases = [
        ("build", None, "p/.quipu/workflows/build.yml"),
        ("build", Some(&*caller), "p/sub/build.yaml"),
        ("beside", Some(&*caller), "p/sub/beside.yaml"),
        ("only_awf", None, "p/.awf/workflows/only_awf.yaml"),
        ("more", None, "extra/more.yaml"),
        ("mine", None, "config/awf/workflows/mine.yaml"),
        ("kit/plan", None, "p/.awf/workflow-packs/kit/workflows/plan.yaml"),
        ("kit/theirs", None, "data/awf/workflow-packs/kit/workflows/theirs.yaml"),
        ("at/a/path.yaml", None, "p/at/a/path.yaml"),
        ("at/a/path", None, "p/at/a/path.yaml"),
        ("a/path", Some(&*beside_path), "p/at/a/path.yaml"),
    ];
    for (name, caller, expected) in cases {
        assert_eq!(places.find(name, caller).unwrap(), at(expected), "{name}");
    }
    let missing = places.find("biuld", None).unwrap_err();
    assert_eq!(missing.hint().as_deref(), Some("did you mean `build`?"));
    assert!(missing.to_string().contains(".quipu/workflows/biuld.yaml"), "{missing}");
}

#[test]
fn a_file_is_loaded_with_the_hash_of_its_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("w.yaml");
    fs::write(&file, with_top("unknown: 1")).unwrap();
    let loaded = load(&file).unwrap();
    assert_eq!((loaded.warnings.len(), loaded.workflow.sha256.len()), (1, 64));
    assert_eq!(loaded.workflow.file, file);
    fs::write(&file, "parameters: []\nname: t\nstates: {initial: a, a: {type: step, command: x}}")
        .unwrap();
    let Err(LoadError::Invalid { problems }) = load_with(&file, &NoLibrary) else { panic!() };
    assert!(problems.to_string().contains("template of steps, not a workflow"), "{problems}");
    assert!(matches!(load(&dir.path().join("none.yaml")), Err(LoadError::Read { .. })));
}

#[test]
fn files_that_steps_name_and_that_are_not_there_are_warnings() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("w.yaml");
    fs::write(dir.path().join("there.md"), "hello").unwrap();
    let agent = |keys: &str| {
        format!(
            "name: w\nstates:\n  initial: a\n  a: {{type: agent, provider: stub, {keys}, on_success: b}}\n  \
             b: {{type: step, script_file: gone.sh, on_success: e}}\n  e: {{type: terminal}}\n"
        )
    };
    let home = dir.path().to_owned().into_os_string();
    let places = Places::of_environment(dir.path(), |name| (name == "HOME").then(|| home.clone()));
    let cases: [(&str, &[&str]); 4] = [
        ("prompt_file: there.md", &[]),
        ("prompt_file: '{{.awf.prompts_dir}}/x.md'", &[]),
        ("prompt_file: ~/gone.md", &["4:49: warning: `prompt_file`: there is no file"]),
        (
            "prompt: hi, role: judge, skills: [rust, {path: s}]",
            &[
                "4:54: warning: there is no role `judge`",
                "4:70: warning: there is no skill `rust`",
                "4:83: warning: there is no skill at `s`",
            ],
        ),
    ];
    for (keys, expected) in cases {
        fs::write(&file, agent(keys)).unwrap();
        let warnings = load_with(&file, &places).unwrap().warnings;
        let told: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), expected.len() + 1, "{told:?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.contains(expected), "{told}: expected {expected}");
        }
        assert!(told[expected.len()].contains("5:32: warning: `script_file`"), "{told:?}");
    }
}

#[test]
fn a_file_that_is_no_text_says_where() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("w.yaml");
    fs::write(&file, b"name: w\nauthor: J\xf6rg\n").unwrap();
    let Err(LoadError::Invalid { problems }) = load(&file) else { panic!() };
    assert!(problems.to_string().contains("w.yaml:2:10: error: the byte 0xf6"), "{problems}");
}
