//! What an agent calls our tools: every program has its own way to name those of an MCP server.

/// The name that our server has in an agent's configuration.
pub(in crate::agent) const SERVER: &str = "quipu";

/// The names of the tools that are served, as one agent says them.
#[derive(Clone, Debug, Default)]
pub(in crate::agent) struct Names {
    prefix: String,
    tools: Vec<String>,
}

impl Names {
    /// Takes what the agent puts before a tool's name, and the tools.
    pub(super) fn new(prefix: &str, tools: Vec<String>) -> Names {
        Names { prefix: prefix.to_owned(), tools }
    }

    /// Returns our name for a tool that the agent calls `said`, if it is one of ours.
    ///
    /// `provider` is whose tool it is, where the agent says so.
    pub(super) fn ours(&self, said: &str, provider: Option<&str>) -> Option<String> {
        let is_by_server = provider.and_then(|name| name.strip_prefix("mcp:")) == Some(SERVER);
        let rest = match said.strip_prefix(&self.prefix).filter(|_| !self.prefix.is_empty()) {
            Some(rest) => rest,
            None if is_by_server => said,
            None => return None,
        };
        // Programs replace what they do not like in a name.
        let plain = |name: &str| name.replace(|sign: char| !sign.is_ascii_alphanumeric(), "_");
        let exact = self.tools.iter().find(|tool| *tool == rest);
        let found = exact.or_else(|| self.tools.iter().find(|tool| plain(tool) == plain(rest)));
        // A tool that we do not have may be asked for all the same.
        Some(found.cloned().unwrap_or_else(|| rest.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_has_its_own_names() {
        let tools = || vec!["Read".to_owned(), "issues_list.all".to_owned()];
        for (prefix, said, provider, expected) in [
            ("mcp__quipu__", "mcp__quipu__Read", None, Some("Read")),
            ("mcp__quipu__", "Read", None, None),
            ("mcp__quipu__", "mcp__quipu__issues_list_all", None, Some("issues_list.all")),
            ("mcp__quipu__", "mcp__other__Read", Some("mcp:other"), None),
            ("mcp__quipu__", "mcp__quipu__Nothing", None, Some("Nothing")),
            ("", "Read", Some("mcp:quipu"), Some("Read")),
            ("", "Read", Some("mcp:other"), None),
            ("", "Read", None, None),
            ("mcp_quipu_", "mcp_quipu_issues_list.all", None, Some("issues_list.all")),
            ("quipu-", "quipu-Read", Some("mcp:quipu"), Some("Read")),
            ("quipu_", "quipu_Read", Some("agent"), Some("Read")),
            ("quipu_", "read", Some("agent"), None),
        ] {
            let names = Names::new(prefix, tools());
            assert_eq!(names.ours(said, provider).as_deref(), expected, "{prefix}: {said}");
        }
    }
}
