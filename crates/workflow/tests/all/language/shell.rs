//! How a value stands in a script: as it is, as a variable, or not at all.

use quipu_workflow::language::{Piece, ShellScript, UnsafePlace, protect};

/// Makes a script of a text in which `@` is a value and `^` the same value through `escape`.
pub(crate) fn script(text: &str, value: &str) -> Result<ShellScript, UnsafePlace> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['@', '^']) {
        pieces.push(Piece::Literal(&rest[..at]));
        pieces.push(match rest.as_bytes()[at] {
            b'@' => Piece::Value(value.to_owned()),
            _ => Piece::Quoted(value.to_owned()),
        });
        rest = &rest[at + 1..];
    }
    pieces.push(Piece::Literal(rest));
    protect(&pieces)
}

#[test]
fn a_value_may_be_what_is_cut_from_a_variable() {
    for text in ["echo ${HOME#@}", "echo \"${HOME##@}\"", "echo ${all[0]#@}", "echo ${HOME%@}"] {
        let script = script(text, "/a b;c").unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(!script.run.contains("b;c\""), "{}", script.run);
    }
    for text in ["echo ${#@}", "echo ${@}", "echo ${HOME@}"] {
        assert!(script(text, "/a b;c").is_err(), "{text}");
    }
}

#[test]
fn harmless_values_stand_as_they_are() {
    for (text, value) in [
        ("echo @", "plain-1.2/x:y"),
        ("echo \"Hello @\"", "Big World"),
        ("echo 'Hello @'", "Big Wörld"),
        ("@/run.sh --all", "/opt/my.scripts"),
        ("cat <<EOF\nname: @\nEOF\n", "Big World"),
        ("cat <<'EOF'\n@\nEOF\n", "any $(thing) `here` \"at\" 'all'"),
        ("echo $((@ + 1))", "41"),
        ("echo $@", "HOME"),
        ("echo \"${PRE_@}\"", "x1"),
        ("# @\ntrue", "a comment"),
        ("echo ^", "two words"),
        ("[[ @ -eq 3 ]]", "3"),
        ("echo @@", ""),
    ] {
        let script = script(text, value).unwrap();
        assert_eq!(script.run, script.shown, "{text}");
    }
}

#[test]
fn other_values_become_variables_of_the_script() {
    for (text, value, expected) in [
        ("echo @", "a b", "echo ${QUIPU_VALUE_1}"),
        ("echo \"x @\"", "a\"b", "echo \"x ${QUIPU_VALUE_1}\""),
        ("echo 'x @'", "a;b", "echo 'x '\"${QUIPU_VALUE_1}\"''"),
        ("echo $'x @'", "a;b", "echo $'x '\"${QUIPU_VALUE_1}\"$''"),
        ("echo \"$(cat @)\"", "a;b", "echo \"$(cat ${QUIPU_VALUE_1})\""),
        ("echo `cat '@'`", "a;b", "echo `cat ''\"${QUIPU_VALUE_1}\"''`"),
        ("echo ${X:-@}", "a;b", "echo ${X:-${QUIPU_VALUE_1}}"),
        ("cat <<EOF\n@\nEOF\n", "a;b", "cat <<EOF\n${QUIPU_VALUE_1}\nEOF\n"),
        ("cat <<EOF\n@\nEOF\n", "EOF", "cat <<EOF\n${QUIPU_VALUE_1}\nEOF\n"),
        ("cat <<-EOF\n\tE@\n\tEOF\n", "OF", "cat <<-EOF\n\tE${QUIPU_VALUE_1}\n\tEOF\n"),
        ("# @\ntrue", "a\nb", "# ${QUIPU_VALUE_1}\ntrue"),
        ("@ run", "LD_PRELOAD=x", "${QUIPU_VALUE_1} run"),
        ("@ x", "if", "${QUIPU_VALUE_1} x"),
        ("echo @>file", "2", "echo ${QUIPU_VALUE_1}>file"),
        ("echo \\@", "a b", "echo ${QUIPU_VALUE_1}"),
        ("echo ^", "a;b", "echo \"${QUIPU_VALUE_1}\""),
        ("echo @ @", "a;b", "echo ${QUIPU_VALUE_1} ${QUIPU_VALUE_1}"),
        ("case $x in a) echo @;; esac", "a;b", "case $x in a) echo ${QUIPU_VALUE_1};; esac"),
        (
            "x=$(case $y in a) echo '@';; esac); echo '@'",
            "a;b",
            "x=$(case $y in a) echo ''\"${QUIPU_VALUE_1}\"'';; esac); echo ''\"${QUIPU_VALUE_1}\"''",
        ),
        ("echo $((1 << 2)) '@'", "a;b", "echo $((1 << 2)) ''\"${QUIPU_VALUE_1}\"''"),
        ("export \"x=@\"", "a[b]", "export \"x=${QUIPU_VALUE_1}\""),
        ("local x=@", "a[b]", "local x=${QUIPU_VALUE_1}"),
        ("read x; echo @", "a[b]", "read x; echo ${QUIPU_VALUE_1}"),
        ("cat <<< '@'", "a;b", "cat <<< ''\"${QUIPU_VALUE_1}\"''"),
        (
            "echo it\\'s @ # don't @\necho '@'",
            "a;b",
            "echo it\\'s ${QUIPU_VALUE_1} # don't ${QUIPU_VALUE_1}\necho ''\"${QUIPU_VALUE_1}\"''",
        ),
    ] {
        let script = script(text, value).unwrap();
        assert_eq!(script.run, format!("QUIPU_VALUE_1='{value}'; {expected}"), "{text}");
    }
}

