//! What must not be recorded is not.

use std::sync::Arc;

use quipu_event::{Draft, Json, Kind, decode_line};
use quipu_journal::{Mask, Options, Received, RecordError, SecretMask};
use quipu_testkit::{TestStorage, run_started};
use serde_json::json;

fn masked_by(mask: impl Mask + 'static) -> Options {
    Options { mask: Some(Arc::new(mask)), ..Options::default() }
}

#[test]
fn the_mask_is_applied_before_disk_and_subscribers() {
    let storage = TestStorage::new();
    let mask = SecretMask::new().with_value("pet", "fluffy-the-cat");
    let recorder = storage.create_with("r", masked_by(mask));
    let mut live = recorder.subscribe();
    let key = &format!("sk-ant-{}", "a1".repeat(12));
    let facts = json!({
        "text": format!("use {key} for fluffy-the-cat"),
        "nested": [{ "password": "hunter2", "n": 1.5 }],
        "escaped": "a\u{1}\"AKIAIOSFODNN7EXAMPLE\"",
    });
    let draft = Draft::new(Kind::System, &facts).unwrap().with_raw(format!("raw {key}").as_bytes());
    let not_text = [b"\xff ", key.as_bytes()].concat();
    recorder.record(draft).unwrap();
    recorder.record(Draft::unknown(&not_text, None, "not text")).unwrap();
    let seen = [live.recv().unwrap(), live.recv().unwrap()];
    assert_eq!(recorder.stats().masked, 6);
    recorder.close().unwrap();

    let text = String::from_utf8(storage.bytes("r")).unwrap();
    for secret in [key.as_str(), "hunter2", "fluffy", "AKIAIOSF"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let on_disk: Vec<_> = text.lines().map(|line| decode_line(line.as_bytes()).unwrap()).collect();
    assert_eq!(on_disk, seen.map(|event| (*event).clone()));
    let payload: serde_json::Value = on_disk[0].payload.decode().unwrap();
    let expected = json!({
        "text": "use [masked:anthropic-key] for [masked:pet]",
        "nested": [{ "password": "[masked:password]", "n": 1.5 }],
        "escaped": "a\u{1}\"[masked:aws-key-id]\"",
    });
    assert_eq!(payload, expected);
    let raws: Vec<_> =
        on_disk.iter().map(|event| event.raw.as_ref().unwrap().bytes().unwrap()).collect();
    assert_eq!(
        raws,
        [b"raw [masked:anthropic-key]".to_vec(), b"\xff [masked:anthropic-key]".to_vec()]
    );
}

/// Refuses, in the rudest way, whatever is called `trouble`.
struct Rude;

impl Mask for Rude {
    fn mask(&self, draft: Draft) -> (Draft, u64) {
        assert!(!draft.payload.as_str().contains("trouble"), "the mask itself is broken");
        (draft, 0)
    }
}

#[test]
fn a_mask_that_fails_lets_nothing_through() {
    let storage = TestStorage::new();
    let recorder = storage.create_with("r", masked_by(Rude));
    let mut live = recorder.subscribe();
    recorder.record(run_started("x")).unwrap();
    assert!(matches!(recorder.record(run_started("trouble")), Err(RecordError::Mask)));
    recorder.record(run_started("y")).unwrap();
    assert_eq!((live.recv().unwrap().seq, live.recv().unwrap().seq), (1, 2));
    assert!(matches!(live.try_recv(), Received::Nothing));
    assert_eq!(storage.events("r").len(), 2);
    assert!(!String::from_utf8(storage.bytes("r")).unwrap().contains("trouble"));
}

#[test]
fn a_mask_may_bring_nothing_in_that_a_producer_may_not() {
    struct Deepening;
    impl Mask for Deepening {
        fn mask(&self, draft: Draft) -> (Draft, u64) {
            let deep = "[".repeat(500) + &"]".repeat(500);
            let payload: Json = serde_json::from_str(&deep).unwrap();
            (Draft { payload, ..draft }, 0)
        }
    }
    let storage = TestStorage::new();
    let recorder = storage.create_with("r", masked_by(Deepening));
    assert!(matches!(recorder.record(run_started("x")), Err(RecordError::TooDeep)));
}

#[test]
fn well_known_shapes_are_hidden_and_the_rest_stays_readable() {
    let long = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0";
    let cases = [
        (
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- after",
            "[masked:private-key] after",
        ),
        ("-----BEGIN PRIVATE KEY-----\ncut", "[masked:private-key]"),
        (&format!("k=sk-proj-{long}"), "k=[masked:openai-key]"),
        (&format!("xai-{long}"), "[masked:xai-key]"),
        (&format!("gsk_{long}"), "[masked:groq-key]"),
        (&format!("pplx-{long}"), "[masked:perplexity-key]"),
        (&format!("dop_v1_{}", "0a".repeat(32)), "[masked:digitalocean-token]"),
        (&format!("AGE-SECRET-KEY-1{}", "QZ8".repeat(19)), "[masked:age-key]"),
        (&format!("ghp_{long}"), "[masked:github-token]"),
        (&format!("github_pat_{long}"), "[masked:github-token]"),
        (&format!("glpat-{long}"), "[masked:gitlab-token]"),
        ("xoxb-1234567890-abc", "[masked:slack-token]"),
        (
            &format!("https://hooks.slack.com/services/{long}"),
            "https://hooks.slack.com/services/[masked:slack-webhook]",
        ),
        (&format!("AIza{}", &long[..35]), "[masked:google-key]"),
        (&format!("ya29.{long}"), "[masked:google-token]"),
        (&format!("sk_live_{long}"), "[masked:stripe-key]"),
        (&format!("npm_{}", &long[..36]), "[masked:npm-token]"),
        (&format!("pypi-{long}{long}"), "[masked:pypi-token]"),
        (&format!("hf_{long}"), "[masked:huggingface-token]"),
        (&format!("SG.{long}.{long}"), "[masked:sendgrid-key]"),
        (&format!("AccountKey={long}==;x"), "AccountKey=[masked:azure-key];x"),
        ("eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2lnbmF0dXJl", "[masked:jwt]"),
        (&format!("Authorization: Bearer {long}"), "Authorization: Bearer [masked:authorization]"),
        ("postgres://ada:s3cret@db/x", "postgres://ada:[masked:url-password]@db/x"),
        ("DB_PASSWORD=\"open sesame\" next", "DB_PASSWORD=\"[masked:password]\" next"),
        ("export API_KEY=abc123 && go", "export API_KEY=[masked:password] && go"),
        ("password: hunter22", "password: [masked:password]"),
        ("{\\\"password\\\":\\\"x y\\\"}", "{\\\"password\\\":\\\"[masked:password]\\\"}"),
        ("xapp-1-A0123456789-b1c2", "[masked:slack-token]"),
        (&format!("hvs.{long}"), "[masked:vault-token]"),
        (&format!("shpat_{}", "0a".repeat(16)), "[masked:shopify-token]"),
        (&format!("lin_api_{long}"), "[masked:linear-key]"),
        (&format!("figd_{long}"), "[masked:figma-token]"),
        (&format!("/bot123456789:AA{}/getMe", &long[..33]), "/[masked:telegram-token]/getMe"),
        (&format!("123456789:AA{}", &long[..33]), "[masked:telegram-token]"),
    ];
    let mask = SecretMask::default();
    for (text, expected) in cases {
        let (masked, count) = mask.mask_text(text).unwrap_or_else(|| panic!("{text} passed"));
        assert_eq!((masked.as_str(), count), (expected, 1), "{text}");
        // What is hidden stays hidden and is not counted again.
        assert_eq!(mask.mask_text(&masked), None, "{masked}");
    }
    for harmless in
        ["", "a token of love", "tokens: 12", "secretary=", "basic idea", "https://a.b/c@d"]
    {
        assert_eq!(mask.mask_text(harmless), None, "{harmless}");
    }
}

#[test]
fn what_stands_behind_the_name_of_a_secret_is_hidden() {
    let aws = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    let cases = [
        (format!("AWS_SECRET_ACCESS_KEY: {aws}"), aws),
        (format!("aws_secret_access_key: {aws}"), aws),
        (format!("\"SecretAccessKey\": \"{aws}\", cut"), aws),
        ("\"SessionToken\": \"abc def\", cut".to_owned(), "abc def"),
        ("PGPASSWORD=supersecret9 psql".to_owned(), "supersecret9"),
        ("dbpassword=hunter2".to_owned(), "hunter2"),
        ("userPassword: hunter".to_owned(), "hunter"),
        ("//registry.npmjs.org/:_authToken=abcdef".to_owned(), "abcdef"),
        ("token: abcdEFGH12345678".to_owned(), "abcdEFGH12345678"),
        ("secret: hunter2hunter2".to_owned(), "hunter2hunter2"),
        ("authToken: a1b2c3d4e5".to_owned(), "a1b2c3d4e5"),
        ("clientSecret=abc~def".to_owned(), "abc~def"),
        ("clientSecret: ZQxyWvUtSr987".to_owned(), "ZQxyWvUtSr987"),
        ("log {'accessToken': 'x y'}".to_owned(), "x y"),
        ("{\"cookie\": \"a=b\"} {".to_owned(), "a=b"),
        ("-H 'Cookie: session=abc; theme=dark' -v".to_owned(), "session=abc; theme=dark"),
        ("Set-Cookie: sid=abc; HttpOnly".to_owned(), "sid=abc; HttpOnly"),
        ("Authorization: opaque-a1b2c3d4".to_owned(), "opaque-a1b2c3d4"),
        ("Authorization: Basic /a1B2c3/D4e5F6g7H8".to_owned(), "/a1B2c3/D4e5F6g7H8"),
        ("tool --password hunter6xyz --verbose".to_owned(), "hunter6xyz"),
        ("tool --db-password 'open sesame' -v".to_owned(), "open sesame"),
        ("['tool', '--api-key', 'open sesame']".to_owned(), "open sesame"),
        ("curl -s -u ada:pa55word https://a.b".to_owned(), "pa55word"),
        ("curl --user 'ada:pa55word' https://a.b".to_owned(), "pa55word"),
        ("\u{1b}[32mAKIAIOSFODNN7EXAMPLE\u{1b}[0m".to_owned(), "AKIAIOSFODNN7EXAMPLE"),
        ("repr 'keys:\\nAKIAIOSFODNN7EXAMPLE\\n'".to_owned(), "AKIAIOSFODNN7EXAMPLE"),
    ];
    let mask = SecretMask::new();
    for (text, secret) in cases {
        let (masked, count) = mask.mask_text(&text).unwrap_or_else(|| panic!("{text} passed"));
        let (before, after) = text.split_once(secret).unwrap();
        let marked = masked.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        assert!(marked.is_some_and(|mark| mark.starts_with("[masked:")), "{text}: {masked}");
        assert_eq!(count, 1, "{text}");
        assert_eq!(mask.mask_text(&masked), None, "{masked}");
    }
}

#[test]
fn json_hides_what_stands_under_the_name_of_a_secret() {
    let cases = [
        (r#"{"PGPASSWORD":"x y"}"#, r#"{"PGPASSWORD":"[masked:password]"}"#),
        (r#"{"idToken":"x","user":"x"}"#, r#"{"idToken":"[masked:password]","user":"x"}"#),
        (
            r#"{"PASSWORD":["x",["y"]]}"#,
            r#"{"PASSWORD":["[masked:password]",["[masked:password]"]]}"#,
        ),
        (
            r#"{"password":{"type":"string","value":"x","sensitive":true}}"#,
            r#"{"password":{"type":"string","value":"[masked:password]","sensitive":true}}"#,
        ),
        (r#"{"password":12345678}"#, r#"{"password":"[masked:password]"}"#),
        (
            r#"{"argv":["--password","x","--token","--verbose"]}"#,
            r#"{"argv":["--password","[masked:password]","--token","--verbose"]}"#,
        ),
    ];
    let mask = SecretMask::new();
    for (text, expected) in cases {
        let told = |json: Option<(Json, u64)>| json.map(|(json, _)| json.as_str().to_owned());
        let json = Json::parse(text).unwrap();
        assert_eq!(told(mask.mask_value(&json)).as_deref(), Some(expected));
        assert_eq!(mask.mask_text(text).map(|told| told.0).as_deref(), Some(expected));
        assert_eq!(told(mask.mask_value(&Json::parse(expected).unwrap())), None);
    }
    for text in [
        r#"{"password":{"type":"string","description":"what opens the door"}}"#,
        r#"{"authorization":"none","token":null,"secret":true,"cookie":1}"#,
        r#"{"usage":{"input_tokens":123456},"required":["password","token"]}"#,
    ] {
        assert_eq!(mask.mask_value(&Json::parse(text).unwrap()), None, "{text}");
    }
    let password = Json::parse(r#"{"value":"x"}"#).unwrap();
    let (masked, _) = mask.mask_member("password", &password).unwrap();
    assert_eq!(masked.as_str(), r#"{"value":"[masked:password]"}"#);
    assert_eq!(mask.mask_member("door", &password), None);
}

/// Every secret of it stands behind an escape as soon as it is written as JSON.
const SAID: &str = "keys:\nsk-ant-api03-AAAAbbbb1111CCCCdddd2222\nghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\r\nAKIAIOSFODNN7EXAMPLE\nPASSWORD=hunter2hunter2\n\tAPI_KEY=abc123 pa\"ss\\word é";
const SECRETS: [&str; 6] = ["AAAAbbbb", "a1B2c3D4", "AKIAIOSF", "hunter2", "abc123", "ss\\"];

#[test]
fn no_escape_hides_a_secret() {
    let mask = SecretMask::new().with_value("word", "pa\"ss\\word");
    let mut text = SAID.to_owned();
    for level in 0..4 {
        let record = format!("{{\"output\": {} , \"n\":1.50}}", json!(text));
        let around = format!("a log says {record} and ends");
        let cut = &record[..record.len() - 3];
        let lines = format!("{record}\n{{\"b\": \"\\u00e9\"}}\n");
        for raw in [&text, &record, &around, cut, &lines] {
            let draft = Draft::system("x", json!({ "said": raw })).unwrap();
            let (masked, hidden) = mask.mask(draft.with_raw(raw.as_bytes()));
            let raw = String::from_utf8(masked.raw.unwrap().bytes().unwrap()).unwrap();
            for told in [masked.payload.as_str(), &raw] {
                let secret = SECRETS.iter().find(|secret| told.contains(**secret));
                assert_eq!(secret, None, "level {level}: {told}");
            }
            assert_eq!(hidden, 12, "level {level}: {raw}");
        }
        text = record;
    }
}

#[test]
fn what_is_no_secret_stays_in_a_raw_record_to_the_byte() {
    let mask = SecretMask::new();
    let raw = " {\"v\" : \"\\u0041KIAQWERTYUIOPASDFGH\",\r\n \"w\":\"\\u00e9 \\/ \\ud800\", \"n\":1.50e1}\n";
    let draft = Draft::system("x", json!({})).unwrap().with_raw(raw.as_bytes());
    let (masked, hidden) = mask.mask(draft);
    let expected = raw.replace("\\u0041KIAQWERTYUIOPASDFGH", "[masked:aws-key-id]");
    assert_eq!(masked.raw.unwrap().bytes().unwrap(), expected.as_bytes());
    assert_eq!(hidden, 1);
}

#[test]
fn code_names_and_marks_in_the_place_of_a_secret_are_left_as_they_are() {
    let mask = SecretMask::default();
    for text in [
        "if password == expected_password:",
        "password = get_password(user)",
        "SECRET_KEY = os.environ['SECRET_KEY']",
        "apiKey: process.env.API_KEY",
        "auth_token=$TOKEN",
        "password=${DB_PASSWORD}",
        "password: \"${DB_PASSWORD}\"",
        "token = {{inputs.token}}",
        "api_key = <your key>",
        "let password: String = x;",
        "api_key: string",
        "Password: required field",
        "pwd: /home/user/project/long/path",
        "password=***",
        "{\"api_token\": \"***secret:api_token***\"}",
        "sk-something-with-long-hyphenated-words",
        "sk-learn-2024-based-on-something-long",
        "The basic internationalization of the token classification/regression; basic responsibilities",
        "const token=await_me",
        "let mut access_token = next.token;",
        "\"authorization\":\"none\"",
        "token: Uint8Array",
        "secret: the door is open",
        "credentials: same-origin",
        "Authorization: required for everything",
        "Authorization: Bearer getToken(user)",
        "pass the --token flag, or --password TOKEN",
        "--password $(cat file) --token \"$TOKEN\"",
        "curl -u $USER:$PASSWORD https://a.b",
        "API_KEY=\nNAME=ada",
        "Cookie: yes please",
        "***secret:550e8400-e29b-41d4-a716-446655440000/api_key*** ***secret:env:GH2_T0KEN***",
    ] {
        assert_eq!(mask.mask_text(text), None, "{text}");
    }
    for (secret, left) in [
        ("password=$ecret1", "password=[masked:password]"),
        ("password=string9", "password=[masked:password]"),
        ("password: /slash", "password: [masked:password]"),
        ("password=a(b", "password=a(b"),
    ] {
        let masked = mask.mask_text(secret).map_or(secret.to_owned(), |masked| masked.0);
        assert_eq!(masked, left, "{secret}");
    }
    let json = Json::parse(r#"{"token":"***secret:t***","password":"x"}"#).unwrap();
    let (masked, count) = mask.mask_value(&json).unwrap();
    assert_eq!(
        (masked.as_str(), count),
        (r#"{"token":"***secret:t***","password":"[masked:password]"}"#, 1)
    );
}

#[test]
fn a_quoted_value_is_hidden_up_to_its_own_closing_quote() {
    let cases = [
        (r#"{"password": "abc\"TAIL"} after"#, r#"{"password": "[masked:password]"} after"#),
        (r#"{"password": "abc\\"} "after""#, r#"{"password": "[masked:password]"} "after""#),
        (r#"{"password": "it's mine"}"#, r#"{"password": "[masked:password]"}"#),
        (r#"PASSWORD='say "x"' go"#, "PASSWORD='[masked:password]' go"),
        (r#"{"password": "abc\"TAIL cut"#, r#"{"password": "[masked:password]"#),
        (
            r#""{\"password\": \"abc\\\"TAIL\"}" after"#,
            r#""{\"password\": \"[masked:password]\"}" after"#,
        ),
        (
            r#""{\\\"password\\\":\\\"a\\\\\\\"TAIL\\\"}" after"#,
            r#""{\\\"password\\\":\\\"[masked:password]\\\"}" after"#,
        ),
        (
            r#"["{\"password\": \"abc", "next"]"#,
            r#"["{\"password\": \"[masked:password]", "next"]"#,
        ),
        (r#"token: "[masked:jwt] TAIL""#, r#"token: "[masked:password]""#),
    ];
    let mask = SecretMask::new();
    for (text, expected) in cases {
        assert_eq!(mask.mask_text(text), Some((expected.to_owned(), 1)), "{text}");
        assert_eq!(mask.mask_text(expected), None, "{expected}");
    }
    assert_eq!(mask.mask_text(r#"{"password": "", "user": "ada"}"#), None);
}

#[test]
fn who_did_it_is_masked_and_where_is_not() {
    let key = format!("ghp_{}", "a1".repeat(18));
    let draft = Draft::system("x", json!({})).unwrap().by(&format!("subagent:{key}"));
    let (masked, hidden) = SecretMask::new().mask(draft.at(key.as_str().into(), 0));
    assert_eq!((masked.source.as_deref(), hidden), (Some("subagent:[masked:github-token]"), 1));
    assert_eq!(masked.path.as_str(), key);
}

#[test]
fn values_of_chosen_variables_are_hidden_the_longest_first() {
    let path = std::env::var("PATH").unwrap();
    let mask = SecretMask::new().with_env(["PATH", "QUIPU_TEST_NO_SUCH_VARIABLE"]);
    let (masked, count) = mask.mask_text(&format!("PATH is {path}")).unwrap();
    assert_eq!((masked.as_str(), count), ("PATH is [masked:env:PATH]", 1));

    let mask = SecretMask::new()
        .with_value("part", "abcd")
        .with_value("whole", "abcdef")
        .with_value("tiny", "abc");
    assert_eq!(
        mask.mask_text("abcdef abcd abc"),
        Some(("[masked:whole] [masked:part] abc".into(), 2))
    );
}
