//! The tool where the kernel can do nothing, and what it says of that.

use std::sync::{Arc, Mutex};

use quipu_event::{Draft, StepPath};

use super::*;
use crate::{Router, Witness};

#[derive(Default)]
struct Seen(Mutex<Vec<Draft>>);

impl Witness for Seen {
    fn record(&self, draft: Draft) {
        self.0.lock().unwrap().push(draft);
    }
}

async fn called(confinement: Confinement, command: &str) -> (Answer, Vec<Draft>) {
    let root = tempfile::tempdir().unwrap();
    let seen = Arc::new(Seen::default());
    let context = CallContext {
        witness: seen.clone(),
        path: StepPath::from("ask"),
        iteration: 0,
        root: root.path().to_owned(),
        stop: watch::channel(None).1,
        timeout: CallContext::TIMEOUT,
        call_id: String::new(),
        marks: Arc::default(),
    };
    let mut router = Router::default();
    router.register(Arc::new(Bash::confined_by(confinement))).unwrap();
    let input = json!({ "command": command });
    let call = crate::Call { name: "Bash".to_owned(), input, call_id: None, timeout: None };
    let answer = router.call(call, &context).await;
    let drafts = std::mem::take(&mut *seen.0.lock().unwrap());
    (answer, drafts)
}

#[tokio::test]
async fn a_shell_that_cannot_be_confined_says_so_with_every_call() {
    let none = Confinement::Unavailable { why: "this kernel has no Landlock".to_owned() };
    let description = Bash::confined_by(none.clone()).spec.description;
    assert!(description.contains("NOT confined: this kernel has no Landlock"), "{description}");
    let (answer, drafts) = called(none, "echo free").await;
    assert_eq!(answer.output, "free\n");
    let notes: Vec<&Draft> = drafts
        .iter()
        .filter(|draft| draft.payload.as_str().contains("sandbox_unavailable"))
        .collect();
    assert_eq!(notes.len(), 1, "{drafts:?}");
    assert!(notes[0].payload.as_str().contains("this kernel has no Landlock"));
}

#[tokio::test]
async fn a_shell_that_is_confined_says_nothing_of_it_with_its_calls() {
    let (_, drafts) = called(Confinement::of_this_kernel(), "true").await;
    if Confinement::of_this_kernel().is_whole() {
        assert_eq!(drafts.len(), 2, "{drafts:?}");
    }
}
