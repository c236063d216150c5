//! `plugins`: the MCP servers that a workflow brings. Nothing is started to check them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quipu_tool::plugin::{PluginConfig, PluginTransport};

use super::fields::Fields;
use super::reader::Reader;
use crate::definition::problem::Problem;
use crate::definition::suggest::nearest;
use crate::definition::yaml::{Content, Entry, Node};
use crate::toolbox::{plugin_name_problem, split_words};

/// Keys that only our plugins have, so that one that lacks the rest is not taken for somebody else's.
const OURS: [&str; 5] = ["args", "env", "dir", "headers", "start_timeout"];

/// Reads them all.
pub(super) fn read_all(reader: &mut Reader, node: &Node) -> BTreeMap<String, PluginConfig> {
    let Content::Mapping(entries) = &node.content else {
        let message = format!("`plugins` is {}, and has no effect", node.describe());
        let expected = "a mapping from names to `{command: …}` or `{url: …}`";
        reader.problems.push(Problem::warning(&node.place, message).expected(expected));
        return BTreeMap::new();
    };
    let plugins = entries.iter().filter_map(|entry| {
        let config = read(reader, entry)?;
        Some((entry.key.clone(), config))
    });
    plugins.collect()
}

fn read(reader: &mut Reader, entry: &Entry) -> Option<PluginConfig> {
    let keys: Vec<&str> =
        entry.value.mapping().unwrap_or_default().iter().map(|it| it.key.as_str()).collect();
    let has = |key: &str| keys.contains(&key);
    if !has("command") && !has("url") && !OURS.into_iter().any(has) {
        reader.problems.push(foreign(entry, &keys));
        return None;
    }
    if let Some(problem) = plugin_name_problem(&entry.key) {
        let expected = "a small letter, and then small letters, digits, `_` and `-`";
        reader.error(&entry.key_place, problem, expected);
    }
    let mut fields = Fields::of(reader, &format!("plugin `{}`", entry.key), &entry.value)?;
    fields.place = entry.key_place.clone();
    let transport = match (has("command"), has("url")) {
        (true, true) => {
            let message = format!("{} has both a `command` and a `url`", fields.of);
            reader.error(&fields.place, message, "one of the two");
            return None;
        }
        (false, true) => read_http(reader, &mut fields),
        _ => read_stdio(reader, &mut fields),
    };
    let timeout = fields.duration(reader, "timeout").filter(|time| !time.is_zero());
    let start_timeout = fields.duration(reader, "start_timeout").filter(|time| !time.is_zero());
    fields.finish_strictly(reader);
    Some(PluginConfig {
        name: entry.key.clone(),
        transport: transport?,
        timeout: timeout.unwrap_or(PluginConfig::TIMEOUT),
        start_timeout: start_timeout.unwrap_or(PluginConfig::START_TIMEOUT),
    })
}

/// Other programs have plugins too, and say other things of them.
fn foreign(entry: &Entry, keys: &[&str]) -> Problem {
    let message = format!(
        "plugin `{}` says neither how it is started nor where it is, and has no effect",
        entry.key
    );
    let meant = ["command", "url"].into_iter().find_map(|key| {
        let near = nearest(key, keys.iter().copied())?;
        Some(format!("`{near}` looks like `{key}`"))
    });
    Problem::warning(&entry.key_place, message).expected("`command` or `url`").hint(meant)
}

fn read_stdio(reader: &mut Reader, fields: &mut Fields<'_>) -> Option<PluginTransport> {
    let Some(node) = fields.take("command") else {
        fields.missing(reader, "command", "a program that speaks MCP over its standard streams");
        fields.take("args");
        return None;
    };
    let mut command = match &node.content {
        Content::Sequence(_) => words(reader, "`command`", node),
        _ => {
            let line = plain(reader, "`command`", node)?;
            let Some(words) = split_words(&line) else {
                reader.error(&node.place, "`command` has a quote that is not closed", "a command");
                return None;
            };
            words
        }
    };
    if let Some(node) = fields.take("args") {
        command.extend(words(reader, "`args`", node));
    }
    if command.first().is_none_or(String::is_empty) {
        reader.error(&node.place, "`command` names no program", "a program and its arguments");
    }
    let env = fields.take("env").map(|node| texts(reader, "`env`", node)).unwrap_or_default();
    let dir = fields.take("dir").and_then(|node| Some((plain(reader, "`dir`", node)?, node)));
    let dir = dir.map(|(dir, node)| beside(&node.place.file).join(dir));
    Some(PluginTransport::Stdio { command, env, dir })
}

fn read_http(reader: &mut Reader, fields: &mut Fields<'_>) -> Option<PluginTransport> {
    let node = fields.take("url")?;
    let url = plain(reader, "`url`", node)?;
    if !url.starts_with("http://") && !url.starts_with("https://") {
        let message = format!("`url` is {}", node.describe());
        reader.error(&node.place, message, "an address that begins with http:// or https://");
    }
    let headers =
        fields.take("headers").map(|node| texts(reader, "`headers`", node)).unwrap_or_default();
    Some(PluginTransport::Http { url, headers })
}

fn words(reader: &mut Reader, what: &str, node: &Node) -> Vec<String> {
    let Content::Sequence(items) = &node.content else {
        reader.error(&node.place, format!("{what} is {}", node.describe()), "a list of texts");
        return Vec::new();
    };
    items.iter().filter_map(|item| plain(reader, what, item)).collect()
}

fn texts(reader: &mut Reader, what: &str, node: &Node) -> BTreeMap<String, String> {
    let Content::Mapping(entries) = &node.content else {
        let message = format!("{what} is {}", node.describe());
        reader.error(&node.place, message, "a mapping from names to texts");
        return BTreeMap::new();
    };
    let texts = entries.iter().filter_map(|entry| {
        let text = plain(reader, &format!("`{}`", entry.key), &entry.value)?;
        Some((entry.key.clone(), text))
    });
    texts.collect()
}

/// Reads a text that is not filled in: a plugin is the same for all steps of a run.
fn plain(reader: &mut Reader, what: &str, node: &Node) -> Option<String> {
    let text = reader.text(what, node)?;
    if text.contains("{{") {
        let message = format!("{what}: templates are not filled in here");
        let expected = "a text as it stands; in `env` and `headers`, `${NAME}` is a variable";
        reader.error(&node.place, message, expected);
        return None;
    }
    Some(text)
}

fn beside(file: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).to_owned()
}
