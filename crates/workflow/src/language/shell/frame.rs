//! Where one is in a shell script: the quotes, substitutions and documents that are open.

/// Something in a script that is open and will be closed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Frame {
    /// Commands: the script itself, or what stands in `(…)`, `$(…)` or backticks.
    Code(Code),
    /// `'…'`.
    Single,
    /// `"…"`.
    Double,
    /// `$'…'`.
    AnsiC,
    /// `${…}`.
    Parameter { part: ParameterPart, in_double: bool },
    /// `$((…))`, `((…))` or `$[…]`.
    Arithmetic { close: char, depth: usize, is_closing: bool },
    /// `# …` to the end of the line.
    Comment,
    /// The word after `<<`.
    Delimiter(Delimiter),
    /// The body of a here-document.
    Document(Document),
}

/// Commands, and what is known about the word that is being read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Code {
    pub(super) ends: Ends,
    /// What was read of the current word; quoted parts stand as `"`.
    pub(super) word: String,
    /// Whether the current word is the first of its command.
    pub(super) is_command: bool,
    /// What the command does with its arguments.
    pub(super) takes: Takes,
    /// How many `case` are open: in them a `)` ends a pattern and nothing else.
    pub(super) cases: usize,
    /// Whether nothing was read since the opening: `((` is not `( (`.
    pub(super) is_fresh: bool,
    /// The `[[ … ]]` that is open.
    pub(super) test: Option<Test>,
    /// Here-documents that start after this line.
    pub(super) documents: Vec<Delimiter>,
}

/// What ends a stretch of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    Script,
    Parenthesis,
    Backtick,
}

/// What a command does with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// Whatever they are, the shell does not look into them.
    Data,
    /// They are names of variables, in which bash evaluates subscripts: `read`, `unset`, `export`.
    Names,
    /// They are arithmetic: `let`, `declare -i`.
    Arithmetic,
}

/// A `[[ … ]]`: with `-eq` and its like, bash evaluates both sides as code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Test {
    pub(super) calculates: bool,
    pub(super) holds_text: bool,
}

/// Which part of `${…}` is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterPart {
    Name,
    /// A name that has begun: what may stand before a name, such as `#`, is an operator now.
    Named,
    /// Between `[` and `]`: evaluated as arithmetic.
    Subscript,
    /// After `:`, before it is clear whether a word or an offset follows.
    Colon,
    /// After `:`, an offset: evaluated as arithmetic.
    Offset,
    /// A word, such as the default after `:-`.
    Word,
}

/// How a here-document will end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Delimiter {
    pub(super) text: String,
    /// Whether a part of it is quoted: then nothing in the body is expanded.
    pub(super) is_quoted: bool,
    /// `<<-`: tabs before the lines are dropped.
    pub(super) drops_tabs: bool,
    /// The quote that is open while the delimiter is read.
    pub(super) quote: Option<char>,
    /// Whether a letter of it was read.
    pub(super) is_started: bool,
    pub(super) is_escaped: bool,
}

/// A here-document and its current line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Document {
    pub(super) delimiter: Delimiter,
    pub(super) line: String,
    /// Whether a value stands in the current line.
    pub(super) holds_value: bool,
}

impl Code {
    /// Starts at the first word of the first command.
    pub(super) fn new(ends: Ends) -> Self {
        Code {
            ends,
            word: String::new(),
            is_command: true,
            takes: Takes::Data,
            cases: 0,
            is_fresh: true,
            test: None,
            documents: Vec::new(),
        }
    }

    /// Takes note that another command starts.
    pub(super) fn expect_command(&mut self) {
        self.is_command = true;
        self.takes = Takes::Data;
    }

    /// Tells whether the word is the name of a variable for the command, so far.
    pub(super) fn is_in_name(&self) -> bool {
        self.takes == Takes::Names && !self.word.contains('=')
    }

    /// Tells whether the word is a subscript that is open, which bash evaluates: `list[`.
    ///
    /// Inside parentheses it needs no name: `list=([3]=x)`.
    pub(super) fn is_in_subscript(&self) -> bool {
        let Some((name, rest)) = self.word.split_once('[') else { return false };
        (!name.is_empty() || self.ends == Ends::Parenthesis)
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            && !rest.contains(']')
    }
}

impl Document {
    /// Returns the line as the shell compares it with the delimiter.
    pub(super) fn compared_line(&self) -> &str {
        if self.delimiter.drops_tabs { self.line.trim_start_matches('\t') } else { &self.line }
    }
}
