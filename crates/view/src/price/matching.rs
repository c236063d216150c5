//! Which names mean the same model.
//!
//! Agents, gateways and clouds spell one model in many ways: `claude-sonnet-4.5`,
//! `anthropic/claude-sonnet-4-5-20250929`, `us.anthropic.claude-sonnet-4-5-20250929-v1:0`. What is
//! left here is the model itself. A model that only begins alike, such as a smaller one, is another.

/// Spells a model's name as patterns are spelled: without vendor, date and version of its delivery.
pub(crate) fn plain(model: &str) -> String {
    let lower = model.trim().to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    // `[1m]` asks for a longer context, `@…` and `:…` for one delivery of the same model.
    let name = name.split(['[', '@', ':']).next().unwrap_or(name);
    let name = match name.rsplit_once("anthropic.") {
        Some((_, name)) => name,
        None => name,
    };
    let mut name = name.replace(['.', ' ', '_'], "-");
    while let Some(shorter) = without_delivery(&name) {
        name = shorter.to_owned();
    }
    name
}

/// Tells whether `pattern`, in which `*` stands for anything, means the plain name `model`.
pub(crate) fn is_meant(pattern: &str, model: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == model };
    let Some(mut left) = model.strip_prefix(head) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        match left.find(piece) {
            Some(at) => left = &left[at + piece.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

/// Spells a pattern as names are spelled.
pub(crate) fn plain_pattern(pattern: &str) -> String {
    match pattern.contains('*') {
        true => pattern.trim().to_ascii_lowercase().replace(['.', ' ', '_'], "-"),
        false => plain(pattern),
    }
}

/// Cuts `-20250929`, `-2025-09-29`, `-latest` or `-v1` off the end of a name.
fn without_delivery(name: &str) -> Option<&str> {
    if let Some(shorter) = name.strip_suffix("-latest") {
        return Some(shorter);
    }
    let (head, last) = name.rsplit_once('-')?;
    let digits = |text: &str, count: usize| {
        text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    if digits(last, 8) && last.starts_with("20") {
        return Some(head);
    }
    if last.strip_prefix('v').is_some_and(|version| digits(version, 1)) {
        return Some(head);
    }
    let (head, month) = head.rsplit_once('-')?;
    let (head, year) = head.rsplit_once('-')?;
    (digits(last, 2) && digits(month, 2) && digits(year, 4)).then_some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_model_has_many_spellings() {
        let spellings = [
            "claude-sonnet-4-5",
            "claude-sonnet-4.5",
            "Claude-Sonnet-4.5",
            "claude-sonnet-4-5-20250929",
            "claude-sonnet-4-5@20250929",
            "anthropic/claude-sonnet-4.5",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "claude-sonnet-4-5-latest",
            "claude-sonnet-4-5[1m]",
        ];
        for spelling in spellings {
            assert_eq!(plain(spelling), "claude-sonnet-4-5", "{spelling}");
        }
        assert_eq!(plain("gpt-4.1-nano-2025-04-14"), "gpt-4-1-nano");
        assert_eq!(plain("models/gemini-2.5-pro"), "gemini-2-5-pro");
        assert_eq!(plain(""), "");
    }

    #[test]
    fn a_pattern_means_one_model_unless_it_has_a_star() {
        assert!(is_meant("gpt-5", "gpt-5"));
        assert!(!is_meant("gpt-5", "gpt-5-mini"));
        let cases = [
            ("gpt-5*", "gpt-5-mini", true),
            ("*", "", true),
            ("*-mini", "gpt-5-mini", true),
            ("*-mini", "gpt-5-minimal", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "ac", false),
            ("ab*bc", "abc", false),
        ];
        for (pattern, model, expected) in cases {
            assert_eq!(is_meant(pattern, model), expected, "{pattern} {model}");
        }
    }
}
