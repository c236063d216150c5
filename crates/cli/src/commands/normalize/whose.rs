//! Whose input it is: as the user says, or as its first records look.

use std::io::Read;

use clap::builder::PossibleValuesParser;
use quipu_provider::{Detection, PROVIDERS, Provider, Surface, detect_among, find_provider};

use super::PIECE;
use super::input::Input;
use crate::exit::UserError;
use crate::output::Screen;

/// An input that has not been recognised after so many bytes is not going to be.
const PATIENCE: usize = 256 * 1024 * 1024;

/// Provider and surface of an input, and how they are known.
pub(super) struct Whose {
    pub(super) provider: &'static Provider,
    pub(super) surface: &'static Surface,
    pub(super) certainty: Certainty,
}

/// How provider and surface are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    /// The user named both.
    Given,
    /// Nobody else writes such records.
    Sure,
    /// It could be another's.
    Guess,
}

impl Whose {
    pub(super) fn is_sure(&self) -> bool {
        self.certainty != Certainty::Guess
    }

    /// Tells a person that this is a guess.
    pub(super) fn say_so(&self, screen: Screen) {
        let (provider, surface) = (self.provider.name, self.surface.name);
        screen.note(format!(
            "note: this looks like {provider} {surface}, but not surely; \
             --provider and --surface say what it is"
        ));
    }
}

/// One way to read an input.
type Candidate = (&'static Provider, &'static Surface);

/// Finds out whose input it is, and returns the bytes that this took. Nothing if there are none.
pub(super) fn find(
    input: &mut Input,
    provider: Option<&str>,
    surface: Option<&str>,
) -> anyhow::Result<Option<(Whose, Vec<u8>)>> {
    let candidates = candidates(provider, surface)?;
    if let ([(provider, surface)], true) = (&*candidates, provider.or(surface).is_some()) {
        let certainty = Certainty::Given;
        return Ok(Some((Whose { provider, surface, certainty }, Vec::new())));
    }
    let (guess, head) = look(input, &candidates)?;
    if head.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0) {
        return Ok(None);
    }
    let Some(found) = guess else { return Err(nobodys(input, provider)) };
    let certainty = if found.is_sure { Certainty::Sure } else { Certainty::Guess };
    Ok(Some((Whose { provider: found.provider, surface: found.surface, certainty }, head)))
}

/// Reads until it is plain whose input it is, or until there is no more.
fn look(
    input: &mut Input,
    candidates: &[Candidate],
) -> anyhow::Result<(Option<Detection>, Vec<u8>)> {
    let mut head = Vec::new();
    let mut piece = vec![0; PIECE];
    let mut looked_at = 0;
    loop {
        let len = input.read(&mut piece)?;
        head.extend_from_slice(&piece[..len]);
        let is_all = len == 0;
        // Looking again is worth it when there is twice as much to look at, and another record.
        let has_more = head.len() >= 2 * looked_at
            && (looked_at == 0 || memchr::memchr(b'\n', &head[looked_at..]).is_some());
        if is_all || has_more {
            looked_at = head.len();
            let found = detect_among(&head, candidates.iter().copied());
            let enough = is_all || found.is_some_and(|found| found.is_sure || head.len() > PIECE);
            if enough || head.len() > PATIENCE {
                return Ok((found, head));
            }
        }
    }
}

/// Returns what the user's words leave to choose from.
fn candidates(provider: Option<&str>, surface: Option<&str>) -> anyhow::Result<Vec<Candidate>> {
    let providers: Vec<&'static Provider> = match provider {
        Some(name) => find_provider(name).into_iter().collect(),
        None => PROVIDERS.to_vec(),
    };
    let all =
        providers.iter().flat_map(|provider| provider.surfaces.iter().map(|s| (*provider, s)));
    let named: Vec<Candidate> =
        all.clone().filter(|(_, s)| surface.is_none_or(|name| s.name == name)).collect();
    if let (true, Some(name)) = (named.is_empty(), surface) {
        let mut names: Vec<_> = all.map(|(_, surface)| surface.name).collect();
        names.sort_unstable();
        names.dedup();
        let who = provider.unwrap_or("nobody here");
        let what = if provider.is_some() { "has no" } else { "has a" };
        let error = UserError::new(format!("{who} {what} surface {name:?}"));
        return Err(error.with_hint(format!("there is {}", names.join(", "))).into());
    }
    Ok(named)
}

fn nobodys(input: &Input, provider: Option<&str>) -> anyhow::Error {
    let error = match provider {
        Some(name) => UserError::new(format!("{} does not look like {name}", input.name()))
            .with_hint("--surface reads it all the same; --help lists the surfaces"),
        None => UserError::new(format!("{} looks like no agent's output", input.name()))
            .with_hint("--provider and --surface say what it is; --help lists them"),
    };
    error.into()
}

/// Returns the providers' names, for the command line.
pub(in crate::commands) fn provider_names() -> PossibleValuesParser {
    PossibleValuesParser::new(PROVIDERS.iter().map(|provider| provider.name))
}

/// Returns the list of surfaces, for the long help.
pub(super) fn surfaces_help() -> String {
    let mut help = "Providers and their surfaces:\n".to_owned();
    for provider in PROVIDERS {
        for surface in provider.surfaces {
            let name = format!("{} {}", provider.name, surface.name);
            help.push_str(&format!("  {name:<20} {}\n", surface.about));
        }
    }
    help
}
