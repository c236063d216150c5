//! What stands where a secret would, and is none: a mark, a name for one, or a piece of code.

/// Words that say what sort of thing a value is, or that there is none.
const WORDS: [&str; 18] = [
    "string",
    "str",
    "text",
    "number",
    "int",
    "bool",
    "boolean",
    "required",
    "optional",
    "option",
    "none",
    "null",
    "nil",
    "undefined",
    "true",
    "false",
    "any",
    "bytes",
];
/// What programs read settings from.
const ROOTS: [&str; 11] = [
    "process.env",
    "os.environ",
    "os.getenv",
    "env.",
    "config.",
    "settings.",
    "self.",
    "this.",
    "args.",
    "options.",
    "secrets.",
];

/// Tells whether a value is only a name for one, or what others have put in the place of one.
pub(super) fn is_placeholder(value: &str) -> bool {
    let between = |open: &str, close: &str| value.starts_with(open) && value.ends_with(close);
    value.bytes().all(|byte| byte == b'*')
        || between("***secret:", "***")
        || between("[masked:", "]")
        || between("{{", "}}")
        || between("<", ">")
        || value.starts_with("${")
        || value.strip_prefix('$').is_some_and(is_constant)
}

/// Tells whether a value without quotes is a piece of code or of a description, or a path.
pub(super) fn is_code(value: &str) -> bool {
    let is_word = |word: &&str| {
        let rest = value.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word));
        rest.is_some() && value[word.len()..].chars().all(|c| !c.is_ascii_alphanumeric())
    };
    let is_path = value.starts_with(['/', '~']) && value[1..].contains('/');
    // `==`, `=>` and `=~` compare and map; they give no value.
    value.starts_with(['=', '>', '~'])
        || value.starts_with("{{")
        || value.starts_with('<')
        || is_path
        || is_call(value)
        || WORDS.iter().any(is_word)
        || ROOTS.iter().any(|root| value.starts_with(root))
}

/// Tells whether this calls or indexes something that has a name.
fn is_call(value: &str) -> bool {
    let name = value.split(['(', '[']).next().unwrap_or_default();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':');
    name.len() < value.len()
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(is_name)
}

fn is_constant(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
}
