//! A root with a neighbour that nobody may touch, and a door to call tools through.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use quipu_event::payload::{FileAccess, ToolStatus};
use quipu_event::{Draft, Kind, StepPath};
use quipu_process::StopReason;
use quipu_tool::{Answer, Call, CallContext, Router, Witness, builtin};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;

/// What stands in the file outside.
pub(crate) const CANARY: &str = "the canary sings";

#[derive(Default)]
pub(crate) struct Seen(Mutex<Vec<Draft>>);

impl Witness for Seen {
    fn record(&self, draft: Draft) {
        self.0.lock().unwrap().push(draft);
    }
}

pub(crate) struct Stage {
    pub(crate) dir: TempDir,
    pub(crate) context: CallContext,
    pub(crate) router: Router,
    pub(crate) stop: watch::Sender<Option<StopReason>>,
    seen: Arc<Seen>,
}

impl Stage {
    /// Makes `root/`, and `outside/canary` beside it.
    pub(crate) fn new() -> Stage {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("root")).unwrap();
        fs::create_dir(dir.path().join("outside")).unwrap();
        fs::write(dir.path().join("outside/canary"), CANARY).unwrap();
        let seen = Arc::new(Seen::default());
        let (stop, signal) = watch::channel(None);
        let context = CallContext {
            witness: seen.clone(),
            path: StepPath::from("ask"),
            iteration: 0,
            root: dir.path().join("root"),
            stop: signal,
            timeout: CallContext::TIMEOUT,
            call_id: String::new(),
            marks: Arc::default(),
        };
        let mut router = Router::default();
        builtin::all().into_iter().for_each(|tool| router.register(tool).unwrap());
        Stage { dir, context, router, stop, seen }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.context.root
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.dir.path().join("outside")
    }

    /// Puts a file into the root, with the directories on the way.
    pub(crate) fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    pub(crate) async fn call(&self, name: &str, input: Value) -> Answer {
        let call = Call { name: name.to_owned(), input, call_id: None, timeout: None };
        self.router.call(call, &self.context).await
    }

    /// Calls a tool that is to succeed, and returns its text.
    pub(crate) async fn done(&self, name: &str, input: Value) -> String {
        let answer = self.call(name, input.clone()).await;
        assert_eq!(answer.status, ToolStatus::Completed, "{name} {input}: {}", answer.text());
        answer.text()
    }

    /// Calls a tool that is to fail, and returns what it says.
    pub(crate) async fn fails(&self, name: &str, input: Value) -> String {
        let answer = self.call(name, input.clone()).await;
        assert_eq!(answer.status, ToolStatus::Failed, "{name} {input}: {}", answer.text());
        answer.text()
    }

    /// Takes what was recorded so far.
    pub(crate) fn take_drafts(&self) -> Vec<Draft> {
        std::mem::take(&mut *self.seen.0.lock().unwrap())
    }

    /// Takes what was recorded so far, and returns what of it is about files.
    pub(crate) fn take_files(&self) -> Vec<(Kind, FileAccess)> {
        let drafts = self.take_drafts();
        let kinds = [Kind::FileRead, Kind::FileWritten, Kind::FileRejected];
        let files = drafts.into_iter().filter(|draft| kinds.contains(&draft.kind));
        files.map(|draft| (draft.kind, draft.payload.decode().unwrap())).collect()
    }

    /// Makes sure that nothing outside has changed.
    pub(crate) fn assert_outside_untouched(&self, what: &str) {
        let names: Vec<_> = fs::read_dir(self.outside())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(names, ["canary"], "{what}");
        let text = fs::read_to_string(self.outside().join("canary")).unwrap();
        assert_eq!(text, CANARY, "{what}");
        let beside = fs::read_dir(self.dir.path()).unwrap().count();
        assert_eq!(beside, 2, "{what}");
    }
}
