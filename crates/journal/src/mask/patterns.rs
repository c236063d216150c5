//! The shapes of well-known secrets: a catalogue.
//!
//! Each shape names what it hides. Where a shape has a group called `secret`, only that part is
//! hidden and the rest of the match stays readable.

/// A shape and what it is called in the mark that replaces it.
pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) pattern: &'static str,
}

/// The more particular shape comes first: what one has hidden the next no longer sees.
pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "private-key",
        pattern: r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
    },
    Shape { name: "anthropic-key", pattern: r"\bsk-ant-[A-Za-z0-9_-]{16,}" },
    Shape { name: "openai-key", pattern: r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}" },
    Shape { name: "xai-key", pattern: r"\bxai-[A-Za-z0-9]{40,}" },
    Shape { name: "groq-key", pattern: r"\bgsk_[A-Za-z0-9]{40,}" },
    Shape { name: "perplexity-key", pattern: r"\bpplx-[A-Za-z0-9]{40,}" },
    Shape { name: "digitalocean-token", pattern: r"\bdo[opr]_v1_[a-f0-9]{64}" },
    Shape { name: "age-key", pattern: r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}" },
    Shape { name: "aws-key-id", pattern: r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b" },
    Shape { name: "github-token", pattern: r"\bgh[pousr]_[A-Za-z0-9]{36,}" },
    Shape { name: "github-token", pattern: r"\bgithub_pat_[A-Za-z0-9_]{22,}" },
    Shape { name: "gitlab-token", pattern: r"\bglpat-[A-Za-z0-9_-]{20,}" },
    Shape { name: "slack-token", pattern: r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}" },
    Shape {
        name: "slack-webhook",
        pattern: r"https://hooks\.slack\.com/(?:services|workflows)/(?<secret>[A-Za-z0-9/_-]{20,})",
    },
    Shape { name: "google-key", pattern: r"\bAIza[0-9A-Za-z_-]{35}" },
    Shape { name: "google-token", pattern: r"\bya29\.[0-9A-Za-z_-]{20,}" },
    Shape { name: "stripe-key", pattern: r"\b(?:sk|rk|pk)_(?:live|test)_[0-9A-Za-z]{16,}" },
    Shape { name: "npm-token", pattern: r"\bnpm_[A-Za-z0-9]{36}" },
    Shape { name: "pypi-token", pattern: r"\bpypi-[A-Za-z0-9_-]{50,}" },
    Shape { name: "huggingface-token", pattern: r"\bhf_[A-Za-z0-9]{30,}" },
    Shape { name: "sendgrid-key", pattern: r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}" },
    Shape { name: "azure-key", pattern: r"(?i)AccountKey=(?<secret>[A-Za-z0-9+/=]{40,})" },
    Shape { name: "jwt", pattern: r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}" },
    Shape {
        name: "authorization",
        pattern: r"(?i)\b(?:bearer|basic|token)\s+(?<secret>[A-Za-z0-9._~+/=-]{16,})",
    },
    Shape { name: "url-password", pattern: r"[a-z]://[^/\s:@'\x22]*:(?<secret>[^@\s/'\x22]+)@" },
    Shape {
        name: "password",
        pattern: r#"(?i)(?:^|[^a-z])(?:[a-z0-9]+[_-])*(?:password|passwd|pwd|passphrase|secret|token|api_?-?key|access_?-?key|private_?-?key|secret_?-?key|credentials?)\s*=\s*(?<secret>[^\s"'\\,;&|)}\]]+)"#,
    },
    Shape {
        name: "password",
        pattern: r#"(?i)(?:^|[^a-z])(?:[a-z0-9]+[_-])*(?:password|passwd|pwd|passphrase|api_?-?key|secret_?-?key)\s*:\s*(?<secret>[^\s"'\\,;&|)}\]]{4,})"#,
    },
];

/// How the value of a pair begins that stands in quotes, such as `password: "`.
///
/// Where it ends no shape can tell: see `quoted`.
pub(super) const QUOTED: &str = r#"(?i)(?:^|[^a-z])(?:[a-z0-9]+[_-])*(?:password|passwd|pwd|passphrase|secret|token|api_?-?key|access_?-?key|private_?-?key|secret_?-?key|credentials?)\\*["']?\s*(?:=|:|=>)\s*(?<escape>\\*)(?<quote>["'])"#;

/// A key of this shape makes the whole string under it a secret.
pub(super) const SECRET_KEY: &str = r"(?i)^(?:.*[_.-])?(?:password|passwd|pwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|authorization|x-api-key|credentials?|cookie|set-cookie|secret_?access_?key)$|(?i)(?:apikey|accesstoken|authtoken|refreshtoken|clientsecret|privatekey|secretkey)$";

/// No text without one of these can hold a secret of the shapes above.
pub(super) const TELLTALE: &str = r"(?i)-----BEGIN|sk-|xai-|gsk_|pplx-|do[opr]_v1_|AGE-SECRET|AKIA|ASIA|ABIA|ACCA|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|hooks\.slack|AIza|ya29|[srp]k_(?:live|test)_|npm_|pypi-|hf_|SG\.|AccountKey|eyJ|bearer|basic|token|://|passw|pwd|passphrase|secret|api[_-]?key|apikey|access[_-]?key|private[_-]?key|privatekey|credential|authorization|cookie";
