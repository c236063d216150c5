//! Chats that rewrite themselves while they are read: what was told stays told, and is told once.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use quipu_event::{Kind, Payload};
use quipu_provider::{KeptBytes, Made, Normalizer, Surface};
use serde_json::{Value, json};

use crate::reading::payloads;
use crate::settling::{Sum, difference, read_settling, sum, surface};

/// One thing that happens to a chat; `which` picks a message.
#[derive(Clone, Debug)]
enum Change {
    Prompt,
    Reply,
    Notice,
    MoreText { which: usize },
    MoreThoughts { which: usize },
    MoreTokens { which: usize, by: u64 },
    Call { which: usize },
    Answer { which: usize },
    Again { which: usize },
    LastUpdated,
    Rewind { which: usize },
    Checkpoint { kept: usize },
    Recall,
}

/// A chat as its agent holds it.
struct Chat {
    messages: Vec<Value>,
    taken_back: Vec<Value>,
    count: usize,
    lines: Vec<String>,
    /// Every text that a message has had.
    texts: BTreeMap<String, BTreeSet<String>>,
}

impl Chat {
    fn new() -> Self {
        let header = json!({
            "sessionId": "s1", "projectHash": "p1", "kind": "main",
            "startTime": "2026-03-01T10:00:00.000Z", "lastUpdated": "2026-03-01T10:00:00.000Z",
        });
        Chat {
            messages: Vec::new(),
            taken_back: Vec::new(),
            count: 0,
            lines: vec![header.to_string()],
            texts: BTreeMap::new(),
        }
    }

    fn made_by(changes: &[Change]) -> Self {
        let mut chat = Chat::new();
        changes.iter().for_each(|change| chat.apply(change));
        chat
    }

    fn input(&self) -> Vec<u8> {
        self.lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
    }

    fn document(&self) -> Vec<u8> {
        let document = json!({
            "sessionId": "s1", "projectHash": "p1", "startTime": "2026-03-01T10:00:00.000Z",
            "lastUpdated": format!("2026-03-01T10:00:{:02}.000Z", self.count % 60),
            "messages": self.messages,
        });
        serde_json::to_vec_pretty(&document).unwrap()
    }

    fn next(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    fn add(&mut self, kind: &str, content: Value) {
        let number = self.next();
        let time = format!("2026-03-01T10:{:02}:00.000Z", number % 60);
        let message = json!({ "id": format!("m{number}"), "timestamp": time, "type": kind, "content": content });
        self.messages.push(message);
        self.write(self.messages.len() - 1);
    }

    fn write(&mut self, place: usize) {
        let message = &self.messages[place];
        self.lines.push(message.to_string());
        let text = match &message["content"] {
            Value::String(text) => text.clone(),
            parts => parts
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|part| part["text"].as_str())
                .collect(),
        };
        self.texts.entry(message["id"].as_str().unwrap().to_owned()).or_default().insert(text);
    }

    fn reply(&self, which: usize) -> Option<usize> {
        let replies: Vec<_> = self
            .messages
            .iter()
            .enumerate()
            .filter(|(_, message)| message["type"] == "gemini")
            .collect();
        (!replies.is_empty()).then(|| replies[which % replies.len()].0)
    }

    /// Changes a reply and writes it again.
    fn change(&mut self, which: usize, change: impl FnOnce(&mut Value, usize)) {
        let number = self.next();
        let Some(place) = self.reply(which) else { return };
        change(&mut self.messages[place], number);
        self.write(place);
    }

