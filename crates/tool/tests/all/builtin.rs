//! What each builtin tool does and says.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use quipu_event::Kind;
use quipu_event::payload::{FileAccess, ToolStatus};
use serde_json::{Value, json};

use crate::stage::Stage;

const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn reads_and_writes_leave_the_size_and_the_hash_of_what_passed() {
    let stage = Stage::new();
    stage.put("sub/a.txt", "one\ntwo\nthree\n");
    let two = "27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a";
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let cases = [
        (
            "Read",
            json!({ "path": "./sub//a.txt", "offset": 2, "limit": 1 }),
            Kind::FileRead,
            4,
            two,
        ),
        ("Write", json!({ "path": "sub/a.txt", "content": "abc" }), Kind::FileWritten, 3, abc),
        (
            "Edit",
            json!({ "path": "sub/a.txt", "old": "abc", "new": "two\n" }),
            Kind::FileWritten,
            4,
            two,
        ),
    ];
    for (tool, input, kind, bytes, sha256) in cases {
        stage.done(tool, input).await;
        let files = stage.take_files();
        let (found, access) = &files[0];
        assert_eq!((files.len(), found), (1, &kind), "{tool}");
        assert!(access.call_id.as_deref().is_some_and(|id| id.starts_with("call_")));
        let expected = FileAccess {
            file: "sub/a.txt".to_owned(),
            bytes: Some(bytes),
            sha256: Some(sha256.to_owned()),
            reason: None,
            call_id: access.call_id.clone(),
        };
        assert_eq!(*access, expected, "{tool}");
    }
    for (tool, input) in [
        ("Grep", json!({ "pattern": "two" })),
        ("Glob", json!({ "pattern": "**" })),
        ("List", json!({})),
    ] {
        stage.done(tool, input).await;
        assert_eq!(stage.take_files(), [], "{tool}");
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_named() {
    let stage = Stage::new();
    stage.put("a", "a");
    let cases = [
        ("Read", json!({}), "the argument `path` is missing: a string is expected"),
        ("Read", json!(null), "the argument `path` is missing: a string is expected"),
        ("Read", json!("a"), "the arguments must be an object, and they are a string"),
        ("Read", json!({ "path": 7 }), "the argument `path` must be a string, and it is 7"),
        ("Read", json!({ "path": null }), "the argument `path` is missing: a string is expected"),
        (
            "Read",
            json!({ "path": "a", "limit": 0 }),
            "the argument `limit` must be a whole number from 1 on, and it is 0",
        ),
        (
            "Read",
            json!({ "path": "a", "offset": "2" }),
            "the argument `offset` must be a whole number from 0 on, and it is \"2\"",
        ),
        (
            "Read",
            json!({ "path": "a", "offset": 1.5 }),
            "the argument `offset` must be a whole number from 0 on, and it is 1.5",
        ),
        (
            "Read",
            json!({ "pat": "a" }),
            "there is no argument `pat`; there are path, offset, limit",
        ),
        (
            "Read",
            json!({ "path": "a", "file_path": "b" }),
            "the arguments `path` and `file_path` are the same one: give only `path`",
        ),
        (
            "Write",
            json!({ "path": "a" }),
            "the argument `content` is missing: a string is expected",
        ),
        (
            "Edit",
            json!({ "path": "a", "old": "a", "new": "b", "replace_all": "yes" }),
            "the argument `replace_all` must be true or false, and it is \"yes\"",
        ),
        (
            "Grep",
            json!({ "pattern": "a", "output_mode": "json" }),
            "the argument `output_mode` must be one of content, files_with_matches, count, and it is \
             \"json\"",
        ),
        (
            "Bash",
            json!({ "command": "true", "timeout_seconds": 601 }),
            "the argument `timeout_seconds` must be a whole number from 1 to 600, and it is 601",
        ),
        ("Read", json!({ "path": "" }), "the path is empty"),
    ];
    for (tool, input, expected) in cases {
        assert_eq!(stage.fails(tool, input.clone()).await, expected, "{tool} {input}");
    }
    assert_eq!(stage.text("a"), "a");
}

#[tokio::test]
async fn other_agents_names_of_arguments_are_understood() {
    let stage = Stage::new();
    stage.done("Write", json!({ "file_path": "a", "content": "old" })).await;
    let edit = json!({ "file_path": "a", "old_string": "old", "new_string": "new" });
    stage.done("Edit", edit).await;
    assert_eq!(stage.done("Read", json!({ "file_path": "a", "limit": 5.0 })).await, "new");
    for spec in stage.router.specs() {
        let schema = spec.input_schema.to_string();
        assert!(!schema.contains("file_path") && !schema.contains("_string"), "{schema}");
        assert_eq!(spec.input_schema["additionalProperties"], false);
        assert_eq!(spec.provider, "builtin");
    }
}

#[tokio::test]
async fn some_lines_of_a_file_are_read() {
    let stage = Stage::new();
    stage.put("a", "1\n2\r\n3\n4");
    stage.put("empty", "");
    let cases = [
        (json!({}), "1\n2\r\n3\n4"),
        (json!({ "offset": 1 }), "1\n2\r\n3\n4"),
        (json!({ "offset": 0, "limit": 1 }), "1\n"),
        (json!({ "offset": 2, "limit": 2 }), "2\r\n3\n"),
        (json!({ "offset": 4, "limit": 100 }), "4"),
        (json!({ "limit": 2 }), "1\n2\r\n"),
    ];
    for (mut input, expected) in cases {
        input["path"] = json!("a");
        assert_eq!(stage.done("Read", input.clone()).await, expected, "{input}");
    }
    let past = stage.fails("Read", json!({ "path": "a", "offset": 5 })).await;
    assert_eq!(past, "a: has 4 lines, so there is no line 5");
    assert_eq!(stage.done("Read", json!({ "path": "empty" })).await, "");
    assert_eq!(stage.done("Read", json!({ "path": "empty", "offset": 1 })).await, "");
}

#[tokio::test]
async fn a_long_file_is_read_in_parts() {
    let stage = Stage::new();
    let line = format!("{}\n", "x".repeat(MIB - 1));
    stage.put("long", line.repeat(6) + "end\n");
    stage.put("most", line.repeat(5));
    stage.put("one_line", "y".repeat(6 * MIB));
    let refused = stage.fails("Read", json!({ "path": "long" })).await;
    assert!(refused.starts_with("long: is 6291460 bytes long, more than 5 MiB: "), "{refused}");
    assert_eq!(stage.done("Read", json!({ "path": "long", "offset": 7 })).await, "end\n");
    let many = stage.fails("Read", json!({ "path": "long", "limit": 6 })).await;
    assert_eq!(many, "long: has more than 5 MiB in these lines: ask for fewer");
    stage.fails("Read", json!({ "path": "one_line", "limit": 1 })).await;
    let answer = stage.call("Read", json!({ "path": "most" })).await;
    assert_eq!(answer.output.as_str().map(str::len), Some(5 * MIB), "kept whole");
    assert!(answer.text().len() < 70_000, "and cut for the model");
}

#[tokio::test]
async fn what_is_no_text_is_said_to_be_none() {
    let stage = Stage::new();
    stage.put("image.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    stage.put("latin", b"gr\xfc\xdfe");
    fs::create_dir(stage.root().join("dir")).unwrap();
    let fails = async |tool: &str, input: Value| stage.fails(tool, input).await;
    let image = fails("Read", json!({ "path": "image.png" })).await;
    assert_eq!(image, "image.png: is a binary file of 16 bytes, and is not shown");
    assert_eq!(stage.done("Read", json!({ "path": "latin" })).await, "gr\u{fffd}\u{fffd}e");
    let latin = fails("Edit", json!({ "path": "latin", "old": "gr", "new": "k" })).await;
    assert_eq!(latin, "latin: is not text in UTF-8, and is left alone");
    assert_eq!(fails("Read", json!({ "path": "dir" })).await, "dir: is a directory");
    assert_eq!(fails("Read", json!({ "path": "." })).await, ".: is a directory");
    for path in ["dir", ".", "dir/.."] {
        let written = fails("Write", json!({ "path": path, "content": "x" })).await;
        assert_eq!(written, format!("{path}: is a directory"));
    }
}

#[tokio::test]
async fn a_file_that_is_not_there_is_missed_with_a_guess() {
    let stage = Stage::new();
    stage.put("src/main.rs", "");
    let cases = [
        ("src/mian.rs", "src/mian.rs: no such file or directory (did you mean src/main.rs?)"),
        ("src/MAIN.RS", "src/MAIN.RS: no such file or directory (did you mean src/main.rs?)"),
        ("src/other.py", "src/other.py: no such file or directory"),
        ("lib/a.rs", "lib/a.rs: no such file or directory (there is no directory lib)"),
        ("src/main.rs/x", "src/main.rs/x: not a directory"),
    ];
    for (path, expected) in cases {
        assert_eq!(stage.fails("Read", json!({ "path": path })).await, expected);
    }
}

#[tokio::test]
async fn a_file_is_written_at_once_and_keeps_its_mode() {
    let stage = Stage::new();
    stage.put("script.sh", "old");
    let path = stage.root().join("script.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o754)).unwrap();
    let before = fs::File::open(&path).unwrap();
    stage.done("Write", json!({ "path": "script.sh", "content": "new" })).await;
    stage.done("Edit", json!({ "path": "script.sh", "old": "new", "new": "newer" })).await;
    let after = fs::metadata(&path).unwrap();
    assert_eq!((after.mode() & 0o7777, after.len()), (0o754, 5));
    let seen = std::io::read_to_string(before).unwrap();
    assert_eq!(seen, "old", "who has the old file open sees nothing of the new one");
    stage.done("Write", json!({ "path": "new/dir/file", "content": "x" })).await;
    let made = fs::metadata(stage.root().join("new/dir/file")).unwrap();
    assert_eq!(made.mode() & 0o133, 0, "no more than 0644");
    let left = fs::read_dir(stage.root()).unwrap().count();
    assert_eq!(left, 2, "no draft stays behind");
    let long = "x".repeat(5 * MIB + 1);
    stage.fails("Write", json!({ "path": "long", "content": long })).await;
    stage.done("Write", json!({ "path": "long", "content": long[1..] })).await;
}

#[tokio::test]
async fn an_edit_must_know_what_it_changes() {
    let stage = Stage::new();
    stage.put("a", "x = 1\nx = 1\ny =  2\n");
    stage.put("dos", "one\r\ntwo\r\n");
    let edit = |path: &str, old: &str| json!({ "path": path, "old": old, "new": "z" });
    let twice = stage.fails("Edit", edit("a", "x = 1")).await;
    assert!(twice.starts_with("a: `old` stands there 2 times: "), "{twice}");
    assert_eq!(stage.fails("Edit", edit("a", "w")).await, "a: `old` is not there");
    let spaced = stage.fails("Edit", edit("a", "y = 2")).await;
    assert_eq!(spaced, "a: `old` is not there, but a text that differs in white space is");
    let dos = stage.fails("Edit", edit("dos", "one\ntwo")).await;
    assert_eq!(dos, "dos: `old` is not there: the lines of this file end in \\r\\n");
    stage.fails("Edit", edit("a", "")).await;
    stage.fails("Edit", edit("a", "z")).await;
    assert_eq!(stage.text("a"), "x = 1\nx = 1\ny =  2\n", "nothing changed so far");
    let all = json!({ "path": "a", "old": "x = 1", "new": "x", "replace_all": true });
    assert_eq!(stage.done("Edit", all).await, "replaced it 2 times in a");
    stage.done("Edit", edit("a", "y =  2")).await;
    assert_eq!(stage.text("a"), "x\nx\nz\n");
    stage.put("many", "a".repeat(MIB));
    let explodes = json!({ "path": "many", "old": "a", "new": "bbbbbb", "replace_all": true });
    assert!(stage.fails("Edit", explodes).await.ends_with("more than 5 MiB"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_at_the_same_time_all_count() {
    let stage = Stage::new();
    stage.put("a", (0..50).map(|index| format!("<{index}>\n")).collect::<String>());
    let edits = (0..50).map(|index| {
        let input = json!({ "path": "a", "old": format!("<{index}>"), "new": "done" });
        let call = quipu_tool::Call { name: "Edit".into(), input, call_id: None, timeout: None };
        let (router, context) = (stage.router.clone(), stage.context.clone());
        tokio::spawn(async move { router.call(call, &context).await })
    });
    for edit in edits.collect::<Vec<_>>() {
        assert_eq!(edit.await.unwrap().status, ToolStatus::Completed);
    }
    assert_eq!(stage.text("a"), "done\n".repeat(50));
}

#[tokio::test]
async fn patterns_find_paths() {
    let stage = Stage::new();
    for path in ["a.rs", "src/b.rs", "src/deep/c.rs", "src/deep/c.txt", ".git/config", ".env"] {
        stage.put(path, "");
    }
    let cases = [
        (json!({ "pattern": "*.rs" }), "a.rs"),
        (json!({ "pattern": "**/*.rs" }), "a.rs\nsrc/b.rs\nsrc/deep/c.rs"),
        (json!({ "pattern": "src/**/*.rs" }), "src/b.rs\nsrc/deep/c.rs"),
        (json!({ "pattern": "**/*.{rs,txt}", "cwd": "src/deep" }), "src/deep/c.rs\nsrc/deep/c.txt"),
        (json!({ "pattern": "*" }), ".env\na.rs\nsrc/"),
        (json!({ "pattern": "./src/?.rs" }), "src/b.rs"),
        (json!({ "pattern": stage.root().join("src/*.rs") }), "src/b.rs"),
        (json!({ "pattern": "src/b.rs" }), "src/b.rs"),
        (json!({ "pattern": "nowhere/*.rs" }), "nothing fits the pattern"),
    ];
    for (input, expected) in cases {
        assert_eq!(stage.done("Glob", input.clone()).await, expected, "{input}");
    }
    let bad = stage.fails("Glob", json!({ "pattern": "a[" })).await;
    assert!(bad.starts_with("`pattern` is no pattern: "), "{bad}");
    stage.fails("Glob", json!({ "pattern": "*", "cwd": "nowhere" })).await;
}

#[tokio::test]
async fn lines_are_found_with_their_file_and_number() {
    let stage = Stage::new();
    stage.put("a.rs", "fn one() {}\nfn two() {}\r\n");
    stage.put("src/b.rs", "// Two\n");
    stage.put("src/b.txt", b"tw\xf6\ntwo \xff\n");
    stage.put("ignored.log", "two");
    stage.put("src/kept.log", "two");
    stage.put(".gitignore", "*.log\n/target/\n");
    stage.put("src/.gitignore", "!kept.log\n");
    stage.put("target/x", "two");
    stage.put(".git/two", "two");
    stage.put("binary", b"two\n\0two\n");
    let all = "a.rs:2:fn two() {}\nsrc/b.txt:2:two \u{fffd}\nsrc/kept.log:1:two";
    let cases = [
        (json!({ "pattern": "two" }), all),
        (
            json!({ "pattern": "two", "path": "src" }),
            "src/b.txt:2:two \u{fffd}\nsrc/kept.log:1:two",
        ),
        (
            json!({ "pattern": "TWO", "glob": "*.rs", "case_insensitive": true }),
            "a.rs:2:fn two() {}\nsrc/b.rs:1:// Two",
        ),
        (json!({ "pattern": "two", "glob": "!*.{txt,log}" }), "a.rs:2:fn two() {}"),
        (json!({ "pattern": "fn", "output_mode": "count" }), "a.rs:2"),
        (
            json!({ "pattern": "two", "output_mode": "files_with_matches" }),
            "a.rs\nsrc/b.txt\nsrc/kept.log",
        ),
        (
            json!({ "pattern": "^fn (one|two)\\(\\)", "path": "a.rs" }),
            "a.rs:1:fn one() {}\na.rs:2:fn two() {}",
        ),
        (json!({ "pattern": "two", "path": "ignored.log" }), "ignored.log:1:two"),
        (json!({ "pattern": "zwei" }), "no matches"),
    ];
    for (input, expected) in cases {
        assert_eq!(stage.done("Grep", input.clone()).await, expected, "{input}");
    }
    let bad = stage.fails("Grep", json!({ "pattern": "(" })).await;
    assert!(bad.starts_with("`pattern` is no regular expression: "), "{bad}");
}

#[tokio::test]
async fn long_lines_are_cut_around_the_match_and_many_are_counted() {
    let stage = Stage::new();
    stage.put("long", format!("{}needle{}\n", "ü".repeat(MIB), "y".repeat(2 * MIB)));
    stage.put("many", "straw\n".repeat(10_001));
    stage.put("endless", format!("{}needle", "z".repeat(17 * MIB)));
    let found = stage.done("Grep", json!({ "pattern": "needle" })).await;
    let note = "[files with a line of more than 16 MiB, not searched: 1]";
    assert!(found.starts_with("long:1:[… 2097052 bytes …]üü"), "{}", &found[..60]);
    assert!(found.contains("üneedley") && found.ends_with(note) && found.len() < 700);
    let answer = stage.call("Grep", json!({ "pattern": "straw", "path": "many" })).await;
    let lines: Vec<&str> = answer.output.as_str().unwrap().lines().collect();
    assert_eq!(lines.len(), 10_001);
    assert_eq!(lines[9_999], "many:10000:straw");
    assert!(lines[10_000].starts_with("[… more than 10000 lines"), "{}", lines[10_000]);
}

#[tokio::test]
async fn a_directory_is_listed_with_sizes() {
    let stage = Stage::new();
    assert_eq!(stage.done("List", json!({})).await, "the directory is empty");
    stage.put("b/c", "");
    stage.put("a.txt", "12345");
    std::os::unix::fs::symlink("/etc", stage.root().join("link")).unwrap();
    assert_eq!(stage.done("List", json!({})).await, "a.txt\t5\nb/\nlink -> /etc");
    assert_eq!(stage.done("List", json!({ "path": "b" })).await, "c\t0");
    assert_eq!(stage.fails("List", json!({ "path": "a.txt" })).await, "a.txt: not a directory");
}

#[tokio::test]
async fn a_root_that_is_not_there_fails_its_calls() {
    let mut stage = Stage::new();
    stage.context.root = stage.dir.path().join("nowhere");
    for (tool, input) in [("List", json!({})), ("Bash", json!({ "command": "true" }))] {
        let why = stage.fails(tool, input).await;
        assert!(why.contains("the directory to work in cannot be opened"), "{why}");
    }
}
