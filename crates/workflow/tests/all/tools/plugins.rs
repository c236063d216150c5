//! Plugins over the life of a run: where they end, whose they are, and what becomes of steps when they
//! crash, hang or refuse.

use std::fs;
use std::time::Duration;

use quipu_event::payload::Status;
use quipu_workflow::driver::RunRequest;
use quipu_workflow::process::StopReason;
use serde_json::Value;
use tokio::sync::watch;

use super::{Project, Ran, pair, text};

const DESK: &str = "desk: {command: sh server.sh, env: {LOG: '${DESK_LOG}'}}";

fn workflow(plugin: &str, steps: &str) -> String {
    format!("name: tools\nplugins:\n  {plugin}\nstates:\n{steps}  done: {{type: terminal}}\n")
}

impl Project {
    /// Returns the ids of all processes that plugins have noted.
    fn processes(&self) -> Vec<String> {
        let log = self.log();
        let noted = log.lines().filter_map(|line| line.split_once(' '));
        noted.map(|(_, pid)| pid.to_owned()).collect()
    }

    fn count(&self, what: &str) -> usize {
        self.log().lines().filter(|line| line.starts_with(what)).count()
    }

    /// Waits until no process is left: one that was killed may take a moment to be gone.
    async fn assert_nothing_is_left(&self) {
        let gone = async {
            while self.processes().iter().any(|pid| is_alive(pid)) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let gone = tokio::time::timeout(Duration::from_secs(60), gone).await;
        assert!(gone.is_ok(), "{}", self.log());
    }

    /// Runs, and gives a reason to stop as soon as the log has such a line.
    async fn stopped(&self, mut request: RunRequest, line: &str, reason: StopReason) -> Ran {
        let (stopper, stop) = watch::channel(None);
        request.stop = stop;
        let stopping = async {
            while self.count(line) == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            stopper.send_replace(Some(reason));
        };
        tokio::join!(self.go(request), stopping).0
    }
}

impl Ran {
    /// Returns how a step ended, each time: its status, and its error.
    fn ends(&self, name: &str) -> Vec<(String, String)> {
        let ends = self.of("step.completed");
        let own = ends.iter().filter(|(_, end)| end["name"] == name);
        own.map(|(_, end)| {
            (text(&end["status"]), end["error"].as_str().unwrap_or_default().to_owned())
        })
        .collect()
    }