    fn apply(&mut self, change: &Change) {
        match *change {
            Change::Prompt => {
                let text = format!("prompt {}", self.count);
                self.add("user", json!([{ "text": text }]));
            }
            Change::Reply => self.add("gemini", json!("")),
            Change::Notice => self.add("info", json!("something")),
            Change::MoreText { which } => self.change(which, |message, number| {
                let text = format!("{}é{number}.", message["content"].as_str().unwrap());
                message["content"] = json!(text);
            }),
            Change::MoreThoughts { which } => self.change(which, |message, number| {
                let thought = json!({ "subject": format!("thought {number}"), "description": "" });
                push(message, "thoughts", thought);
            }),
            Change::MoreTokens { which, by } => self.change(which, |message, _| {
                let tokens = &message["tokens"];
                let more = |key: &str, by: u64| tokens[key].as_u64().unwrap_or(0) + by;
                let tokens = json!({
                    "input": more("input", by), "output": more("output", by / 2), "cached": 0,
                    "thoughts": more("thoughts", by / 3), "tool": 0, "total": 0,
                });
                message["tokens"] = tokens;
                message["model"] = json!("gemini-2.5-pro");
            }),
            Change::Call { which } => self.change(which, |message, number| {
                let call = json!({
                    "id": format!("call{number}"), "name": "read_file", "args": { "n": number },
                    "status": "executing",
                });
                push(message, "toolCalls", call);
            }),
            Change::Answer { which } => self.change(which, |message, _| {
                let calls = message["toolCalls"].as_array_mut();
                let open = calls.into_iter().flatten().find(|call| call["status"] == "executing");
                if let Some(call) = open {
                    let id = call["id"].clone();
                    let response =
                        json!({ "id": id, "name": "read_file", "response": { "output": "x" } });
                    call["result"] = json!([{ "functionResponse": response }]);
                    call["status"] = json!("success");
                }
            }),
            Change::Again { which } => self.change(which, |_, _| {}),
            Change::LastUpdated => {
                let number = self.next();
                let time = format!("2026-03-01T11:{:02}:00.000Z", number % 60);
                self.lines.push(json!({ "$set": { "lastUpdated": time } }).to_string());
            }
            Change::Rewind { which } if !self.messages.is_empty() => {
                let place = which % self.messages.len();
                let id = self.messages[place]["id"].clone();
                self.taken_back.extend(self.messages.split_off(place));
                self.lines.push(json!({ "$rewindTo": id }).to_string());
            }
            Change::Rewind { .. } => {}
            Change::Checkpoint { kept } => {
                let kept = kept.min(self.messages.len());
                self.taken_back.extend(self.messages.split_off(kept));
                let number = self.next();
                self.lines.push(
                    json!({ "$set": { "messages": self.messages, "n": number } }).to_string(),
                );
            }
            Change::Recall => {
                for message in std::mem::take(&mut self.taken_back) {
                    self.messages.push(message);
                    self.write(self.messages.len() - 1);
                }
            }
        }
    }
}

fn push(message: &mut Value, key: &str, item: Value) {
    match message[key].as_array_mut() {
        Some(list) => list.push(item),
        None => message[key] = json!([item]),
    }
}

fn growth() -> impl Strategy<Value = Change> {
    let which = 0_usize..8;
    prop_oneof![
        1 => Just(Change::Prompt),
        2 => Just(Change::Reply),
        1 => Just(Change::Notice),
        2 => which.clone().prop_map(|which| Change::MoreText { which }),
        1 => which.clone().prop_map(|which| Change::MoreThoughts { which }),
        2 => (which.clone(), 0_u64..100).prop_map(|(which, by)| Change::MoreTokens { which, by }),
        2 => which.clone().prop_map(|which| Change::Call { which }),
        2 => which.clone().prop_map(|which| Change::Answer { which }),
        1 => which.prop_map(|which| Change::Again { which }),
        1 => Just(Change::LastUpdated),
    ]
}

fn any_change() -> impl Strategy<Value = Change> {
    prop_oneof![
        8 => growth(),
        1 => (0_usize..8).prop_map(|which| Change::Rewind { which }),
        1 => (0_usize..8).prop_map(|kept| Change::Checkpoint { kept }),
        1 => Just(Change::Recall),
    ]
}

/// Returns where the lines end that are picked.
fn silences(input: &[u8], picked: &[bool]) -> Vec<usize> {
    let ends = input.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    ends.enumerate().filter(|(line, _)| picked[line % picked.len()]).map(|(_, end)| end).collect()
}

fn read_documents(documents: &[Vec<u8>]) -> Vec<Made> {
    read_documents_of(surface("gemini", "session"), documents)
}

