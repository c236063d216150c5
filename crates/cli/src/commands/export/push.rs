//! `--push`: spans go to an endpoint instead of a file.

use quipu_export::{OtlpPush, PushError, PushSettings};

use super::told::Arrival;
use super::{Args, Work};
use crate::Context;
use crate::exit::{Exit, UserError};
use crate::format::count;
use crate::format::note::note;

/// The layout that endpoints take.
const TAKEN: &str = "otlp";

/// Sends all runs. Fails when the endpoint does not take them.
pub(super) fn push(context: &Context, args: &Args, work: Work<'_>) -> anyhow::Result<Exit> {
    if args.to.name != TAKEN {
        let message = format!("{} cannot be pushed", args.to.name);
        return Err(UserError::new(message).with_hint("--push goes with --to otlp").into());
    }
    let url = args.push.iter().flatten().next().map(String::as_str);
    let settings = PushSettings::new(url, |name| std::env::var(name).ok()).map_err(told)?;
    let url = settings.shown_url();
    let mut endpoint = OtlpPush::new(settings).map_err(told)?;
    let summary = work.put_on(&mut endpoint, |_| Ok(()))?;
    let pushed = endpoint.finish().map_err(told)?;
    if pushed.rejected > 0 {
        note(&format!("{} refused by the endpoint", count::of(pushed.rejected, "span")));
    }
    pushed.messages.iter().for_each(|message| note(message));
    summary.tell(context, args, &Arrival::Pushed { url, pushed })
}

/// A setting that makes no sense is the user's; an endpoint that is not there is not.
fn told(error: PushError) -> anyhow::Error {
    match error {
        PushError::Setting { .. } => UserError::new(error.to_string()).into(),
        error => error.into(),
    }
}
