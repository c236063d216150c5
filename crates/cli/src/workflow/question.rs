//! Questions to the person at the terminal: an input that the workflow needs and nobody gave.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};

use quipu_workflow::definition::{GivenValue, InputDeclaration, check_inputs};
use quipu_workflow::driver::is_secret_name;

use super::given::about;
use super::hidden;
use crate::exit::UserError;
use crate::format::style;

/// Tells whether a person can be asked.
pub(super) fn somebody_is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks for an input until the answer fits.
pub(super) fn ask(input: &InputDeclaration) -> anyhow::Result<String> {
    let (bold, bad) = (style::BOLD, style::BAD);
    let mut screen = anstream::stderr();
    loop {
        let prompt = format!("{bold}{}{bold:#} {}: ", input.name, about(input));
        let line = match is_secret_name(&input.name) {
            true => hidden::read_line(&prompt)?,
            false => read_line(&prompt)?,
        };
        let Some(line) = line else {
            return Err(UserError::new(format!("input `{}` is missing", input.name)).into());
        };
        let answer = chosen(input, line.trim_end_matches(['\n', '\r']));
        let given = BTreeMap::from([(input.name.clone(), GivenValue::Text(answer.clone()))]);
        match check_inputs(std::slice::from_ref(input), given, &|path| path.is_file()) {
            Ok(_) if answer.is_empty() => {}
            Ok(_) => return Ok(answer),
            Err(problems) => {
                for problem in problems {
                    writeln!(screen, "  {bad}{problem}{bad:#}")?;
                }
            }
        }
    }
}

/// Asks for a line; nothing at the end.
fn read_line(prompt: &str) -> std::io::Result<Option<String>> {
    let mut screen = anstream::stderr();
    write!(screen, "{prompt}").and_then(|()| screen.flush())?;
    let mut line = String::new();
    Ok((std::io::stdin().read_line(&mut line)? > 0).then_some(line))
}

/// Takes the number of a choice for the choice, unless numbers are what there is to choose from.
fn chosen(input: &InputDeclaration, answer: &str) -> String {
    let choices: Vec<String> = input
        .validation
        .allowed
        .iter()
        .flatten()
        .map(|choice| choice.as_str().map_or_else(|| choice.to_string(), str::to_owned))
        .collect();
    let by_number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    match by_number.and_then(|index| choices.get(index)) {
        Some(choice) if !choices.iter().any(|choice| choice == answer) => choice.clone(),
        _ => answer.to_owned(),
    }
}
