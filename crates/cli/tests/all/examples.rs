//! The workflows in `examples/`: each is valid, runs in a repository with stub agents, and takes
//! the way that its comment promises.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::session::Session;

/// A run of an example.
struct Run {
    example: &'static str,
    arguments: &'static [&'static str],
    /// A shell command that prepares the repository.
    before: &'static str,
    code: i32,
    message: &'static str,
    tree: &'static str,
}

const RUNS: &[Run] = &[
    Run {
        example: "review",
        arguments: &[],
        before: "echo changed > f1.txt; echo changed > f2.txt",
        code: 0,
        message: "[STUB] Completed step sum_up.",
        tree: "✓ review (workflow)
├─ ✓ changed (command)
├─ ✓ each_file (for_each)
│  ├─ ✓ [0]
│  │  ├─ ✓ diff (command)
│  │  └─ ✓ review (agent)
│  └─ ✓ [1]
│     ├─ ✓ diff (command)
│     └─ ✓ review (agent)
├─ ✓ sum_up (agent)
└─ ✓ done (terminal)
",
    },
    Run {
        example: "review",
        arguments: &[],
        before: "true",
        code: 0,
        message: "nothing changed against HEAD",
        tree: "✓ review (workflow)
├─ ✓ changed (command)
└─ ✓ nothing (terminal)
",
    },
    Run {
        example: "checks",
        arguments: &[],
        before: "true",
        code: 0,
        message: "all checks passed",
        tree: "✓ checks (workflow)
├─ ✓ fan_out (parallel)
│  ├─ ✓ spelling (command)
│  ├─ ✓ sizes (command)
│  └─ ✓ secrets (command)
├─ ✓ explain (agent)
├─ ✓ judge (command)
└─ ✓ passed (terminal)
",
    },
    Run {
        example: "checks",
        arguments: &[],
        before: "echo 'we recieve it' > notes.md",
        code: 1,
        message: "[STUB] Completed step explain.",
        tree: "✗ checks (workflow)
├─ ✓ fan_out (parallel)
│  ├─ ✗ spelling (command)
│  ├─ ✓ sizes (command)
│  └─ ✓ secrets (command)
├─ ✓ explain (agent)
├─ ✓ judge (command)
└─ ✗ failed (terminal)
",
    },
    Run {
        example: "fix-until-green",
        arguments: &["-i", "check=test -e mended || { touch mended; exit 1; }"],
        before: "true",
        code: 0,
        message: "passes",
        tree: "✓ fix-until-green (workflow)
├─ ✓ rounds (while)
│  ├─ ✗ [0]
│  │  ├─ ✗ check (command)
│  │  └─ ✓ mend (agent)
│  └─ ✓ [1]
│     └─ ✓ check (command)
├─ ✓ verdict (command)
└─ ✓ green (terminal)
",
    },
    Run {
        example: "fix-until-green",
        arguments: &["-i", "check=false", "-i", "rounds=2"],
        before: "true",
        code: 3,
        message: "`false` still fails",
        tree: "✗ fix-until-green (workflow)
├─ ✓ rounds (while)
│  ├─ ✗ [0]
│  │  ├─ ✗ check (command)
│  │  └─ ✓ mend (agent)
│  └─ ✗ [1]
│     ├─ ✗ check (command)
│     └─ ✓ mend (agent)
├─ ✗ verdict (command)
└─ ✗ red (terminal)
",
    },
    Run {
        example: "describe-commit",
        arguments: &["-i", "commit=HEAD"],
        before: "true",
        code: 0,
        message: "[STUB] Completed step describe.",
        tree: "✓ describe-commit (workflow)
├─ ✓ show (command)
├─ ✓ describe (agent)
└─ ✓ done (terminal)
",
    },
    Run {
        example: "describe-commit",
        arguments: &["-i", "commit=nonesuch"],
        before: "true",
        code: 1,
        message: "there is no commit nonesuch",
        tree: "✗ describe-commit (workflow)
└─ ✗ show (command)
",
    },
    Run {
        example: "release-notes",
        arguments: &["-i", "since=HEAD~2", "-i", "out=NOTES.md"],
        before: "true",
        code: 0,
        message: "[STUB] Completed step describe.",
        tree: "✓ release-notes (workflow)
├─ ✓ commits (command)
├─ ✓ each_commit (for_each)
│  ├─ ✓ [0]
│  │  ├─ ✓ describe (call_workflow)
│  │  │  └─ ✓ describe-commit (workflow)
│  │  │     ├─ ✓ show (command)
│  │  │     ├─ ✓ describe (agent)
│  │  │     └─ ✓ done (terminal)
│  │  └─ ✓ collect (command)
│  └─ ✓ [1]
│     ├─ ✓ describe (call_workflow)
│     │  └─ ✓ describe-commit (workflow)
│     │     ├─ ✓ show (command)
│     │     ├─ ✓ describe (agent)
│     │     └─ ✓ done (terminal)
│     └─ ✓ collect (command)
├─ ✓ write (command)
└─ ✓ done (terminal)
",
    },
    Run {
        example: "triage",
        arguments: &["-i", "report=it's \"broken\"; $(touch never)"],
        before: "true",
        code: 0,
        message: "set aside: {\"step\":\"sort\",\"stub\":true}",
        tree: "✓ triage (workflow)
├─ ✓ sort (agent)
├─ ✓ set_aside (command)
└─ ✓ ignored (terminal)
",
    },
];

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Begins in a repository with three commits, and the examples beside it.
fn repository(before: &str) -> Session {
    let session = Session::new();
    fs::create_dir(session.dir().join("examples")).unwrap();
    for entry in fs::read_dir(examples()).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), session.dir().join("examples").join(entry.file_name())).unwrap();
    }
    let script = format!(
        "git init -q . && git config user.email ada@example.org && git config user.name Ada
        for file in f1 f2 f3; do
            echo $file > $file.txt && git add $file.txt && git commit -qm \"Add $file\" || exit
        done
        {before}"
    );
    let made = session.command("sh").args(["-c", &script]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    session
}

