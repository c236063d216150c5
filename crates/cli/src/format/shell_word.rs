//! A text as one word of a shell's command line, so that a command that is suggested can be copied.

use std::borrow::Cow;

/// Returns `text` as a shell reads it back: as it is where that is safe, else in quotes.
pub(crate) fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&byte);
    match !text.is_empty() && text.bytes().all(is_plain) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("'{}'", text.replace('\'', r"'\''"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_only_where_a_shell_would_read_something_else() {
        let cases = [
            ("storage", "storage"),
            ("../a-b_c/d.e", "../a-b_c/d.e"),
            ("", "''"),
            ("my runs", "'my runs'"),
            ("~/runs", "'~/runs'"),
            ("$HOME", "'$HOME'"),
            ("it's", r"'it'\''s'"),
            ("a;b", "'a;b'"),
            ("größe", "'größe'"),
        ];
        for (text, expected) in cases {
            assert_eq!(shell_word(text), expected);
        }
    }
}
