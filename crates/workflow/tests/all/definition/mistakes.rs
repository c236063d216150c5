//! What is wrong with a file is told at once, and where it is.

use quipu_workflow::definition::NoLibrary;

use super::{expect, one_step, with_top};

#[test]
fn each_mistake_in_a_step_is_told_where_it_is() {
    let way = "on_success: done";
    let cases: &[(&str, &[&str])] = &[
        (
            "type: step",
            &[
                "4:3: error: a command step has neither",
                "4:3: warning: nothing says",
                "6:3: warning: no run comes to step `done`",
            ],
        ),
        (
            &format!("type: step\ncommand: x\nscript_file: y\n{way}"),
            &["7:5: error: the step has both"],
        ),
        (&format!("type: step\ncommand: ''\n{way}"), &["6:14: error: `command` is empty"]),
        (
            &format!("type: stpe\ncommand: x\n{way}"),
            &["5:11: error: there is no step type `stpe` | did you mean `step`?"],
        ),
        (&format!("command: x\n{way}"), &["4:3: error: step `a` has no `type` | is `type: step`"]),
        (
            "type: step\ncommand: x\non_success: doen",
            &["7:17: error: `on_success` leads to `doen` | did you mean `done`?"],
        ),
        (
            &format!("type: step\ncommand: x\ntimeout: soon\n{way}"),
            &["7:14: error: `timeout` is the text \"soon\" | `1m30s`"],
        ),
        (
            &format!("type: step\ncommand: x\ntimout: 5\n{way}"),
            &["7:5: warning: `timout` is no key | did you mean `timeout`?"],
        ),
        (
            &format!("type: step\ncommand: x\nnext: done\n{way}"),
            &["7:5: warning: `next` is no key | use `on_success`"],
        ),
        (
            &format!("type: step\ncommand: x\nprompt: y\n{way}"),
            &["7:5: warning: `prompt` is no key | agent steps"],
        ),
        (
            &format!("type: step\ncommand: [x]\n{way}"),
            &["6:14: error: `command` is a list; expected a text"],
        ),
        (
            &format!("type: step\ncommand: x\nretry: {{max_attempts: 0, jitter: 2}}\n{way}"),
            &["7:27: error: `max_attempts` is `0`", "7:38: error: `jitter` is 2 | from 0 to 1"],
        ),
        (
            &format!("type: step\ncommand: x\nretry: {{max_attempts: 2, backoff: expo}}\n{way}"),
            &["7:39: error: `backoff` | `exponential`"],
        ),
        (
            &format!("type: step\ncommand: x\nhooks: {{pre: [make]}}\n{way}"),
            &["7:19: error: a hook is the text | write `command: make`"],
        ),
        (
            "type: step\ncommand: x\non_success: done\non_failure: {status: 3}",
            &["8:17: error: `on_failure` has no `message`"],
        ),
        (
            "type: step\ncommand: x\non_success: done\non_failure: {message: x, status: 300}",
            &["8:38: error: `status` is `300` | from 0 to 255"],
        ),
        (
            "type: step\ncommand: x\ntransitions: [{when: 'a ==', goto: done}]",
            &["7:31: error: `when`"],
        ),
        (
            "type: step\ncommand: x\ntransitions: [{when: 'true'}, {goto: dnoe}]",
            &["7:19: error: a transition has no `goto`", "7:42: error: `goto` leads to `dnoe`"],
        ),
        (
            &format!("type: agent\nprovider: cluade\nprompt: x\n{way}"),
            &["6:15: warning: `cluade` is no provider | did you mean `claude`?"],
        ),
        (
            &format!("type: agent\nprovider: claude\n{way}"),
            &["4:3: error: an agent step has neither `prompt`"],
        ),
        (
            &format!("type: agent\nprompt: x\nprompt_file: y\n{way}"),
            &["4:3: error: an agent step has no `provider`", "7:5: error: the step has both"],
        ),
        (
            &format!("type: agent\nprovider: claude\nprompt: x\nmode: chat\n{way}"),
            &["8:11: error: `mode` is the text \"chat\""],
        ),
        (
            &format!(
                "type: agent\nprovider: claude\nprompt: x\nconversation: {{continue_from: done}}\n{way}"
            ),
            &["8:35: error: `continue_from` names `done`, which is no agent step"],
        ),
        (
            &format!(
                "type: agent\nprovider: claude\nprompt: x\nmcp_proxy: {{enable: true, enabel: true}}\n{way}"
            ),
            &["8:31: error: `enabel` is no key of `mcp_proxy` | did you mean `enable`?"],
        ),
        (
            &format!("type: operation\noperation: http.reqest\n{way}"),
            &["6:16: warning: `http.reqest` | did you mean `http.request`?"],
        ),
        (
            &format!("type: parallel\nparallel: []\n{way}"),
            &["4:3: error: a parallel step has no branches"],
        ),
        (
            &format!("type: parallel\nparallel: [a]\n{way}"),
            &["4:3: error: step `a` runs inside of itself: a → a"],
        ),
        (
            &format!("type: for_each\nitems: [1]\nbody: [x, x]\n{way}"),
            &[
                "7:12: error: `body` names `x`",
                "7:15: error: body step `x` stands twice",
                "7:15: error: `body` names `x`",
            ],
        ),
        (
            &format!("type: while\nbody: [done]\n{way}"),
            &["4:3: error: a while step has no `while`"],
        ),
        (
            "type: terminal\nstatus: completed",
            &["6:13: error: `status` | did you mean `success`?", "7:3: warning: no run comes"],
        ),
        (
            &format!("type: call_workflow\nworkflow: nowhere\n{way}"),
            &["6:15: error: there is no workflow `nowhere`"],
        ),
        (
            &format!("type: step\ncommand: x\nuse_template: t\n{way}"),
            &["7:19: error: there is no template `t`"],
        ),
    ];
    for (step, expected) in cases {
        expect(&one_step(step), &NoLibrary, expected);
    }
}

