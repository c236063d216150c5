//! Files that are written: always as a new file that takes the place of the old one at once.
//!
//! So a reader sees the old text or the new one, and another name of the old file keeps the old text.
//! What is there is never opened for writing.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, fchown};

use cap_std::fs::{Dir, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};

use super::file::vet;
use super::root::{Place, Root};
use super::trouble::{Refusal, Trouble};

/// How many links are followed from one to the next.
const MOST_LINKS: usize = 16;
/// What a new file may be used for, before the umask.
const NEW_FILE: u32 = 0o644;

impl Root {
    /// Puts a text in a place, and makes the directories on the way.
    ///
    /// `is_wanted` is asked right before the text takes its place.
    pub(crate) fn replace(
        &self,
        place: &Place,
        text: &[u8],
        is_wanted: impl Fn() -> bool,
    ) -> Result<(), Trouble> {
        let target = self.behind_links(place)?;
        let (parent, name) = target.split();
        let Some(name) = name else {
            self.open_dir(&target)?;
            return Err(Trouble::Failed(format!("{place}: is a directory")));
        };
        let dir = self.dir_for(place, &parent)?;
        let old = match dir.symlink_metadata(name) {
            Ok(metadata) => {
                vet(place, &metadata)?;
                Some(metadata)
            }
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => None,
            Err(cause) => return Err(self.explain(place, cause)),
        };
        let explain = |cause| self.explain(place, cause);
        let draft = Draft::write(&dir, text, old.as_ref()).map_err(explain)?;
        if !is_wanted() {
            return Err(Trouble::Failed("the call was given up".to_owned()));
        }
        draft.take_place_of(name).map_err(explain)
    }

    /// Follows the last part of a path, as far as it is a link. Every step starts at the root again.
    fn behind_links(&self, place: &Place) -> Result<Place, Trouble> {
        let mut at = place.clone();
        for _ in 0..MOST_LINKS {
            match self.dir.read_link_contents(at.path()) {
                Ok(target) if target.is_absolute() => {
                    return Err(refused(place, Refusal::Outside));
                }
                Ok(target) => at = at.split().0.join(&target),
                // What is there and no link is what was meant; so is what is not there yet.
                Err(cause) if cause.kind() == io::ErrorKind::InvalidInput => return Ok(at),
                Err(cause) if cause.kind() == io::ErrorKind::NotFound && !at.leaves() => {
                    return Ok(at);
                }
                Err(cause) => return Err(self.explain_as(place, &at, cause)),
            }
        }
        Err(refused(place, Refusal::Links))
    }

    fn dir_for(&self, place: &Place, parent: &Place) -> Result<Dir, Trouble> {
        match self.dir.open_dir(parent.path()) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound && !parent.leaves() => {
                let made = self.dir.create_dir_all(parent.path());
                made.and_then(|()| self.dir.open_dir(parent.path()))
            }
            opened => opened,
        }
        .map_err(|cause| self.explain_as(place, parent, cause))
    }

    /// Says what is wrong with a place that was looked for on behalf of another.
    fn explain_as(&self, place: &Place, at: &Place, cause: io::Error) -> Trouble {
        match self.explain(at, cause) {
            Trouble::Refused { why, .. } => refused(place, why),
            failed @ Trouble::Failed(_) => failed,
        }
    }
}

/// A text in a file of its own, which goes away unless it takes the place of another.
struct Draft<'a> {
    dir: &'a Dir,
    name: OsString,
    is_placed: bool,
}

impl<'a> Draft<'a> {
    /// Writes a text, for the same people to use as what it is to replace.
    fn write(dir: &'a Dir, text: &[u8], old: Option<&Metadata>) -> io::Result<Draft<'a>> {
        let mode = old.map(|old| old.mode() & 0o777);
        let name = OsString::from(format!(".quipu-{}.tmp", uuid::Uuid::new_v4().simple()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode.unwrap_or(NEW_FILE));
        let file = dir.open_with(&name, &options)?;
        let draft = Draft { dir, name, is_placed: false };
        let mut file = file.into_std();
        file.write_all(text)?;
        if let Some(old) = old {
            // Only root can give files away, and for everyone else it is their own already.
            let _ = fchown(&file, Some(old.uid()), Some(old.gid()));
        }
        if let Some(mode) = mode {
            // What the old file was meant for is not for the umask to say again.
            file.set_permissions(std::fs::Permissions::from_mode(mode))?;
        }
        Ok(draft)
    }

    fn take_place_of(mut self, name: &OsStr) -> io::Result<()> {
        self.dir.rename(&self.name, self.dir, name)?;
        self.is_placed = true;
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.is_placed {
            // One that cannot be removed is in nobody's way: no other has its name.
            let _ = self.dir.remove_file(&self.name);
        }
    }
}

fn refused(place: &Place, why: Refusal) -> Trouble {
    Trouble::Refused { file: place.to_string(), why }
}
