//! Characters that nobody sees and that machines obey: each becomes something to look at.
//!
//! A terminal obeys control characters, and readers turn text around at the word of bidirectional
//! marks. A page that is printed, or reviewed, must be what it seems to be.

/// So many bytes are looked at together.
const PIECE: usize = 64;

/// Returns `text` with everything that would be obeyed made visible; nothing if there is nothing.
pub(crate) fn made_visible(text: &str) -> Option<String> {
    if !text.as_bytes().chunks(PIECE).any(may_need_it) {
        return None;
    }
    let first = text.char_indices().find(|(at, c)| is_obeyed(*c, &text[*at..]))?.0;
    let mut out = String::with_capacity(text.len() + 64);
    out.push_str(&text[..first]);
    for (at, c) in text[first..].char_indices() {
        if is_obeyed(c, &text[first + at..]) {
            push_visible(&mut out, c);
        } else {
            out.push(c);
        }
    }
    Some(out)
}

/// Looks at bytes without a branch, which the machine does for many at once.
fn may_need_it(piece: &[u8]) -> bool {
    let suspect = |byte: u8| {
        let control = byte < 0x20 && byte != b'\n' && byte != b'\t';
        // What the characters in question begin with; so do dots, dashes and quotation marks.
        control | matches!(byte, 0x7f | 0xc2 | 0xd8 | 0xe2)
    };
    piece.iter().fold(false, |found, byte| found | suspect(*byte))
}

fn is_obeyed(c: char, rest: &str) -> bool {
    match c {
        '\n' | '\t' => false,
        // The end of a line as other systems write it is only the end of a line.
        '\r' => !rest.starts_with("\r\n"),
        c => {
            c.is_control()
                || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        }
    }
}

fn push_visible(out: &mut String, c: char) {
    match u32::from(c) {
        code @ 0..0x20 => out.extend(char::from_u32(0x2400 + code)),
        0x7f => out.push('\u{2421}'),
        // Without angle brackets, which would look like a tag.
        code => out.push_str(&format!("(U+{code:04X})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_obeyed_is_seen() {
        let cases = [
            ("plain · text → here — “so”\r\n\tx é", None),
            ("\u{1b}[31mred\u{7}", Some("␛[31mred␇")),
            ("a\rb\u{7f}\u{0}", Some("a␍b␡␀")),
            ("\u{9b}31m \u{202e}x\u{2066}", Some("(U+009B)31m (U+202E)x(U+2066)")),
        ];
        for (text, expected) in cases {
            assert_eq!(made_visible(text).as_deref(), expected, "{text:?}");
        }
    }
}
