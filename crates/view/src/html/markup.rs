//! HTML around foreign words: what they are is text, whatever they look like.

/// Appends `text` such that it is text, between tags as well as inside quotes.
pub(crate) fn text(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\0' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

/// Returns `page` with each mark replaced by its text. What is filled in is not looked at again.
pub(crate) fn filled(page: &str, marks: &[(&str, &str)]) -> String {
    let mut out =
        String::with_capacity(page.len() + marks.iter().map(|(_, t)| t.len()).sum::<usize>());
    let mut rest = page;
    while let Some(at) = rest.find("{{") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = marks.iter().find(|(mark, _)| rest.starts_with(mark));
        let (mark, text) = known.unwrap_or(&("{{", "{{"));
        out.push_str(text);
        rest = &rest[mark.len()..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_text_wherever_it_stands() {
        let mut out = String::new();
        text(&mut out, "<b a='x' b=\"y\">&\0");
        assert_eq!(out, "&lt;b a=&#39;x&#39; b=&quot;y&quot;&gt;&amp;\u{fffd}");
    }

    #[test]
    fn what_is_filled_in_is_not_looked_at_again() {
        let page = filled("{{a}}-{{b}}-{{c}}", &[("{{a}}", "{{b}}"), ("{{b}}", "2")]);
        assert_eq!(page, "{{b}}-2-{{c}}");
    }
}
