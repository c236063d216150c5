//! A home that is furnished and taken down, and comments in settings.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn serving(home: &Path, intercepts: bool) -> Serving {
    Serving {
        command: vec!["quipu".to_owned(), "mcp-serve".to_owned()],
        tools: vec!["Read".to_owned(), "Bash".to_owned()],
        intercepts,
        env: [(HOME.to_owned(), home.display().to_string())].into(),
        ..Serving::default()
    }
}

fn prepared(home: &Path, intercepts: bool) -> (Invocation, Value) {
    let mut call = Invocation::default();
    prepare(&mut call, &serving(home, intercepts), "mcp_quipu_").unwrap();
    let scratch = PathBuf::from(&call.env[HOME]);
    let settings = fs::read_to_string(scratch.join(".gemini/settings.json")).unwrap();
    (call, serde_json::from_str(&settings).unwrap())
}

#[test]
fn the_users_own_settings_are_kept_and_not_written() {
    let home = tempfile::tempdir().unwrap();
    let own = home.path().join(".gemini");
    fs::create_dir(&own).unwrap();
    let text =
        "{ // mine\n \"ui\": { \"theme\": \"a // b\" }, /* two */ \"mcpServers\": { \"x\": {} } }";
    fs::write(own.join("settings.json"), text).unwrap();
    fs::write(own.join("oauth_creds.json"), "{}").unwrap();
    let (call, settings) = prepared(home.path(), true);
    assert_eq!(settings["ui"]["theme"], "a // b");
    assert_eq!(settings["mcpServers"]["x"], json!({}));
    assert_eq!(settings["mcpServers"]["quipu"]["args"], json!(["mcp-serve"]));
    assert_eq!(settings["tools"]["core"], json!(["mcp_quipu_Read", "mcp_quipu_Bash"]));
    assert_eq!(fs::read_to_string(own.join("settings.json")).unwrap(), text);
    let scratch = PathBuf::from(&call.env[HOME]);
    let link = fs::read_link(scratch.join(".gemini/oauth_creds.json")).unwrap();
    assert_eq!(link, own.join("oauth_creds.json"));
    let mode = fs::metadata(scratch.join(".gemini/settings.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(call);
    assert!(!scratch.exists(), "nothing is left behind");
    assert!(own.join("oauth_creds.json").exists(), "a link is removed, and not what it leads to");
}

#[test]
fn without_intercepting_its_own_tools_stay() {
    let home = tempfile::tempdir().unwrap();
    let (_call, settings) = prepared(home.path(), false);
    assert_eq!(settings["tools"], Value::Null);
    assert_eq!(settings["mcpServers"]["quipu"]["trust"], true);
}

#[test]
fn comments_are_taken_out_and_texts_are_not() {
    for (text, expected) in [
        (r#"{"a":"//","b":"/* */"}"#, r#"{"a":"//","b":"/* */"}"#),
        ("{} // x", "{} "),
        ("{/* \" */}", "{}"),
        (r#""\"//""#, r#""\"//""#),
        ("/* never ends", ""),
        ("\"never ends", "\"never ends"),
    ] {
        assert_eq!(without_comments(text), expected, "{text}");
    }
}
