//! The list of providers, and how an input tells whose it is.

use crate::framing::{Framer, Framing};
use crate::normalizer::Normalize;
use crate::record::{Fragment, Record};

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

/// Where a provider leaves its own sessions. Patterns only; nobody here looks at a disk.
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
    let mut best: Option<(u32, Detection)> = None;
    let mut runner_up = 0;
    for provider in providers.iter().copied() {
        for surface in provider.surfaces {
            let score = score(head, surface);
            let (top, _) = best.unwrap_or((0, Detection { provider, surface, is_sure: false }));
            if score > top {
                runner_up = top;
                best = Some((score, Detection { provider, surface, is_sure: false }));
            } else {
                runner_up = runner_up.max(score);
            }
        }
    }
    let (score, detection) = best?;
    // A single record that nobody else writes outweighs any number that could be anybody's.
    let is_sure = score >= SURE && score >= 2 * runner_up;
    Some(Detection { is_sure, ..detection })
}

const SURE: u32 = 100;

fn score(head: &[u8], surface: &Surface) -> u32 {
    let (mut score, mut seen) = (0_u32, 0);
    let mut look = |fragment: Fragment<'_>| {
        let Fragment::Record(record) = fragment else { return };
        seen += 1;
        if seen <= RECORDS_LOOKED_AT && record.is_object() {
            score += match (surface.likeness)(&record) {
                Likeness::No => 0,
                Likeness::Maybe => 1,
                Likeness::Sure => SURE,
            };
        }
    };
    let mut framer = Framer::new(surface.framing);
    framer.push(head, &mut look);
    framer.finish(&mut look);
    score
}
