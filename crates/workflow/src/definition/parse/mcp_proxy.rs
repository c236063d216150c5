//! `mcp_proxy`: which tools an agent is given. The one place where an unknown key is an error.

use std::collections::BTreeMap;

use super::fields::Fields;
use super::reader::Reader;
use crate::definition::problem::{Place, Problem};
use crate::definition::yaml::{Content, Node};
use crate::definition::{McpProxy, PluginTools};
use crate::operation::is_namespace;

/// Reads it.
pub(super) fn read(reader: &mut Reader, node: &Node) -> McpProxy {
    let Some(mut fields) = Fields::of(reader, "`mcp_proxy`", node) else {
        return McpProxy::default();
    };
    if node.mapping().is_some_and(<[_]>::is_empty) {
        let message = "`mcp_proxy` is empty: it neither turns the proxy on nor off";
        reader.error(&node.place, message, "`enable: true`, or no `mcp_proxy` at all");
    }
    let enable = fields.flag(reader, "enable");
    if enable.is_none() && !fields.has("enable") && !node.mapping().is_some_and(<[_]>::is_empty) {
        let message = "`mcp_proxy` is not enabled, and gives the agent no tool";
        reader.problems.push(Problem::warning(&node.place, message).expected("`enable: true`"));
    }
    let enable = enable.unwrap_or(false);
    let intercept_builtins = fields.flag(reader, "intercept_builtins").unwrap_or(true);
    let plugins = fields.take("plugin_tools");
    let plugin_tools = plugins.map(|node| read_plugins(reader, node)).unwrap_or_default();
    let has_list = plugins
        .is_some_and(|node| !matches!(&node.content, Content::Sequence(items) if items.is_empty()));
    if enable && !intercept_builtins && !has_list {
        let message = "`mcp_proxy` is enabled and gives the agent no tool at all";
        reader.error(&node.place, message, "`intercept_builtins: true`, or `plugin_tools`");
    }
    fields.finish_strictly(reader);
    McpProxy { enable, intercept_builtins, plugin_tools }
}

fn read_plugins(reader: &mut Reader, node: &Node) -> Vec<PluginTools> {
    let Content::Sequence(items) = &node.content else {
        let message = format!("`plugin_tools` is {}", node.describe());
        reader.error(&node.place, message, "a list of `{plugin: …, expose: […]}`");
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut plugins = BTreeMap::new();
    let mut tools = BTreeMap::new();
    for item in items {
        let Some(mut fields) = Fields::of(reader, "a plugin", item) else { continue };
        let Some(at) = fields.take("plugin") else {
            fields.missing(reader, "plugin", "the name of a plugin");
            continue;
        };
        let Some(plugin) = reader.text("`plugin`", at) else { continue };
        let mut expose = Vec::new();
        if fields.has("expose") {
            for (operation, place) in fields.names(reader, "expose").unwrap_or_default() {
                expose.push(operation.clone());
                // Which tools a plugin has can be known only where plugins can be asked.
                if operation != "*" {
                    let name = format!("{plugin}.{operation}");
                    reader.tool(&name, &format!("operation `{operation}`"), &place);
                } else if !is_namespace(&plugin) {
                    reader.needs_plugin(&plugin, "`expose`", &place);
                }
                collide(reader, &mut tools, "tool", format!("{plugin}_{operation}"), &place);
            }
        } else {
            fields.missing(reader, "expose", "a list of the plugin's operations");
        }
        found.push(PluginTools { plugin: plugin.clone(), expose });
        collide(reader, &mut plugins, "plugin", plugin, &at.place);
        fields.finish_strictly(reader);
    }
    found
}

fn collide(
    reader: &mut Reader,
    seen: &mut BTreeMap<String, Place>,
    what: &str,
    name: String,
    place: &Place,
) {
    match seen.get(&name) {
        Some(first) => {
            let (line, column) = (first.line, first.column);
            let message =
                format!("name collision: {what} `{name}` stands twice, first at {line}:{column}");
            let expected = if what == "plugin" {
                "each plugin once, with all its tools in one `expose`"
            } else {
                "each tool once"
            };
            reader.error(place, message, expected);
        }
        None => drop(seen.insert(name, place.clone())),
    }
}
