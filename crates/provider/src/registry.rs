//! The list of providers, and how an input tells whose it is.

use std::cell::Cell;
use std::fmt;

use crate::framing::{Framer, Framing};
use crate::normalizer::Normalize;
use crate::pauses::Telling;
use crate::record::{Fragment, Place, Record};
use crate::value::Members;

/// Every provider. Adding one touches this line, its own folder and its cases.
pub const PROVIDERS: &[&Provider] = &[
    &crate::claude::PROVIDER,
    &crate::codex::PROVIDER,
    &crate::gemini::PROVIDER,
    &crate::copilot::PROVIDER,
    &crate::openai::PROVIDER,
    &crate::anthropic::PROVIDER,
    &crate::acp::PROVIDER,
    &crate::opencode::PROVIDER,
];

/// One agent, API or protocol.
pub struct Provider {
    /// What it is called: `claude`, `codex` …
    pub name: &'static str,
    /// The shapes in which it speaks.
    pub surfaces: &'static [Surface],
    /// Where it leaves its own sessions.
    pub files: &'static [SessionFiles],
    /// How its program tells of its work.
    pub telling: Telling,
}

/// One shape in which a provider speaks.
pub struct Surface {
    /// What it is called: `stream`, `session` …
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    pub(crate) framing: Framing,
    pub(crate) start: fn() -> Box<dyn Normalize>,
    pub(crate) likeness: fn(&Record<'_>) -> Likeness,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Provider").field(&self.name).finish()
    }
}

impl fmt::Debug for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Surface").field(&self.name).finish()
    }
}

/// Where a provider leaves its own sessions. Patterns only; nobody here looks at a disk.
#[derive(Debug)]
pub struct SessionFiles {
    /// The variable that moves its home, if there is one.
    pub home_variable: Option<&'static str>,
    /// Its home otherwise, below the user's own.
    pub home: &'static str,
    /// The files below it: `*` stands for anything in a name, `**` for any folders.
    pub pattern: &'static str,
    /// The surface they are read with.
    pub surface: &'static str,
}

/// How much a record looks like one of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Likeness {
    /// Not at all.
    No,
    /// It could be, and could be another's.
    Maybe,
    /// Nobody else writes such records.
    Sure,
}

/// Whose input it seems to be.
#[derive(Clone, Copy)]
pub struct Detection {
    /// The provider.
    pub provider: &'static Provider,
    /// The surface.
    pub surface: &'static Surface,
    /// Whether no other one would do.
    pub is_sure: bool,
}

/// So many records are looked at to tell whose they are.
const RECORDS_LOOKED_AT: usize = 40;

/// Returns the provider called `name`.
pub fn find_provider(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().copied().find(|provider| provider.name == name)
}

impl Provider {
    /// Returns the surface called `name`.
    pub fn find_surface(&self, name: &str) -> Option<&'static Surface> {
        self.surfaces.iter().find(|surface| surface.name == name)
    }
}

/// Tells whose input begins with `head`, among `providers`, or nothing if it looks like nobody's.
pub fn detect(head: &[u8], providers: &[&'static Provider]) -> Option<Detection> {
    let of = |provider: &'static Provider| provider.surfaces.iter().map(move |s| (provider, s));
    detect_among(head, providers.iter().copied().flat_map(of))
}

/// Tells the same among surfaces that the caller chooses.
pub fn detect_among(
    head: &[u8],
    surfaces: impl IntoIterator<Item = (&'static Provider, &'static Surface)>,
) -> Option<Detection> {
    let mut scores: Vec<_> =
        surfaces.into_iter().map(|(provider, surface)| (0, provider, surface)).collect();
    for framing in [Framing::Lines, Framing::LinesOrDocument, Framing::Http] {
        show_records(head, framing, |record| {
            for (score, _, surface) in &mut scores {
                if surface.framing == framing {
                    *score += weight((surface.likeness)(record));
                }
            }
        });
    }
    // Of equals the first in the list stays first.
    scores.sort_by_key(|(score, ..)| std::cmp::Reverse(*score));
    let (top, provider, surface) = *scores.first().filter(|(score, ..)| *score > 0)?;
    let runner_up = scores.get(1).map_or(0, |(score, ..)| *score);
    // A single record that nobody else writes outweighs any number that could be anybody's.
    let is_sure = top >= SURE && top >= 2 * runner_up;
    Some(Detection { provider, surface, is_sure })
}

const SURE: u32 = 100;

fn weight(likeness: Likeness) -> u32 {
    match likeness {
        Likeness::No => 0,
        Likeness::Maybe => 1,
        Likeness::Sure => SURE,
    }
}

/// Shows what has come of a record that is so large that its end is not in sight.
fn show_beginning(head: &[u8], show: &mut dyn FnMut(Fragment<'_>)) {
    let head = head.utf8_chunks().next().map(|chunk| chunk.valid().trim_start());
    let Some(source) = head.filter(|head| head.starts_with('{')) else { return };
    let members = Members::parse_beginning(source);
    let (fields, exact, place) = (members.fields(), source.as_bytes(), Place::default());
    show(Fragment::Record(Record { fields, source, exact, place, shared: None }));
}

/// Shows the first records of `head` to `look`.
fn show_records(head: &[u8], framing: Framing, mut look: impl FnMut(&Record<'_>)) {
    let seen = Cell::new(0);
    let mut show = |fragment: Fragment<'_>| {
        let Fragment::Record(record) = fragment else { return };
        seen.set(seen.get() + 1);
        if seen.get() <= RECORDS_LOOKED_AT && record.is_object() {
            look(&record);
        }
    };
    let mut framer = Framer::new(framing);
    framer.push(head, &mut show);
    framer.finish(&mut show);
    if seen.get() == 0 {
        show_beginning(head, &mut show);
    }
}
