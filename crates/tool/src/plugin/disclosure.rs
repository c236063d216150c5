//! What may be said about how a plugin is reached: nothing that opens a door.

use super::config::{PluginConfig, PluginTransport};

/// What stands for a secret.
const MASK: &str = "***";
/// A secret shorter than this is too likely to be a word by chance.
const SHORTEST_SECRET: usize = 4;

/// Returns the command or the address, without what looks like a secret.
pub(super) fn shown_transport(config: &PluginConfig) -> String {
    let shown = match &config.transport {
        PluginTransport::Stdio { command, .. } => shown_command(command),
        PluginTransport::Http { url, .. } => shown_url(url),
    };
    without_secrets(&shown, config)
}

/// Returns a text without the secrets of a configuration, should it quote them.
pub(super) fn without_secrets(text: &str, config: &PluginConfig) -> String {
    let mut text = text.to_owned();
    for secret in secrets(config) {
        if secret.len() >= SHORTEST_SECRET {
            text = text.replace(secret, MASK);
        }
    }
    if let PluginTransport::Http { url, .. } = &config.transport {
        let shown = shown_url(url);
        text = text.replace(url.as_str(), &shown);
        if let Ok(mut url) = reqwest::Url::parse(url) {
            text = text.replace(url.as_str(), &shown);
            // An HTTP client tells of the address without the user, but with the query.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            text = text.replace(url.as_str(), &shown);
        }
    }
    text
}

fn secrets(config: &PluginConfig) -> Vec<&str> {
    match &config.transport {
        PluginTransport::Stdio { env, .. } => {
            let secret = env.iter().filter(|(name, _)| is_secret_name(name));
            secret.map(|(_, value)| value.as_str()).collect()
        }
        PluginTransport::Http { headers, .. } => {
            // The word before a token (`Bearer …`) is none of it.
            let values = headers.values().map(|value| value.trim());
            values.map(|value| value.rsplit(' ').next().unwrap_or(value)).collect()
        }
    }
}

fn shown_command(command: &[String]) -> String {
    let mut is_value_secret = false;
    let words = command.iter().map(|word| {
        let shown = match word.split_once('=') {
            _ if is_value_secret && !word.starts_with('-') => MASK.to_owned(),
            Some((name, _)) if is_secret_name(name) => format!("{name}={MASK}"),
            _ if word.contains("://") => shown_url(word),
            _ => word.clone(),
        };
        is_value_secret = word.starts_with('-') && !word.contains('=') && is_secret_name(word);
        shown
    });
    words.collect::<Vec<_>>().join(" ")
}

fn shown_url(url: &str) -> String {
    let Ok(mut parsed) = reqwest::Url::parse(url) else { return url.to_owned() };
    // A URL that cannot have a user has none to be hidden.
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    parsed.set_query(None);
    parsed.set_fragment(None);
    parsed.into()
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = ["token", "secret", "password", "passwd", "key", "auth", "credential", "header"];
    words.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_opens_a_door_is_shown() {
        let cases = [
            (vec!["npx", "-y", "server", "/tmp"], "npx -y server /tmp"),
            (vec!["server", "--api-key", "s3cr3t", "x"], "server --api-key *** x"),
            (vec!["server", "--token=s3cr3t"], "server --token=***"),
            (vec!["env", "API_KEY=s3cr3t", "server"], "env API_KEY=*** server"),
            (vec!["remote", "https://me:pw@host/mcp?k=v#f"], "remote https://host/mcp"),
        ];
        for (command, shown) in cases {
            let command: Vec<String> = command.into_iter().map(str::to_owned).collect();
            assert_eq!(shown_command(&command), shown);
        }
    }

    #[test]
    fn a_text_that_quotes_the_configuration_loses_its_secrets() {
        let url = "http://me:pw@127.0.0.1:9/mcp?key=v".to_owned();
        let headers = [("Authorization".to_owned(), "Bearer abcdef".to_owned())].into();
        let config = PluginConfig::new("p", PluginTransport::Http { url, headers });
        for user in ["me:pw@", ""] {
            let text = format!("http://{user}127.0.0.1:9/mcp?key=v refused abcdef");
            assert_eq!(without_secrets(&text, &config), "http://127.0.0.1:9/mcp refused ***");
        }
    }
}
