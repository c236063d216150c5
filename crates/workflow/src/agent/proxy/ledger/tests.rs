//! Both orders, and everything in between, come to the same account.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// An account, and what was recorded along with it.
struct Book {
    ledger: Ledger<&'static str>,
    taken: HashSet<String>,
    links: Vec<(String, String)>,
    own: Vec<&'static str>,
    fresh: usize,
}

fn book(ids: Ids) -> Book {
    let (taken, links, own) = (HashSet::new(), Vec::new(), Vec::new());
    Book { ledger: Ledger::new(ids), taken, links, own, fresh: 0 }
}

fn read(path: &str) -> Spoken {
    Spoken { tool: "Read".to_owned(), input: json!({ "path": path }) }
}

impl Book {
    fn made(&mut self, path: &str, model_id: Option<&str>) -> String {
        let Book { taken, fresh, .. } = self;
        *fresh += 1;
        let free = |wanted: Option<&str>| {
            let wanted = wanted.map_or(format!("new-{fresh}"), str::to_owned);
            let id = if taken.contains(&wanted) { format!("{wanted}-{fresh}") } else { wanted };
            taken.insert(id.clone());
            id
        };
        let made = self.ledger.made(read(path), model_id.map(str::to_owned), free);
        let (call_id, telling) = made.unwrap();
        self.tell(telling);
        call_id
    }

    fn told(&mut self, id: &str, path: &str) {
        let telling = self.ledger.told(id, read(path), "call");
        self.tell(telling);
    }

    fn ended(&mut self, id: &str, is_completed: bool) {
        let telling = self.ledger.ended(id, is_completed, "result");
        self.tell(telling);
    }

    fn close(&mut self) {
        self.own.extend(self.ledger.close());
    }

    fn tell(&mut self, telling: Telling<&'static str>) {
        match telling {
            Telling::Nothing => {}
            Telling::Own(call, result) => self.own.extend(call.into_iter().chain(result)),
            Telling::Linked(link, call, _) => {
                self.links.extend(call.map(|_| (link.agent_call_id, link.call_id)));
            }
        }
    }

    fn check(&self, links: &[(&str, &str)], own: &[&str]) {
        let found: Vec<_> = self.links.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(found, links);
        assert_eq!(self.own, own);
    }
}

#[test]
fn a_call_that_was_spoken_of_before_has_the_agents_id() {
    let mut book = book(Ids::OfModel);
    book.told("item_1", "a");
    assert_eq!(book.made("a", None), "item_1");
    book.ended("item_1", true);
    book.close();
    book.check(&[("item_1", "item_1")], &[]);
}

#[test]
fn a_call_that_is_spoken_of_later_is_linked_to_its_own_id() {
    let mut book = book(Ids::OfModel);
    assert_eq!(book.made("a", None), "new-1");
    assert_eq!(book.ledger.said("item_1", read("a")).as_deref(), Some("new-1"));
    book.told("item_1", "a");
    book.ended("item_1", true);
    book.close();
    book.check(&[("item_1", "new-1")], &[]);
}

#[test]
fn an_id_that_the_agent_sends_along_is_the_calls_id_in_either_order() {
    let mut book = book(Ids::OfStream);
    assert_eq!(book.made("a", Some("toolu_1")), "toolu_1");
    book.told("toolu_2", "a");
    book.told("toolu_1", "a");
    assert_eq!(book.made("a", Some("toolu_2")), "toolu_2");
    book.close();
    book.check(&[("toolu_1", "toolu_1"), ("toolu_2", "toolu_2")], &[]);
}

#[test]
fn an_id_of_the_model_only_is_the_calls_id_and_arguments_find_the_mention() {
    let mut book = book(Ids::OfModel);
    assert_eq!(book.made("a", Some("call_9")), "call_9");
    book.told("item_1", "a");
    book.told("item_2", "b");
    assert_eq!(book.made("b", Some("call_10")), "call_10");
    book.close();
    book.check(&[("item_1", "call_9"), ("item_2", "call_10")], &[]);
}

#[test]
fn two_equal_calls_at_once_are_two() {
    let mut book = book(Ids::OfModel);
    book.told("item_1", "a");
    assert_eq!(book.made("a", None), "item_1");
    assert_eq!(book.made("a", None), "new-2");
    book.told("item_2", "a");
    book.ended("item_2", true);
    book.ended("item_1", false);
    book.close();
    book.check(&[("item_1", "item_1"), ("item_2", "new-2")], &[]);
}

#[test]
fn an_id_that_is_used_again_is_another_call() {
    for ids in [Ids::OfModel, Ids::OfStream] {
        let mut book = book(ids);
        for (turn, expected) in ["t", "t-2"].into_iter().enumerate() {
            book.told("t", "a");
            let model_id = Some("t").filter(|_| ids == Ids::OfStream);
            assert_eq!(book.made("a", model_id), expected, "{ids:?}, call {turn}");
            book.ended("t", true);
        }
        book.close();
        book.check(&[("t", "t"), ("t", "t-2")], &[]);
    }
}

