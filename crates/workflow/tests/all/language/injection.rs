//! Hostile values in every place of a script, run by real shells: none becomes code, and between
//! quotes the program gets exactly the value.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use proptest::prelude::*;

use super::shell::script;

const SHELLS: [&str; 3] = ["sh", "bash", "dash"];

const HOSTILE: &[&str] = &[
    "; touch PWNED",
    "\n touch PWNED\n",
    "$(touch PWNED)",
    "`touch PWNED`",
    "'; touch PWNED; '",
    "\" ; touch PWNED ; \"",
    "'\"; touch PWNED; \"'",
    "a[$(touch PWNED)]",
    "& touch PWNED &",
    "&& touch PWNED",
    "|| touch PWNED",
    "| touch PWNED",
    "> PWNED",
    ">PWNED",
    "<(touch PWNED)",
    ") ; touch PWNED ; (",
    ")) ; touch PWNED ; ((",
    "}; touch PWNED; {",
    "} ; touch PWNED",
    "${x:=$(touch PWNED)}",
    "]] ; touch PWNED ; [[",
    "\\",
    "a\\",
    "\\\"; touch PWNED; \\\"",
    "\\'; touch PWNED; \\'",
    "EOF\ntouch PWNED\n",
    "END\ntouch PWNED\nEND",
    "*/\ntouch PWNED",
    ";; esac; touch PWNED; case x in x)",
    "# comment",
    "#",
    "!",
    "~",
    "-n",
    "*",
    "*?[a-z]",
    "'",
    "\"",
    "`",
    "$",
    "$$",
    "$HOME",
    "${HOME}",
    "%s%n",
    "häßlich 日本語 🦀",
    " leading and trailing ",
    "tab\there",
    "trailing newline\n",
    "a=b",
    "if",
    "done",
    "2",
    "=",
    "{a,b}",
    "x;y",
    "\r\n",
];

/// Places in which the program gets the value exactly; the output is the value between brackets.
const EXACT: &[&str] = &[
    r#"printf '[%s]' "@""#,
    r#"printf '[%s]' '@'"#,
    r#"printf '[@]' | sed 's/x/x/'"#,
    r#"printf '[%s]' ^"#,
    r#"x="@"; printf '[%s]' "$x""#,
    r#"x='@'; printf '[%s]' "$x""#,
    r#"x=@; printf '[%s]' "$x""#,
    r#"x=^; printf '[%s]' "$x""#,
    r#"printf '[%s]' "${NOT_SET:-@}""#,
    r#"printf '[%s]' "${NOT_SET:-"@"}""#,
    r#"x=${NOT_SET:-'@'}; printf '[%s]' "$x""#,
    r#"x=${NOT_SET:-^}; printf '[%s]' "$x""#,
    r#"x='@'; y="pre$x"; printf '[%s]' "${y#pre}""#,
    r#"printf '%s' "$(printf '[%s]' "@")""#,
    r#"printf '%s' "$(printf '[%s]' '@')""#,
    r#"printf '%s' "$(printf '[%s]' ^)""#,
    r#"printf '%s' "`printf '[%s]' '@'`""#,
    r#"x=`printf '[%s]' "@"`; printf '%s' "$x""#,
    r#"x=`printf '[%s]' ^`; printf '%s' "$x""#,
    r#"(printf '[%s]' "@")"#,
    r#"{ printf '[%s]' '@'; }"#,
    r#"f() { printf '[%s]' "$1"; }; f '@'"#,
    r#"case "@" in *) printf '[%s]' '@' ;; esac"#,
    r#"x=$(case y in y) printf '[%s]' '@' ;; esac); printf '%s' "$x""#,
    "if true; then # it's a @ comment\n  printf '[%s]' \"@\"\nfi",
    "for i in 1; do\n printf '[%s]' '@'\ndone",
    "sh -c 'printf \"[%s]\" \"$1\"' - \"@\"",
    "sh -c 'printf \"[%s]\" ^'",
    "sh -c \"printf '[%s]' ^\"",
    "echo $((1 << 2)) > /dev/null; printf '[%s]' '@'",
    "cat <<EOF >/dev/null\nit's\nEOF\nprintf '[%s]' '@'",
    "cat <<'EOF' >/dev/null\nit's \"\nEOF\nprintf '[%s]' \"@\"",
    "cat <<EOF | tr -d '\\001'\n\u{1}[@]\u{1}\nEOF",
    "x=$(cat <<EOF\n[@]\nEOF\n)\nprintf '%s' \"$x\"",
    "cat <<'EOF'\n[@]\nEOF",
    "cat <<-'EOF'\n\t[@]\n\tEOF",
    "cat <<A <<'B'\nx\nA\n[@]\nB",
];

