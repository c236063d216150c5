//! Where OpenCode leaves its sessions: in a database, which is not read here.

use crate::registry::SessionFiles;

/// None.
pub(crate) const FILES: &[SessionFiles] = &[];