    fn notes(&self, subtype: &str) -> usize {
        self.of("system").iter().filter(|(_, note)| note["subtype"] == subtype).count()
    }
}

fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_ends_with_its_run_however_that_ends() {
    for (tool, status) in [("echo", Status::Succeeded), ("fail", Status::Failed)] {
        let project = Project::new();
        let steps = format!("  initial: own\n  own: {{type: desk.{tool}, on_success: done}}\n");
        let ran = project.go(project.request(&workflow(DESK, &steps))).await;
        assert_eq!(ran.report.status, status);
        assert_eq!(project.count("up"), 1);
        project.assert_nothing_is_left().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_canceled_ends_its_plugins_and_all_they_have_started() {
    let steps = "  initial: own\n  own: {type: desk.echo, config: {do: hang}, on_success: done}\n";
    for reason in [StopReason::Canceled, StopReason::Now] {
        let project = Project::new();
        let request = project.request(&workflow(DESK, steps));
        let ran = project.stopped(request, "helper", reason).await;
        assert_eq!(ran.report.status, Status::Canceled, "{reason:?}");
        assert_eq!(ran.pairs(), [pair("desk_echo", "mcp:desk", "own", 0, "failed")]);
        assert_eq!(project.processes().len(), 2);
        project.assert_nothing_is_left().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_does_not_wait_for_a_plugin_that_never_comes_up_once_it_is_to_stop() {
    let plugin = "desk: {command: sh server.sh, env: {LOG: '${DESK_LOG}', START: hang}}";
    let steps = "  initial: own\n  own: {type: desk.echo, on_success: done}\n";
    let project = Project::new();
    let request = project.request(&workflow(plugin, steps));
    let ran = project.stopped(request, "up", StopReason::Canceled).await;
    assert_eq!(ran.report.status, Status::Canceled);
    assert_eq!(ran.pairs(), [pair("desk_echo", "mcp:desk", "own", 0, "failed")]);
    project.assert_nothing_is_left().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_called_workflow_has_its_own_plugins_before_those_of_its_caller() {
    let project = Project::new();
    let own = |name: &str, of: &str| {
        format!("{name}: {{command: sh server.sh, env: {{LOG: '{of}.log', NAME: '{of}'}}}}")
    };
    let child = format!(
        "name: child\nplugins:\n  {}\nstates:\n  initial: own\n  \
           own: {{type: desk.who, on_success: theirs}}\n  \
           theirs: {{type: operation, operation: shared.who, on_success: done}}\n  \
           done: {{type: terminal}}\n",
        own("desk", "child")
    );
    fs::write(project.path().join("child.yaml"), child).unwrap();
    let plugins = format!("{}\n  {}", own("desk", "caller"), own("shared", "shared"));
    let steps = "  initial: before\n  \
          before: {type: shared.who, on_success: call}\n  \
          call: {type: call_workflow, workflow: child, outputs: {own: own, theirs: theirs}, on_success: look}\n  \
          look: {type: step, command: 'for name in child shared; do read -r _ pid < $name.log; kill -0 $pid 2>/dev/null && echo $name; done; true', on_success: after}\n  \
          after: {type: desk.who, on_success: done}\n";
    let mut request = project.request(&workflow(&plugins, steps));
    let world = std::sync::Arc::get_mut(&mut request.world).unwrap();
    world.ids = std::sync::Arc::new(|| "child".parse().unwrap());
    let ran = project.go(request).await;
    assert_eq!(ran.report.status, Status::Succeeded, "{:?}", ran.report.error);
    let inner = Ran { report: ran.report.clone(), events: project.events("child") };
    let expected = [
        pair("desk_who", "mcp:desk", "own", 0, "completed"),
        pair("shared_who", "mcp:shared", "theirs", 0, "completed"),
    ];
    assert_eq!(inner.pairs(), expected);
    let said: Vec<Value> =
        inner.of("tool.result").into_iter().map(|(_, mut end)| end["output"].take()).collect();
    assert_eq!(said, ["child", "shared"]);
    assert_eq!(ran.report.step_outputs["look"], "shared", "its own plugin ends with it");
    assert_eq!(ran.report.step_outputs["after"], "caller");
    let starts = |name: &str| fs::read_to_string(project.path().join(name)).unwrap();
    for log in ["child.log", "shared.log", "caller.log"] {
        assert_eq!(starts(log).matches("up").count(), 1, "{log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_with_a_plugins_step_and_starts_the_plugin_anew() {
    let steps = "  initial: first\n  \
          first: {type: desk.echo, config: {n: 1}, on_success: second}\n  \
          second: {type: operation, operation: desk.echo, inputs: {said: '{{.states.first.Response.method}}', do: hang}, on_success: done}\n";
    let project = Project::new();
    let request = project.request(&workflow(DESK, steps));
    let ran = project.stopped(request, "helper", StopReason::Canceled).await;
    assert_eq!(ran.report.status, Status::Canceled);
    let again = workflow(DESK, &steps.replace(", do: hang", ""));
    let ran = project.go(RunRequest { resume: true, ..project.request(&again) }).await;
    assert_eq!(ran.report.status, Status::Succeeded, "{:?}", ran.report.error);
    let asked: Value = serde_json::from_str(&ran.report.step_outputs["second"]).unwrap();
    assert_eq!(asked["params"]["arguments"]["said"], "tools/call");
    let expected = [
        pair("desk_echo", "mcp:desk", "first", 0, "completed"),
        pair("desk_echo", "mcp:desk", "second", 0, "completed"),
        pair("desk_echo", "mcp:desk", "second", 0, "failed"),
    ];
    assert_eq!(ran.pairs(), expected);
    assert_eq!((project.count("up"), project.count("call")), (2, 3));
    project.assert_nothing_is_left().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_of_plugins_are_retried_each_time_as_a_call_of_its_own() {
    let project = Project::new();
    let ran = project
        .run(
            "  initial: crashes\n  \
               crashes: {type: desk.echo, config: {do: crash once}, retry: {max_attempts: 3, initial_delay: 1ms}, on_success: refuses}\n  \
               refuses: {type: operation, operation: desk.fail, retry: {max_attempts: 3, initial_delay: 1ms}, on_failure: done}\n  \
               done: {type: terminal}\n",
        )
        .await;
    assert_eq!(ran.report.status, Status::Succeeded, "{:?}", ran.report.error);
    let refused = pair("desk_fail", "mcp:desk", "refuses", 0, "failed");
    let expected = [
        pair("desk_echo", "mcp:desk", "crashes", 0, "completed"),
        pair("desk_echo", "mcp:desk", "crashes", 0, "failed"),
        refused.clone(),
        refused.clone(),
        refused,
    ];
    assert_eq!(ran.pairs(), expected);
    let last = |name: &str| ran.ends(name).pop().unwrap();
    assert_eq!(last("crashes").0, "succeeded");
    assert_eq!(last("refuses"), ("failed".to_owned(), "desk.fail: it is broken".to_owned()));
    assert_eq!(project.count("up"), 2, "it is started again after a crash, and only then");
    assert_eq!(ran.notes("plugin_failed"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_hangs_ends_its_step_by_the_timeout_of_either_and_serves_the_next() {
    let hang = "config: {do: hang}";
    let cases = [
        ("", format!("{hang}, timeout: 300ms"), "timed out after 300ms"),
        (", timeout: 300ms", hang.to_owned(), "desk.echo: timed out after 300ms"),
    ];
    for (of_plugin, of_step, error) in cases {
        let project = Project::new();
        let plugin = DESK.replace("}}", &format!("}}{of_plugin}}}"));
        let steps = format!(
            "  initial: late\n  \
               late: {{type: desk.echo, {of_step}, continue_on_error: true, on_success: next}}\n  \
               next: {{type: desk.who, retry: {{max_attempts: 3, initial_delay: 1ms}}, on_success: done}}\n"
        );
        let ran = project.go(project.request(&workflow(&plugin, &steps))).await;
        assert_eq!(ran.report.status, Status::Succeeded, "{:?}", ran.report.error);
        assert_eq!(ran.ends("late"), [("failed".to_owned(), error.to_owned())]);
        assert_eq!(ran.ends("next").pop().unwrap().0, "succeeded");
        assert_eq!(ran.pairs()[0], pair("desk_echo", "mcp:desk", "late", 0, "failed"));
        project.assert_nothing_is_left().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_breaks_down_within_a_loop_fails_that_iteration_only() {
    for trouble in ["crash", "garbage"] {
        let project = Project::new();
        let ran = project
            .run(&format!(
                "  initial: each\n  \
                   each: {{type: for_each, items: [a, {trouble}, c], body: [one], on_success: done}}\n  \
                   one: {{type: desk.echo, config: {{do: '{{{{.loop.Item}}}}'}}, continue_on_error: true}}\n  \
                   done: {{type: terminal}}\n"
            ))
            .await;
        assert_eq!(ran.report.status, Status::Succeeded, "{trouble}: {:?}", ran.report.error);
        let one = |index: u64, status: &str| {
            pair("desk_echo", "mcp:desk", &format!("each[{index}].one"), index, status)
        };
        assert_eq!(ran.pairs(), [one(0, "completed"), one(1, "failed"), one(2, "completed")]);
        let ends: Vec<String> = ran.ends("one").into_iter().map(|(status, _)| status).collect();
        assert_eq!(ends, ["succeeded", "failed", "succeeded"], "{trouble}");
        assert_eq!(project.count("up"), 2, "{trouble}");
        assert_eq!((ran.notes("plugin_failed"), ran.notes("plugin_restarting")), (1, 1));
        project.assert_nothing_is_left().await;
    }
}