#[test]
fn a_dollar_before_a_value_that_is_no_name_is_the_sign_itself() {
    let script = script("echo \"costs $@\"", "5.00").unwrap();
    assert_eq!(script.run, "echo \"costs \\$5.00\"");
}

#[test]
fn the_line_that_names_the_interpreter_stays_first() {
    let script = script("#!/bin/sh\necho @\n", "a b").unwrap();
    assert_eq!(script.run, "#!/bin/sh\nQUIPU_VALUE_1='a b'; echo ${QUIPU_VALUE_1}\n");
    assert_eq!(script.shown, "#!/bin/sh\necho a b\n");
}

#[test]
fn escaped_values_are_words_in_code_and_quoted_text_in_quotes() {
    let script = script("sh -c \"echo ^\"; echo ^", "it's").unwrap();
    assert_eq!(script.shown, r#"sh -c "echo 'it'\''s'"; echo 'it'\''s'"#);
    assert!(
        script.run.ends_with("sh -c \"echo ${QUIPU_VALUE_1}\"; echo \"${QUIPU_VALUE_2}\""),
        "{}",
        script.run
    );
}

#[test]
fn places_that_evaluate_values_take_whole_numbers_only() {
    for (text, value) in [
        ("echo $((@))", "a[$(id)]"),
        ("echo $((@))", "x"),
        ("echo \"$(( 1 + \"@\" ))\"", "x"),
        ("echo $[@]", "x"),
        ("(( x = @ ))", "x"),
        ("for ((i=0; i<@; i++)); do :; done", "x"),
        ("echo ${list[@]}", "x"),
        ("echo ${list[\"@\"]}", "x"),
        ("echo ${x:@}", "x"),
        ("echo ${x:1:@}", "x"),
        ("list[@]=1", "x"),
        ("list[\"@\"]=1", "x"),
        ("list=([@]=1)", "x"),
        ("[[ @ -eq 3 ]]", "x"),
        ("[[ 3 -lt \"@\" ]]", "x"),
        ("[[ -v @ ]]", "a[$(id)]"),
        ("if [[ @ -gt 3 && 1 ]]; then :; fi", "x y"),
        ("cat <<'EOF'\n@\nEOF\n", "a\nEOF\nid"),
        ("cat <<'EOF'\n@\nEOF\n", "EOF"),
        ("cat <<\\EOF\nE@\nEOF\n", "OF"),
        ("cat <<-'EOF'\n@\nEOF\n", "\tEOF"),
        ("x=$(cat <<'EOF'\n@\nEOF\n)", "EOF)"),
        ("cat <<@\nEOF\n", "a b"),
        ("echo ${@}", "x-y"),
        ("let @", "x"),
        ("let 'x=@'", "x"),
        ("declare -i x=@", "x"),
        ("unset @", "a[$(id)]"),
        ("read -r '@'", "a[$(id)]"),
        ("declare \"@=1\"", "a[$(id)]"),
        ("read ^", "a[$(id)]"),
        ("echo @", "a\0b"),
        ("echo '^'", "a\0b"),
    ] {
        assert!(script(text, value).is_err(), "{text} with {value:?}: {:?}", script(text, value));
    }
}

#[test]
fn whole_numbers_go_wherever_numbers_go() {
    for (text, value, expected) in [
        ("echo $((@ * 2))", " 21\n", "echo $((21 * 2))"),
        ("echo $((1-@))", "-3", "echo $((1- -3))"),
        ("echo ${x:@}", "2", "echo ${x:2}"),
        ("list[@]=1", "2", "list[2]=1"),
        (
            "for ((i=0; i<@; i++)); do echo '@'; done",
            "2",
            "for ((i=0; i<2; i++)); do echo '2'; done",
        ),
    ] {
        assert_eq!(script(text, value).unwrap().run, expected);
    }
}
