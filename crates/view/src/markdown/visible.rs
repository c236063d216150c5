//! Characters that nobody sees and that machines obey: each becomes something to look at.
//!
//! A terminal obeys control characters, and readers turn text around at the word of bidirectional
//! marks. A page that is printed, or reviewed, must be what it seems to be.

/// So many bytes are looked at together.
const PIECE: usize = 64;

/// Returns `text` with everything that would be obeyed made visible; nothing if there is nothing.
pub(crate) fn made_visible(text: &str) -> Option<String> {
    let first = find(text.as_bytes())?;
    let mut out = String::with_capacity(text.len() + 64);
    out.push_str(&text[..first]);
    for (at, c) in text[first..].char_indices() {
        if is_obeyed(text.as_bytes(), first + at) {
            push_visible(&mut out, c);
        } else {
            out.push(c);
        }
    }
    Some(out)
}

/// Returns where the first character stands that would be obeyed.
fn find(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).step_by(PIECE).find_map(|begin| {
        let end = bytes.len().min(begin + PIECE);
        let is_suspect = may_have_it(&bytes[begin..end]);
        is_suspect.then(|| (begin..end).find(|at| is_obeyed(bytes, *at)))?
    })
}

/// Looks at bytes without a branch, which the machine does for many at once.
fn may_have_it(piece: &[u8]) -> bool {
    let suspect = |byte: u8| {
        let control = (byte < 0x20) & (byte != b'\n') & (byte != b'\t');
        // What the characters in question begin with; so do dots, dashes and quotation marks.
        control | (byte == 0x7f) | (byte == 0xc2) | (byte == 0xd8) | (byte == 0xe2)
    };
    piece.iter().fold(false, |found, byte| found | suspect(*byte))
}

/// Tells whether the character that begins at `at` would be obeyed.
fn is_obeyed(bytes: &[u8], at: usize) -> bool {
    let next = |further: usize| bytes.get(at + further).copied().unwrap_or(0);
    match bytes[at] {
        b'\n' | b'\t' => false,
        // The end of a line as other systems write it is only the end of a line.
        b'\r' => next(1) != b'\n',
        0..0x20 | 0x7f => true,
        // U+0080 to U+009F.
        0xc2 => matches!(next(1), 0x80..=0x9f),
        // U+061C.
        0xd8 => next(1) == 0x9c,
        // U+200E, U+200F, U+202A to U+202E, and U+2066 to U+2069.
        0xe2 => {
            matches!((next(1), next(2)), (0x80, 0x8e | 0x8f | 0xaa..=0xae) | (0x81, 0xa6..=0xa9))
        }
        _ => false,
    }
}

fn push_visible(out: &mut String, c: char) {
    match u32::from(c) {
        code @ 0..0x20 => out.extend(char::from_u32(0x2400 + code)),
        0x7f => out.push('\u{2421}'),
        // In brackets that mean nothing: others make a tag, or a link of what stands before them.
        code => out.push_str(&format!("⟨U+{code:04X}⟩")),
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
            ("\u{9b}31m \u{202e}x\u{2066}", Some("⟨U+009B⟩31m ⟨U+202E⟩x⟨U+2066⟩")),
            ("\u{61c}\u{200e}\u{200b}\u{2070}", Some("⟨U+061C⟩⟨U+200E⟩\u{200b}\u{2070}")),
        ];
        for (text, expected) in cases {
            assert_eq!(made_visible(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn it_is_seen_wherever_it_stands() {
        for before in 0..2 * PIECE + 2 {
            let text = format!("{}\u{202e}", "é·"[..].repeat(before / 2) + &"x".repeat(before % 2));
            assert!(made_visible(&text).is_some_and(|text| text.ends_with("⟨U+202E⟩")), "{before}");
        }
    }
}
