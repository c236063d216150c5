//! Slips that a parser tells somewhere else than where they were made.
//!
//! Whether the text is YAML is not asked here: these look for a cause once it is known that it is not.

/// Finds the tab before `column` that the parser stumbled over: it stops behind it.
pub(super) fn tab_in_indentation(text: &str, line: usize, column: usize) -> Option<usize> {
    let line = text.lines().nth(line.checked_sub(1)?)?;
    let mut indentation = line.chars().take(column).take_while(|letter| letter.is_whitespace());
    indentation.position(|letter| letter == '\t')
}

/// Finds the word before `line` that is followed by something below it, and has no colon: the parser
/// stumbles only over what follows.
pub(super) fn key_without_colon(text: &str, line: usize) -> Option<(usize, usize, &str)> {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let is_blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let lines: Vec<&str> = text.lines().take(line).collect();
    let (found, below) = lines.split_last()?;
    let (number, above) = below.iter().enumerate().rev().find(|(_, line)| !is_blank(line))?;
    let word = above.trim();
    let is_word = word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let is_key = is_word && word.chars().any(char::is_alphabetic);
    // A word on a line of its own may also be the rest of a text that began above.
    let goes_on = below[..number].iter().rev().find(|line| !is_blank(line)).is_some_and(|line| {
        indentation(line) < indentation(above) && !line.trim_end().ends_with(':')
    });
    (is_key && !goes_on && found.contains(':') && indentation(found) > indentation(above))
        .then(|| (number + 1, above.chars().count(), word))
}
