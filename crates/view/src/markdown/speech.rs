//! What people and agents said, as Markdown inside a quotation.
//!
//! What is said is mostly Markdown and is shown as that: emphasis, lists, tables, code. But it
//! cannot leave its quotation, and it has no headings, HTML, links or images there: those are shown
//! as they were typed. This works line by line, without taking the text apart as a reader does. So
//! whatever could mean something across lines is written such that it cannot: each code span begins
//! and ends on its line, and each fence stands at the edge of the quotation.

use std::iter;
use std::ops::Range;

use super::address::Addresses;

/// Appends `text` as a quotation, a paragraph of its own.
pub(crate) fn quoted(out: &mut String, text: &str) {
    out.reserve(text.len() + text.len() / 16 + 16);
    let mut fence: Option<Fence> = None;
    for line in lines(text) {
        fence = match fence {
            Some(open) => open.go_on(out, line),
            None => outside(out, line),
        };
    }
    if let Some(open) = fence {
        open.mark(out);
    }
    out.push('\n');
}

/// An open fence inside what was said.
#[derive(Clone, Copy)]
struct Fence {
    mark: u8,
    length: usize,
    /// How far it stood in; its lines lose as much.
    indent: usize,
}

impl Fence {
    /// Returns the fence that `rest` opens, and the language it names.
    fn opened_by(rest: &str, indent: usize) -> Option<(Fence, &str)> {
        let mark = *rest.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = run(rest.as_bytes(), mark);
        let language = rest[length..].trim();
        if length < 3 || (mark == b'`' && language.contains('`')) {
            return None;
        }
        let end = language
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '#')))
            .unwrap_or(language.len());
        Some((Fence { mark, length, indent }, &language[..end]))
    }

    fn mark(self, out: &mut String) {
        out.push_str("> ");
        out.extend(iter::repeat_n(char::from(self.mark), self.length));
        out.push('\n');
    }

    /// Writes a line behind the opening one; returns the fence unless the line ends it.
    fn go_on(self, out: &mut String, line: &str) -> Option<Fence> {
        let marks = line.trim_matches([' ', '\t']);
        if marks.len() >= self.length && run(marks.as_bytes(), self.mark) == marks.len() {
            self.mark(out);
            return None;
        }
        let inside = line.bytes().take(self.indent).take_while(|b| matches!(b, b' ' | b'\t'));
        out.push_str("> ");
        out.push_str(&line[inside.count()..]);
        out.push('\n');
        Some(self)
    }
}

/// Writes a line that stands in no fence; returns the fence it opens.
fn outside(out: &mut String, line: &str) -> Option<Fence> {
    let lead = lead_of(line);
    let (before, rest) = line.split_at(lead);
    if let Some((fence, language)) = Fence::opened_by(rest, lead).filter(|_| !before.contains('>'))
    {
        let marker = before.trim_end();
        if !marker.is_empty() {
            // The mark of a list cannot stay before the fence, which leaves the list.
            out.push_str("> ");
            out.push_str(&marker.replace('-', "\\-"));
            out.push('\n');
        }
        fence.mark(out);
        out.insert_str(out.len() - 1, language);
        return Some(fence);
    }
    out.push_str("> ");
    out.push_str(before);
    if is_heading(rest) {
        out.push('\\');
    }
    inline(out, rest);
    out.push('\n');
    None
}

/// Returns where the text of a line begins, behind blanks and the marks of lists and quotations.
pub(crate) fn lead_of(line: &str) -> usize {
    let bytes = line.as_bytes();
    let mut at = 0;
    loop {
        at += bytes[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let rest = &bytes[at..];
        let digits = rest.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
        let marker = match rest.get(digits) {
            Some(b'>') if digits == 0 => 1,
            Some(b'-' | b'*' | b'+') if digits == 0 => 1,
            Some(b'.' | b')') if digits > 0 => digits + 1,
            _ => return at,
        };
        let is_quotation = rest[0] == b'>';
        if !is_quotation && !matches!(rest.get(marker), Some(b' ' | b'\t')) {
            return at;
        }
        if rest[marker..].iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            return at;
        }
        at += marker;
    }
}

/// Tells whether a reader would take the line for a heading, or for what makes one of the line above.
fn is_heading(rest: &str) -> bool {
    let level = run(rest.as_bytes(), b'#');
    if (1..=6).contains(&level) && matches!(rest.as_bytes().get(level), None | Some(b' ' | b'\t')) {
        return true;
    }
    let line = rest.trim_end_matches([' ', '\t']).as_bytes();
    !line.is_empty() && [b'=', b'-'].iter().any(|mark| run(line, *mark) == line.len())
}

/// Writes the text of a line.
///
/// The cells of a table end at their bars even within code. What stands between two bars is written
/// such that it means the same by itself and in a line that is no table.
fn inline(out: &mut String, text: &str) {
    let bytes = text.as_bytes();
    let mut addresses = Addresses::of(text, SIGNS);
    let special = if addresses.are_there() { &WITH_ADDRESSES } else { &WITHOUT_ADDRESSES };
    let mut begin = 0;
    for (bar, _) in text.match_indices('|') {
        // All readers agree on a single backslash; on more of them they do not.
        let is_escaped = bytes[..bar].ends_with(b"\\") && !bytes[..bar].ends_with(b"\\\\");
        if !is_escaped {
            cell(out, text, begin..bar, special, &mut addresses);
            out.push('|');
            begin = bar + 1;
        }
    }
    cell(out, text, begin..text.len(), special, &mut addresses);
}