/// Leaves out of a drawn tree what differs from run to run.
fn skeleton(tree: &str) -> String {
    let line = |line: &str| {
        let line = line.split(" · ").next().unwrap().trim_end_matches(" failed");
        match line.strip_suffix(" (workflow)").and_then(|line| line.rsplit_once(' ')) {
            Some((without_id, _)) => format!("{without_id} (workflow)\n"),
            None => format!("{line}\n"),
        }
    };
    tree.lines().map(line).collect()
}

#[test]
fn every_example_runs_with_stub_agents_and_takes_the_way_it_promises() {
    for run in RUNS {
        let session = repository(run.before);
        let file = format!("examples/{}.yaml", run.example);
        let mut arguments = vec!["run", &file, "--stub", "--id", "r"];
        arguments.extend(run.arguments);
        let outcome = session.quipu(&arguments);
        let title = format!("{arguments:?}: {outcome:?}");
        assert_eq!(outcome.code, Some(run.code), "{title}");
        assert!(outcome.stdout.contains(run.message), "{title}");
        assert_eq!(skeleton(&session.ok(&["tree", "r"])), run.tree, "{title}");
        session.ok(&["verify"]);
        assert!(!session.dir().join("never").exists());
    }
}

#[test]
fn every_example_is_valid_without_a_warning_and_run_by_a_test() {
    let session = repository("true");
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(examples()).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let said = session.quipu(&["validate", &format!("examples/{name}")]);
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{said:?}");
        assert!(said.stdout.contains(": ok, "), "{said:?}");
        names.insert(name.strip_suffix(".yaml").unwrap().to_owned());
    }
    let run: BTreeSet<String> = RUNS.iter().map(|run| run.example.to_owned()).collect();
    assert_eq!(names, run);
    assert!(names.len() >= 5);
}
