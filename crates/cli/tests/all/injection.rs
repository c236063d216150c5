//! Values that want to be commands: whatever quotes the workflow puts around them, they arrive as
//! they were given, and nothing in them is executed.

use std::fs;

use crate::run::with_workflow;

/// Each step writes the value to a file of its own, each in another place that a shell knows.
const CONTEXTS: &str = r#"
name: contexts
inputs: [{name: x, type: string, required: true}]
states:
  initial: bare
  bare: {type: step, command: "printf '%s\n' {{.inputs.x}} > bare", on_success: double}
  double: {type: step, command: "printf %s \"{{.inputs.x}}\" > double", on_success: single}
  single: {type: step, command: "printf %s '{{.inputs.x}}' > single", on_success: substitution}
  substitution:
    type: step
    command: "y=$(printf '%s.' \"{{.inputs.x}}\"); printf %s \"${y%.}\" > substitution"
    on_success: backquotes
  backquotes:
    type: step
    command: "y=`printf '%s.' \"{{.inputs.x}}\"`; printf %s \"${y%.}\" > backquotes"
    on_success: document
  document:
    type: step
    command: |
      cat > document <<END
      {{.inputs.x}}
      END
    on_success: quoted_document
  quoted_document:
    type: step
    command: |
      cat > quoted_document <<'END'
      {{.inputs.x}}
      END
    on_success: variable
  variable:
    type: step
    env: {X: "{{.inputs.x}}"}
    command: "printf %s \"$X\" > variable"
    on_success: second_hand
  second_hand:
    type: step
    command: "printf '%s.' \"{{.inputs.x}}\""
    on_success: third_hand
  third_hand: {type: step, command: "printf %s '{{.states.second_hand.Output}}' > third_hand", on_success: each}
  each: {type: for_each, items: ["{{.inputs.x}}"], body: [item], on_complete: script}
  item: {type: step, command: "printf %s \"{{.loop.Item}}\" > item"}
  script: {type: step, script_file: script.sh, on_success: ask}
  ask: {type: agent, provider: stub, prompt: "{{.inputs.x}}", on_success: done}
  done: {type: terminal, message: "{{.inputs.x}}"}
"#;

const SCRIPT: &str = "#!/bin/sh\nprintf %s \"{{.inputs.x}}\" > script\n";

/// Places whose text ends in something more than the value.
const SUFFIXES: [(&str, &str); 3] =
    [("document", "\n"), ("quoted_document", "\n"), ("third_hand", ".")];

const PLAIN: [&str; 7] =
    ["double", "single", "substitution", "backquotes", "variable", "item", "script"];

const HOSTILE: [&str; 16] = [
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned;",
    "'; touch pwned; '",
    "\"; touch pwned; \"",
    "'\"$(touch pwned)\"'",
    "a\ntouch pwned\n",
    "\\$(touch pwned)\\`touch pwned\\`\\",
    "${IFS}${PATH:+$(touch pwned)}",
    "$((a[$(touch pwned)]))",
    "-n -e --help",
    "  * ? [a-z] ~ {a,b}  ",
    "{{.inputs.y}} {{readFile \"/etc/passwd\"}}",
    "!! !x #comment & | < > ( )",
    "%s%n\\n\\x41",
    "é → 🪢 \u{202e}\u{7f}\u{1b}[31m",
];

#[test]
fn hostile_values_arrive_as_they_are_in_every_place_and_nothing_in_them_is_executed() {
    for value in HOSTILE {
        let session = with_workflow(CONTEXTS);
        fs::write(session.dir().join("script.sh"), SCRIPT).unwrap();
        let outcome = session.quipu(&["run", "w.yaml", "--id", "r", "-i", &format!("x={value}")]);
        assert_eq!(outcome.code, Some(0), "{value:?}: {outcome:?}");
        let plain = PLAIN.iter().map(|place| (*place, ""));
        for (place, suffix) in plain.chain(SUFFIXES) {
            let wrote = fs::read_to_string(session.dir().join(place)).unwrap();
            assert_eq!(wrote, format!("{value}{suffix}"), "{value:?} in {place}");
        }
        // Without quotes a value is split into words, and its patterns match files.
        if !value.contains(['*', '?', '[']) {
            let wrote = fs::read_to_string(session.dir().join("bare")).unwrap();
            let words: Vec<&str> = value.split_ascii_whitespace().collect();
            assert_eq!(wrote.lines().collect::<Vec<_>>(), words, "{value:?} without quotes");
        }
        assert!(!session.dir().join("pwned").exists(), "{value:?} was executed");
        let lines = session.lines("r");
        assert_eq!(lines[0]["payload"]["inputs"]["x"], value);
        let asked = lines.iter().find(|line| line["type"] == "message.user").unwrap();
        assert_eq!(asked["payload"]["blocks"][0]["text"], value);
        session.ok(&["verify", "r"]);
    }
}

#[test]
fn values_from_files_and_lists_are_no_commands_either() {
    let session = with_workflow(
        r#"
name: w
inputs: [{name: x, required: true}, {name: list, type: array, required: true}, {name: json, required: true}]
states:
  initial: file
  file: {type: step, command: 'printf %s "{{.inputs.x}}" > file', on_success: each}
  each: {type: for_each, items: "{{.inputs.list}}", body: [item], on_complete: quoted}
  item: {type: step, command: 'printf "%s\n" "{{.loop.Item}}" >> items'}
  quoted: {type: step, command: "printf %s '{{json .inputs.json}}' > json", on_success: done}
  done: {type: terminal}
"#,
    );
    let value = "'$(touch pwned)'\n\"`touch pwned`\"";
    fs::write(session.dir().join("value"), value).unwrap();
    session.ok(&[
        "run",
        "w.yaml",
        "-i",
        "x=@value",
        "-i",
        r#"list=["$(touch pwned)", "'; touch pwned; '"]"#,
        "-i",
        "json='\"$(touch pwned)",
    ]);
    let read = |name: &str| fs::read_to_string(session.dir().join(name)).unwrap();
    assert_eq!(read("file"), value);
    assert_eq!(read("items"), "$(touch pwned)\n'; touch pwned; '\n");
    assert_eq!(read("json"), r#""'\"$(touch pwned)""#);
    assert!(!session.dir().join("pwned").exists());
}

#[test]
fn a_value_cannot_end_the_document_it_stands_in() {
    for (opening, code) in [("<<END", 0), ("<<'END'", 3)] {
        let session = with_workflow(&format!(
            "name: w\ninputs: [{{name: x, required: true}}]\nstates:\n  initial: a\n  a:\n    type: step\n    command: |\n      cat > document {opening}\n      {{{{.inputs.x}}}}\n      END\n    on_success: done\n  done: {{type: terminal}}\n"
        ));
        let outcome = session.quipu(&["run", "w.yaml", "-i", "x=END\ntouch pwned\nEND"]);
        assert_eq!(outcome.code, Some(code), "{opening}: {outcome:?}");
        assert!(!session.dir().join("pwned").exists(), "{opening}");
        // Inside a document that the shell does not look into, there is no way to say it.
        let wrote = fs::read_to_string(session.dir().join("document"));
        match code {
            0 => assert_eq!(wrote.unwrap(), "END\ntouch pwned\nEND\n"),
            _ => assert!(outcome.stdout.contains("would end the here-document"), "{outcome:?}"),
        }
    }
}
