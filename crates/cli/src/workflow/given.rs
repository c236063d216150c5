//! What a run is given: `-i` and `--inputs`, checked, and asked for when a person is there.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use quipu_workflow::definition::{
    GivenValue, InputDeclaration, InputType, Workflow, check_inputs, did_you_mean, read_data,
};
use quipu_workflow::driver::is_masked;
use quipu_workflow::language::Value;
use serde_json::Map;

use super::question;
use crate::exit::UserError;
use crate::format::note::note;
use crate::format::visible::visible;

/// Where inputs come from.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct InputArgs {
    /// Give an input its value; @FILE takes the text of a file, @@ stands for @ (repeatable)
    #[arg(short = 'i', long = "input", value_name = "KEY=VALUE")]
    pub(crate) input: Vec<String>,
    /// Take inputs from a JSON or YAML file, or from `-` for standard input; -i goes over it
    #[arg(long, value_name = "FILE")]
    pub(crate) inputs: Option<PathBuf>,
}

/// What a run is given, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given(BTreeMap<String, GivenValue>);

impl Given {
    /// Reads the flags and the files they name.
    pub(crate) fn read(args: &InputArgs) -> anyhow::Result<Self> {
        let mut given = BTreeMap::new();
        if let Some(path) = &args.inputs {
            let values = file_of_inputs(path)?;
            given.extend(values.into_iter().map(|(name, value)| (name, GivenValue::Value(value))));
        }
        for text in &args.input {
            let Some((name, value)) = text.split_once('=') else {
                return Err(UserError::new(format!("-i {text:?}: expected KEY=VALUE")).into());
            };
            given.insert(name.trim().to_owned(), GivenValue::Text(text_of(name, value)?));
        }
        Ok(Given(given))
    }

    /// Adds values under those that are given.
    pub(crate) fn over(mut self, values: Map<String, Value>) -> Self {
        for (name, value) in values {
            self.0.entry(name).or_insert(GivenValue::Value(value));
        }
        self
    }

    /// Asks for the inputs that were masked when they were recorded and are not given again, as far as
    /// a person is there and the workflow says what they are.
    pub(crate) fn ask_again(
        &mut self,
        recorded: &Map<String, Value>,
        workflow: &Workflow,
        may_ask: bool,
    ) -> anyhow::Result<()> {
        if !may_ask || !question::somebody_is_there() {
            return Ok(());
        }
        let declared = workflow.inputs.iter();
        for input in declared.filter(|input| recorded.get(&input.name).is_some_and(is_masked)) {
            if !self.has(&input.name) {
                self.0.insert(input.name.clone(), GivenValue::Text(question::ask(input)?));
            }
        }
        Ok(())
    }

    /// Returns what is given, as it was given.
    pub(crate) fn values(&self) -> Map<String, Value> {
        let value = |given: &GivenValue| match given {
            GivenValue::Text(text) => Value::from(text.as_str()),
            GivenValue::Value(value) => value.clone(),
        };
        self.0.iter().map(|(name, given)| (name.clone(), value(given))).collect()
    }

    /// Tells whether an input is given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Checks what is given, asking for what is missing when a person is there. Files are looked for
    /// in `dir`.
    pub(crate) fn checked(
        mut self,
        workflow: &Workflow,
        dir: &Path,
        may_ask: bool,
    ) -> anyhow::Result<Map<String, Value>> {
        self.tell_strangers(workflow);
        let missing: Vec<&InputDeclaration> = workflow
            .inputs
            .iter()
            .filter(|input| input.required && input.default.is_none() && !self.has(&input.name))
            .collect();
        if !missing.is_empty() {
            if !may_ask || !question::somebody_is_there() {
                return Err(self.told_missing(&workflow.inputs, &missing, dir).into());
            }
            for input in missing {
                self.0.insert(input.name.clone(), GivenValue::Text(question::ask(input)?));
            }
        }
        check_inputs(&workflow.inputs, self.0, &|path| dir.join(path).exists()).map_err(
            |problems| {
                let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
                UserError::new(told.join("\n")).into()
            },
        )
    }

