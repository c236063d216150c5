//! Keys that are heard one by one, for as long as somebody listens.
//!
//! How they were read before is put back when the keyboard is dropped, also when a panic drops it.

use std::io::{self, IsTerminal};

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// The keys of the terminal at standard input.
pub(crate) struct Keyboard {
    before: Termios,
}

impl Keyboard {
    /// Takes the keys, if there are any.
    pub(crate) fn take() -> Option<Self> {
        if !io::stdin().is_terminal() {
            return None;
        }
        let before = tcgetattr(io::stdin()).ok()?;
        // Keys are heard one by one and not shown; Ctrl-C and Ctrl-Z stay signals.
        let mut keys = before.clone();
        keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        keys.special_codes[SpecialCodeIndex::VMIN] = 1;
        keys.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &keys).ok()?;
        Some(Keyboard { before })
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // A terminal that went away needs nothing put back.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
