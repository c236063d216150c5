//! A set of tools that does what a test needs, and remembers what it was asked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quipu_tool::mcp::{Answering, Asked, Introduction, ToolSet};
use quipu_tool::{Answer, Shown, ToolSpec};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// Tools: `echo`, `wait` (for `go`), `panic`, `fail`, `block`, `picture`.
#[derive(Default)]
pub(crate) struct Tools {
    pub(crate) asked: Mutex<Vec<Asked>>,
    pub(crate) begun: AtomicUsize,
    pub(crate) given_up: AtomicUsize,
    pub(crate) go: Notify,
}

impl Tools {
    pub(crate) fn new() -> Arc<Tools> {
        Arc::new(Tools::default())
    }

    /// Waits until so many calls have been counted.
    pub(crate) async fn until(&self, counter: &AtomicUsize, at_least: usize) {
        while counter.load(Ordering::SeqCst) < at_least {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

impl ToolSet for Tools {
    fn introduction(&self) -> Introduction {
        let instructions = Some("call echo first".to_owned());
        Introduction { name: "trial".to_owned(), instructions }
    }

    fn specs(&self) -> Vec<ToolSpec> {
        let names = ["echo", "wait", "panic", "fail", "block", "picture"];
        let spec = |name: &str| ToolSpec {
            name: name.to_owned(),
            description: format!("does {name}"),
            input_schema: json!({"type": "object"}),
            provider: "builtin".to_owned(),
            is_read_only: name == "echo",
        };
        names.map(spec).into()
    }

    fn call(&self, asked: Asked) -> Answering<'_> {
        self.asked.lock().unwrap().push(asked.clone());
        match asked.name.as_str() {
            "panic" => panic!("on purpose"),
            "wait" => Box::pin(self.wait()),
            "echo" => Box::pin(async move { Answer::completed(asked.input.to_string()) }),
            "fail" => Box::pin(async { Answer::failed("it did not work") }),
            "block" => Box::pin(async { Answer::blocked("it is not allowed") }),
            "picture" => Box::pin(async { picture() }),
            other => {
                let told = format!("there is no tool `{other}`");
                Box::pin(async { Answer::failed(told) })
            }
        }
    }
}

impl Tools {
    async fn wait(&self) -> Answer {
        let open = GivenUp(Some(&self.given_up));
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.go.notified().await;
        open.not();
        Answer::completed("waited")
    }
}

fn picture() -> Answer {
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let content = vec![image, json!({"type": "smell", "of": "coffee"})];
    let shown = Shown { content, structured: Some(json!({"pixels": 1})) };
    Answer { shown: Some(shown), ..Answer::completed(Value::Null) }
}

/// Counts a call that was dropped before it was done.
struct GivenUp<'a>(Option<&'a AtomicUsize>);

impl GivenUp<'_> {
    fn not(mut self) {
        self.0 = None;
    }
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        if let Some(counter) = self.0 {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    }
}
