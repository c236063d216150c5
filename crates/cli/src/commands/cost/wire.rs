//! Costs as JSON. What nobody said is `null`, never 0.

use quipu_event::Timestamp;
use quipu_view::receipt::Part;
use serde::Serialize;
use serde_json::{Map, Value};

use super::By;
use super::gather::Gathered;
use super::group::Group;

#[derive(Serialize)]
pub(super) struct CostWire<'a> {
    by: &'static str,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    groups: Vec<GroupWire>,
    total: SumWire,
    price_lists: Vec<&'a str>,
    damaged_lines: u64,
}

#[derive(Serialize)]
struct GroupWire {
    /// The thing itself, under its own name.
    #[serde(flatten)]
    about: Map<String, Value>,
    #[serde(flatten)]
    sum: SumWire,
}

#[derive(Serialize)]
struct SumWire {
    runs: u64,
    #[serde(flatten)]
    used: Part,
}

impl SumWire {
    fn of(group: &Group) -> Self {
        SumWire { runs: group.runs, used: group.used }
    }
}

impl<'a> CostWire<'a> {
    pub(super) fn of(
        gathered: &'a Gathered,
        by: By,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
    ) -> Self {
        let groups = gathered.groups.sorted(by).into_iter().map(|(key, group)| {
            let mut about = Map::new();
            let name = match &key.run {
                Some(run) => {
                    about.insert("run_id".to_owned(), run.as_str().into());
                    "name"
                }
                None => by.word().0,
            };
            about.insert(name.to_owned(), key.label.clone().into());
            GroupWire { about, sum: SumWire::of(group) }
        });
        CostWire {
            by: by.word().0,
            since,
            until,
            groups: groups.collect(),
            total: SumWire::of(&gathered.total()),
            price_lists: gathered.price_lists.iter().map(String::as_str).collect(),
            damaged_lines: gathered.damage.lines(),
        }
    }
}
