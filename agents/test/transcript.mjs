// The transcript by step, and what was scripted by step: two views of the same shape, to be compared.

/** Returns the events of a step, in order. */
export function eventsOf(events, path) {
  return events.filter((event) => event.path === path);
}

/** Returns the requests that were made for a step: the second step's have the second prompt. */
export function requestsOf({ requests, scenario }, stepIndex) {
  const second = scenario.prompts[1];
  const isSecond = (request) => second !== undefined && request.users?.some((text) => text.includes(second));
  return requests.filter((request) => request.api && isSecond(request) === (stepIndex === 1));
}

/** Returns the blocks of an agent's messages, one after the other. */
export function blocksOf(events, by) {
  return spokenBy(events, by)
    .filter((event) => event.type === 'message.assistant' && !isOwnWord(event.payload.model))
    .flatMap((event) => event.payload.blocks);
}

/** A model in angle brackets is none: the agent itself says that the API failed. */
export function isOwnWord(model) {
  return model?.startsWith('<') ?? false;
}

/** Returns what the main agent or its subagents did. */
export function spokenBy(events, by) {
  return events.filter((event) => Boolean(event.source) === (by === 'subagent'));
}

export function ofType(events, type) {
  return events.filter((event) => event.type === type);
}

export const KINDS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens', 'reasoning_tokens'];

/** Adds up counts; a kind that nobody gave is not in the sum. */
export function sumOf(counts) {
  const sum = {};
  for (const count of counts) {
    for (const kind of KINDS) if (count?.[kind] !== undefined) sum[kind] = (sum[kind] ?? 0) + count[kind];
  }
  return sum;
}

/** Returns all texts in a JSON value. */
export function textsIn(value) {
  if (typeof value === 'string') return [value];
  if (value && typeof value === 'object') return Object.values(value).flatMap(textsIn);
  return [];
}
