//! The methods of the protocol, as far as they need no look at what they say.

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Nobody knows.
    Nothing,
    /// The connection or its first thread is set up.
    Opening,
    /// The agent is to do something.
    Turn,
    /// Anything else that a client asks of the server.
    Other,
    /// The server wants leave for a call.
    Approval,
    /// The server wants a tool of the client's to be called.
    Tool,
    /// Anything else that the server asks of a client.
    Client,
}

/// What may be asked, besides the families below.
const ASKED: &[(&str, Asked)] = &[
    ("initialize", Asked::Opening),
    ("thread/start", Asked::Opening),
    ("thread/resume", Asked::Opening),
    ("thread/fork", Asked::Opening),
    ("newConversation", Asked::Opening),
    ("resumeConversation", Asked::Opening),
    ("forkConversation", Asked::Opening),
    ("turn/start", Asked::Turn),
    ("sendUserTurn", Asked::Turn),
    ("item/commandExecution/requestApproval", Asked::Approval),
    ("item/fileChange/requestApproval", Asked::Approval),
    ("item/permissions/requestApproval", Asked::Approval),
    ("execCommandApproval", Asked::Approval),
    ("applyPatchApproval", Asked::Approval),
    ("item/tool/call", Asked::Tool),
    ("item/tool/requestUserInput", Asked::Client),
    ("mcpServer/elicitation/request", Asked::Client),
    ("account/chatgptAuthTokens/refresh", Asked::Client),
    ("attestation/generate", Asked::Client),
    ("currentTime/read", Asked::Client),
    ("elicitation/create", Asked::Client),
];

/// The first words of methods that say nothing for the record.
const FAMILIES: &[&str] = &[
    "account",
    "app",
    "apps",
    "approvals",
    "attestation",
    "collaborationMode",
    "command",
    "config",
    "configRequirements",
    "currentTime",
    "environment",
    "experimentalFeature",
    "externalAgentConfig",
    "feedback",
    "fs",
    "fuzzyFileSearch",
    "guardian",
    "hook",
    "hooks",
    "initialized",
    "marketplace",
    "mcpServer",
    "mcpServerStatus",
    "memory",
    "model",
    "modelProvider",
    "notifications",
    "ping",
    "plugin",
    "process",
    "prompts",
    "rawResponse",
    "rawResponseItem",
    "remoteControl",
    "review",
    "server",
    "serverRequest",
    "skills",
    "thread",
    "tools",
    "turn",
    "windows",
    "windowsSandbox",
    // The first protocol had no families.
    "addConversationListener",
    "archiveConversation",
    "authStatusChange",
    "cancelLoginChatGpt",
    "execOneOffCommand",
    "getAuthStatus",
    "getConversationSummary",
    "getUserAgent",
    "getUserSavedConfig",
    "gitDiffToRemote",
    "interruptConversation",
    "listConversations",
    "loginApiKey",
    "loginChatGpt",
    "loginChatGptComplete",
    "logoutChatGpt",
    "removeConversationListener",
    "sendUserMessage",
    "sessionConfigured",
    "setDefaultModel",
    "userInfo",
];

/// Notifications whose first words do not say it all.
const NOTICES: &[(&str, &str)] = &[
    ("account/rateLimits/updated", "rate_limit"),
    ("command/exec/outputDelta", "progress"),
    ("configWarning", "notice"),
    ("deprecationNotice", "notice"),
    ("guardianWarning", "notice"),
    ("hook/completed", "hook"),
    ("hook/started", "hook"),
    ("process/outputDelta", "progress"),
    ("thread/status/changed", "thread_status"),
    ("turn/diff/updated", "progress"),
    ("warning", "notice"),
];

/// Tells what a request asks for.
pub(super) fn asked(method: &str) -> Asked {
    let known = ASKED.iter().find(|(name, _)| *name == method).map(|(_, asked)| *asked);
    known.unwrap_or(if is_known(method) { Asked::Other } else { Asked::Nothing })
}

/// Returns the subtype of a notification that is only noted; nothing if nobody knows it.
pub(super) fn noted_as(method: &str) -> Option<&'static str> {
    let notice = NOTICES.iter().find(|(name, _)| *name == method).map(|(_, subtype)| *subtype);
    notice.or_else(|| is_known(method).then_some("metadata"))
}

/// Tells whether a method is of this protocol and of no other that we know.
pub(super) fn is_ours_alone(method: &str) -> bool {
    ["thread/", "turn/", "item/", "codex/event"].iter().any(|family| method.starts_with(family))
}

/// Tells whether a method is of this protocol.
pub(super) fn is_known(method: &str) -> bool {
    let family = method.split('/').next().unwrap_or_default();
    FAMILIES.contains(&family) || NOTICES.iter().any(|(name, _)| *name == method)
}
