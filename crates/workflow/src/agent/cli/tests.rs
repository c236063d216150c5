//! What each program is called with.

use std::fs;

use serde_json::json;

use super::*;

/// A question, and what is to become of it.
struct Case {
    cli: &'static Cli,
    question: Question<'static>,
    options: Value,
    args: Vec<&'static str>,
    stdin: Option<&'static str>,
}

fn plain(prompt: &'static str) -> Question<'static> {
    Question { prompt, system: None, resume: None, is_first: true, serving: None }
}

fn with_system(prompt: &'static str) -> Question<'static> {
    Question { system: Some("Be brief."), ..plain(prompt) }
}

fn resumed(prompt: &'static str) -> Question<'static> {
    Question { resume: Some("ses-1"), ..plain(prompt) }
}

/// The second turn of a step's own conversation.
fn second_turn(prompt: &'static str) -> Question<'static> {
    Question { resume: Some("ses-1"), is_first: false, ..with_system(prompt) }
}

/// The first turn of a step that continues another step's session.
fn continued(prompt: &'static str) -> Question<'static> {
    Question { resume: Some("ses-1"), ..with_system(prompt) }
}

fn check(cases: Vec<Case>) {
    for Case { cli, question, options, args, stdin } in cases {
        let mut read = Options::new(options.as_object().unwrap());
        let call = (cli.ask)(&question, &mut read).unwrap();
        let (name, prompt) = (cli.name, question.prompt);
        assert_eq!(call.args, args, "{name}: {prompt} {options}");
        assert_eq!(call.stdin.as_deref(), stdin, "{name}: {prompt} {options}");
        assert_eq!(read.unread(), Vec::<String>::new(), "{name}: {prompt} {options}");
    }
}

macro_rules! case {
    ($cli:expr, $question:expr, $options:tt, [$($arg:expr),* $(,)?]) => {
        case!($cli, $question, $options, [$($arg),*], None)
    };
    ($cli:expr, $question:expr, $options:tt, [$($arg:expr),* $(,)?], $stdin:expr) => {
        Case { cli: &const { $cli }, question: $question, options: json!($options), args: vec![$($arg),*], stdin: $stdin }
    };
}

#[test]
fn claude_is_asked_so() {
    use claude::CLI;
    const STREAM: [&str; 3] = ["--output-format", "stream-json", "--verbose"];
    let [a, b, c] = STREAM;
    check(vec![
        case!(CLI, plain("Hi"), {}, ["-p", "Hi", a, b, c]),
        case!(CLI, plain("-rf"), {}, ["-p", a, b, c], Some("-rf")),
        case!(CLI, plain("a\0b"), {}, ["-p", a, b, c], Some("a\0b")),
        case!(CLI, with_system("Hi"), {}, ["-p", "Hi", a, b, c, "--system-prompt", "Be brief."]),
        case!(CLI, resumed("Hi"), {}, ["-p", "Hi", "-r", "ses-1", a, b, c]),
        case!(
            CLI,
            second_turn("Hi"),
            {},
            ["-p", "Hi", "-r", "ses-1", a, b, c, "--system-prompt", "Be brief."]
        ),
        case!(CLI, continued("Hi"), {}, ["-p", "Be brief.\n\nHi", "-r", "ses-1", a, b, c]),
        case!(
            CLI,
            plain("Hi"),
            { "model": "haiku", "allowedTools": "Read, Edit", "dangerouslySkipPermissions": true },
            [
                "-p", "Hi", "--model", "haiku", a, b, c, "--allowedTools", "Read,Edit",
                "--dangerously-skip-permissions",
            ]
        ),
        case!(
            CLI,
            plain("Hi"),
            { "allowed_tools": ["Read", "Bash(ls)"], "disallowed_tools": "Write", "max_turns": 3, "args": ["--x", "1"] },
            [
                "-p", "Hi", a, b, c, "--allowedTools", "Read,Bash(ls)", "--disallowedTools", "Write",
                "--max-turns", "3", "--x", "1",
            ]
        ),
    ]);
}

#[test]
fn codex_is_asked_so() {
    use codex::CLI;
    let (json, git) = ("--json", "--skip-git-repo-check");
    check(vec![
        case!(CLI, plain("Hi"), {}, ["exec", json, git, "Hi"]),
        case!(CLI, plain("Hi"), { "skip_git_repo_check": false }, ["exec", json, "Hi"]),
        case!(CLI, plain("--version"), {}, ["exec", json, git, "-"], Some("--version")),
        case!(CLI, resumed("Hi"), {}, ["exec", "resume", "ses-1", json, git, "Hi"]),
        case!(
            CLI,
            with_system("Hi"),
            {},
            ["exec", json, git, "-c", "developer_instructions=\"Be brief.\"", "Hi"]
        ),
        case!(CLI, second_turn("Hi"), {}, ["exec", "resume", "ses-1", json, git, "Hi"]),
        case!(CLI, continued("Hi"), {}, ["exec", "resume", "ses-1", json, git, "Be brief.\n\nHi"]),
        case!(
            CLI,
            plain("Hi"),
            { "model": "gpt-5.5", "sandbox": "read-only", "reasoning_effort": "high", "config": { "a.b": "c", "n": 1 } },
            [
                "exec", json, git, "--model", "gpt-5.5", "--sandbox", "read-only",
                "-c", "model_reasoning_effort=\"high\"", "-c", "a.b=\"c\"", "-c", "n=1", "Hi",
            ]
        ),
        case!(
            CLI,
            resumed("Hi"),
            { "sandbox": "workspace-write" },
            ["exec", "resume", "ses-1", json, git, "-c", "sandbox_mode=\"workspace-write\"", "Hi"]
        ),
        case!(
            CLI,
            resumed("Hi"),
            { "dangerously_skip_permissions": true },
            ["exec", "resume", "ses-1", json, git, "--dangerously-bypass-approvals-and-sandbox", "Hi"]
        ),
    ]);
}

#[test]
fn gemini_is_asked_so() {
    use gemini::CLI;
    let (a, b) = ("--output-format", "stream-json");
    check(vec![
        case!(CLI, plain("Hi"), {}, [a, b, "-p", "Hi"]),
        case!(CLI, plain("-x"), {}, [a, b, "--prompt=-x"]),
        case!(CLI, plain("a\0b"), {}, [a, b], Some("a\0b")),
        case!(CLI, with_system("Hi"), {}, [a, b, "-p", "Be brief.\n\nHi"]),
        case!(CLI, second_turn("Hi"), {}, [a, b, "--resume", "ses-1", "-p", "Hi"]),
        case!(CLI, continued("Hi"), {}, [a, b, "--resume", "ses-1", "-p", "Be brief.\n\nHi"]),
        case!(
            CLI,
            plain("Hi"),
            { "model": "gemini-2.5-pro", "dangerously_skip_permissions": true, "skip_trust": true },
            ["--approval-mode=yolo", a, b, "--model", "gemini-2.5-pro", "--skip-trust", "-p", "Hi"]
        ),
        case!(
            CLI,
            plain("Hi"),
            { "approval_mode": "auto_edit", "allowed_tools": "read_file,glob" },
            [
                "--approval-mode=auto_edit", a, b, "--allowed-tools=read_file",
                "--allowed-tools=glob", "-p", "Hi",
            ]
        ),
    ]);
}

#[test]
fn copilot_is_asked_so() {
    use github_copilot::CLI;
    let (a, b) = ("--output-format=json", "--no-color");
    check(vec![
        case!(CLI, plain("Hi"), {}, ["-p", "Hi", a, b]),
        case!(CLI, plain("-x"), {}, ["--prompt=-x", a, b]),
        case!(CLI, plain("a\0b"), {}, [a, b], Some("a\0b")),
        case!(CLI, with_system("Hi"), {}, ["-p", "Be brief.\n\nHi", a, b]),
        case!(CLI, second_turn("Hi"), {}, ["--resume=ses-1", "-p", "Hi", a, b]),
        case!(
            CLI,
            plain("Hi"),
            { "model": "gpt-5", "mode": "plan", "effort": "low", "allowed_tools": ["shell(ls)", "write"], "denied_tools": "fetch", "allow_all": true },
            [
                "-p", "Hi", a, b, "--model=gpt-5", "--mode=plan", "--effort=low",
                "--allow-tool=shell(ls)", "--allow-tool=write", "--deny-tool=fetch", "--allow-all",
            ]
        ),
    ]);
}

#[test]
fn opencode_is_asked_so() {
    use opencode::CLI;
    let [a, b, c, d] = ["run", "--format", "json", "--thinking"];
    check(vec![
        case!(CLI, plain("Hi"), {}, [a, b, c, d, "--", "Hi"]),
        case!(CLI, plain("-x"), {}, [a, b, c, d, "--", "-x"]),
        case!(CLI, plain("Two words"), {}, [a, b, c, d], Some("Two words")),
        case!(CLI, with_system("Hi"), {}, [a, b, c, d], Some("Be brief.\n\nHi")),
        case!(CLI, second_turn("Hi"), {}, [a, b, c, d, "-s", "ses-1", "--", "Hi"]),
        case!(
            CLI,
            plain("Hi"),
            { "model": "x/y", "dangerously_skip_permissions": true, "thinking": false, "agent": "plan" },
            [
                a, b, c, "--model", "x/y", "--dangerously-skip-permissions", "--agent", "plan", "--",
                "Hi",
            ]
        ),
    ]);
}

#[test]
fn no_text_is_too_long_for_any_program() {
    let long = "x".repeat(200 * 1024);
    for cli in CLIS {
        for (resume, is_first) in [(None, true), (Some("s"), true), (Some("s"), false)] {
            let system = Some(&*long);
            let question = Question { prompt: &long, system, resume, is_first, serving: None };
            let call = (cli.ask)(&question, &mut Options::default()).unwrap();
            assert!(call.args.iter().all(|arg| arg.len() <= LONGEST_ARGUMENT), "{}", cli.name);
            let stdin = call.stdin.as_deref().unwrap_or_default();
            assert!(stdin.ends_with(&long), "{}", cli.name);
            let system_file =
                call.file.as_ref().map(|file| fs::read_to_string(file.path()).unwrap());
            let has_system = stdin.len() > 2 * long.len() || system_file.as_ref() == Some(&long);
            assert!(has_system || !is_first, "{}: the system prompt reaches nobody", cli.name);
        }
    }
}

#[test]
fn an_option_of_another_program_is_told() {
    for cli in CLIS {
        let given = json!({ "model": "m", "colour": "red" });
        let mut options = Options::new(given.as_object().unwrap());
        (cli.ask)(&plain("Hi"), &mut options).unwrap();
        assert_eq!(options.unread(), ["colour"], "{}", cli.name);
    }
}

fn served(intercepts: bool) -> &'static Serving {
    let command = ["/bin/quipu", "mcp-serve", "--socket", "/s k"].map(str::to_owned).to_vec();
    let tools = vec!["Bash".to_owned(), "Read".to_owned()];
    let is_all_of_system = true;
    let serving = Serving { command, tools, intercepts, is_all_of_system, ..Serving::default() };
    Box::leak(Box::new(serving))
}

/// A question to an agent that is given our tools.
fn given(prompt: &'static str, intercepts: bool) -> Question<'static> {
    Question { serving: Some(served(intercepts)), ..plain(prompt) }
}

#[test]
fn claude_is_given_tools_so() {
    use claude::CLI;
    let [a, b, c] = ["--output-format", "stream-json", "--verbose"];
    const CONFIG: &str = r#"{"mcpServers":{"quipu":{"args":["mcp-serve","--socket","/s k"],"command":"/bin/quipu","type":"stdio"}}}"#;
    let with_own = Serving { is_all_of_system: false, ..served(true).clone() };
    let with_own: &'static Serving = Box::leak(Box::new(with_own));
    check(vec![
        case!(
            CLI,
            given("Hi", false),
            {},
            ["-p", "Hi", a, b, c, "--allowedTools", "mcp__quipu", "--mcp-config", CONFIG]
        ),
        case!(
            CLI,
            Question { system: Some("Use them."), ..given("Hi", true) },
            { "allowed_tools": "Read", "mcp_config": "mine.json" },
            [
                "-p", "Hi", a, b, c, "--append-system-prompt", "Use them.", "--allowedTools",
                "Read,mcp__quipu", "--tools", "", "--mcp-config", "mine.json", CONFIG,
                "--strict-mcp-config",
            ]
        ),
        case!(
            CLI,
            Question { serving: Some(with_own), ..with_system("Hi") },
            { "tools": "Read" },
            [
                "-p", "Hi", a, b, c, "--system-prompt", "Be brief.", "--allowedTools", "mcp__quipu",
                "--tools", "Read", "--mcp-config", CONFIG, "--strict-mcp-config",
            ]
        ),
    ]);
}

#[test]
fn codex_is_given_tools_so() {
    use codex::CLI;
    let (json, git) = ("--json", "--skip-git-repo-check");
    let server = [
        "-c",
        r#"mcp_servers.quipu.command="/bin/quipu""#,
        "-c",
        r#"mcp_servers.quipu.args=["mcp-serve","--socket","/s k"]"#,
        "-c",
        r#"mcp_servers.quipu.default_tools_approval_mode="approve""#,
        "-c",
        "mcp_servers.quipu.startup_timeout_sec=30",
        "-c",
        "mcp_servers.quipu.tool_timeout_sec=660",
    ];
    let off = [
        "-c",
        "features.shell_tool=false",
        "-c",
        "features.unified_exec=false",
        "-c",
        "features.view_image=false",
        "-c",
        "features.multi_agent=false",
        "-c",
        "features.goals=false",
        "-c",
        "features.apps=false",
        "-c",
        r#"web_search="disabled""#,
    ];
    let args = |before: &[&'static str], off: &[&'static str]| {
        [&["exec"][..], before, &server[..], off, &["Hi"][..]].concat()
    };
    for (question, before, off) in [
        (given("Hi", false), vec![json, git], &[][..]),
        (given("Hi", true), vec![json, git, "--sandbox", "read-only"], &off[..]),
        (
            Question { resume: Some("ses-1"), ..given("Hi", true) },
            vec!["resume", "ses-1", json, git, "-c", r#"sandbox_mode="read-only""#],
            &off[..],
        ),
    ] {
        let limit = question.intercepting().is_some();
        let call = (CLI.ask)(&question, &mut Options::default()).unwrap();
        assert_eq!(call.args, args(&before, off));
        assert_eq!(call.limit.is_some(), limit, "what cannot be switched off is told");
    }
}

#[test]
fn copilot_is_given_tools_so() {
    use github_copilot::CLI;
    let (a, b) = ("--output-format=json", "--no-color");
    const CONFIG: &str = r#"--additional-mcp-config={"mcpServers":{"quipu":{"args":["mcp-serve","--socket","/s k"],"command":"/bin/quipu","timeout":660000,"tools":["*"],"type":"local"}}}"#;
    check(vec![
        case!(CLI, given("Hi", false), {}, ["-p", "Hi", a, b, CONFIG, "--allow-tool=quipu"]),
        case!(
            CLI,
            given("Hi", true),
            { "allow_all": true },
            [
                "-p", "Hi", a, b, CONFIG, "--allow-tool=quipu", "--available-tools=quipu-Bash",
                "--available-tools=quipu-Read", "--allow-all", "--disable-builtin-mcps",
            ]
        ),
    ]);
}

#[test]
fn gemini_is_given_tools_so() {
    let home = tempfile::tempdir().unwrap();
    let env = BTreeMap::from([("HOME".to_owned(), home.path().display().to_string())]);
    for (intercepts, expected) in [
        (false, vec!["--output-format", "stream-json", "-p", "Hi"]),
        (
            true,
            vec!["--output-format", "stream-json", "--allowed-mcp-server-names=quipu", "-p", "Hi"],
        ),
    ] {
        let serving = Serving { env: env.clone(), ..served(intercepts).clone() };
        let question = Question { serving: Some(&serving), ..plain("Hi") };
        let call = (gemini::CLI.ask)(&question, &mut Options::default()).unwrap();
        assert_eq!(call.args, expected);
        assert!(call.env.contains_key("GEMINI_CLI_HOME"));
    }
}

#[test]
fn opencode_is_given_tools_so() {
    let own = json!({ "theme": "mine", "permission": { "bash": "allow" }, "mcp": { "x": {} } });
    let env = BTreeMap::from([("OPENCODE_CONFIG_CONTENT".to_owned(), own.to_string())]);
    for intercepts in [false, true] {
        let serving = Serving { env: env.clone(), ..served(intercepts).clone() };
        let question = Question { serving: Some(&serving), ..plain("Hi") };
        let call = (opencode::CLI.ask)(&question, &mut Options::default()).unwrap();
        assert_eq!(call.args, ["run", "--format", "json", "--thinking", "--", "Hi"]);
        let config: Value = serde_json::from_str(&call.env["OPENCODE_CONFIG_CONTENT"]).unwrap();
        assert_eq!(config["theme"], "mine");
        assert_eq!(config["mcp"]["x"], json!({}));
        assert_eq!(config["mcp"]["quipu"]["command"], json!(serving.command));
        assert_eq!(config["permission"]["quipu_*"], "allow");
        assert_eq!(config["permission"]["bash"], if intercepts { "deny" } else { "allow" });
    }
}
