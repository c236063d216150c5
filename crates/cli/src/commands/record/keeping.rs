//! How lines are kept: when they are forced onto the disk, and what is hidden in them.

use std::sync::Arc;

use quipu_journal::{Durability, Mask, Options, SecretMask};

use crate::Context;
use crate::exit::UserError;
use crate::settings::{MaskChoice, Source, parse_durability};

/// Flags of every command that records.
#[derive(Debug, Default, clap::Args)]
pub(in crate::commands) struct Keeping {
    /// When lines are forced onto the disk: never, always, or every so often, such as 200ms
    #[arg(long, value_name = "WHEN", value_parser = parse_durability)]
    durability: Option<Durability>,
    /// What to hide before anything is written
    #[arg(long, value_name = "WHAT")]
    mask: Option<MaskChoice>,
    /// Also hide the value of this environment variable (repeatable; implies --mask secrets)
    #[arg(long, value_name = "NAME")]
    mask_env: Vec<String>,
}

impl Keeping {
    /// Returns what a recorder is to be told: the flags, and the settings where they say nothing.
    pub(in crate::commands) fn options(&self, context: &Context) -> anyhow::Result<Options> {
        let durability =
            context.settings.durability.clone().overruled_by(self.durability, "--durability");
        let mask = self.mask(context)?.map(|mask| Arc::new(mask) as Arc<dyn Mask>);
        Ok(Options { durability: durability.value, mask, ..Options::default() })
    }

    /// Returns the same for a command that reads what can be read again: unless somebody says
    /// otherwise, nothing is forced onto the disk.
    pub(in crate::commands) fn options_of_copies(
        &self,
        context: &Context,
    ) -> anyhow::Result<Options> {
        let options = self.options(context)?;
        let is_said =
            self.durability.is_some() || context.settings.durability.from != Source::Default;
        let durability = if is_said { options.durability } else { Durability::Never };
        Ok(Options { durability, ..options })
    }

    /// Naming variables asks for the mask, unless a mask was declined at least as expressly. The
    /// settings have made up their minds already; the flags are laid over them.
    fn mask(&self, context: &Context) -> anyhow::Result<Option<SecretMask>> {
        let names = (!self.mask_env.is_empty()).then(|| self.mask_env.clone());
        let choice = context.settings.mask.clone().overruled_by(self.mask, "--mask");
        let names = context.settings.mask_env.clone().overruled_by(names, "--mask-env");
        let named_by_flag = matches!(names.from, Source::Flag(_));
        if named_by_flag && self.mask == Some(MaskChoice::None) {
            let hint = "leave one of the two out";
            return Err(UserError::new(
                "--mask none hides nothing, --mask-env would hide something",
            )
            .with_hint(hint)
            .into());
        }
        if choice.value == MaskChoice::None && !named_by_flag {
            return Ok(None);
        }
        for name in names.value.iter().filter(|name| std::env::var_os(name).is_none()) {
            context.screen.note(format_args!("${name} is not set: there is nothing of it to hide"));
        }
        Ok(Some(SecretMask::new().with_env(names.value.iter().map(String::as_str))))
    }
}
