//! `github.*`: issues, pull requests, labels and comments, through GitHub's command line or its REST API.
//!
//! Values have the names and forms that GitHub's own command line gives them (`headRefName`,
//! `OPEN`), because that is what existing workflows look at.

mod api;
mod batch;
mod comments;
mod gh;
mod issues;
mod pulls;
mod repository;

use super::inputs::Inputs;
use super::settings::OperationSettings;
use super::{Failure, Values};
use crate::process::StopSignal;
use api::Api;

/// Does what `inputs.operation` says.
pub(super) async fn perform(
    inputs: Inputs<'_>,
    settings: &OperationSettings,
    stop: &StopSignal,
) -> Result<Values, Failure> {
    let api = Api::new(settings, stop);
    if inputs.operation == "github.batch" {
        batch::perform(inputs, api).await
    } else {
        one(inputs, &api).await
    }
}

/// Tells whether operations start a program, which is to be asked to end before it is made to.
pub(super) fn starts_a_program(settings: &OperationSettings) -> bool {
    settings.github_cli.is_some() && gh::hostname(&settings.github_api).is_some()
}

/// Does one thing that is not a batch.
async fn one(inputs: Inputs<'_>, api: &Api) -> Result<Values, Failure> {
    match inputs.operation {
        "github.get_issue" => issues::get(inputs, api).await,
        "github.create_issue" => issues::create(inputs, api).await,
        "github.add_labels" => issues::add_labels(inputs, api).await,
        "github.get_pr" => pulls::get(inputs, api).await,
        "github.create_pr" => pulls::create(inputs, api).await,
        "github.add_comment" => comments::add(inputs, api).await,
        "github.list_comments" => comments::list(inputs, api).await,
        other => Err(Failure::new(super::catalogue::unknown(other))),
    }
}

/// Returns the number of the issue or pull request that is meant.
fn number(inputs: Inputs<'_>) -> Result<u64, Failure> {
    inputs.number("number")?.ok_or_else(|| inputs.failure("input `number` is missing"))
}

/// Keeps the values that the input `fields` names; all if it names none.
fn selected(inputs: Inputs<'_>, mut values: Values) -> Result<Values, Failure> {
    let fields = inputs.texts("fields")?;
    if !fields.is_empty() {
        values.retain(|name, _| fields.contains(name));
    }
    Ok(values)
}
