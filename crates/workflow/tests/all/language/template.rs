//! What templates give, what they miss, and how they say so.

use quipu_workflow::language::{Piece, Reference, Template};

use super::scope;

fn render(text: &str) -> String {
    let template = Template::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    template.render(&scope()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn values_are_filled_in() {
    for (template, expected) in [
        ("plain } text { with { braces }", "plain } text { with { braces }"),
        ("Hello {{.inputs.name}}!", "Hello World!"),
        ("Hello {{inputs.name}}!", "Hello World!"),
        ("{{ inputs.name }}{{\n.inputs.name\t}}", "WorldWorld"),
        ("{{.states.my-step.Output}} {{states.my-step.ExitCode}}", "dashed 7"),
        ("{{$.inputs.name}}", "World"),
        ("{{.inputs.count}} {{.inputs.ratio}} {{.inputs.whole}} {{.inputs.on}}", "3 0.5 2 true"),
        ("[{{.inputs.nothing}}]", "[]"),
        ("{{.inputs.items}} {{.inputs.user}}", r#"["a","b","c"] {"name":"Ada","tags":["p","q"]}"#),
        ("{{.inputs.user.name}} {{.inputs.items.1}} {{.inputs.people.0.name}}", "Ada b A"),
        ("{{workflow.Duration}}", "5"),
        ("${{ inputs.name }}", "$World"),
        (r#"{{"a\tb}}"}}{{`raw "}}`}}{{5}}{{true}}{{-3}}"#, "a\tb}}raw \"}}5true-3"),
        ("ä{{/* kein }} Text */}}ö", "äö"),
        ("a  {{- /* c */ -}}  b", "ab"),
        ("a \n {{- .inputs.name -}} \n b", "aWorldb"),
        ("a {{.inputs.count}} b", "a 3 b"),
    ] {
        assert_eq!(render(template), expected, "{template}");
    }
}

#[test]
fn functions_return_what_their_names_say() {
    for (template, expected) in [
        ("{{json .states.build.JSON}} {{.inputs.name | json}}", r#"{"n":[1,2]} "World""#),
        ("{{escape .inputs.quoted}}", r"'it'\''s'"),
        ("{{.inputs.empty | escape}}", "''"),
        ("{{trimSpace .inputs.spaces}}|{{.states.build.Output | trimSpace}}", "padded|done"),
        (r#"{{split .inputs.csv ","}}"#, r#"["x","y","z"]"#),
        (r#"{{.inputs.csv | split ","}}"#, r#"["x","y","z"]"#),
        (r#"{{join (split .inputs.csv ",") "-"}}"#, "x-y-z"),
        (r#"{{split .inputs.csv "," | join "+"}}"#, "x+y+z"),
        (r#"{{join .inputs.items ", "}}"#, "a, b, c"),
        (r#"{{readFile "notes.txt" | trimSpace}}"#, "two\nlines"),
        ("{{len .inputs.items}} {{len .inputs.name}}", "3 5"),
        ("{{index .inputs.items 2}} {{index .inputs.user \"tags\" 0}}", "c p"),
        (
            r#"{{(index .states "my-step").Output}} {{index .states "my-step" "ExitCode"}}"#,
            "dashed 7",
        ),
        ("{{(index .inputs.people 1).name}}", "B"),
        (
            r#"{{eq .inputs.count 3}} {{ne .inputs.name "x"}} {{lt 1 2}} {{ge 2 2}}"#,
            "true true true true",
        ),
        (r#"{{eq .inputs.name "a" "World"}} {{gt .inputs.limit 9}}"#, "true true"),
        (
            r#"{{and .inputs.on .inputs.name}} {{or .inputs.empty "b"}} {{not .inputs.on}}"#,
            "World b false",
        ),
        (
            r#"{{printf "%s=%d %v %q %05.1f%%" "n" 3 .inputs.on "a" 2.25}}"#,
            r#"n=3 true "a" 002.2%"#,
        ),
        (r#"{{printf "[%-4s][%4s][%x]" "a" "b" 255}}"#, "[a   ][   b][ff]"),
        (r#"{{print 1 2 "a" "b" 3 true}}"#, "1 2ab3 true"),
        (r#"{{print "a" 1}} {{println "x"}}"#, "a1 x\n"),
        (
            r#"{{upper "a"}}{{lower "B"}} {{default "d" .inputs.empty}} {{default "d" .inputs.typo}}"#,
            "Ab d d",
        ),
        (r#"{{contains "or" .inputs.name}} {{.inputs.name | replace "o" "0"}}"#, "true W0rld"),
        ("{{slice .inputs.name 1 3}} {{slice .inputs.items 1}}", r#"or ["b","c"]"#),
    ] {
        assert_eq!(render(template), expected, "{template}");
    }
}

#[test]
fn blocks_choose_and_repeat() {
    for (template, expected) in [
        ("{{if .inputs.on}}yes{{else}}no{{end}}", "yes"),
        ("{{if .inputs.off}}yes{{else}}no{{end}}", "no"),
        ("{{if .inputs.empty}}a{{else if eq .inputs.count 3}}b{{else}}c{{end}}", "b"),
        ("{{if .inputs.none}}a{{end}}{{if .inputs.nothing}}b{{end}}", ""),
        ("{{range .inputs.items}}<{{.}}>{{end}}", "<a><b><c>"),
        ("{{range $i, $x := .inputs.items}}{{$i}}{{$x}} {{end}}", "0a 1b 2c "),
        ("{{range $x := .inputs.items}}{{$x}}{{end}}", "abc"),
        ("{{range $k, $v := .inputs.user}}{{$k}}={{$v}};{{end}}", r#"name=Ada;tags=["p","q"];"#),
        ("{{range .inputs.people}}{{.name}}{{$.inputs.count}}{{inputs.count}}{{end}}", "A33B33"),
        ("{{range .inputs.none}}x{{else}}none{{end}}", "none"),
        ("{{range 3}}{{.}}{{end}}", "012"),
        ("{{range .inputs.items}}{{if eq . \"b\"}}{{continue}}{{end}}{{.}}{{end}}", "ac"),
        ("{{range .inputs.items}}{{if eq . \"b\"}}{{break}}{{end}}{{.}}{{end}}", "a"),
        (
            "{{with .inputs.user}}{{.name}}{{end}}{{with .inputs.empty}}x{{else}}none{{end}}",
            "Adanone",
        ),
        ("{{with $u := .inputs.user}}{{$u.name}}{{end}}", "Ada"),
        ("{{$x := .inputs.name}}{{$x}}{{$x = \"new\"}}{{$x}}", "Worldnew"),
        ("{{$n := 0}}{{range .inputs.items}}{{$n = .}}{{end}}{{$n}}", "c"),
        ("{{if .inputs.on -}}\n  text\n{{- end}}", "text"),
    ] {
        assert_eq!(render(template), expected, "{template}");
    }
}

#[test]
fn a_missing_value_names_its_key_and_what_was_probably_meant() {
    for (template, offset, key, hint) in [
        ("x {{.states.build.Outptu}}", 4, "`states.build.Outptu`", Some("did you mean `Output`?")),
        ("{{states.biuld.Output}}", 2, "`states.biuld.Output`", Some("did you mean `build`?")),
        ("{{.input.name}}", 2, "`input.name`", Some("did you mean `inputs`?")),
        ("{{.parameters.x}}", 2, "`parameters.x`", Some("known here")),
        (
            "{{range .inputs.items}}{{.inputs.name}}{{end}}",
            25,
            "`.inputs.name`",
            Some("`$.inputs.name`"),
        ),
        ("{{if .inputs.zzzz}}{{end}}", 5, "`inputs.zzzz`", Some("known here")),
        ("{{.}}", 2, "`.`", None),
    ] {
        let error = Template::parse(template).unwrap().render(&scope()).unwrap_err();
        assert!(error.is_missing, "{template}");
        assert!(error.message.contains(key), "{template}: {error}");
        assert_eq!(error.offset, offset, "{template}");
        if let Some(hint) = hint {
            let found = error.hint.unwrap_or_default();
            assert!(found.contains(hint), "{template}: {found}");
        }
    }
}

#[test]
fn a_wrong_use_of_a_value_is_an_error_too() {
    for (template, expected) in [
        ("{{readFile \"gone\"}}", "cannot read `gone`"),
        ("{{split .inputs.csv}}", "`split` takes 2 arguments, not 1"),
        ("{{range .inputs.name}}{{end}}", "`range` needs a list"),
        ("{{index .inputs.items 9}}", "no position 9"),
        ("{{lt .inputs.items 2}}", "cannot put a list and a number in order"),
        ("{{printf \"%d\" .inputs.name}}", "needs a number"),
    ] {
        let error = Template::parse(template).unwrap().render(&scope()).unwrap_err();
        assert!(error.message.contains(expected), "{template}: {error}");
    }
}

#[test]
fn what_cannot_be_read_is_named_with_its_place() {
    for (template, offset, expected) in [
        ("a {{.inputs.x", 2, "expected `}}`"),
        ("{{}}", 2, "expected a value"),
        ("{{if .a}}x", 0, "`if` is not closed"),
        ("x{{end}}", 1, "`end` without"),
        ("{{else}}", 0, "`else` without"),
        ("{{range .a}}{{else}}{{else}}{{end}}", 20, "expected `end`"),
        ("{{.a | }}", 7, "expected a value"),
        ("{{.a | .b}}", 7, "expected a function"),
        ("{{jsn .a}}", 2, "did you mean `json`?"),
        ("{{$x}}", 2, "never declared"),
        ("{{(.a}}", 5, "expected `)`"),
        ("{{\"abc}}", 2, "not closed"),
        ("{{template \"x\"}}", 0, "not part of the template language"),
        ("{{.a ; .b}}", 5, "unexpected `;`"),
        ("{{/* open", 0, "comment is not closed"),
        ("{{break}}", 0, "outside `range`"),
    ] {
        let error = Template::parse(template).unwrap_err();
        assert!(error.message.contains(expected), "{template}: {error}");
        assert_eq!(error.offset, offset, "{template}: {error}");
    }
}

#[test]
fn nesting_without_end_is_refused_and_not_a_crash() {
    let parentheses = format!("{{{{{}1{}}}}}", "(".repeat(100_000), ")".repeat(100_000));
    let blocks = format!("{}{}", "{{if 1}}".repeat(100_000), "{{end}}".repeat(100_000));
    for template in [parentheses, blocks] {
        assert!(Template::parse(&template).unwrap_err().message.contains("nest deeper"));
    }
}

#[test]
fn pieces_tell_the_authors_text_from_values() {
    let template =
        Template::parse("a {{.inputs.name}}{{\"lit\"}}{{print \"p\"}}{{escape .inputs.quoted}}")
            .unwrap();
    assert_eq!(
        template.pieces(&scope()).unwrap(),
        [
            Piece::Literal("a "),
            Piece::Value("World".to_owned()),
            Piece::Literal("lit"),
            Piece::Value("p".to_owned()),
            Piece::Quoted("it's".to_owned()),
        ]
    );
    assert!(!template.is_literal());
    assert!(Template::parse("no {braces}").unwrap().is_literal());
}

#[test]
fn a_template_of_one_action_keeps_the_kind_of_its_value() {
    for (template, expected) in [
        ("{{.inputs.items}}", serde_json::json!(["a", "b", "c"])),
        ("{{.inputs.count}}", serde_json::json!(3)),
        ("n{{.inputs.count}}", serde_json::json!("n3")),
        ("plain", serde_json::json!("plain")),
    ] {
        assert_eq!(
            Template::parse(template).unwrap().value(&scope()).unwrap(),
            expected,
            "{template}"
        );
    }
}

#[test]
fn references_list_every_path_of_the_scope_with_its_place() {
    let text = "{{.inputs.a}}{{if eq inputs.b (len $.states.c.JSON)}}{{end}}\
                {{range .inputs.d}}{{.e}}{{.}}{{else}}{{.inputs.f}}{{end}}{{index .states \"my-g\"}}";
    let found = Template::parse(text).unwrap().references();
    let paths: Vec<String> = found.iter().map(|reference| reference.parts.join(".")).collect();
    assert_eq!(
        paths,
        ["inputs.a", "inputs.b", "states.c.JSON", "inputs.d", "inputs.f", "states.my-g"]
    );
    assert_eq!(found[0], Reference { parts: vec!["inputs".into(), "a".into()], offset: 2 });
    assert_eq!(&text[found[1].offset..found[1].offset + 8], "inputs.b");
}
