//! The rules, in Landlock's terms. Newer rights are asked for, and left out by kernels without them.

use std::fs::File;
use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, BitFlags, LandlockStatus, PathBeneath, PathFd, RestrictionStatus,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};

use super::{powers, system};

/// The version whose rights are known here.
const KNOWN: ABI = ABI::V9;

/// Restricts this thread to next to nothing, and returns the version of Landlock that did it.
pub(super) fn try_out() -> io::Result<i32> {
    let status = ruleset().and_then(RulesetCreated::restrict_self).map_err(io::Error::other)?;
    match status {
        RestrictionStatus {
            ruleset: RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced,
            landlock: LandlockStatus::Available { effective_abi, .. },
            ..
        } => Ok(effective_abi as i32),
        RestrictionStatus { landlock: LandlockStatus::NotEnabled, .. } => {
            Err(io::Error::other("this kernel has Landlock, and it is not enabled"))
        }
        _ => Err(io::Error::other("this kernel has no Landlock")),
    }
}

/// Restricts this thread, and every program that it starts, to a root and a scratch directory.
pub(super) fn restrict(root: &File, scratch: &Path) -> io::Result<()> {
    powers::give_up();
    let status = restricted(root, scratch).map_err(io::Error::other)?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err(io::Error::other("it cannot be confined any more")),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

fn restricted(root: &File, scratch: &Path) -> Result<RestrictionStatus, RulesetError> {
    let read = AccessFs::from_read(KNOWN);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let mut rules = ruleset()?.add_rule(PathBeneath::new(root, anything_with_files()))?;
    if let Ok(scratch) = PathFd::new(scratch) {
        rules = rules.add_rule(PathBeneath::new(scratch, anything_with_files()))?;
    }
    rules
        .add_rules(path_beneath_rules(system::readable_by_everyone(), read))?
        .add_rules(path_beneath_rules(system::DEVICES, device))?
        .restrict_self()
}

fn ruleset() -> Result<RulesetCreated, RulesetError> {
    let ruleset = Ruleset::default().handle_access(AccessFs::from_all(KNOWN))?;
    ruleset.scope(Scope::from_all(KNOWN))?.create()
}

/// Everything but making devices, which would be a way to the disks for a user who may make them.
fn anything_with_files() -> BitFlags<AccessFs> {
    let devices = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
    AccessFs::from_all(KNOWN) & !devices
}
