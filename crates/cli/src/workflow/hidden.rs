//! A line that is typed without being shown: an answer that is a secret.
//!
//! The terminal hands over each key as it is pressed, Ctrl-C included, so that whatever ends the answer,
//! the terminal is as it was before the program goes on or ends.

use std::io::{self, Read, Write};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::exit::UserError;

const CTRL_C: u8 = 0x03;
const CTRL_D: u8 = 0x04;
const CTRL_H: u8 = 0x08;
const CTRL_U: u8 = 0x15;
const CTRL_BACKSLASH: u8 = 0x1c;
const DELETE: u8 = 0x7f;

/// Asks for a line on the terminal without showing it; nothing when there is no more to come.
///
/// # Errors
///
/// Fails when the terminal cannot be read, and on Ctrl-C.
pub(super) fn read_line(prompt: &str) -> anyhow::Result<Option<String>> {
    // Whoever sees the question may answer at once, so that nothing is shown from then on.
    let terminal = Hidden::begin()?;
    let mut screen = anstream::stderr();
    write!(screen, "{prompt}").and_then(|()| screen.flush())?;
    let line = read_keys(&mut io::stdin().lock());
    drop(terminal);
    // The key that ended the line was not shown either.
    writeln!(screen)?;
    match line {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {
            Err(UserError::new("interrupted").into())
        }
        line => Ok(line?),
    }
}

/// Takes keys until a line is whole.
fn read_keys(keys: &mut impl Read) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    loop {
        let mut key = [0];
        if keys.read(&mut key)? == 0 {
            return Ok((!line.is_empty()).then(|| text(line)));
        }
        match key[0] {
            b'\n' | b'\r' => return Ok(Some(text(line))),
            CTRL_D if line.is_empty() => return Ok(None),
            CTRL_D => return Ok(Some(text(line))),
            CTRL_C | CTRL_BACKSLASH => return Err(io::ErrorKind::Interrupted.into()),
            CTRL_U => line.clear(),
            CTRL_H | DELETE => erase(&mut line),
            key => line.push(key),
        }
    }
}

/// Takes back the last character, however many bytes it has.
fn erase(line: &mut Vec<u8>) {
    while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
}

fn text(line: Vec<u8>) -> String {
    String::from_utf8(line)
        .unwrap_or_else(|wrong| String::from_utf8_lossy(wrong.as_bytes()).into_owned())
}

/// A terminal that shows nothing, until it is dropped.
struct Hidden {
    before: Termios,
}

impl Hidden {
    fn begin() -> io::Result<Hidden> {
        let before = tcgetattr(io::stdin())?;
        let mut hidden = before.clone();
        hidden.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        tcsetattr(io::stdin(), OptionalActions::Now, &hidden)?;
        Ok(Hidden { before })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // Nothing can be done about a terminal that is gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_make_a_line_as_they_do_at_a_prompt() {
        let read = |keys: &str| read_keys(&mut keys.as_bytes()).map_err(|error| error.kind());
        assert_eq!(read("hunter2\nrest"), Ok(Some("hunter2".into())));
        assert_eq!(read("hé\u{7f}x\r"), Ok(Some("hx".into())));
        assert_eq!(read("wrong\u{15}right\n"), Ok(Some("right".into())));
        assert_eq!(read("\u{4}"), Ok(None));
        assert_eq!(read("ab\u{4}"), Ok(Some("ab".into())));
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("ab\u{3}"), Err(io::ErrorKind::Interrupted));
    }
}