/// Places in which the shell may split the value, or in which it is not printed: only code is ruled out.
const HARMLESS: &[&str] = &[
    "echo @",
    "echo x@y",
    "for i in @; do echo \"$i\"; done",
    "for i in a@ b; do :; done",
    "case @ in @) echo yes;; *) echo no;; esac",
    "case x in a) echo @ ;; b) : ;; esac; echo @",
    "echo $(echo @)",
    "echo `echo @`",
    "echo \"`echo @`\"",
    "echo `echo \\`echo @\\``",
    "echo \"$(echo \"$(echo @)\")\"",
    "echo ${NOT_SET:-@} ${HOME#@} ${HOME%%@} ${NOT_SET:+@}",
    "echo \"${NOT_SET:-'@'}\" \"${HOME#'@'}\"",
    "echo $@ \"$@\" $\"@\"",
    "echo \\@ \"\\@\" '\\@'",
    "echo \\\\@ \"\\\\@\"",
    "echo $'@' $'it\\'s @'",
    "(echo @; (echo @)) | cat",
    "# @\necho done",
    "echo a # @",
    "echo a#@",
    "cat < /dev/null > /dev/null 2>&1; echo @",
    "cat <<E1 <<'E2' && echo @\n@\nE1\nliteral\nE2\necho @",
    "cat <<EOF\n$(echo @) `echo @` ${NOT_SET:-@} \\@ \"@\" '@'\nEOF",
    "x=(@)",
    "x=@ env true",
    "test @ = @ && echo same",
    "[ \"@\" = '@' ] && echo same",
    "[[ @ == \"@\" ]] && echo same",
    "eval_off=@; echo $eval_off",
    "printf '%s\\n' @",
    "echo it\\'s @",
    "echo \"it's @\"",
    "echo \"a\"'b'@",
    "if [ -n @ ]; then echo @; fi",
    "f() { echo @; }; f",
    "echo {@,b}",
    "echo <(echo @)",
    "set -- @; echo $#",
    "export X=@; echo \"$X\"",
    "echo @(a)",
    "cat <<< @",
    "echo ${@}",
    "echo $(( @ )) $((1 + \"@\"))",
    "echo $[@]",
    "(( x = @ ))",
    "for ((i=0; i<@; i++)); do :; break; done",
    "echo ${x[@]} ${x:@} ${x:0:@}",
    "x[@]=1",
    "x=([@]=1)",
    "[[ @ -eq 1 ]]",
    "[[ '@' -eq 1 ]]",
    "[[ -v @ ]]",
    "[ @ -eq 1 ]",
    "let @; let 'x=@'; let \"x = @\"",
    "declare -i x=@",
    "declare @; declare '@=1'; declare \"x=@\"; declare x=@",
    "read @ < /dev/null; read -r '@' < /dev/null",
    "unset @; unset '@'; unset ^",
    "export @ && export x='@'; readonly x=@",
    "f() { local @; local x=\"@\"; }; f",
    "cat <<@\nx\n@\n",
    "cat <<'E'\n@\nE\necho \"@\"",
    "((echo @) | cat)",
    "echo $((echo @) | cat)",
];

/// Places in which the value is the command. Its first word names the program, as the author asked;
/// nothing after it may be more than an argument.
const COMMAND: &[&str] = &[
    "@",
    "echo hi; @",
    "true && @ || true",
    "until @; do break; done",
    "@=1",
    "@ () { :; }",
    "! @",
    "x=1 @",
    "x=$(@)",
    "(@)",
    "echo | @ | cat",
    "if @; then :; fi",
];

