//! Where workflows and templates are kept, and which file a name means.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::library::{Document, Library, NamedFile, NotFound};
use crate::agent::{role_dirs, skill_dirs};

/// The directories that names are looked for in.
#[derive(Clone, Debug)]
pub struct Places {
    /// The directory that `.quipu` and `.awf` are in.
    project: PathBuf,
    /// Further directories of workflows, in order.
    extra: Vec<PathBuf>,
    /// The user's configuration.
    config: Option<PathBuf>,
    /// The user's data.
    data: Option<PathBuf>,
    /// The plugins that every workflow has.
    plugins: Vec<String>,
    home: Option<PathBuf>,
    skills: Vec<PathBuf>,
    roles: Vec<PathBuf>,
}

const ENDINGS: [&str; 2] = ["yaml", "yml"];
const SKILL: &str = "SKILL.md";
const ROLE: &str = "AGENTS.md";
const HOMES: [&str; 2] = [".quipu", ".awf"];

impl Places {
    /// Returns the places of a project, without those of a user.
    pub fn of_project(project: impl Into<PathBuf>) -> Self {
        Places {
            project: project.into(),
            extra: Vec::new(),
            config: None,
            data: None,
            plugins: Vec::new(),
            home: None,
            skills: Vec::new(),
            roles: Vec::new(),
        }
    }

    /// Returns the places of a project and of the user whose environment this is.
    pub fn of_environment(
        project: impl Into<PathBuf>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let home = set("HOME").map(PathBuf::from);
        let of = |name: &str, below: &str| {
            set(name).map(PathBuf::from).or_else(|| home.as_ref().map(|home| home.join(below)))
        };
        let project = project.into();
        let text = |name: &str| set(name).and_then(|value| value.into_string().ok());
        Places {
            skills: skill_dirs(&project, &text),
            roles: role_dirs(&project, &text),
            extra: set("AWF_WORKFLOWS_PATH")
                .map(|paths| std::env::split_paths(&paths).collect())
                .unwrap_or_default(),
            config: of("XDG_CONFIG_HOME", ".config").map(|dir| dir.join("awf")),
            data: of("XDG_DATA_HOME", ".local/share").map(|dir| dir.join("awf")),
            home,
            ..Places::of_project(project)
        }
    }

    /// Returns the places of this process.
    pub fn of_process() -> Self {
        Places::of_environment(".", |name| std::env::var_os(name))
    }

    /// Says which plugins every workflow has, whatever its file says.
    #[must_use]
    pub fn with_plugins(self, names: impl IntoIterator<Item = String>) -> Self {
        Places { plugins: names.into_iter().collect(), ..self }
    }

    /// Finds the file of a workflow by its path, its name, or the name of its pack and its own.
    pub fn find(&self, name: &str, caller: Option<&Path>) -> Result<PathBuf, NotFound> {
        let beside = caller.map(|caller| caller.parent().unwrap_or(Path::new("")).to_owned());
        if is_path(name) {
            let mut tried: Vec<PathBuf> =
                beside.iter().map(|dir| dir.join(name)).chain([self.project_path(name)]).collect();
            tried.dedup();
            if let Some(found) = tried.iter().find(|path| path.is_file()) {
                return Ok(found.clone());
            }
            return Err(self.not_found(name, tried, &[parent_of(&self.project_path(name))]));
        }
        // A person who names no directory may well mean the one they are in.
        let near: Vec<PathBuf> = match beside {
            Some(dir) => vec![dir],
            None => vec![parent_of(&self.project_path("_"))],
        };
        let pack = name.split_once('/').filter(|(pack, _)| !pack.is_empty());
        let (dirs, own) = match (pack, caller) {
            (Some((pack, own)), _) => (self.pack_dirs(pack), own),
            (None, Some(_)) => ([near.clone(), self.workflow_dirs()].concat(), name),
            (None, None) => ([self.workflow_dirs(), near.clone()].concat(), name),
        };
        let mut tried = candidates(&dirs, own);
        if pack.is_some() {
            tried.extend(candidates(&near, name));
        }
        // A name that is a file as it stands is that file.
        let plain = self.project_path(name);
        let found = tried.iter().chain([&plain]).find(|path| path.is_file()).cloned();
        found.ok_or_else(|| self.not_found(own, tried, &dirs))
    }

    /// Returns the path of a file that a workflow names, as a run looks for it.
    fn beside(&self, name: &str, user: &Path) -> PathBuf {
        match (name.strip_prefix("~/"), &self.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => user.parent().unwrap_or(Path::new("")).join(name),
        }
    }

    fn project_path(&self, name: &str) -> PathBuf {
        if self.project == Path::new(".") { name.into() } else { self.project.join(name) }
    }

    fn workflow_dirs(&self) -> Vec<PathBuf> {
        let own = HOMES.iter().map(|home| self.project_path(home).join("workflows"));
        let config = self.config.iter().map(|dir| dir.join("workflows"));
        own.chain(self.extra.iter().cloned()).chain(config).collect()
    }

