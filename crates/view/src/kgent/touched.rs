//! Which files a call of an agent's own tools reads or writes, by the tool's name and arguments.
//!
//! Agents say nothing of files beside their calls. Commands of a shell are not guessed at.

use std::collections::BTreeSet;

use serde_json::Value;

use super::measure::Measure;

/// What a tool does, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Read,
    Write,
    Execute,
    Call,
}

/// A file that a call is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Touched {
    pub(super) path: String,
    pub(super) bytes: Option<u64>,
    pub(super) sha256: Option<String>,
}

const READERS: [&str; 13] = [
    "read",
    "readfile",
    "readmanyfiles",
    "readmediafile",
    "readmultiplefiles",
    "readtextfile",
    "view",
    "viewfile",
    "viewimage",
    "notebookread",
    "openfile",
    "fileread",
    "cat",
];
const WRITERS: [&str; 22] = [
    "write",
    "writefile",
    "writetofile",
    "filewrite",
    "create",
    "createfile",
    "edit",
    "editfile",
    "multiedit",
    "notebookedit",
    "replace",
    "replaceinfile",
    "strreplace",
    "searchreplace",
    "insert",
    "insertedit",
    "inserteditintofile",
    "applypatch",
    "applydiff",
    "patch",
    "filechange",
    "fileedit",
];
const SHELLS: [&str; 10] = [
    "bash",
    "shell",
    "localshell",
    "commandexecution",
    "execcommand",
    "runshellcommand",
    "exec",
    "execute",
    "runcommand",
    "runinterminal",
];
/// Tools that say in an argument what they do.
const EDITORS: [&str; 3] = ["strreplaceeditor", "strreplacebasededittool", "texteditor"];

/// The arguments that name a file, and those that name several.
const ONE: [&str; 9] = [
    "file_path",
    "path",
    "filePath",
    "absolute_path",
    "notebook_path",
    "target_file",
    "filename",
    "file",
    "filepath",
];
const SEVERAL: [&str; 4] = ["paths", "files", "file_paths", "changes"];
/// The arguments that are the whole of a written file.
const WHOLE: [&str; 3] = ["content", "file_text", "contents"];
/// The most files that are told of one call.
const MOST: usize = 100;

impl Action {
    /// Returns what a tool of that name does with these arguments.
    pub(super) fn of(tool: &str, input: &Value) -> Action {
        let name = plain(tool);
        let is_in = |list: &[&str]| list.contains(&name.as_str());
        if is_in(&EDITORS) {
            return match input["command"].as_str() {
                Some("view") => Action::Read,
                Some("create" | "str_replace" | "insert") => Action::Write,
                _ => Action::Call,
            };
        }
        match () {
            () if is_in(&READERS) => Action::Read,
            () if is_in(&WRITERS) => Action::Write,
            () if is_in(&SHELLS) => Action::Execute,
            () => Action::Call,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Action::Read => "read",
            Action::Write => "write",
            Action::Execute => "execute",
            Action::Call => "call",
        }
    }
}

/// Returns the files that a call that reads or writes is about.
pub(super) fn files(action: Action, input: &Value) -> Vec<Touched> {
    if !matches!(action, Action::Read | Action::Write) {
        return Vec::new();
    }
    let mut paths = named(input);
    if paths.is_empty() {
        let texts = [input, &input["patch"], &input["input"], &input["patchText"], &input["diff"]];
        paths = texts.iter().filter_map(|text| text.as_str()).flat_map(patched).collect();
    }
    let mut known = BTreeSet::new();
    paths.retain(|path| !path.trim().is_empty() && known.insert(path.clone()));
    paths.truncate(MOST);
    let whole = WHOLE.iter().find_map(|key| input[*key].as_str());
    let whole = whole.filter(|_| action == Action::Write && paths.len() == 1);
    let whole = whole.and_then(Measure::of);
    let touched = |path| Touched {
        path,
        bytes: whole.as_ref().map(|text| text.bytes),
        sha256: whole.as_ref().map(|text| text.sha256.clone()),
    };
    paths.into_iter().map(touched).collect()
}

/// Returns a tool's name without what hosts put around it: `mcp__files__read_file` is `readfile`.
fn plain(tool: &str) -> String {
    let last = tool.rsplit("__").next().unwrap_or(tool);
    last.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

fn named(input: &Value) -> Vec<String> {
    let one = ONE.iter().find_map(|key| input[*key].as_str());
    if let Some(path) = one {
        return vec![path.to_owned()];
    }
    let several = SEVERAL.iter().map(|key| &input[*key]).find(|list| !list.is_null());
    match several {
        Some(Value::Array(items)) => items.iter().filter_map(item).collect(),
        Some(Value::Object(by_path)) => by_path.keys().cloned().collect(),
        _ => Vec::new(),
    }
}

fn item(item: &Value) -> Option<String> {
    let path = item.as_str().or_else(|| ONE.iter().find_map(|key| item[*key].as_str()));
    path.map(str::to_owned)
}

/// Returns the files that a patch names.
fn patched(text: &str) -> Vec<String> {
    let marks = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let path = |line: &str| {
        let path = marks.iter().find_map(|mark| line.strip_prefix(mark));
        path.map(|path| path.trim().to_owned())
    };
    text.lines().filter_map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_files_of_a_call_are_found_whoever_made_it() {
        let cases = [
            ("Read", json!({"file_path": "/a"}), Action::Read, vec!["/a"]),
            ("read", json!({"filePath": "a"}), Action::Read, vec!["a"]),
            ("read_many_files", json!({"paths": ["a", "b"]}), Action::Read, vec!["a", "b"]),
            ("mcp__fs__write_file", json!({"path": "a"}), Action::Write, vec!["a"]),
            (
                "str_replace_editor",
                json!({"command": "view", "path": "a"}),
                Action::Read,
                vec!["a"],
            ),
            ("str_replace_editor", json!({"command": "undo", "path": "a"}), Action::Call, vec![]),
            (
                "file_change",
                json!({"changes": [{"path": "a", "kind": "add"}]}),
                Action::Write,
                vec!["a"],
            ),
            ("apply_patch", json!({"changes": {"a": {}, "b": {}}}), Action::Write, vec!["a", "b"]),
            (
                "apply_patch",
                json!("*** Begin Patch\n*** Add File: x/y\n+1\n*** End Patch"),
                Action::Write,
                vec!["x/y"],
            ),
            ("Bash", json!({"command": "cat a", "path": "a"}), Action::Execute, vec![]),
            ("Read", json!(null), Action::Read, vec![]),
            ("Read", json!({"file_path": " "}), Action::Read, vec![]),
            ("TodoWrite", json!({"path": "a"}), Action::Call, vec![]),
        ];
        for (tool, input, action, paths) in cases {
            assert_eq!(Action::of(tool, &input), action, "{tool}");
            let found: Vec<_> = files(action, &input).into_iter().map(|file| file.path).collect();
            assert_eq!(found, paths, "{tool} {input}");
        }
    }

    #[test]
    fn what_was_written_whole_is_measured() {
        let file = files(Action::Write, &json!({"path": "a", "content": "abc"})).remove(0);
        assert_eq!(file.bytes, Some(3));
        assert!(file.sha256.is_some_and(|hash| hash.starts_with("ba7816bf")));
        for (key, text) in
            [("new_string", "x"), ("content", "k=[masked:github]"), ("content", "***secret:k***")]
        {
            let file = files(Action::Write, &json!({"path": "a", key: text})).remove(0);
            assert_eq!((file.bytes, file.sha256), (None, None), "{text}");
        }
    }
}