// The shells of this machine; one that is another's name is run once.
fn shells() -> &'static [&'static str] {
    static FOUND: std::sync::LazyLock<Vec<&str>> = std::sync::LazyLock::new(|| {
        let mut programs = Vec::new();
        let is_new = |shell: &&str| {
            let found = ["/bin", "/usr/bin"]
                .iter()
                .find_map(|folder| Path::new(folder).join(shell).canonicalize().ok());
            let is_new = found.is_some() && !programs.contains(&found);
            programs.push(found);
            is_new
        };
        SHELLS.into_iter().filter(is_new).collect()
    });
    &FOUND
}

/// Values that run when they are code, but name no program when they are words of a command.
const ARMED: &[&str] = &[
    "x; touch PWNED;",
    "x\ntouch PWNED\n",
    "x$(touch PWNED)",
    "x`touch PWNED`",
    "x'; touch PWNED; '",
    "x\"; touch PWNED; \"",
    "a[$(touch PWNED)]",
    "x}; touch PWNED; {",
    "x) ; touch PWNED ; (",
    "x)) ; touch PWNED ; ((",
    "x\nEOF\ntouch PWNED\n",
    "x\nE\ntouch PWNED\n",
    "x\\",
    "EOF",
    "E",
    "x|touch PWNED|",
    "x&touch PWNED&",
];

/// What random scripts are made of.
const FRAGMENTS: &[&str] = &[
    "@",
    "@",
    "@",
    "^",
    " ",
    " ",
    "\n",
    "echo ",
    ": ",
    "x=",
    "'",
    "'",
    "\"",
    "\"",
    "\\",
    "`",
    "`",
    "$",
    "$(",
    ")",
    "(",
    "((",
    "))",
    "$((",
    "${x:-",
    "${x",
    "}",
    "{ ",
    ";",
    "; ",
    " | ",
    " && ",
    "#",
    " # ",
    "<<EOF\n",
    "\nEOF\n",
    "<<'EOF'\n",
    "<<-\"E\"\n",
    "\nE\n",
    "<<E ",
    "case a in a) ",
    ";; esac",
    "[[ ",
    " ]]",
    " -eq ",
    "[",
    "]",
    "=",
    "$'",
    "if : ; then ",
    "\nfi\n",
    "a",
    "1",
    "<",
    ">",
    "&",
    "!",
    "let ",
    "read ",
    "declare ",
    "for i in ",
    "; do ",
    "\ndone\n",
    "/*",
    "%",
    "~",
    ",",
    "\t",
    "<<<",
];

fn run(shell: &str, script: &str, place: &Path) -> Output {
    Command::new(shell)
        .args(["-c", script])
        .current_dir(place)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("HOME", "/home/user"), ("LC_ALL", "C.UTF-8")])
        .stdin(Stdio::null())
        .output()
        .expect("the machine runs shells and writes files")
}

// Runs one place with many values, each in a subshell of its own, and returns what each printed.
fn run_all(shell: &str, scripts: &[String], place: &Path) -> Vec<Vec<u8>> {
    let files = tempfile::tempdir().expect("a folder");
    for (at, script) in scripts.iter().enumerate() {
        std::fs::write(files.path().join(format!("{at:04}")), script)
            .expect("the machine runs shells and writes files");
    }
    let folder = files.path().display();
    let all = format!("for f in {folder}/*; do ( . \"$f\" ) > \"$f.out\" 2>/dev/null; done; true");
    let output = run(shell, &all, place);
    assert!(output.status.success(), "{shell}: {output:?}");
    let read = |at| {
        std::fs::read(files.path().join(format!("{at:04}.out")))
            .expect("the machine runs shells and writes files")
    };
    (0..scripts.len()).map(read).collect()
}

// Tells whether a value became code: each of them would make this file. A redirection may make a
// file that is called like a whole value, which starts otherwise.
fn is_pwned(place: &Path) -> bool {
    let mut entries = std::fs::read_dir(place).expect("the machine runs shells and writes files");
    entries.any(|entry| {
        entry
            .expect("the machine runs shells and writes files")
            .file_name()
            .to_string_lossy()
            .starts_with("PWNED")
    })
}