/// Writes what stands in `text` between two bars.
fn cell(
    out: &mut String,
    text: &str,
    place: Range<usize>,
    special: &[bool; 256],
    addresses: &mut Addresses<'_>,
) {
    let bytes = &text.as_bytes()[..place.end];
    let (mut from, mut at) = (place.start, place.start);
    while let Some(found) = bytes[at..].iter().position(|byte| special[usize::from(*byte)]) {
        at += found;
        let (kept, hidden) = match bytes[at] {
            b':' | b'.' if addresses.must_be_broken(at) => (0, 1),
            b':' | b'.' => (1, 0),
            _ => meaning(bytes, at),
        };
        at += kept;
        if hidden > 0 {
            out.push_str(&text[from..at]);
            from = at + hidden;
            while at < from {
                out.push('\\');
                out.push(char::from(bytes[at]));
                at += 1;
            }
        }
    }
    out.push_str(&text[from..place.end]);
}

/// Returns how many bytes from `at` on may stay as they are, and how many signs behind them not.
fn meaning(bytes: &[u8], at: usize) -> (usize, usize) {
    let next = bytes.get(at + 1);
    match bytes[at] {
        b'\\' => (1 + usize::from(next.is_some_and(u8::is_ascii_punctuation)), 0),
        b']' => (1, usize::from(matches!(next, Some(b'(' | b':')))),
        b'`' => {
            let marks = run(&bytes[at..], b'`');
            end_of_code(bytes, at, marks).map_or((0, marks), |end| (end - at, 0))
        }
        _ => (0, 1),
    }
}

/// Returns where the code ends that begins with `marks` backticks at `at`.
fn end_of_code(bytes: &[u8], at: usize, marks: usize) -> Option<usize> {
    let mut at = at + marks;
    loop {
        at += bytes[at..].iter().position(|byte| *byte == b'`')?;
        let found = run(&bytes[at..], b'`');
        at += found;
        if found == marks {
            return Some(at);
        }
    }
}

/// Returns how many bytes at the beginning are `mark`.
fn run(bytes: &[u8], mark: u8) -> usize {
    bytes.iter().take_while(|byte| **byte == mark).count()
}

/// Divides a text at each end of a line that a Markdown reader knows.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text.trim_end_matches(['\n', '\r']));
    // Hardly any text has a carriage return, and one sort of byte is found faster than two.
    let has_returns = text.contains('\r');
    iter::from_fn(move || {
        let text = rest?;
        let end = if has_returns { text.find(['\n', '\r']) } else { text.find('\n') };
        let Some(end) = end else { return rest.take() };
        let feed = if text[end..].starts_with("\r\n") { 2 } else { 1 };
        rest = Some(&text[end + feed..]);
        Some(&text[..end])
    })
}

/// Signs that mean something, or keep others from it.
const SIGNS: &[u8] = b"\\`<]";
const WITHOUT_ADDRESSES: [bool; 256] = table(SIGNS);
const WITH_ADDRESSES: [bool; 256] = table(b"\\`<]:.");

const fn table(signs: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < signs.len() {
        table[signs[at] as usize] = true;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_quoted_as_it_reads() {
        let cases = [
            ("Done.", "> Done.\n"),
            ("a\n\n- b\n- **c**\n", "> a\n> \n> - b\n> - **c**\n"),
            ("a\rb\r\nc", "> a\n> b\n> c\n"),
            ("# Title", "> \\# Title\n"),
            ("- # Title", "> - \\# Title\n"),
            ("Title\n===\nnext\n-", "> Title\n> \\===\n> next\n> \\-\n"),
            ("a `Vec<u8>` b < c", "> a `Vec<u8>` b \\< c\n"),
            ("a ` b", "> a \\` b\n"),
            ("\\` <b>", "> \\` \\<b>\n"),
            ("[a](javascript:b) [c]: d", "> [a]\\(javascript:b) [c]\\: d\n"),
            ("| `a<b` <b |", "> | `a<b` \\<b |\n"),
            ("| `a \\| <b` |", "> | `a \\| <b` |\n"),
            ("`a | <b` `` c", "> \\`a | \\<b\\` \\`\\` c\n"),
            ("`a \\\\| <b`", "> \\`a \\\\| \\<b\\`\n"),
            ("http://a.b/c?d=e_f. <b>", "> http://a.b/c?d=e_f. \\<b>\n"),
            ("see http://a.b</details> <b>", "> see http\\://a.b\\</details> \\<b>\n"),
            ("www.a.b`<b>` `www.c<b>`", "> www\\.a.b`<b>` `www.c<b>`\n"),
            ("http://a.b\\<b>|<b> [a]:(", "> http\\://a.b\\<b>|\\<b> [a]\\:(\n"),
            (
                "```rust\nlet a = \"<b>\";\n```\n<i>",
                "> ```rust\n> let a = \"<b>\";\n> ```\n> \\<i>\n",
            ),
            ("1. x\n   ```\n   y\n   ```", "> 1. x\n> ```\n> y\n> ```\n"),
            ("- ~~~ a b\nz", "> \\-\n> ~~~a\n> z\n> ~~~\n"),
            ("> ```\n> <b>", "> > \\`\\`\\`\n> > \\<b>\n"),
            ("", "> \n"),
        ];
        for (text, expected) in cases {
            let mut out = String::new();
            quoted(&mut out, text);
            assert_eq!(out, format!("{expected}\n"), "{text:?}");
        }
    }
}
