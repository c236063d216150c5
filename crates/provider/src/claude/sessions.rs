//! The sessions that follow each other, or mix, in one stream, and the models that speak in them.
//!
//! It only remembers who spoke where. What that cost is the account's affair.

use std::collections::HashMap;

use super::wire::SYNTHETIC;
use crate::value::Fields;

/// The sessions of one input.
#[derive(Default)]
pub(super) struct Sessions {
    /// The session of the record at hand.
    current: Option<String>,
    models: HashMap<Option<String>, Models>,
}

/// The models of one session.
#[derive(Default)]
struct Models {
    /// The one it was started with.
    announced: Option<String>,
    /// The one that last spoke for the main agent.
    last: Option<String>,
}

impl Sessions {
    /// Notes whose record this is; one that does not say goes with the one before it.
    pub(super) fn turn_to(&mut self, fields: &Fields<'_>) {
        if let Some(id) = fields.text("session_id")
            && self.current.as_deref() != Some(&*id)
        {
            self.current = Some(id.into_owned());
        }
    }

    /// Returns the session of the record at hand.
    pub(super) fn current(&self) -> Option<&str> {
        self.current.as_deref()
    }

    /// Notes the model that the session is started with.
    pub(super) fn announce(&mut self, model: Option<String>) {
        let models = self.models.entry(self.current.clone()).or_default();
        models.announced = model.or(models.announced.take());
    }

    /// Notes the model that spoke for the main agent.
    pub(super) fn hear(&mut self, model: Option<&str>) {
        let Some(model) = model.filter(|model| *model != SYNTHETIC) else { return };
        let models = self.models.entry(self.current.clone()).or_default();
        if models.last.as_deref() != Some(model) {
            models.last = Some(model.to_owned());
        }
    }

    /// Returns the model of the session; of what named no session, if the session named none.
    pub(super) fn model(&self) -> Option<&str> {
        let of = |id: &Option<String>| {
            let models = self.models.get(id)?;
            models.last.as_deref().or(models.announced.as_deref())
        };
        of(&self.current).or_else(|| of(&None))
    }
}