// A place may refuse a value; what it takes must be safe.
fn check_all(text: &str, values: &[String], is_exact: bool) {
    let (values, scripts): (Vec<&String>, Vec<String>) =
        values.iter().filter_map(|value| Some((value, script(text, value).ok()?.run))).unzip();
    for shell in shells() {
        let place = tempfile::tempdir().expect("a folder");
        let printed = run_all(shell, &scripts, place.path());
        if is_pwned(place.path()) {
            for (value, script) in values.iter().zip(&scripts) {
                let place = tempfile::tempdir().expect("a folder");
                run(shell, script, place.path());
                assert!(!is_pwned(place.path()), "{shell}: {text:?} ran {value:?}: {script}");
            }
            panic!("{shell}: {text:?} ran a value as code");
        }
        for ((value, script), printed) in values.iter().zip(&scripts).zip(&printed) {
            let printed = String::from_utf8_lossy(printed);
            let is_same = printed.trim_end_matches('\n') == format!("[{value}]");
            assert!(
                is_same || !is_exact,
                "{shell}: {text:?} with {value:?} gave {printed:?}: {script}"
            );
        }
    }
}

// There the format of `printf` is the value: `%` and `\` mean something to it.
fn is_format(text: &str, value: &str) -> bool {
    text.contains("'[@]'") && value.contains(['%', '\\'])
}

#[test]
fn between_quotes_a_program_gets_exactly_the_value_and_nothing_runs() {
    for text in EXACT {
        let values = HOSTILE.iter().filter(|value| !is_format(text, value));
        check_all(text, &values.map(|value| (*value).to_owned()).collect::<Vec<_>>(), true);
    }
}

#[test]
fn no_place_in_a_script_lets_a_value_run() {
    let values: Vec<String> = HOSTILE.iter().map(|value| (*value).to_owned()).collect();
    for text in HARMLESS {
        check_all(text, &values, false);
    }
}

#[test]
fn a_value_in_place_of_a_command_is_one_command_and_its_arguments() {
    let values: Vec<String> =
        HOSTILE.iter().map(|value| format!("no-such-program {value}")).collect();
    for text in COMMAND {
        check_all(text, &values, false);
    }
}

#[test]
fn places_between_quotes_take_every_hostile_value() {
    for text in EXACT.iter().filter(|text| !text.contains("<<")) {
        for value in HOSTILE {
            assert!(script(text, value).is_ok(), "{text:?} with {value:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_value_between_quotes_arrives_as_it_is(
        value in hostile_value(),
        place in 0..EXACT.len(),
    ) {
        let text = EXACT[place];
        prop_assume!(!is_format(text, &value));
        check_all(text, &[value], true);
    }

    #[test]
    fn any_value_anywhere_is_not_code(
        value in hostile_value(),
        place in 0..HARMLESS.len(),
    ) {
        check_all(HARMLESS[place], &[value], false);
    }

    #[test]
    fn any_value_in_any_script_is_not_code(
        fragments in proptest::collection::vec(proptest::sample::select(FRAGMENTS), 1..14),
        values in proptest::sample::subsequence(ARMED, 4),
    ) {
        let values: Vec<String> = values.into_iter().map(str::to_owned).collect();
        check_all(&fragments.concat(), &values, false);
    }

    #[test]
    fn any_script_is_shown_with_its_values_in_place(
        text in "[ -\\]_-~\n]{0,80}",
        value in hostile_value(),
    ) {
        if let Ok(script) = script(&text, &value) {
            prop_assert_eq!(script.shown, text.replace('@', &value));
        }
    }
}

fn hostile_value() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        proptest::sample::select(HOSTILE).prop_map(str::to_owned),
        "[a-zA-Z0-9 ]{0,6}",
        "[\"'`$(){}\\[\\];&|<>#!~*?\\\\\n\t=%-]{1,4}",
        Just("touch PWNED".to_owned()),
    ];
    proptest::collection::vec(part, 1..5).prop_map(|parts| parts.concat())
}
