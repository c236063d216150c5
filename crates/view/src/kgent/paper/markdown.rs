//! Other people's words in our document: they stay words, and never become its structure.

use crate::markdown::lead_of;

/// Breaks of lines, whoever counts them.
const BREAKS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Returns one line of text in which nothing but words is left.
pub(super) fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '#' => out.extend(['\\', c]),
            c if BREAKS.contains(&c) || c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Returns a text as code within a line.
pub(super) fn code(text: &str) -> String {
    let line: String = text.chars().map(|c| if is_unsafe(c) { ' ' } else { c }).collect();
    let line = line.replace('|', "¦");
    let longest = line.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let needs_room = line.starts_with('`') || line.ends_with('`') || line.trim().is_empty();
    let room = if needs_room { " " } else { "" };
    format!("{fence}{room}{line}{room}{fence}")
}

/// Returns a heading's text.
pub(super) fn title(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || is_unsafe(c)).filter(|w| !w.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    let line: String = line.chars().take(200).collect();
    let line = line.replace('<', "\\<");
    // Hashes at the end of a heading are not part of it.
    let body = line.trim_end_matches('#');
    let line = format!("{body}{}", "\\#".repeat(line.len() - body.len()));
    if line.is_empty() { "Note".to_owned() } else { line }
}

/// Returns a text of several lines that cannot end the section it stands in.
///
/// One with structure of its own, a heading, a fence, a rule or HTML, is put in a block quote: what
/// is open at the quote's end is closed there.
pub(super) fn contained(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let lines: Vec<String> = text.split(BREAKS).map(clean).collect();
    let text = lines.join("\n");
    let text = text.trim_end().trim_start_matches('\n');
    if !text.lines().any(has_structure) {
        return text.to_owned();
    }
    let quoted = |line: &str| format!("> {}", line.replace('<', "&lt;")).trim_end().to_owned();
    text.lines().map(quoted).collect::<Vec<_>>().join("\n")
}

/// Returns a path as the target of a link.
pub(super) fn target(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'/' | b'.' | b'_' | b'-' | b'~' => out.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn clean(line: &str) -> String {
    line.chars().filter(|c| *c == '\t' || !c.is_control()).collect()
}

fn has_structure(line: &str) -> bool {
    // An item of a list may be a heading, and one of a list in a quotation too.
    let line = line[lead_of(line)..].trim();
    let is_underline = |mark: char| !line.is_empty() && line.chars().all(|c| c == mark);
    line.starts_with('#')
        || line.contains("```")
        || line.contains("~~~")
        || line.contains('<')
        || is_underline('=')
        || is_underline('-')
}

fn is_unsafe(c: char) -> bool {
    c.is_control() || BREAKS.contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_note_is_left_as_it_is() {
        let text = "First line.\nSecond *line* with `code`.\n\n- a\n- b\n  1. c\n\n> d";
        assert_eq!(contained(&format!("\n{text}\n\n")), text);
    }

    #[test]
    fn a_note_with_structure_is_quoted() {
        let cases = [
            ("## Deliverables", "> ## Deliverables"),
            ("a\r## b", "> a\n> ## b"),
            ("a\u{2028}# b", "> a\n> # b"),
            ("Deliverables\n---", "> Deliverables\n> ---"),
            ("```\n# open", "> ```\n> # open"),
            ("<!-- hidden", "> &lt;!-- hidden"),
            ("  # x\n\ny", ">   # x\n>\n> y"),
            ("- ## x\n  y\n\n1. # z", "> - ## x\n>   y\n>\n> 1. # z"),
            ("-\t# x", "> -\t# x"),
            ("* 12) > # x", "> * 12) > # x"),
            ("- x\n  ---", "> - x\n>   ---"),
            ("+ x\n+ ===", "> + x\n> + ==="),
        ];
        for (text, expected) in cases {
            assert_eq!(contained(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_title_is_one_line() {
        let cases = [
            ("Why\n## Deliverables", "Why ## Deliverables"),
            ("", "Note"),
            (" a  b ", "a b"),
            ("C#", "C\\#"),
            ("<b>", "\\<b>"),
        ];
        for (text, expected) in cases {
            assert_eq!(title(text), expected, "{text:?}");
        }
    }

    #[test]
    fn code_survives_backticks() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(target("a b/ü(1).md"), "a%20b/%C3%BC%281%29.md");
    }
}
