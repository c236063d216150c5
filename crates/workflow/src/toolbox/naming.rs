//! What plugins may be called, and how a command in one line is divided.

use crate::operation;

/// Says what is wrong with a name for a plugin, if anything is.
pub fn plugin_name_problem(name: &str) -> Option<String> {
    if operation::is_namespace(name) {
        return Some(format!("no plugin can be called `{name}`: operations that are built in are"));
    }
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_part);
    (!is_name).then(|| format!("no plugin can be called {name:?}"))
}

/// Divides a line into words as a shell does: at blanks that are neither quoted nor escaped. Returns none
/// when a quote is not closed. Nothing is expanded.
pub fn split_words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None | Some('"'), '\\') => word.get_or_insert_default().push(chars.next()?),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_divided_where_a_shell_would() {
        let cases: [(&str, Option<&[&str]>); 8] = [
            ("npx -y server", Some(&["npx", "-y", "server"])),
            ("  a\t'b c'  ", Some(&["a", "b c"])),
            ("a\"b c\"d ''", Some(&["ab cd", ""])),
            (r#"a\ b "c\"d" 'e\f'"#, Some(&["a b", "c\"d", "e\\f"])),
            ("$HOME/*", Some(&["$HOME/*"])),
            ("", Some(&[])),
            ("'open", None),
            ("open\\", None),
        ];
        for (line, expected) in cases {
            let words = split_words(line);
            let expected = expected.map(|words| words.iter().map(|w| (*w).to_owned()).collect());
            assert_eq!(words, expected, "{line}");
        }
    }

    #[test]
    fn names_are_small_letters_and_not_those_of_operations() {
        for name in ["fs", "my-plugin_2", "a"] {
            assert_eq!(plugin_name_problem(name), None, "{name}");
        }
        for name in ["", "Fs", "2fast", "a.b", "a b", "-x", "ü", "http", "notify", "github"] {
            assert!(plugin_name_problem(name).is_some(), "{name}");
        }
    }
}