fn read_documents_of(surface: &Surface, documents: &[Vec<u8>]) -> Vec<Made> {
    let mut normalizer = Normalizer::new(surface, KeptBytes::Full);
    let mut made = Vec::new();
    for document in documents {
        normalizer.push(document, &mut made);
        normalizer.end_input(&mut made);
        normalizer.settle(&mut made);
    }
    normalizer.finish(&mut made);
    made
}

fn kept_documents(made: &[Made]) -> Vec<Vec<u8>> {
    let raws = made.iter().filter_map(|made| made.draft.raw.as_ref());
    raws.map(|raw| raw.bytes().unwrap().to_vec()).collect()
}

fn subtypes(made: &[Made]) -> Vec<(String, Value)> {
    let systems = payloads(made).into_iter().filter_map(|(_, payload)| match payload {
        Payload::System(system) => Some((system.subtype, Value::Object(system.facts))),
        _ => None,
    });
    systems.collect()
}

fn without_bytes(sum: Sum) -> Sum {
    Sum { kept: BTreeMap::new(), ..sum }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_chat_that_only_grows_comes_to_the_same_however_often_it_settles(
        changes in prop::collection::vec(growth(), 1..24),
        picked in prop::collection::vec(any::<bool>(), 1..12),
    ) {
        let input = Chat::made_by(&changes).input();
        let gemini = surface("gemini", "session");
        let whole = sum(&read_settling(gemini, &input, &[], &[]), false);
        for picked in [&*picked, &[true]] {
            let settled = read_settling(gemini, &input, &silences(&input, picked), &[]);
            prop_assert_eq!(difference(&sum(&settled, false), &whole), Vec::<String>::new());
            prop_assert_eq!(&settled[0].draft.kind, &Kind::RunStarted);
        }
    }

    #[test]
    fn a_chat_that_takes_back_says_nothing_twice(
        changes in prop::collection::vec(any_change(), 1..24),
        picked in prop::collection::vec(any::<bool>(), 1..12),
    ) {
        let chat = Chat::made_by(&changes);
        let input = chat.input();
        let gemini = surface("gemini", "session");
        let whole = sum(&read_settling(gemini, &input, &[], &[]), false);
        for picked in [&*picked, &[true]] {
            let silences = silences(&input, picked);
            let made = read_settling(gemini, &input, &silences, &[]);
            let settled = sum(&made, false);
            prop_assert_eq!(&settled.kept, &whole.kept);
            prop_assert!(settled.calls.values().chain(settled.results.values()).all(|times| *times == 1));
            for ((_, id), (text, _)) in &settled.said {
                let texts = &chat.texts[id.as_ref().unwrap()];
                prop_assert!(texts.contains(text), "{:?} never said {:?}", id, text);
            }
            for ((_, id), (text, _)) in &whole.said {
                let told = settled.said.iter().find(|((_, other), _)| other == id);
                // A reply that only calls may have been told with another one's calls.
                let is_told = told.is_some_and(|(_, told)| told.0.starts_with(text));
                prop_assert!(text.is_empty() || is_told, "{:?} is lost", id);
            }
            let again = read_settling(gemini, &input, &silences, &[input.len() / 3, input.len() / 2]);
            prop_assert_eq!(&made, &again);
        }
    }

    #[test]
    fn a_document_that_is_written_anew_comes_to_what_its_last_version_says(
        changes in prop::collection::vec(growth(), 1..16),
        picked in prop::collection::vec(any::<bool>(), 1..6),
    ) {
        let mut chat = Chat::new();
        let mut documents = vec![chat.document()];
        for (number, change) in changes.iter().enumerate() {
            chat.apply(change);
            if picked[number % picked.len()] {
                documents.push(chat.document());
            }
        }
        documents.push(chat.document());
        let made = read_documents(&documents);
        let whole = read_documents(&documents[documents.len() - 1..]);
        let (grown, whole) = (without_bytes(sum(&made, false)), without_bytes(sum(&whole, false)));
        prop_assert_eq!(difference(&grown, &whole), Vec::<String>::new());
        prop_assert_eq!(kept_documents(&made), documents);
    }
}

