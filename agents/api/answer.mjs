// What every API's answer has in common: what it costs, and how it is cut into pieces.

/** Every "created" stamp: 2026-01-01T00:00:00Z. */
export const CREATED = 1767225600;

/** What a step says is said, in the words of the transcript: the truth that a test compares with. */
export class Answer {
  constructor(scenario, step, turn) {
    this.scenario = scenario;
    this.stop = step.stop;
    this.usage = {
      input: 1000 + 10 * turn,
      output: 20 + turn,
      cache_read: 800,
      cache_write: 100,
      reasoning: 7,
      ...step.usage,
    };
    this.said = [];
    this.events = [];
  }

  thinking(text) {
    this.said.push({ type: 'thinking', thinking: text });
  }

  text(text) {
    this.said.push({ type: 'text', text });
  }

  /** `prints`, `fails` and `unfinished` are what the script promises of the call's result. */
  call({ prints = [], fails = false, unfinished = false }, id, name, input) {
    this.said.push({ type: 'tool_use', tool_id: id, tool_name: name, tool_input: input, prints, fails, unfinished });
  }

  id(prefix) {
    return this.scenario.nextId(prefix);
  }
}

/** Cuts a text into at most three pieces. */
export function pieces(text) {
  if (!text) return [''];
  const letters = [...text];
  const size = Math.ceil(letters.length / 3);
  const cut = [];
  for (let at = 0; at < letters.length; at += size) cut.push(letters.slice(at, at + size).join(''));
  return cut;
}

export function base64(text) {
  return Buffer.from(text).toString('base64');
}
