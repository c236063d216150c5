//! Makes JSON out of what is almost JSON, without touching what is.
//!
//! Agents let raw control bytes through inside strings. Readers of JSON refuse the whole record for
//! one such byte. Here the byte is escaped and the record stays. It does not guess at structure:
//! what has no end gets none. Halves of surrogate pairs are [`quipu_event::mend_surrogates`]'.

/// Escapes raw control bytes that stand inside strings.
pub(crate) fn escape_control_bytes(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let (mut in_string, mut after_backslash) = (false, false);
    for character in text.chars() {
        if in_string && character < ' ' {
            // A backslash before it would make an escape that does not exist.
            if after_backslash {
                out.push('\\');
            }
            out.push_str(&format!("\\u{:04x}", character as u32));
            after_backslash = false;
            continue;
        }
        if character == '"' && !after_backslash {
            in_string = !in_string;
        }
        after_backslash = in_string && character == '\\' && !after_backslash;
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_bytes_are_escaped_inside_strings_only() {
        let cases = [
            ("{\t\"a\":\"b\tc\"}", "{\t\"a\":\"b\\u0009c\"}"),
            ("{\"a\\\"\n\":1}\n", "{\"a\\\"\\u000a\":1}\n"),
            ("\"\\\n\"", "\"\\\\\\u000a\""),
        ];
        for (text, expected) in cases {
            assert_eq!(escape_control_bytes(text), expected);
        }
    }
}
