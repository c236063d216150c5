//! One file of a session that its agent writes anew as a whole: each version tells what is new.
//!
//! What earlier versions said is read back from the transcript, which keeps them: they are taken
//! again, in their order, and the events they make are those that the transcript holds.

use std::sync::Arc;

use quipu_event::{Draft, Raw};
use quipu_journal::Mask;
use quipu_provider::{KeptBytes, Made, Normalizer};

use crate::beside::Beside;
use crate::delivery::{Delivery, Stop};
use crate::error::CollectError;
use crate::history::{SourceHistory, print_of};
use crate::input::Input;
use crate::plan::SourceFile;
use crate::session_run::SessionRun;
use crate::store::Store;

/// A file that is written anew as a whole.
pub(crate) struct Document {
    file: SourceFile,
    normalizer: Normalizer,
    delivery: Delivery,
    /// The versions that the transcript holds, until they have been taken again.
    earlier: Vec<Vec<u8>>,
    /// What hides secrets: versions are compared as they are recorded.
    mask: Option<Arc<dyn Mask>>,
    /// The number of the last version.
    last: Option<u64>,
    size: u64,
    made: Vec<Made>,
}

impl Document {
    /// Makes the reader of `file`, of which the transcript holds `history`, made from `earlier`.
    pub(crate) fn new(
        file: SourceFile,
        store: &Store,
        history: SourceHistory,
        earlier: Vec<Vec<u8>>,
    ) -> Self {
        // Versions are compared with what is kept of them.
        let mut normalizer = Normalizer::new(file.surface, KeptBytes::Full);
        if let Some(beside) = Beside::new(&file.path) {
            normalizer = normalizer.with_companions(Box::new(beside));
        }
        let delivery = Delivery::new(&file, history);
        let mask = store.options.mask.clone();
        let made = Vec::new();
        Document { file, normalizer, delivery, earlier, mask, last: None, size: 0, made }
    }

    /// Takes the file's present version, if it is whole and another one than before.
    pub(crate) fn catch_up(
        &mut self,
        run: &mut SessionRun,
        taken: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Stop> {
        self.take_again(run)?;
        let version = self.read()?;
        taken(&version);
        let is_whole = serde_json::from_slice::<serde::de::IgnoredAny>(&version).is_ok();
        if is_whole && print_of(&version) != self.last {
            self.take(&version, run)?;
        }
        Ok(())
    }

    /// Takes the end of the file, as it is now.
    pub(crate) fn finish(&mut self, run: &mut SessionRun) -> Result<(), Stop> {
        self.normalizer.conclude(&mut self.made);
        self.delivery.deliver(&mut self.made, None, run)
    }

    /// Returns how large the last version was.
    pub(crate) fn position(&self) -> u64 {
        self.size
    }

    /// Returns how many things are wrong with the file.
    pub(crate) fn problems(&self) -> u64 {
        self.normalizer.tally().problem_count
    }

    /// Takes the versions again that the transcript holds. Should they make other events than
    /// those it holds, which another version of this program has made, then all has been told.
    fn take_again(&mut self, run: &mut SessionRun) -> Result<(), Stop> {
        let mut is_told = false;
        for version in std::mem::take(&mut self.earlier) {
            self.make(&version);
            if is_told {
                self.made.clear();
                continue;
            }
            match self.delivery.deliver(&mut self.made, None, run) {
                Err(Stop::Changed(_)) => {
                    is_told = true;
                    self.delivery.forget();
                }
                outcome => outcome?,
            }
        }
        Ok(())
    }

    fn take(&mut self, version: &[u8], run: &mut SessionRun) -> Result<(), Stop> {
        self.make(version);
        self.delivery.deliver(&mut self.made, None, run)
    }

    fn make(&mut self, version: &[u8]) {
        self.last = print_of(version);
        self.normalizer.push(version, &mut self.made);
        self.normalizer.end_input(&mut self.made);
        self.normalizer.settle(&mut self.made);
    }

    fn read(&mut self) -> Result<Vec<u8>, CollectError> {
        let failed = |error| CollectError::read(&self.file.path, error);
        let mut input = Input::open(&self.file.path).map_err(failed)?;
        let mut version = Vec::new();
        let mut piece = vec![0; 64 * 1024];
        loop {
            match input.read_at(version.len() as u64, &mut piece).map_err(failed)? {
                0 => break,
                read => version.extend_from_slice(&piece[..read]),
            }
        }
        self.size = version.len() as u64;
        let Some(mask) = &self.mask else { return Ok(version) };
        let (masked, _) = mask.mask(Draft::unknown(&version, None, ""));
        Ok(masked.raw.as_ref().and_then(Raw::bytes).unwrap_or_default())
    }
}
