//! What root may do beyond files: modules, devices, clocks, routes. A command has no use for it.
//!
//! Landlock speaks of files. A root who can load a module or write to the memory of the kernel is held by
//! nothing, so these powers are given up first. Who is not root has none of them.

use rustix::thread::{
    CapabilitySet, clear_ambient_capability_set, remove_capability_from_bounding_set,
};

/// What is left to root: files in the root may belong to anybody, and be given to anybody.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETFCAP)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::NET_RAW);

/// Sees to it that a program which this thread starts has no more than these powers.
pub(super) fn give_up() {
    // Who may not give them up does not have them.
    let _ = clear_ambient_capability_set();
    for power in CapabilitySet::all().difference(KEPT).iter() {
        let _ = remove_capability_from_bounding_set(power);
    }
}
