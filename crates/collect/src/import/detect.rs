//! Whose runs lie at a path. Looks at names and beginnings; reads nothing whole but where it must.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::ImportError;
use super::folder::{Folder, head_of};
use super::record::lines;
use super::{Found, System, awf};

/// So much of a file is looked at.
const HEAD: u64 = 256 * 1024;
/// So many lines of it must not be JSON before it is given up.
const LINES: usize = 20;
/// Runs lie at most so deep below a folder that holds many.
const DEEPEST: usize = 6;

/// See [`super::find`].
pub(super) fn find(path: &Path) -> Result<Vec<Found>, ImportError> {
    let metadata = path.metadata().map_err(|source| ImportError::io(path, source))?;
    let mut found = Vec::new();
    if metadata.is_dir() {
        in_folder(path, 0, &mut found)?;
    } else {
        in_file(path, &mut found)?;
    }
    if found.is_empty() {
        return Err(ImportError::Unknown { path: path.to_owned() });
    }
    Ok(found)
}

fn in_file(path: &Path, found: &mut Vec<Found>) -> Result<(), ImportError> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let head = head_of(path, HEAD)?;
    if head.starts_with(b"PK\x03\x04") {
        return archive(path, found);
    }
    match transcript(&head) {
        Transcript::Awf => return awf_runs(parent, vec![name.to_owned()], path, found),
        Transcript::Own => return Err(ImportError::OwnTranscript { path: path.to_owned() }),
        Transcript::Nobodys => {}
    }
    // One file of a run stands for the run.
    if matches!(name, "events.jsonl" | "meta.json" | "run.json" | "manifest.json") {
        found.extend(run_in(parent)?);
    }
    Ok(())
}

fn in_folder(dir: &Path, depth: usize, found: &mut Vec<Found>) -> Result<(), ImportError> {
    if let Some(run) = run_in(dir)? {
        found.push(run);
        return Ok(());
    }
    let mut transcripts = Vec::new();
    let mut folders = Vec::new();
    for path in entries(dir)? {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if path.is_symlink() || name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            folders.push(path);
        } else if name.ends_with(".zip") {
            // An archive of something else is none of our business.
            let _ = archive(&path, found);
        } else if name.ends_with(".jsonl")
            && matches!(transcript(&head_of(&path, HEAD)?), Transcript::Awf)
        {
            transcripts.push(name.to_owned());
        }
    }
    awf_runs(dir, transcripts, dir, found)?;
    if depth < DEEPEST {
        folders.iter().try_for_each(|folder| in_folder(folder, depth + 1, found))?;
    }
    Ok(())
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>, ImportError> {
    let failed = |source| ImportError::io(dir, source);
    let mut paths = Vec::new();
    for entry in dir.read_dir().map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn awf_runs(
    dir: &Path,
    names: Vec<String>,
    path: &Path,
    found: &mut Vec<Found>,
) -> Result<(), ImportError> {
    if names.is_empty() {
        return Ok(());
    }
    let folder = Folder::some_of(dir, names)?;
    for (run, files) in awf::runs(&folder)? {
        let path = match files.as_slice() {
            [one] => dir.join(one),
            _ => path.to_owned(),
        };
        let folder = Folder::some_of(dir, files)?;
        found.push(Found { system: System::Awf, path, folder, only: Some(run) });
    }
    Ok(())
}

fn archive(path: &Path, found: &mut Vec<Found>) -> Result<(), ImportError> {
    let folder = Folder::archive(path)?;
    if folder.read_json("manifest.json")?.is_some_and(|manifest| is_manifest(&manifest)) {
        let path = path.to_owned();
        found.push(Found { system: System::Wink, path, folder, only: None });
    }
    Ok(())
}

/// Returns the run whose folder `dir` is, if it is one's.
fn run_in(dir: &Path) -> Result<Option<Found>, ImportError> {
    let found = |system: System, root: &Path| -> Result<Option<Found>, ImportError> {
        let folder = Folder::directory(root)?;
        Ok(Some(Found { system, path: dir.to_owned(), folder, only: None }))
    };
    let json = |path: PathBuf| -> Option<Value> {
        serde_json::from_slice(&head_of(&path, HEAD).ok()?).ok()
    };
    for root in [dir.to_owned(), dir.join("debug_bundle")] {
        if json(root.join("manifest.json")).is_some_and(|manifest| is_manifest(&manifest)) {
            return found(System::Wink, &root);
        }
    }
    let log = dir.join("events.jsonl");
    if log.is_file() {
        let whose = system_of_log(&head_of(&log, HEAD)?);
        if let Some(system) = whose {
            return found(system, dir);
        }
    }
    let meta = json(dir.join("meta.json"));
    let is_meta = |meta: &Value| meta.get("sdlc_status").is_some() || meta["spec"].is_object();
    if meta.as_ref().is_some_and(is_meta) || has_flows(dir)? {
        return found(System::FlowStudio, dir);
    }
    let run = json(dir.join("run.json"));
    let is_run = |run: &Value| run.get("run_id").is_some() || run.get("id").is_some();
    if run.as_ref().is_some_and(is_run) && (dir.join("transcript.md").is_file() || log.is_file()) {
        return found(System::Kgent, dir);
    }
    Ok(None)
}

fn is_manifest(manifest: &Value) -> bool {
    manifest["bundle_id"].is_string() && manifest["format_version"].is_string()
}

/// Tells whether a folder below has transcripts of steps, or receipts, whose names say so.
fn has_flows(dir: &Path) -> Result<bool, ImportError> {
    for flow in entries(dir)?.into_iter().filter(|path| path.is_dir() && !path.is_symlink()) {
        for (folder, ending) in [("llm", ".jsonl"), ("receipts", ".json")] {
            let folder = flow.join(folder);
            if !folder.is_dir() {
                continue;
            }
            let is_one = |path: &PathBuf| {
                let name = path.file_name().and_then(|name| name.to_str());
                name.is_some_and(|name| name.ends_with(ending) && name.contains('-'))
            };
            if entries(&folder)?.iter().any(is_one) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn objects(head: &[u8]) -> impl Iterator<Item = Value> {
    lines("", head).take(LINES).filter_map(|record| record.object())
}

fn system_of_log(head: &[u8]) -> Option<System> {
    objects(head).find_map(|line| {
        let has = |key: &str| line.get(key).is_some();
        if has("kind") && (has("flow_key") || has("ts")) {
            Some(System::FlowStudio)
        } else if has("type") && (has("event_id") || has("sequence")) {
            Some(System::Kgent)
        } else if has("event") && has("timestamp") && !has("type") {
            Some(System::FlowStudio)
        } else {
            None
        }
    })
}

enum Transcript {
    Awf,
    Own,
    Nobodys,
}

fn transcript(head: &[u8]) -> Transcript {
    let keys = ["seq", "run_id", "type", "timestamp"];
    let mut events = objects(head).filter(|line| keys.iter().all(|key| line.get(key).is_some()));
    match events.next() {
        Some(first) if is_ours(&first) => Transcript::Own,
        Some(_) if events.any(|event| is_ours(&event)) => Transcript::Own,
        Some(_) => Transcript::Awf,
        None => Transcript::Nobodys,
    }
}

/// AWF never says which format it writes, nor where a line comes from.
fn is_ours(event: &Value) -> bool {
    event["payload"].get("format").is_some() || event.get("origin").is_some()
}
