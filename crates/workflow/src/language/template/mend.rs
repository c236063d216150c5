//! Passes by what is wrong in a template, so that what follows can be looked at too.

/// Blocks that an `end` belongs to.
const BLOCKS: [&str; 3] = ["if", "range", "with"];

/// Returns the text without the action at `offset`; nothing when it cannot be told what to leave out.
///
/// The text keeps its length. A block stays a block, because its `end` would be wrong without it.
pub(super) fn pass_by(text: &str, offset: usize) -> Option<String> {
    let before = text.get(..offset)?;
    let start = match before.rfind("{{") {
        Some(start) if !before[start..].contains("}}") => start,
        _ if text[offset..].starts_with("{{") => offset,
        _ => return None,
    };
    let end = start + text[start..].find("}}")? + 2;
    let inside = text[start + 2..end - 2].trim_start_matches('-').trim_start();
    let word = inside.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let instead = match word {
        word if BLOCKS.contains(&word) => "{{if 0}}",
        "else" => return None,
        _ => "",
    };
    let room = (end - start).checked_sub(instead.len())?;
    let passed = format!("{}{instead}{}{}", &text[..start], " ".repeat(room), &text[end..]);
    // Something that is wrong without this action would be found again and again.
    (passed != text).then_some(passed)
}

#[cfg(test)]
mod tests {
    use crate::language::Template;

    #[test]
    fn everything_that_is_wrong_is_told_with_its_place() {
        let cases: [(&str, &[usize]); 6] = [
            ("{{.inputs.a}}", &[]),
            ("a {{nope x}} b {{.inputs.x}} {{also 1}}", &[4, 31]),
            ("{{if nope 1}}x{{end}} {{bad 2}}", &[5, 24]),
            ("{{range}}x{{end}}", &[0]),
            ("{{if .inputs.x}}never closed", &[0]),
            ("{{unclosed", &[0]),
        ];
        for (text, expected) in cases {
            let (_, errors) = Template::parse_all(text);
            let told: Vec<usize> = errors.iter().map(|error| error.offset).collect();
            assert_eq!(told.len(), expected.len(), "{text}: {errors:?}");
        }
    }

    #[test]
    fn what_is_right_is_still_read() {
        let (template, errors) = Template::parse_all("{{nope x}} {{.inputs.x}}");
        let references = template.unwrap().references();
        assert_eq!((errors.len(), references.len(), references[0].offset), (1, 1, 13));
    }
}