#[test]
fn a_document_that_says_nothing_new_is_one_fact() {
    let chat = Chat::made_by(&[Change::Prompt, Change::Reply, Change::MoreText { which: 0 }]);
    let mut later: Value = serde_json::from_slice(&chat.document()).unwrap();
    later["lastUpdated"] = json!("2026-03-02T10:00:00.000Z");
    let touched = serde_json::to_vec_pretty(&later).unwrap();
    later["summary"] = json!("A chat.");
    let summed_up = serde_json::to_vec_pretty(&later).unwrap();
    let before = read_documents(&[chat.document()]);
    let made = read_documents(&[chat.document(), touched, summed_up.clone(), summed_up]);
    assert_eq!(made.len(), before.len() + 3);
    let facts =
        [json!({"fields": ["lastUpdated"]}), json!({"fields": ["summary"]}), json!({"fields": []})];
    assert_eq!(subtypes(&made), facts.map(|facts| ("metadata".to_owned(), facts)));
}

#[test]
fn a_document_that_leaves_out_what_was_told_says_so_once() {
    let chat = Chat::made_by(&[Change::Prompt, Change::Reply, Change::MoreText { which: 0 }]);
    let mut shorter: Value = serde_json::from_slice(&chat.document()).unwrap();
    shorter["messages"].as_array_mut().unwrap().pop();
    let shorter = serde_json::to_vec_pretty(&shorter).unwrap();
    let made = read_documents(&[chat.document(), shorter, chat.document()]);
    let facts = subtypes(&made);
    assert_eq!(facts[0], ("checkpoint".to_owned(), json!({ "messages": 1, "dropped": 1 })));
    assert_eq!(facts.len(), 2, "{facts:?}");
    let replies = made.iter().filter(|made| made.draft.kind == Kind::MessageAssistant);
    assert_eq!(replies.count(), 1);
}

#[test]
fn a_told_message_that_is_taken_back_is_no_dropped_message() {
    let changes = [
        Change::Prompt,
        Change::Reply,
        Change::MoreText { which: 0 },
        Change::Rewind { which: 1 },
        Change::Recall,
    ];
    let input = Chat::made_by(&changes).input();
    let gemini = surface("gemini", "session");
    let told = subtypes(&read_settling(gemini, &input, &silences(&input, &[true]), &[]));
    let names: Vec<_> = told.iter().map(|(subtype, _)| &**subtype).collect();
    // The empty reply, its rewind, and its return.
    assert_eq!(names, ["metadata", "rewound", "repeated"]);
}

#[test]
fn a_history_that_is_written_anew_is_told_as_far_as_it_is_new() {
    let user = json!({ "id": "e1", "type": "user", "text": "Look." });
    let call = json!({
        "id": "e3", "type": "tool_call_requested", "callId": "c1", "name": "bash",
        "arguments": { "command": "ls" },
    });
    let mut done = call.clone();
    done["type"] = json!("tool_call_completed");
    done["result"] = json!({ "type": "success", "log": "a.txt" });
    let says = |text: &str| json!({ "id": "e2", "type": "copilot", "text": text });
    let timelines = [
        json!([user]),
        json!([user, says("I")]),
        json!([user, says("I look."), call]),
        json!([user, says("I look."), done]),
        json!([user, says("I look."), done]),
        json!([user, says("I look."), done, { "id": "e4", "type": "copilot", "text": "One." }]),
    ];
    let documents = timelines.map(|timeline| {
        let document = json!({ "sessionId": "s1", "startTime": "2025-09-30T10:00:00.000Z", "timeline": timeline });
        serde_json::to_vec_pretty(&document).unwrap()
    });
    let history = surface("copilot", "history");
    let made = read_documents_of(history, &documents);
    let whole = read_documents_of(history, &documents[5..]);
    let (grown, whole) = (without_bytes(sum(&made, false)), without_bytes(sum(&whole, false)));
    assert_eq!(difference(&grown, &whole), Vec::<String>::new());
    assert_eq!(kept_documents(&made), documents);
    assert_eq!(subtypes(&made), [("metadata".to_owned(), json!({ "fields": [] }))]);
}
