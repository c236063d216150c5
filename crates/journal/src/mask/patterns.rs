//! The shapes of well-known secrets: a catalogue.
//!
//! Names before secrets are in [`names`](super::names), pairs of both in [`pairs`](super::pairs).

/// A shape and what it is called in the mark that replaces it.
pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) pattern: &'static str,
}

/// What may stand before a key: no letter of a word, or the end of an escape such as `\n` or of an
/// order to a terminal, whose last letter is none of a word.
pub(super) const START: &str =
    r"(?:(?-u:\b)|\\[bfnrtv0]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\[[0-9;]*[mK])";

/// Keys that are known by how they look: all of it is hidden. The more particular comes first.
pub(super) const KEYS: &[Shape] = &[
    Shape { name: "anthropic-key", pattern: r"sk-ant-[A-Za-z0-9_-]{16,}" },
    Shape { name: OPENAI_KEY, pattern: r"sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}" },
    Shape { name: "xai-key", pattern: r"xai-[A-Za-z0-9]{40,}" },
    Shape { name: "groq-key", pattern: r"gsk_[A-Za-z0-9]{40,}" },
    Shape { name: "perplexity-key", pattern: r"pplx-[A-Za-z0-9]{40,}" },
    Shape { name: "digitalocean-token", pattern: r"do[opr]_v1_[a-f0-9]{64}" },
    Shape { name: "age-key", pattern: r"AGE-SECRET-KEY-1[A-Z0-9]{50,}" },
    Shape { name: "aws-key-id", pattern: r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)" },
    Shape { name: "github-token", pattern: r"gh[pousr]_[A-Za-z0-9]{36,}" },
    Shape { name: "github-token", pattern: r"github_pat_[A-Za-z0-9_]{22,}" },
    Shape { name: "gitlab-token", pattern: r"glpat-[A-Za-z0-9_-]{20,}" },
    Shape { name: "slack-token", pattern: r"xox[abeoprs]-[A-Za-z0-9-]{10,}" },
    Shape { name: "slack-token", pattern: r"xapp-[0-9]-[A-Za-z0-9-]{10,}" },
    Shape { name: "google-key", pattern: r"AIza[0-9A-Za-z_-]{35}" },
    Shape { name: "google-token", pattern: r"ya29\.[0-9A-Za-z_-]{20,}" },
    Shape { name: "stripe-key", pattern: r"(?:sk|rk|pk)_(?:live|test)_[0-9A-Za-z]{16,}" },
    Shape { name: "npm-token", pattern: r"npm_[A-Za-z0-9]{36}" },
    Shape { name: "pypi-token", pattern: r"pypi-[A-Za-z0-9_-]{50,}" },
    Shape { name: "huggingface-token", pattern: r"hf_[A-Za-z0-9]{30,}" },
    Shape { name: "sendgrid-key", pattern: r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}" },
    Shape { name: "vault-token", pattern: r"hv[bsr]\.[A-Za-z0-9_-]{20,}" },
    Shape { name: "shopify-token", pattern: r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}" },
    Shape { name: "linear-key", pattern: r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}" },
    Shape { name: "figma-token", pattern: r"figd_[A-Za-z0-9_-]{20,}" },
    Shape { name: "telegram-token", pattern: r"(?:bot)?[0-9]{8,10}:AA[A-Za-z0-9_-]{33}" },
    Shape { name: "jwt", pattern: r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}" },
];

/// What names of words may begin as.
pub(super) const OPENAI_KEY: &str = "openai-key";

/// Secrets that are known by what surrounds them: of each only the group `secret` is hidden.
pub(super) const SURROUNDED: &[Shape] = &[
    Shape {
        name: "private-key",
        pattern: r"(?<secret>-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z))",
    },
    Shape {
        name: "slack-webhook",
        pattern: r"https://hooks\.slack\.com/(?:services|workflows)/(?<secret>[A-Za-z0-9/_-]{20,})",
    },
    Shape { name: "azure-key", pattern: r"(?i-u:AccountKey)=(?<secret>[A-Za-z0-9+/=]{40,})" },
    Shape { name: "url-password", pattern: r"[a-z]://[^/\s:@'\x22]*:(?<secret>[^@\s/'\x22]+)@" },
];

/// No text without one of these can hold a secret of the shapes above or behind a name.
pub(super) const TELLTALE: &str = r"(?i-u)-----BEGIN|sk-|xai-|gsk_|pplx-|do[opr]_v1_|AGE-SECRET|AKIA|ASIA|ABIA|ACCA|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|hooks\.slack|AIza|ya29|[srp]k_(?:live|test)_|npm_|pypi-|hf_|SG\.|hv[bsr]\.|shp(?:at|ca|pa|ss)_|lin_(?:api|oauth)_|figd_|:AA|AccountKey|eyJ|bearer|basic|token|://|passw|pwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|credential|authorization|cookie|curl";
