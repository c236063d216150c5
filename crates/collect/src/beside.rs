//! What lies beside an input file: bodies that an agent keeps in files of their own.
//!
//! The places come out of the input, so they are not believed: only regular files in the folders
//! of the input's own session are read, no link is followed out of them, and none is read that is
//! too large.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use quipu_provider::Companions;

/// No agent keeps an output that is larger.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The folder of an input file.
pub struct Beside {
    folder: PathBuf,
}

impl Beside {
    /// Looks beside `input`.
    pub fn new(input: &Path) -> Option<Self> {
        // Links on the way to the input are the user's own.
        let folder = fs::canonicalize(input).ok()?.parent()?.to_owned();
        Some(Beside { folder })
    }

    /// Returns the file at `place`, if that is one and not a way to somewhere else.
    fn find(&self, place: &str) -> Option<PathBuf> {
        let (folder, place) = match place.strip_prefix("../") {
            Some(place) => (self.folder.parent()?, place),
            None => (&*self.folder, place),
        };
        let place = Path::new(place);
        let is_plain = place.components().all(|part| matches!(part, Component::Normal(_)));
        let path = folder.join(place);
        // Where no link is followed, the real path is the one that was asked for.
        (is_plain && fs::canonicalize(&path).ok()? == path).then_some(path)
    }
}

impl Companions for Beside {
    fn body(&self, place: &str) -> Option<Vec<u8>> {
        let path = self.find(place)?;
        // Opening anything else could wait for ever.
        let kind = fs::symlink_metadata(&path).ok()?;
        if !kind.is_file() || kind.len() > LARGEST {
            return None;
        }
        let mut body = Vec::with_capacity(usize::try_from(kind.len()).ok()?);
        // It may have grown since.
        File::open(path).ok()?.take(LARGEST).read_to_end(&mut body).ok()?;
        Some(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(home: &Path) -> Beside {
        fs::create_dir_all(home.join("project/s1/results")).unwrap();
        fs::write(home.join("project/s1.jsonl"), "").unwrap();
        fs::write(home.join("project/s1/results/a.txt"), "all of it").unwrap();
        fs::write(home.join("secret.txt"), "a secret").unwrap();
        Beside::new(&home.join("project/s1.jsonl")).unwrap()
    }

    #[test]
    fn files_are_found_beside_the_input_and_one_folder_up() {
        let home = tempfile::tempdir().unwrap();
        let beside = beside(home.path());
        assert_eq!(beside.body("s1/results/a.txt").unwrap(), b"all of it");
        assert_eq!(beside.body("../secret.txt").unwrap(), b"a secret");
        for place in ["", "s1", "s1/results", "s1/results/b.txt", "s1/results/a.txt/"] {
            assert_eq!(beside.body(place), None, "{place}");
        }
    }

    #[test]
    fn no_place_leads_elsewhere() {
        let home = tempfile::tempdir().unwrap();
        let beside = beside(home.path());
        let absolute = fs::canonicalize(home.path().join("secret.txt")).unwrap();
        let absolute = absolute.to_str().unwrap();
        for place in
            [absolute, "s1/../../secret.txt", "../project/../secret.txt", "../../etc/passwd"]
        {
            assert_eq!(beside.body(place), None, "{place}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn no_link_leads_elsewhere() {
        let home = tempfile::tempdir().unwrap();
        let beside = beside(home.path());
        let results = home.path().join("project/s1/results");
        std::os::unix::fs::symlink(home.path().join("secret.txt"), results.join("b.txt")).unwrap();
        std::os::unix::fs::symlink(home.path(), home.path().join("project/s2")).unwrap();
        for place in ["s1/results/b.txt", "s2/secret.txt"] {
            assert_eq!(beside.body(place), None, "{place}");
        }
    }

    #[test]
    fn what_is_too_large_is_left_where_it_is() {
        let home = tempfile::tempdir().unwrap();
        let beside = beside(home.path());
        let file = File::create(home.path().join("project/s1/results/a.txt")).unwrap();
        file.set_len(LARGEST + 1).unwrap();
        assert_eq!(beside.body("s1/results/a.txt"), None);
    }
}
