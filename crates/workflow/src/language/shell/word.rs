//! Words of commands: which of them change how the shell reads what follows.

use super::UnsafePlace;
use super::frame::{Code, Takes, Test};

/// Ends the current word, if there is one.
pub(super) fn end_word(code: &mut Code) -> Result<(), UnsafePlace> {
    let word = std::mem::take(&mut code.word);
    if word.is_empty() {
        return Ok(());
    }
    if let Some(test) = &mut code.test {
        test.calculates |=
            matches!(word.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v" | "-R");
        return if word == "]]" { check_test(code) } else { Ok(()) };
    }
    if !code.is_command {
        if code.takes == Takes::Names && word.starts_with('-') && word.contains('i') {
            code.takes = Takes::Arithmetic;
        }
        return Ok(());
    }
    code.takes = match word.as_str() {
        "declare" | "typeset" | "local" | "readonly" | "export" | "read" | "unset" | "mapfile"
        | "readarray" | "getopts" => Takes::Names,
        "let" => Takes::Arithmetic,
        _ => Takes::Data,
    };
    match word.as_str() {
        "case" => code.cases += 1,
        "esac" => code.cases = code.cases.saturating_sub(1),
        "[[" => code.test = Some(Test::default()),
        _ => {}
    }
    // After these a command follows; also after an assignment.
    code.is_command = matches!(
        word.as_str(),
        "if" | "then" | "elif" | "else" | "while" | "until" | "do" | "{" | "!" | "time"
    ) || word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    });
    Ok(())
}

/// Ends the `[[ … ]]` that is open: a text may not stand in it beside a test that evaluates it.
pub(super) fn check_test(code: &mut Code) -> Result<(), UnsafePlace> {
    match code.test.take() {
        Some(test) if test.calculates && test.holds_text => Err(UnsafePlace {
            message: "a value that is not a whole number stands in `[[ … ]]` with a test that \
                      evaluates it as code (such as `-eq` or `-v`)"
                .to_owned(),
        }),
        _ => Ok(()),
    }
}
