//! Numbers that JSON can spell and no machine number can hold: `1e400`.
//!
//! A value that is kept as text keeps them. Here they are replaced for those who want to look inside;
//! what was written is never changed.

/// Returns valid JSON `text` with `null` for each number that is too large to be decoded, or nothing
/// if there is none: `null` is how an infinite number is spelled by those who have them.
pub(crate) fn without_unreadable_numbers(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut at, mut written) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'"' => at = end_of_string(bytes, at),
            b'-' | b'0'..=b'9' => {
                let rest = bytes[at..].iter();
                at += rest.take_while(|byte| is_of_number(**byte)).count();
                if serde_json::from_str::<f64>(&text[start..at]).is_err() {
                    out.push_str(&text[written..start]);
                    out.push_str("null");
                    written = at;
                }
            }
            _ => at += 1,
        }
    }
    out.push_str(&text[written..]);
    (written > 0).then_some(out)
}

fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

/// Returns where the string ends that begins at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') => return at + 1,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_too_large_to_be_decoded_becomes_null() {
        let digits = "9".repeat(400);
        let long = format!(r#"{{"long":-{digits}}}"#);
        let cases = [
            ("1e400", Some("null")),
            (r#"{"a":[1E+400,-2e999 ,3],"b":true}"#, Some(r#"{"a":[null,null ,3],"b":true}"#)),
            (r#"{"1e400":"\"1e400","c":1e400}"#, Some(r#"{"1e400":"\"1e400","c":null}"#)),
            (&long, Some(r#"{"long":null}"#)),
            (r#"[18446744073709551616,-0,1E+2,1e-400,1.7976931348623157e308]"#, None),
            (r#"{"a":"1e400 é"}"#, None),
        ];
        for (text, expected) in cases {
            assert_eq!(without_unreadable_numbers(text).as_deref(), expected, "{text}");
        }
    }
}
