//! Operations on GitHub through its command line, played by a script that notes what it is given.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

use super::{Asked, Server, TOKEN, github, job, known, perform, settings, value};
use quipu_workflow::engine::{Outcome, WorkStatus};
use quipu_workflow::operation::OperationSettings;
use quipu_workflow::process::StopReason;

/// Notes its arguments and its input, and answers from files as `gh api` does.
const ANSWERING: &str = r#"
here=$(dirname "$0")
stdin=$(cat)
case "$stdin" in *'"head":"taken"'*) taken=.taken ;; *) taken= ;; esac
answer="$here/answers/$(printf '%s %s%s' "$4" "$2" "$taken" | tr / ,)"
[ -e "$answer" ] || answer="$here/answers/none"
printf '%s' "$stdin" > "$here/stdin.$$"
printf '%s\n' "$@" > "$here/argv.$$"
cat "$answer"
[ ! -e "$answer.refused" ] || { cat "$answer.refused" >&2; exit 1; }
"#;

const NOT_LOGGED_IN: &str = r#"
echo 'To get started with GitHub CLI, please run:  gh auth login' >&2
echo 'Alternatively, populate the GH_TOKEN environment variable.' >&2
exit 4
"#;

/// Everything that the part of GitHub knows that [`github`] plays.
const ADDRESSES: [&str; 10] = [
    "GET repos/octo/hello/issues/5",
    "GET repos/octo/hello/pulls/5",
    "POST repos/octo/hello/issues",
    "POST repos/octo/hello/pulls",
    "GET repos/octo/hello/pulls?state=open&per_page=1&head=octo%3Ataken",
    "POST repos/octo/hello/issues/5/comments",
    "GET repos/octo/hello/issues/5/comments?per_page=100&page=1",
    "GET repos/octo/hello/issues/5/comments?per_page=100&page=2",
    "POST repos/octo/hello/issues/5/labels",
    "POST repos/octo/hello/issues/999999/labels",
];

/// A directory with a `gh` in it.
struct Desk(TempDir);

impl Desk {
    fn new(script: &str) -> Desk {
        let desk = Desk(TempDir::new().unwrap());
        fs::write(desk.gh(), format!("#!/bin/sh\n{script}")).unwrap();
        fs::set_permissions(desk.gh(), fs::Permissions::from_mode(0o755)).unwrap();
        desk
    }