    /// Says what is missing, and what is wrong with the rest.
    fn told_missing(
        self,
        declared: &[InputDeclaration],
        missing: &[&InputDeclaration],
        dir: &Path,
    ) -> UserError {
        let width = missing.iter().map(|input| input.name.len()).max().unwrap_or(0);
        let mut lines = vec!["the workflow needs inputs that are missing:".to_owned()];
        lines.extend(
            missing.iter().map(|input| format!("  {:width$}  {}", input.name, about(input))),
        );
        let checked = check_inputs(declared, self.0, &|path| dir.join(path).exists());
        let others = checked.err().into_iter().flatten();
        lines.extend(
            others
                .filter(|problem| missing.iter().all(|input| input.name != problem.input))
                .map(|problem| problem.to_string()),
        );
        let example = missing.first().map_or("", |input| &input.name);
        UserError::new(lines.join("\n")).with_hint(format!(
            "give them with -i {example}=VALUE, -i {example}=@FILE or --inputs FILE"
        ))
    }

    /// Values that no input takes are kept, as templates can use them; most of them are slips.
    fn tell_strangers(&self, workflow: &Workflow) {
        let known = || workflow.inputs.iter().map(|input| input.name.as_str());
        for name in self.0.keys().filter(|name| !known().any(|known| known == *name)) {
            let hint = did_you_mean(name, known()).map(|hint| format!(" ({hint})"));
            let hint = hint.unwrap_or_default();
            note(&format!("the workflow declares no input `{name}`{hint}"));
        }
    }
}

/// Says what an input is for and what it takes.
pub(super) fn about(input: &InputDeclaration) -> String {
    let sort = match input.input_type {
        InputType::Any => "value",
        InputType::String => "string",
        InputType::Integer => "integer",
        InputType::Number => "number",
        InputType::Boolean => "true or false",
        InputType::Array => "list: JSON, or parts between commas",
    };
    let mut about = match &input.description {
        Some(description) => format!("{} ({sort}", visible(description.trim())),
        None => format!("({sort}"),
    };
    if let Some(allowed) = &input.validation.allowed {
        let choices: Vec<String> = allowed
            .iter()
            .map(|choice| choice.as_str().map_or_else(|| choice.to_string(), str::to_owned))
            .collect();
        about += &format!(": {}", choices.join(", "));
    }
    about + ")"
}

/// Returns the value as it is meant: `@FILE` is the text of a file.
fn text_of(name: &str, value: &str) -> Result<String, UserError> {
    if let Some(literal) = value.strip_prefix("@@") {
        return Ok(format!("@{literal}"));
    }
    let Some(file) = value.strip_prefix('@') else { return Ok(value.to_owned()) };
    let places =
        [PathBuf::from(file), Path::new(".quipu").join(file), Path::new(".awf").join(file)];
    let found = places.iter().find(|path| path.is_file()).unwrap_or(&places[0]);
    std::fs::read_to_string(found).map_err(|error| {
        UserError::new(format!("-i {name}: cannot read {}: {error}", found.display()))
            .with_hint(format!("for a value that begins with @, write -i {name}=@@…"))
    })
}

fn file_of_inputs(path: &Path) -> anyhow::Result<Map<String, Value>> {
    let shown = path.display();
    let text = if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        text
    } else {
        std::fs::read_to_string(path)
            .map_err(|error| UserError::new(format!("--inputs: cannot read {shown}: {error}")))?
    };
    let is_json = text.trim_start().starts_with('{');
    let value = if is_json {
        serde_json::from_str(&text).map_err(|error| error.to_string())
    } else {
        read_data(path, &text).map_err(|problems| problems.to_string())
    };
    match value {
        Ok(Value::Object(values)) => Ok(values),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err(UserError::new(format!("--inputs {shown}: expected names and values")).into()),
        Err(problem) => Err(UserError::new(format!("--inputs {shown}: {problem}")).into()),
    }
}
