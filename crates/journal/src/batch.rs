//! Lines that wait to be written together.
//!
//! A line is handed over with the memory that it was made in, and its producer takes memory home that a
//! line before it has left. To copy it here would mean to write to memory that another core has just
//! read, at the one place where everybody else has to wait.

use std::mem::{offset_of, size_of};

use quipu_event::{LineForm, Timestamp};

use crate::combine::Load;

/// A batch that is larger takes no more lines.
const LARGEST: usize = 1024 * 1024;
/// A line that is larger is written by its producer: its memory is not for others to keep.
const LONGEST: usize = 64 * 1024;
/// So many lines stand in the batch itself. Seldom are there more, and whoever comes from another core
/// to take them finds them with what it has fetched already.
const FEW: usize = 3;

#[derive(Default)]
#[repr(C)]
pub(crate) struct Batch {
    count: usize,
    /// Lines that wait, and behind them memory for producers to take home.
    few: [LineForm; FEW],
    /// The same, for lines after the first few.
    more: Vec<LineForm>,
    /// How many bytes wait, at most.
    size: usize,
}

// The lock of the queue and the next number take 16 bytes before it; the first line is to end within 64.
const _: () = assert!(offset_of!(Batch, few) + size_of::<LineForm>() <= 48);

impl Batch {
    /// Takes all lines out: they come one behind the other, numbered from `first` and dated `now`, with
    /// the places where they end.
    pub(crate) fn fill_to(
        &mut self,
        first: u64,
        now: Timestamp,
        lines: &mut Vec<u8>,
        ends: &mut Vec<usize>,
    ) {
        let forms = self.few.iter().chain(&self.more).take(self.count);
        for (form, number) in forms.zip(first..) {
            form.fill_to(number, now, lines);
            ends.push(lines.len());
        }
        (self.count, self.size) = (0, 0);
    }
}

impl Load for Batch {
    type Job = LineForm;

    fn add(&mut self, form: &mut LineForm) {
        self.size += form.size();
        let place = match self.few.get_mut(self.count) {
            Some(place) => place,
            None => {
                let index = self.count - FEW;
                if index == self.more.len() {
                    self.more.push(LineForm::default());
                }
                &mut self.more[index]
            }
        };
        std::mem::swap(place, form);
        self.count += 1;
    }

    fn has_room_for(&self, form: &LineForm) -> bool {
        form.size() <= LONGEST && self.size < LARGEST
    }

    fn count(&self) -> usize {
        self.count
    }
}