#[test]
fn each_mistake_at_the_top_is_told_where_it_is() {
    let cases: &[(&str, &[&str])] = &[
        ("initial: a", &["2:1: warning: `initial` is no key of the workflow | `states`"]),
        ("inputs: [{type: string}]", &["2:10: error: an input has no `name`"]),
        ("inputs: {a: {type: strin}}", &["2:20: error: `type` is | did you mean `string`?"]),
        ("inputs: [{name: a}, {name: a}]", &["2:28: error: input `a` stands twice: first at 2:17"]),
        ("inputs: {a: {pattern: x}}", &["2:14: warning: `pattern` | `validation: {pattern: …}`"]),
        ("inputs: {a: {validation: {pattern: '('}}}", &["2:36: error: `pattern` cannot be used"]),
        ("inputs: {a: {validation: {enum: []}}}", &["2:33: error: `enum` is empty"]),
        (
            "inputs: {a: {validation: {min: 5, max: 1}}}",
            &["2:32: error: `min` is 5 and `max` is 1"],
        ),
        ("inputs: {a: {type: integer, default: x}}", &["2:38: error: the default of input `a`"]),
        (
            "inputs: {a: {default: 9, validation: {max: 3}}}",
            &["2:23: error: the default | at most 3"],
        ),
        ("hooks: {workflow_strat: []}", &["2:9: warning: | did you mean `workflow_start`?"]),
        (
            "hooks: {workflow_start: [{log: '{{inptus.a}}'}]}",
            &["2:35: error: `inptus` | did you mean `inputs`?"],
        ),
        ("deliverables: report.md", &["2:15: error: `deliverables` is | a list of paths"]),
        (
            "deliverables: [a.md, '', ~]",
            &[
                "2:22: error: a deliverable has no path | a list of paths",
                "2:26: error: a deliverable has no path | a list of paths",
            ],
        ),
        ("deliverables: [{path: a.md}]", &["2:16: error: a deliverable is | a text"]),
        (
            "deliverables: ['{{.states.b.Output}}']",
            &["2:19: error: `states.b`: there is no step `b`"],
        ),
        ("deliverable: [a.md]", &["2:1: warning: | deliverables"]),
        ("outputs: {r: states.b.Output}", &["2:14: error: `states.b`: there is no step `b`"]),
        ("outputs: {r: states.a.Outptu}", &["2:14: warning: `Outptu` | did you mean `Output`?"]),
        (
            "inputs: {size: {}}\nhooks: {workflow_end: [{log: 'x {{.inputs.siez}}'}]}",
            &["3:35: warning: input `siez` is not declared | did you mean `size`?"],
        ),
        (
            "hooks: {workflow_end: [{log: '{{workflow.Nmae}}'}]}",
            &["2:33: warning: `workflow` has no `Nmae` | did you mean `Name`?"],
        ),
    ];
    for (top, expected) in cases {
        expect(&with_top(top), &NoLibrary, expected);
    }
}

