//! Lines that are numbered and dated and wait to be written together.

use std::sync::Arc;

use quipu_event::LineForm;

use crate::clock::Clock;
use crate::combine::Load;

/// A batch that is larger takes no more lines.
const LARGEST: usize = 1024 * 1024;
/// A line that is larger is written by its producer: copying it would take longer than a write.
const LONGEST: usize = 64 * 1024;

pub(crate) struct Batch {
    clock: Arc<dyn Clock>,
    /// The lines, one behind the other.
    pub(crate) bytes: Vec<u8>,
    /// Where each of them ends.
    pub(crate) ends: Vec<usize>,
}

impl Batch {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Batch { clock, bytes: Vec::new(), ends: Vec::new() }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

impl Load for Batch {
    type Job = LineForm;

    fn add(&mut self, number: u64, form: &mut LineForm) {
        self.bytes.extend_from_slice(form.fill(number, self.clock.now()));
        self.ends.push(self.bytes.len());
    }

    fn has_room_for(&self, form: &LineForm) -> bool {
        form.size() <= LONGEST && self.bytes.len() < LARGEST
    }

    fn count(&self) -> usize {
        self.ends.len()
    }
}