    /// Has all the answers.
    fn answering() -> Desk {
        let desk = Desk::new(ANSWERING);
        let answers = desk.path().join("answers");
        fs::create_dir(&answers).unwrap();
        let keep = |name: &str, asked: &str, body: &str| {
            let line = asked.replacen(' ', " /", 1);
            let asked = Asked { line, headers: Default::default(), body: body.to_owned() };
            let (status, _, body) = github(&asked);
            let file = answers.join(name.replace('/', ","));
            fs::write(&file, body).unwrap();
            if status >= 400 {
                let refused = file.with_file_name(format!("{}.refused", name.replace('/', ",")));
                fs::write(refused, format!("gh: Told (HTTP {status})\n")).unwrap();
            }
        };
        for address in ADDRESSES {
            keep(address, address, r#"{"head":"topic"}"#);
        }
        keep("POST repos/octo/hello/pulls.taken", ADDRESSES[3], r#"{"head":"taken"}"#);
        keep("none", "GET lost", "");
        desk
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn gh(&self) -> PathBuf {
        self.path().join("gh")
    }

    fn settings(&self) -> OperationSettings {
        let variable = |name: &str| match name {
            "PATH" => Some(self.path().display().to_string()),
            "GITHUB_REPOSITORY" => Some("octo/hello".to_owned()),
            _ => None,
        };
        OperationSettings::from_variables(self.path(), variable)
    }

    async fn run(&self, operation: &str, inputs: Value) -> Outcome {
        let (_going_on, stop) = watch::channel(None);
        perform(job(operation, inputs), stop, &self.settings()).await
    }

    /// Returns the arguments and the input of each call.
    fn calls(&self) -> Vec<(Vec<String>, String)> {
        let files = fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().path());
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        let argv = files.filter(|path| name(path).starts_with("argv."));
        argv.map(|path| {
            let words = fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
            let stdin = path.with_file_name(name(&path).replace("argv", "stdin"));
            (words, fs::read_to_string(stdin).unwrap())
        })
        .collect()
    }
}

#[tokio::test]
async fn through_gh_every_operation_answers_as_over_rest_and_needs_no_token() {
    for (name, inputs, expected) in known() {
        let desk = Desk::answering();
        let outcome = desk.run(&format!("github.{name}"), inputs.clone()).await;
        assert_eq!(outcome.error, None, "{name} {inputs}");
        assert_eq!(outcome.value, Some(expected), "{name} {inputs}");
        assert!(!desk.calls().is_empty(), "{name} {inputs}");
    }
    let server = Server::start(github).await;
    let labelled = |number: u32| json!({"name": "add_labels", "number": number, "labels": ["x"]});
    for (operation, inputs) in [
        ("github.list_comments", json!({"number": 5, "limit": 101})),
        ("github.batch", json!({"operations": [labelled(5), labelled(999999), labelled(5)]})),
    ] {
        let desk = Desk::answering();
        let through_gh = desk.run(operation, inputs.clone()).await;
        let over_rest = super::run(&server, operation, inputs).await;
        assert_eq!(through_gh.status, over_rest.status);
        let hint = " (`gh auth status` says who asks, `gh auth login` logs in)";
        assert_eq!(through_gh.output.replace(hint, "").replace(TOKEN, "***"), over_rest.output);
    }
}

#[tokio::test]
async fn what_a_step_says_goes_to_gh_as_json_and_never_into_its_arguments() {
    let desk = Desk::answering();
    let said = "$(touch pwned); `touch pwned` \" ' \\ \n@/etc/passwd --hostname=evil ü";
    let inputs = json!({"title": said, "body": said, "labels": [said, "--method=DELETE"]});
    let outcome = desk.run("github.create_issue", inputs).await;
    assert_eq!(outcome.error, None);
    let calls = desk.calls();
    let (argv, stdin) = &calls[0];
    let expected = [
        "api",
        "repos/octo/hello/issues",
        "--method",
        "POST",
        "--header",
        "accept: application/vnd.github+json",
        "--header",
        "x-github-api-version: 2022-11-28",
        "--input",
        "-",
    ];
    assert_eq!((calls.len(), argv.as_slice()), (1, expected.map(str::to_owned).as_slice()));
    let sent: Value = serde_json::from_str(stdin).unwrap();
    let labels = json!([said, "--method=DELETE"]);
    assert_eq!(sent, json!({"title": said, "body": said, "labels": labels}));
    assert!(!desk.path().join("pwned").exists());
}

#[tokio::test]
async fn another_server_is_named_to_gh_and_so_is_a_token_for_it() {
    let cases = [
        ("https://api.github.com", "", "GITHUB_TOKEN"),
        ("https://api.octo.ghe.com", "octo.ghe.com", "GITHUB_TOKEN"),
        ("https://git.example.com/api/v3", "git.example.com", "GITHUB_ENTERPRISE_TOKEN"),
    ];
    for (api, host, variable) in cases {
        let desk = Desk::new(&format!(
            "cd \"$(dirname \"$0\")\"\nprintf '%s ' \"$@\" > argv\n\
             printf '%s' \"${variable}\" > token\necho 'run gh auth login' >&2; exit 4"
        ));
        let token = Some(TOKEN.to_owned());
        let settings = OperationSettings {
            github_api: api.to_owned(),
            github_token: token,
            ..desk.settings()
        };
        let (_going_on, stop) = watch::channel(None);
        let outcome = perform(job("github.get_issue", json!({"number": 5})), stop, &settings).await;
        let flag = if host.is_empty() { String::new() } else { format!(" --hostname {host}") };
        let expected = format!("run `gh auth login{flag}`, or set GH_TOKEN");
        assert!(outcome.error.as_ref().unwrap().ends_with(&expected), "{outcome:?}");
        let read = |name: &str| fs::read_to_string(desk.path().join(name)).unwrap();
        assert!(
            read("argv").trim_end().ends_with(&format!("2022-11-28{flag}")),
            "{}",
            read("argv")
        );
        assert!(!read("argv").contains(TOKEN));
        assert_eq!(read("token"), TOKEN, "{api}");
    }
}

#[tokio::test]
async fn what_gh_cannot_do_is_told_with_what_may_help() {
    let refused =
        |body: &str, line: &str| format!("printf '%s' '{body}'\necho '{line}' >&2\nexit 1");
    let bad = r#"{"message":"Bad credentials"}"#;
    let cases = [
        (
            NOT_LOGGED_IN.to_owned(),
            "github.get_issue: gh is not logged in: run `gh auth login`, or set GH_TOKEN",
        ),
        (
            refused(r#"{"message":"Not Found","status":"404"}"#, "gh: Not Found (HTTP 404)"),
            "github.get_issue: http 404 Not Found: Not Found \
             (`gh auth status` says who asks, `gh auth login` logs in)",
        ),
        (
            refused(bad, "gh: Bad credentials (HTTP 401)"),
            "github.get_issue: http 401 Unauthorized: Bad credentials \
             (`gh auth login` logs in again)",
        ),
        (
            refused("", "gh: Server Error (HTTP 502)"),
            "github.get_issue: http 502 Bad Gateway: gh: Server Error (HTTP 502)",
        ),
        (
            refused("", "error connecting to api.github.com"),
            "github.get_issue: gh failed: exit code 1: error connecting to api.github.com",
        ),
        ("kill -9 $$".to_owned(), "github.get_issue: gh failed: killed by SIGKILL"),
        ("echo no json".to_owned(), "github.get_issue: GitHub's answer is not JSON"),
    ];
    for (script, expected) in cases {
        let outcome = Desk::new(&script).run("github.get_issue", json!({"number": 5})).await;
        assert_eq!(outcome.status, WorkStatus::Failed, "{script}");
        assert_eq!(outcome.error.as_deref(), Some(expected), "{script}");
    }
}

#[tokio::test]
async fn a_gh_that_hangs_is_stopped_with_all_it_has_started() {
    let cases = [
        (StopReason::Canceled, WorkStatus::Canceled),
        (StopReason::Now, WorkStatus::Canceled),
        (StopReason::TimedOut, WorkStatus::TimedOut),
    ];
    let labelled = json!({"name": "add_labels", "number": 5, "labels": ["x"]});
    for (operation, inputs) in [
        ("github.get_issue", json!({"number": 5})),
        ("github.batch", json!({"operations": [labelled]})),
    ] {
        for (reason, status) in cases {
            let desk = Desk::new(
                "cd \"$(dirname \"$0\")\"\nsleep 600 &\necho $$ $! > pids.new; mv pids.new pids\nwait",
            );
            let (stopper, stop) = watch::channel(None);
            let (job, settings) = (job(operation, inputs.clone()), desk.settings());
            let work = tokio::spawn(async move { perform(job, stop, &settings).await });
            let pids = loop {
                match fs::read_to_string(desk.path().join("pids")) {
                    Ok(pids) => break pids,
                    Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            };
            stopper.send(Some(reason)).unwrap();
            assert_eq!(work.await.unwrap().status, status, "{operation} {reason:?}");
            for pid in pids.split_whitespace() {
                // What was killed may take a moment to be gone.
                let gone = async {
                    while is_alive(pid) {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                };
                let gone = tokio::time::timeout(Duration::from_secs(60), gone).await;
                assert!(gone.is_ok(), "{operation} {reason:?}");
            }
        }
    }
}

#[tokio::test]
async fn an_address_of_its_own_is_reached_over_rest_even_where_there_is_a_gh() {
    let (desk, server) =
        (Desk::new("touch \"$(dirname \"$0\")/called\""), Server::start(github).await);
    let settings = OperationSettings { github_cli: Some(desk.gh()), ..settings(&server) };
    let (_going_on, stop) = watch::channel(None);
    let outcome = perform(job("github.get_issue", json!({"number": 5})), stop, &settings).await;
    assert_eq!(value(&outcome, "title"), &json!("T"), "{:?}", outcome.error);
    assert_eq!(server.asked().len(), 1);
    assert!(!desk.path().join("called").exists());
}

#[tokio::test]
async fn with_neither_gh_nor_a_token_a_change_is_refused_and_both_ways_are_told() {
    let settings = OperationSettings::from_variables("/", |_| None);
    let (_going_on, stop) = watch::channel(None);
    let job = job("github.create_issue", json!({"title": "T", "repo": "octo/hello"}));
    let outcome = perform(job, stop, &settings).await;
    let expected = "github.create_issue: GitHub must know who asks: install `gh` and run \
                    `gh auth login`, or set GITHUB_TOKEN or GH_TOKEN";
    assert_eq!(outcome.error.as_deref(), Some(expected));
}

#[test]
fn gh_is_the_first_program_of_that_name_on_the_path() {
    let (first, second) = (Desk::new(""), Desk::new(""));
    let found = |path: String| {
        let variable = |name: &str| (name == "PATH").then(|| path.clone());
        OperationSettings::from_variables("/", variable).github_cli
    };
    let (one, two) = (first.path().display(), second.path().display());
    assert_eq!(found(format!("/nowhere:{one}:{two}")), Some(first.gh()));
    assert_eq!(found(format!(".::../../../../../../..{one}")), None);
    fs::set_permissions(first.gh(), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(found(format!("{one}:{two}")), Some(second.gh()));
    assert_eq!(found(one.to_string()), None);
}

/// Tells whether a process runs; one that nobody has buried yet does not.
fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
}
