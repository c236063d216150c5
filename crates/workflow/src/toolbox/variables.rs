//! `${NAME}` in what a plugin is given: filled in from the environment when a run begins, never recorded.

use std::collections::BTreeMap;

use quipu_tool::plugin::{PluginConfig, PluginTransport};

/// Fills the variables in. One that is not set is an error: a plugin without its key would fail later
/// and say less.
pub(super) fn filled_in(
    mut config: PluginConfig,
    env: &BTreeMap<String, String>,
) -> Result<PluginConfig, String> {
    for (name, value) in values_mut(&mut config.transport) {
        *value = expanded(value, env).map_err(|variable| {
            format!("`{name}` needs the variable `{variable}`, and it is not set")
        })?;
    }
    Ok(config)
}

/// Returns the names of the variables that a plugin is given.
pub(super) fn used(config: &PluginConfig) -> Vec<&str> {
    let values = match &config.transport {
        PluginTransport::Stdio { env, .. } => env,
        PluginTransport::Http { headers, .. } => headers,
    };
    let parts = values.values().flat_map(|value| parts(value));
    parts.filter_map(|part| part.err()).collect()
}

fn values_mut(transport: &mut PluginTransport) -> &mut BTreeMap<String, String> {
    match transport {
        PluginTransport::Stdio { env, .. } => env,
        PluginTransport::Http { headers, .. } => headers,
    }
}

fn expanded<'a>(text: &'a str, env: &BTreeMap<String, String>) -> Result<String, &'a str> {
    let parts = parts(text).into_iter();
    let filled = parts.map(|part| match part {
        Ok(text) => Ok(text),
        Err(name) => env.get(name).map(String::as_str).ok_or(name),
    });
    filled.collect()
}

/// Divides a text into what stands as it is and the names of variables.
fn parts(text: &str) -> Vec<Result<&str, &str>> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(start) = rest.find("${") {
        let Some(end) = rest[start..].find('}').map(|end| start + end) else { break };
        let name = &rest[start + 2..end];
        if is_name(name) {
            parts.push(Ok(&rest[..start]));
            parts.push(Err(name));
        } else {
            parts.push(Ok(&rest[..=end]));
        }
        rest = &rest[end + 1..];
    }
    parts.push(Ok(rest));
    parts
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(is_part) && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_and_everything_else_stands() {
        let env = BTreeMap::from([("KEY".to_owned(), "k${KEY}".to_owned())]);
        let cases = [
            ("plain", Ok("plain")),
            ("Bearer ${KEY}", Ok("Bearer k${KEY}")),
            ("${KEY}${KEY}", Ok("k${KEY}k${KEY}")),
            ("$KEY and ${not a name} and ${KEY", Ok("$KEY and ${not a name} and ${KEY")),
            ("${}", Ok("${}")),
            ("ü${LOST}", Err("LOST")),
        ];
        for (text, expected) in cases {
            assert_eq!(expanded(text, &env), expected.map(str::to_owned), "{text}");
        }
    }
}