#[test]
fn all_problems_of_a_file_are_told_at_once_in_its_order() {
    let text =
        "nmae: w\nstates:\n  inital: a\n  a.b: {type: step}\n  c: {type: terminal, status: 400}\n";
    let told = [
        "1:1: error: the workflow has no `name` | `nmae` looks like it",
        "1:1: warning: `nmae` is no key | did you mean `name`?",
        "3:3: error: `states` has no `initial`",
        "3:11: error: step `inital` is the text",
        "4:3: error: the step name \"a.b\" has '.' in it | `a_b`",
        "4:3: error: a command step has neither",
        "4:3: warning: nothing says",
        "5:31: error: `status` is `400`",
    ];
    expect(text, &NoLibrary, &told);
}

#[test]
fn a_limit_of_iterations_is_a_number_a_template_or_arithmetic() {
    let step = |limit: &str| {
        let keys = format!("type: for_each\nitems: [1]\nbody: [done]\nmax_iterations: {limit}");
        one_step(&format!("{keys}\non_complete: done"))
    };
    expect(&step("many"), &NoLibrary, &["8:21: warning: `many` is nothing"]);
    expect(&step("3 x"), &NoLibrary, &["8:23: error: `max_iterations`: expected an operator"]);
    for right in ["3", "3 * 2", "'{{env.HOME}} + 1'", "\"{{.env.HOME}}\""] {
        expect(&step(right), &NoLibrary, &[]);
    }
}

#[test]
fn a_tab_in_the_indentation_is_told_where_it_stands() {
    for (text, place) in [
        ("name: w\nstates:\n\tinitial: a\n", "3:1"),
        ("name: w\nstates:\n  a:\n  \ttype: step\n", "4:3"),
    ] {
        expect(text, &NoLibrary, &[&format!("{place}: error: this is not YAML: tabs")]);
    }
}

#[test]
fn a_name_in_a_text_is_told_at_its_own_line_and_column() {
    let text = one_step(
        "type: step\ncommand: |\n  echo one\n  echo \"{{ .states.b.Output }}\"\non_success: done",
    );
    expect(&text, &NoLibrary, &["8:16: error: `states.b`: there is no step `b`"]);
    let text = one_step("type: step\ncommand: \"é\\t{{ .states.b.Output }}\"\non_success: done");
    expect(&text, &NoLibrary, &["6:21: error: `states.b`"]);
}

#[test]
fn a_result_cannot_be_used_before_its_step_can_have_run() {
    let step = |name: &str, uses: &str, next: &str| {
        format!(
            "  {name}: {{type: step, command: 'echo {{{{states.{uses}.Output}}}}', on_success: {next}}}\n"
        )
    };
    let head = "name: w\nstates:\n  initial: a\n";
    let end = "  done: {type: terminal}\n";
    let plain = "  a: {type: step, command: x, on_success: b}\n";
    expect(&format!("{head}{plain}{}{end}", step("b", "a", "done")), &NoLibrary, &[]);
    let forward = format!(
        "{head}{}  b: {{type: step, command: x, on_success: done}}\n{end}",
        step("a", "b", "b")
    );
    expect(&forward, &NoLibrary, &["4:36: error: step `b` cannot have run before step `a`"]);
    // A way back makes it possible.
    let back = format!(
        "{head}{}  b: {{type: step, command: x, on_success: a, on_failure: done}}\n{end}",
        step("a", "b", "b")
    );
    expect(&back, &NoLibrary, &[]);
    expect(
        &format!("{head}{}{end}", step("a", "a", "done")),
        &NoLibrary,
        &["4:36: warning: step `a` uses its own result"],
    );
}

