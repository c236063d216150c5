//! Where transcripts go, and how they are written.

use quipu_journal::{Layout, Options};

/// Where transcripts go, and how they are written.
#[derive(Clone)]
pub struct Store {
    /// Where runs live.
    pub layout: Layout,
    /// How recorders go about their work.
    pub options: Options,
}

impl Store {
    /// A store at `layout`.
    pub fn new(layout: Layout, options: Options) -> Self {
        Store { layout, options }
    }
}
