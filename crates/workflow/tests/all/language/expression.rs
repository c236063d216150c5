//! What expressions are worth.

use quipu_workflow::language::{Expression, Value};
use serde_json::json;

use super::scope;

fn evaluate(text: &str) -> Value {
    let expression = Expression::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    expression.evaluate(&scope()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn expressions_that_hold() {
    for text in [
        "true",
        "1",
        "'x'",
        "[1]",
        "inputs.on",
        "!inputs.off",
        "not inputs.off",
        "inputs.on == true",
        r#"states.build.Status == "success""#,
        "states.build.ExitCode == 0",
        ".states.build.ExitCode == 0",
        "states.build.Output contains 'done'",
        "contains(states.build.Output, 'one')",
        "error.Message contains \"fail\"",
        "error.Message != ''",
        "states.build.Output == \"done\\n\"",
        "states.build.Output != 'done'",
        "inputs.count > 2 and inputs.count < 4",
        "inputs.count>=3&&inputs.count<=3",
        "inputs.off or inputs.on",
        "false || true",
        "true && !false",
        "inputs.name startsWith 'Wo'",
        "inputs.name endsWith 'ld'",
        "has_prefix(inputs.name, 'W')",
        "has_suffix(inputs.name, 'd')",
        "hasPrefix(inputs.name, 'W') && hasSuffix(inputs.name, 'd')",
        "inputs.name matches '^W.*d$'",
        "inputs.name matches \"^\\w+$\"",
        "not (inputs.name matches '^x')",
        "'b' in inputs.items",
        "'q' not in inputs.items",
        "inputs.items contains 'a'",
        "'name' in inputs.user",
        "3 in [1, 2, 3]",
        "inputs.name not contains 'zz'",
        "not inputs.name contains 'zz'",
        "!(inputs.name == 'x')",
        "! inputs.name contains 'zz'",
        // A text beside a number or a truth counts as one if it reads as one.
        "inputs.limit == 10",
        "inputs.limit > 9",
        "9 < inputs.limit",
        "inputs.flag == false",
        "states.count.Output > 11",
        "inputs.limit == '10'",
        "inputs.name != 3",
        "not inputs.flag",
        // What is missing is null.
        "states.gone.Output == nil",
        "states.gone.Output == null",
        "not (states.gone.ExitCode > 0)",
        "not (states.gone.ExitCode == 0)",
        "states.gone.ExitCode != 0",
        "nope == nil",
        "not (states.gone.Output contains 'x')",
        "states.gone.Output ?? 'd' == 'd'",
        "states?.gone?.Output == nil",
        "len(states.gone.Output) == 0",
        "states.gone.Count + 1 == nil",
        "inputs.nothing == nil",
        // Paths that are more than names.
        r#"states["my-step"].Output == "dashed""#,
        "inputs.items[0] == 'a'",
        "inputs.items[-1] == 'c'",
        "inputs.people[1].name == 'B'",
        "states['my-step']['ExitCode'] == 7",
        "states.build.JSON.n[inputs.count - 2] == 2",
        "inputs.items.1 == 'b'",
        "workflow.Duration() > 0",
        "loop.Index >= 1",
        "loop.Last == false",
        // Templates inside.
        "{{.inputs.limit}} > 3",
        "{{states.build.ExitCode}} == 0",
        r#""{{.inputs.name}}" == "World""#,
        "'{{inputs.name}}!' == 'World!'",
        r#"{{.states.build.Output | trimSpace}} == "done""#,
        "{{.states.gone.Output}} == nil",
        "'{{' == '{{'",
        r#"{{len .inputs.items}} == 3"#,
        // Arithmetic.
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "7 % 4 == 3",
        "7 / 2 == 3.5",
        "2 ** 3 ** 2 == 512",
        "-2 + 3 == 1",
        "inputs.limit + 1 == 11",
        "inputs.count - 1 == 2",
        "'a' + 'b' == 'ab'",
        "'n' + 1 == 'n1'",
        "1.5e2 == 150",
        "10 - 2 - 3 == 5",
        "- inputs.count == -3",
        "1_000 == 1000",
        // Functions and choices.
        "len(inputs.items) == 3",
        "len('äö') == 2",
        "lower('A') == 'a' && upper('a') == 'A'",
        "trim(inputs.spaces) == 'padded'",
        "int('12') == 12",
        "int(2.9) == 2",
        "float('1.5') == 1.5",
        "string(3) == '3'",
        "bool('true')",
        "max(1, 5, 3) == 5",
        "abs(-2) == 2",
        "join(split('a,b', ','), '-') == 'a-b'",
        "fromJSON('{\"a\": [1]}').a[0] == 1",
        "inputs.on ? inputs.count == 3 : false",
        "(false ? 1 : true ? 2 : 3) == 2",
        "'it\\'s' == \"it's\"",
        "inputs.count in [1, 3] and inputs.name in ['World']",
    ] {
        let holds = Expression::parse(text)
            .unwrap_or_else(|error| panic!("{text}: {error}"))
            .holds(&scope());
        assert_eq!(holds, Ok(true), "{text}");
    }
}

#[test]
fn values_keep_their_kind() {
    for (text, expected) in [
        ("inputs.count + 1", json!(4)),
        ("6 / 3", json!(2)),
        ("'a'", json!("a")),
        ("[1, 'b', nil,]", json!([1, "b", null])),
        ("inputs.user", json!({"name": "Ada", "tags": ["p", "q"]})),
        ("states.gone", json!(null)),
        ("true and 'x'", json!(true)),
        ("9223372036854775807 + 1", json!(9223372036854775808.0)),
        ("inputs.items + ['d']", json!(["a", "b", "c", "d"])),
        ("'{{.inputs.count}}'", json!("3")),
        ("{{.inputs.items}}", json!(["a", "b", "c"])),
    ] {
        assert_eq!(evaluate(text), expected, "{text}");
    }
}

#[test]
fn texts_hold_as_what_they_read_as() {
    for (text, expected) in [
        ("'false'", false),
        ("'true'", true),
        ("'0'", false),
        ("'no'", true),
        ("''", false),
        ("' '", true),
        ("0", false),
        ("nil", false),
        ("[]", false),
        ("inputs.flag", false),
    ] {
        assert_eq!(Expression::parse(text).unwrap().holds(&scope()), Ok(expected), "{text}");
    }
}

#[test]
fn an_expression_without_a_value_says_why_and_where() {
    for (text, offset, expected) in [
        ("inputs.name > 3", 12, "cannot compare the text `World` with the number 3"),
        ("1 / 0", 2, "division by 0"),
        ("1 % 0", 2, "division by 0"),
        ("inputs.name * 2", 12, "expected a number"),
        ("inputs.items < 2", 13, "cannot compare a list"),
        ("len(3)", 0, "`len` needs"),
        ("inputs.name matches inputs.name + '('", 12, "not a regular expression"),
        ("int('x')", 0, "expected a number"),
    ] {
        let error = Expression::parse(text).unwrap().evaluate(&scope()).unwrap_err();
        assert!(error.message.contains(expected), "{text}: {error}");
        assert_eq!(error.offset, offset, "{text}: {error}");
    }
}

#[test]
fn what_cannot_be_read_is_named_with_its_place() {
    for (text, offset, expected) in [
        ("", 0, "expected a value, found the end"),
        ("inputs.a ==", 11, "expected a value, found the end"),
        ("inputs.a = 1", 9, "did you mean `==`?"),
        ("a & b", 2, "did you mean `&&`?"),
        ("(a", 2, "expected `)`"),
        ("a b", 2, "expected an operator, found `b`"),
        ("'abc", 0, "not closed"),
        ("lenn(a)", 0, "did you mean `len`?"),
        ("len()", 0, "`len` takes 1 arguments, not 0"),
        ("a matches '('", 10, "not a regular expression"),
        ("a.", 2, "expected a name"),
        ("a @ b", 2, "unexpected `@`"),
        ("12abc", 0, "not a number"),
        ("and true", 0, "expected a value before `and`"),
        ("a ? b", 5, "expected `:`"),
        ("{{if .a}}", 0, "expected a value"),
    ] {
        let error = Expression::parse(text).unwrap_err();
        assert!(error.message.contains(expected), "{text}: {error}");
        assert_eq!(error.offset, offset, "{text}: {error}");
    }
}

#[test]
fn nesting_without_end_is_refused_and_not_a_crash() {
    for text in [
        format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        "!".repeat(100_000),
        "-".repeat(100_000),
        "[".repeat(100_000),
        format!("1{}", " + 1".repeat(100_000)),
        "a ? ".repeat(100_000),
        "2 ** ".repeat(100_000),
        "a[".repeat(100_000),
    ] {
        assert!(
            Expression::parse(&text).unwrap_err().message.contains("nests deeper"),
            "{}",
            &text[..20]
        );
    }
}

#[test]
fn references_list_every_path_with_its_place() {
    let text =
        r#".inputs.a > 1 and states["my-step"].Output contains '{{.inputs.b}}' or f.g[h.i].j"#;
    let found = Expression::parse(text).unwrap().references();
    let paths: Vec<String> = found.iter().map(|reference| reference.parts.join(".")).collect();
    assert_eq!(paths, ["inputs.a", "states.my-step.Output", "inputs.b", "f.g", "h.i"]);
    let starts = [".inputs.a", "states[", ".inputs.b", "f.g", "h.i"];
    for (reference, start) in found.iter().zip(starts) {
        assert!(text[reference.offset..].starts_with(start), "{start} at {}", reference.offset);
    }
}
