//! Ids of traces and spans, made from the ids of runs and the numbers of events alone.
//!
//! Who holds one run of a trace can say the ids of the others' spans: the root of a called run hangs
//! below the step that called it, and that step's id follows from the called run's.

use quipu_event::RunId;
use uuid::Uuid;

use crate::spans::{Key, Sort};

/// Sets our names apart from everybody else's.
const NAMESPACE: Uuid = Uuid::from_u128(0x2b0f_3c86_5f2e_4e7b_9a53_6d0c_71e4_a9d8);

/// Returns the id of the trace of `root`: a run id that is a UUID stays what it is.
pub(super) fn trace_id(root: &RunId) -> String {
    let uuid = Uuid::try_parse(root.as_str()).ok().filter(|uuid| !uuid.is_nil());
    uuid.unwrap_or_else(|| hash(root.as_str())).simple().to_string()
}

/// Returns the id of a span of `run`.
pub(super) fn span_id(run: &RunId, key: &Key) -> String {
    let name = match key {
        Key::Run => format!("{run}\nrun"),
        Key::Call(child) => format!("{child}\ncall"),
        Key::At(seq, sort) => {
            let sort = match sort {
                Sort::Step => "step",
                Sort::Subagent => "subagent",
                Sort::Announced => "announced",
                Sort::Reply => "reply",
                Sort::Tool => "tool",
            };
            format!("{run}\n{sort}\n{seq}")
        }
    };
    // The version of a UUID stands in its first half, so that no id is zero.
    hash(&name).simple().to_string()[..16].to_owned()
}

fn hash(name: &str) -> Uuid {
    Uuid::new_v5(&NAMESPACE, name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_its_own_trace_and_any_other_name_has_one_too() {
        let uuid = RunId::parse("5a0c3b1e-8f5e-4c65-9d0b-0a3f6a3b7f10").unwrap();
        assert_eq!(trace_id(&uuid), "5a0c3b1e8f5e4c659d0b0a3f6a3b7f10");
        let nil = RunId::parse("00000000-0000-0000-0000-000000000000").unwrap();
        for run in [nil, RunId::parse("nightly").unwrap()] {
            let id = trace_id(&run);
            assert!(id.len() == 32 && id.bytes().any(|digit| digit != b'0'), "{id}");
        }
    }

    #[test]
    fn the_caller_and_the_called_agree_on_the_span_between_them() {
        let [caller, called] = ["a", "b"].map(|id| RunId::parse(id).unwrap());
        let key = Key::Call(called.clone());
        assert_eq!(span_id(&caller, &key), span_id(&called, &key));
        assert_ne!(span_id(&caller, &Key::Run), span_id(&called, &Key::Run));
    }
}