#[test]
fn branches_of_a_parallel_step_do_not_see_each_other() {
    let flow = |used: &str| {
        format!(
            "name: w\nstates:\n  initial: fan\n  fan: {{type: parallel, parallel: [a, b], on_success: c}}\n  \
             a: {{type: step, command: x}}\n  b: {{type: step, command: 'echo {{{{states.{used}.Output}}}}'}}\n  \
             c: {{type: step, command: 'echo {{{{states.a.Output}}}}', on_success: done}}\n  \
             done: {{type: terminal}}\n"
        )
    };
    let told = "6:36: error: step `a` cannot have run before step `b` | do not see each other";
    expect(&flow("a"), &NoLibrary, &[told]);
}

#[test]
fn all_that_is_wrong_in_one_text_is_told() {
    let text = one_step(
        "type: step\ncommand: 'a {{nope 1}} b {{.inputs.x | gone}} {{.states.z.Output}}'\non_success: done",
    );
    let told = ["6:19: error: `command`", "6:44: error: `command`", "6:53: error: `states.z`"];
    expect(&text, &NoLibrary, &told);
}

#[test]
fn what_older_files_say_is_told_in_words_of_today() {
    let way = "on_success: done";
    let cases: &[(&str, &[&str])] = &[
        (
            &format!("type: step\ncommand: x\ntimeout: '{{{{.inputs.t}}}}'\n{way}"),
            &["7:14: error: `timeout` is the text | nothing can be filled in | --set STEP.timeout"],
        ),
        (
            &format!("type: step\ncommand: x\non_error: done\n{way}"),
            &["7:5: warning: `on_error` is no key | use `on_failure`"],
        ),
        (
            &format!("type: step\ncommand: x\npre_hook: y\n{way}"),
            &["7:5: warning: `pre_hook` is no key | `hooks: {pre: [{command: …}]}`"],
        ),
        (
            &format!("type: call_workflow\ncall_workflow: {{workflow: x}}\n{way}"),
            &[
                "4:3: error: a call_workflow step has no `workflow` | belongs into the step itself",
                "6:5: warning: `call_workflow` is no key",
            ],
        ),
        (
            &format!("type: parallel\nsteps: [done]\n{way}"),
            &[
                "4:3: error: a parallel step has no branches | `steps` has no effect",
                "6:5: warning: `steps` is no key | use `parallel`",
            ],
        ),
    ];
    for (step, told) in cases {
        expect(&one_step(step), &NoLibrary, told);
    }
}

#[test]
fn what_other_languages_say_is_told_in_words_of_this_one() {
    let step = |keys: &str| format!("type: step\ncommand: x\n{keys}\non_success: done");
    let cases: &[(&str, &str)] = &[
        ("timeout: 5 minutes", "7:14: error: `timeout` is the text | did you mean `5m`?"),
        ("retry: 3", "7:12: error: `retry` is `3` | write `retry: {max_attempts: 3}`"),
        ("capture: out", "7:14: error: `capture` is | write `capture: {stdout: out}`"),
        ("env: A=b", "7:10: error: `env` is | write `{A: b}`"),
        (
            "retry: {max_attempts: 2, delay: 5s}",
            "7:30: warning: `delay` is no key of `retry` | use `initial_delay`",
        ),
        (
            "transitions: [{goto: done, if: x}]",
            "7:32: warning: `if` is no key of a transition | use `when`",
        ),
    ];
    for (keys, told) in cases {
        expect(&one_step(&step(keys)), &NoLibrary, &[told]);
    }
    let told = ["5:11: error: there is no step type `shell` | use `type: step`"];
    expect(&one_step("type: shell\ncommand: x\non_success: done"), &NoLibrary, &told);
}

#[test]
fn a_key_without_its_colon_is_told_where_it_stands() {
    for (text, told) in [
        ("name: w\nstates\n  initial: a\n", "2:7: error: `states` is a key without its `:`"),
        (
            "name: w\nstates:\n  initial: a\n  a\n    type: terminal\n",
            "4:4: error: `a` is a key without its `:`",
        ),
    ] {
        expect(text, &NoLibrary, &[told]);
    }
}
