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
/// What a declaration begins with.
const DECLARATIONS: [&str; 6] = ["const", "let", "mut", "var", "val", "final"];
/// Shorter parts of a value tell nothing.
const SHORTEST_WORD: usize = 4;
/// No word of a language or of a program is longer, but for a few.
const LONGEST_WORD: usize = 22;
/// A year, or a number of a thing.
const LONGEST_NUMBER: usize = 4;
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
        || value.starts_with("$(")
        || value.strip_prefix('$').is_some_and(is_constant)
}

/// Tells whether a value only says what sort of thing would stand here, or that there is none.
pub(super) fn is_nothing(value: &str) -> bool {
    WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Tells whether a value is made of words and small numbers, as names and prose are and keys are not.
pub(super) fn is_of_words(value: &str) -> bool {
    let inside = value.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    inside.split(['-', '_', '.', '/', '+', ':']).all(|part| {
        part.len() < SHORTEST_WORD
            || (part.len() <= LONGEST_NUMBER && part.bytes().all(|byte| byte.is_ascii_digit()))
            || (part.len() <= LONGEST_WORD
                && part.bytes().all(|byte| byte.is_ascii_alphabetic())
                && !is_scrambled(part))
    })
}

/// Tells whether a value without quotes is the code behind a declaration, as in `const token = next`.
pub(super) fn is_declared(value: &str, before: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
    let declaration = before.trim_end_matches(is_name);
    let keyword = declaration.trim_end();
    value.starts_with(|c: char| is_name(c) && !c.is_ascii_digit())
        && value.chars().all(is_name)
        && keyword.len() < declaration.len()
        && DECLARATIONS.iter().any(|word| keyword.ends_with(word))
}

/// Tells whether a value without quotes is a path.
pub(super) fn is_path(value: &str) -> bool {
    value.starts_with(['/', '~']) && value[1..].contains('/')
}

/// Tells whether a value without quotes is a piece of code or of a description.
pub(super) fn is_code(value: &str) -> bool {
    let is_word = |word: &&str| {
        let rest = value.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word));
        rest.is_some() && value[word.len()..].chars().all(|c| !c.is_ascii_alphanumeric())
    };
    // `==`, `=>` and `=~` compare and map; they give no value.
    value.starts_with(['=', '>', '~'])
        || value.starts_with("{{")
        || value.starts_with('<')
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

/// Tells whether capitals stand in letters as they do in no word and in no name of words.
fn is_scrambled(letters: &str) -> bool {
    let capitals = letters.bytes().filter(u8::is_ascii_uppercase).count();
    let begun = letters.as_bytes().windows(2);
    let begun = begun.filter(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
    begun.count() >= 2 && capitals * 3 >= letters.len()
}

fn is_constant(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
}