    fn pack_dirs(&self, pack: &str) -> Vec<PathBuf> {
        let own = HOMES.iter().map(|home| self.project_path(home));
        let packs = own.chain(self.data.iter().cloned());
        packs.map(|dir| dir.join("workflow-packs").join(pack).join("workflows")).collect()
    }

    fn template_dirs(&self, user: &Path) -> Vec<PathBuf> {
        let beside = user.parent().unwrap_or(Path::new(""));
        let own = HOMES.iter().map(|home| self.project_path(home).join("templates"));
        // A template that uses another stands among the templates already.
        let above = match beside.file_name().and(beside.parent()) {
            Some(above) => above.to_owned(),
            None => beside.join(".."),
        };
        own.chain([beside.join("templates"), above.join("templates"), beside.to_owned()])
            .chain(self.data.iter().map(|dir| dir.join("templates")))
            .collect()
    }

    fn not_found(&self, name: &str, places: Vec<PathBuf>, dirs: &[PathBuf]) -> NotFound {
        let mut known: Vec<String> = dirs.iter().flat_map(|dir| names_in(dir, name)).collect();
        known.sort();
        known.dedup();
        NotFound { name: name.to_owned(), places, known, cause: None }
    }
}

impl Library for Places {
    fn workflow(&self, name: &str, caller: &Path) -> Result<Document, NotFound> {
        read(name, self.find(name, Some(caller))?)
    }

    fn template(&self, name: &str, user: &Path) -> Result<Document, NotFound> {
        let dirs = self.template_dirs(user);
        let tried = candidates(&dirs, name);
        match tried.iter().find(|path| path.is_file()) {
            Some(found) => read(name, found.clone()),
            None => Err(self.not_found(name, tried, &dirs)),
        }
    }

    fn plugins(&self) -> Vec<String> {
        self.plugins.clone()
    }

    fn missing(&self, named: &NamedFile, user: &Path) -> Option<Vec<PathBuf>> {
        let in_dirs = |dirs: &[PathBuf], name: &str, file: &str| {
            dirs.iter().map(|dir| dir.join(name).join(file)).collect()
        };
        let tried: Vec<PathBuf> = match named {
            NamedFile::Text(name) => vec![self.beside(name, user)],
            NamedFile::SkillAt(name) => {
                let path = self.beside(name, user);
                vec![path.join(SKILL), path]
            }
            NamedFile::Skill(name) => in_dirs(&self.skills, name, SKILL),
            NamedFile::Role(name) => in_dirs(&self.roles, name, ROLE),
        };
        // Nobody can say what is missing where there is no place to look.
        (!tried.is_empty() && !tried.iter().any(|path| path.is_file())).then_some(tried)
    }

    fn identity(&self, path: &Path) -> PathBuf {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
    }
}

fn is_path(name: &str) -> bool {
    let path = Path::new(name);
    let has_ending = path.extension().is_some_and(|end| ENDINGS.iter().any(|known| end == *known));
    has_ending || path.is_absolute() || name.starts_with("./") || name.starts_with("../")
}

fn candidates(dirs: &[PathBuf], name: &str) -> Vec<PathBuf> {
    dirs.iter()
        .flat_map(|dir| ENDINGS.iter().map(move |ending| dir.join(format!("{name}.{ending}"))))
        .collect()
}

/// Lists what could have been meant, written as `wanted` is: with its ending or without.
fn names_in(dir: &Path, wanted: &str) -> Vec<String> {
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let prefix = Path::new(wanted).parent().filter(|_| is_path(wanted));
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    entries
        .flatten()
        .map(|entry| PathBuf::from(entry.file_name()))
        .filter(|file| {
            file.extension().is_some_and(|end| ENDINGS.iter().any(|known| end == *known))
        })
        .filter_map(|file| match prefix {
            Some(prefix) => Some(prefix.join(file).display().to_string()),
            None => file.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
        })
        .collect()
}

fn parent_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_owned()
}

fn read(name: &str, path: PathBuf) -> Result<Document, NotFound> {
    match read_text(&path) {
        Ok(text) => Ok(Document { path, text }),
        Err(error) => Err(NotFound {
            name: name.to_owned(),
            places: vec![path],
            known: Vec::new(),
            cause: Some(error.to_string()),
        }),
    }
}

/// Workflows are small; what is larger than this is some other file.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Reads a file that must be text and of a size that a person could have written.
pub(super) fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read_bytes(path)?;
    String::from_utf8(bytes).map_err(|wrong| io::Error::new(io::ErrorKind::InvalidData, wrong))
}

/// Reads a file that may hold anything, but not any amount of it.
pub(super) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let size = fs::metadata(path)?.len();
    if size > MAX_BYTES {
        let message = format!("{size} bytes are too many for a workflow");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    fs::read(path)
}
