//! Where transcripts go, and how they are written.

use quipu_journal::{Layout, Options};
use quipu_provider::KeptBytes;

/// Where transcripts go, and how they are written.
#[derive(Clone)]
pub struct Store {
    /// Where runs live.
    pub layout: Layout,
    /// How recorders go about their work.
    pub options: Options,
    /// Which foreign bytes are kept beside the events made from them.
    pub kept: KeptBytes,
}

impl Store {
    /// A store at `layout` that keeps all foreign bytes.
    pub fn new(layout: Layout, options: Options) -> Self {
        Store { layout, options, kept: KeptBytes::Full }
    }
}
