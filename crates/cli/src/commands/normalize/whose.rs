//! Whose input it is: as the user says, or as its first records look.

use std::io::Read;

use clap::builder::PossibleValuesParser;
use quipu_provider::{PROVIDERS, Provider, Surface, detect, find_provider};

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

/// Finds out whose input it is, and returns the bytes that this took. Nothing if there are none.
pub(super) fn find(
    input: &mut Input,
    provider: Option<&str>,
    surface: Option<&str>,
) -> anyhow::Result<Option<(Whose, Vec<u8>)>> {
    let candidates: Vec<&'static Provider> = match provider {
        Some(name) => find_provider(name).into_iter().collect(),
        None => PROVIDERS.to_vec(),
    };
    if let Some(whose) = named(&candidates, provider, surface)? {
        return Ok(Some((whose, Vec::new())));
    }
    let mut head = Vec::new();
    let mut piece = vec![0; PIECE];
    let mut looked_at = 0;
    let guess = loop {
        let len = input.read(&mut piece)?;
        head.extend_from_slice(&piece[..len]);
        let is_all = len == 0;
        // Looking again is worth it when there is twice as much to look at, and another record.
        let has_more = head.len() >= 2 * looked_at
            && (looked_at == 0 || memchr::memchr(b'\n', &head[looked_at..]).is_some());
        if is_all || has_more {
            looked_at = head.len();
            let found = detect(&head, &candidates);
            let enough = is_all || found.is_some_and(|found| found.is_sure || head.len() > PIECE);
            if enough || head.len() > PATIENCE {
                break found;
            }
        }
    };
    if head.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0) {
        return Ok(None);
    }
    match guess {
        Some(found) => {
            let certainty = if found.is_sure { Certainty::Sure } else { Certainty::Guess };
            let whose = Whose { provider: found.provider, surface: found.surface, certainty };
            Ok(Some((check_surface(whose, surface)?, head)))
        }
        None => Err(nobodys(input, provider)),
    }
}

/// Returns what the user named, if that leaves no choice.
fn named(
    candidates: &[&'static Provider],
    provider: Option<&str>,
    surface: Option<&str>,
) -> anyhow::Result<Option<Whose>> {
    let certainty = Certainty::Given;
    let (Some(_), [provider]) = (provider, candidates) else {
        if surface.is_some() {
            let error = UserError::new("--surface says nothing without --provider");
            return Err(error.with_hint("name both, or neither").into());
        }
        return Ok(None);
    };
    let provider = *provider;
    let surface = match surface {
        Some(name) => Some(provider.find_surface(name).ok_or_else(|| {
            let names: Vec<_> = provider.surfaces.iter().map(|surface| surface.name).collect();
            UserError::new(format!("{} has no surface {name:?}", provider.name))
                .with_hint(format!("it has {}", names.join(", ")))
        })?),
        None => None,
    };
    let surface = match (surface, provider.surfaces) {
        (Some(surface), _) => surface,
        (None, [only]) => only,
        (None, _) => return Ok(None),
    };
    Ok(Some(Whose { provider, surface, certainty }))
}

fn check_surface(whose: Whose, surface: Option<&str>) -> anyhow::Result<Whose> {
    match surface {
        // A named surface was found before anything was read.
        Some(name) if name != whose.surface.name => {
            Err(UserError::new(format!("this does not look like {name}")).into())
        }
        _ => Ok(whose),
    }
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
pub(super) fn provider_names() -> PossibleValuesParser {
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
