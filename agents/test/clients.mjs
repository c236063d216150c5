// What is particular about each agent: how its run is set up, and what its stream does not show.
//
// Every difference here is the agent's own: it does not print the fact, so no recorder can have it.
// Whatever an agent does print must be in the transcript exactly.

/** An agent that prints everything. */
const EVERYTHING = {
  /** Whether its reasoning is on the stream. */
  thinks: true,
  /** Whether its calls have the model's ids and names. */
  ownCalls: false,
  /** What of its subagents' work is on the stream: all of it, or nothing. */
  subagents: 'all',
  /** Whose requests its usage counts; undefined if it tells no usage. */
  counts: ['main', 'subagent'],
  /** Tools whose output is not on the stream. */
  silentTools: [],
  /** Whether it tells that a command failed. */
  tellsFailure: true,
  /** Whether calls that are made together are on the stream in the model's order, not in one of its own. */
  keepsOrder: true,
  /** Whether it tells what was used before it failed. */
  countsFailed: true,
  /** Whether a call is on the stream before it has ended. */
  tellsCallsEarly: true,
  /** What is on the stream of an answer that is cut off in its second block. */
  tellsOfCut: ['thinking'],
  /** How many of the two failures of the scenario `retry` are on the stream. */
  tellsRetries: 0,
  /** How long a step that is to run out of time may take, so that the agent has got that far. */
  patience: 10,
};

export const clients = {
  claude: { ...EVERYTHING, provider: 'claude', tellsRetries: 2 },
  codex: {
    ...EVERYTHING,
    provider: 'codex',
    ownCalls: true,
    // Of its subagents only the outer call is told, and what they use is theirs.
    subagents: 'none',
    counts: ['main'],
    countsFailed: false,
    keepsOrder: false,
    // It retries a request by itself before it retries the turn, and tells of the latter only.
    tellsRetries: 1,
    // It has its own words for these, and keeps the API's to itself.
    rewords: { fail429: '429 Too Many Requests', fail500: 'experiencing high demand' },
    // Its other models do not offer subagents.
    models: { subagent: 'gpt-5.4' },
  },
  gemini: {
    ...EVERYTHING,
    provider: 'gemini',
    thinks: false,
    subagents: 'none',
    silentTools: ['read_file', 'write_file', 'replace', 'invoke_agent'],
    // A command that ends with 3 is a "success" of the tool.
    tellsFailure: false,
    tellsOfCut: ['text'],
  },
  opencode: {
    ...EVERYTHING,
    provider: 'opencode',
    subagents: 'none',
    counts: ['main'],
    // One record per call, when it has ended.
    tellsCallsEarly: false,
    keepsOrder: false,
    patience: 20,
  },
  copilot: {
    ...EVERYTHING,
    provider: 'github_copilot',
    // Usage is only in a file that it keeps for itself.
    counts: undefined,
    tellsOfCut: ['thinking', 'text'],
    tellsRetries: 2,
  },
};

/** How codex tells a call: by what it does, not by what the model said. */
const CODEX_CALLS = {
  exec_command: (input) => ['command_execution', [input.cmd]],
  apply_patch: (patch) => ['file_change', [/File: (.*)/.exec(patch)[1]]],
  spawn_agent: (input) => ['spawn_agent', [input.message]],
  wait_agent: (input) => ['wait', input.targets],
};

/** Returns the name that a call has on the agent's stream, and texts that its input has there. */
export function callAsTold(client, call) {
  const own = client.ownCalls && CODEX_CALLS[call.tool_name];
  if (own) return own(call.tool_input);
  return [call.tool_name, Object.values(call.tool_input).filter((value) => typeof value === 'string')];
}
