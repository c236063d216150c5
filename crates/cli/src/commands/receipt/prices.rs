//! The price lists that hold: the user's before ours.

use std::path::PathBuf;
use std::sync::Arc;

use quipu_view::PriceTable;
use quipu_view::price::PriceSheet;

use crate::exit::UserError;
use crate::settings::Settings;

/// Returns the prices that hold with these settings, over which a command's flag goes.
pub(crate) fn table(settings: &Settings, flag: Option<PathBuf>) -> anyhow::Result<Arc<PriceTable>> {
    let setting = settings.prices.clone().overruled_by(flag.map(Some), "--prices");
    let table = PriceTable::built_in();
    let Some(path) = setting.value else { return Ok(Arc::new(table)) };
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let (path, from) = (path.display(), &setting.from);
        UserError::new(format!("cannot read the price list {path} (from {from}): {error}"))
    })?;
    let sheet = PriceSheet::parse(&text).map_err(|error| {
        let problem = format!("{}, {error}", path.display());
        UserError::new(problem).with_hint("docs/cost.md says what a price list looks like")
    })?;
    Ok(Arc::new(table.overridden_by(sheet)))
}