#[test]
fn a_mention_that_never_reached_us_is_the_agents_own() {
    let mut book = book(Ids::OfModel);
    book.told("denied", "a");
    book.ended("denied", false);
    book.check(&[], &["call", "result"]);
    book.told("cut off", "b");
    book.close();
    book.check(&[], &["call", "result", "call"]);
}

#[test]
fn a_call_that_is_never_spoken_of_stays_alone() {
    let mut book = book(Ids::OfModel);
    book.made("a", None);
    book.told("denied", "b");
    book.ended("denied", false);
    book.close();
    book.check(&[], &["call", "result"]);
}

#[test]
fn an_equal_call_that_ends_before_its_own_is_made_waits_for_it() {
    let mut book = book(Ids::OfModel);
    book.told("b", "same");
    assert_eq!(book.made("same", None), "b");
    book.told("a", "same");
    book.ended("a", true);
    book.check(&[("b", "b")], &[]);
    assert_eq!(book.made("same", None), "a");
    book.ended("b", true);
    book.close();
    book.check(&[("b", "b"), ("a", "a")], &[]);
}

#[test]
fn arguments_that_are_masked_on_the_stream_do_not_make_two_calls() {
    let mut book = book(Ids::OfModel);
    let call_id = book.made("a-secret", None);
    book.told("call-1", "a-******");
    book.check(&[], &[]);
    book.ended("call-1", true);
    book.close();
    book.check(&[("call-1", &call_id)], &[]);
}

#[test]
fn nothing_is_called_when_the_turn_is_over() {
    let mut book = book(Ids::OfModel);
    book.ledger.refuse();
    assert_eq!(book.ledger.made(read("a"), None, |_| unreachable!()), None);
}

/// What can happen to one call, in its order: the agent's mention and the call itself may change places.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    Said,
    Told,
    Made,
    Ended,
}

/// Makes the moments of some calls, interleaved in any way in which they can really happen.
fn histories() -> impl Strategy<Value = Vec<(usize, Moment)>> {
    use Moment::{Ended, Made, Said, Told};
    let orders = prop_oneof![
        Just(vec![Said, Told, Made, Ended]),
        Just(vec![Said, Made, Told, Ended]),
        Just(vec![Made, Said, Told, Ended]),
        Just(vec![Told, Made, Ended]),
        Just(vec![Made, Told, Ended]),
        Just(vec![Made, Told]),
        Just(vec![Told, Made]),
    ];
    let calls = prop::collection::vec(orders, 1..8);
    (calls, prop::collection::vec(any::<prop::sample::Index>(), 64)).prop_map(|(calls, picks)| {
        let mut waiting: Vec<_> =
            calls.into_iter().enumerate().map(|(call, order)| (call, order.into_iter())).collect();
        let mut history = Vec::new();
        for pick in picks {
            waiting.retain(|(_, order)| order.len() > 0);
            if waiting.is_empty() {
                break;
            }
            let at = pick.index(waiting.len());
            let (call, order) = &mut waiting[at];
            history.extend(order.next().map(|moment| (*call, moment)));
        }
        history
    })
}

proptest! {
    #[test]
    fn any_interleaving_gives_every_call_one_link(
        history in histories(),
        kinds in prop::collection::vec(0..3_u8, 8),
        sends_ids: bool,
    ) {
        let mut book = book(if sends_ids { Ids::OfStream } else { Ids::OfModel });
        let mut made = BTreeMap::new();
        for (call, moment) in &history {
            // Some of the calls are equal.
            let path = kinds[*call].to_string();
            let id = format!("id-{call}");
            match moment {
                Moment::Said => drop(book.ledger.said(&id, read(&path))),
                Moment::Told => book.told(&id, &path),
                Moment::Made => {
                    drop(made.insert(*call, book.made(&path, Some(&*id).filter(|_| sends_ids))));
                }
                Moment::Ended => book.ended(&id, true),
            }
        }
        book.close();
        let told: HashSet<usize> =
            history.iter().filter(|(_, moment)| *moment == Moment::Told).map(|(call, _)| *call).collect();
        let links: HashSet<&String> = book.links.iter().map(|(_, call_id)| call_id).collect();
        prop_assert_eq!(book.links.len(), told.len());
        prop_assert_eq!(links.len(), made.len().min(told.len()));
        prop_assert_eq!(book.taken.len(), made.len());
        prop_assert_eq!(&book.own, &Vec::<&str>::new());
        if sends_ids {
            for (agent, ours) in &book.links {
                prop_assert_eq!(agent, ours);
            }
        }
    }
}
