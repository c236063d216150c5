// Tools of ours that an agent reaches over MCP: each call once, by the router's word, and linked to the
// agent's own word for it.

import { ofType, textsIn } from './transcript.mjs';

/** Tools of agents that do what ours do: none of them may be offered. */
const OWN = [
  ...['Bash', 'Read', 'Write', 'Edit', 'Glob', 'Grep', 'bash', 'read', 'write', 'edit', 'view', 'create'],
  ...['exec_command', 'shell', 'shell_command', 'run_shell_command', 'read_file', 'write_file', 'replace'],
];

/** Returns events in which calls of ours have the agent's ids, so that they compare with what it was told. */
export function asTold(events) {
  const links = linksIn(events);
  if (!links.length) return events;
  const told = new Map(links.map(({ payload }) => [payload.tool_id, payload.agent_tool_id]));
  const renamed = (id) => told.get(id) ?? id;
  return events.map((event) => {
    const { payload } = event;
    if (payload?.blocks) {
      const blocks = payload.blocks.map((block) => (block.tool_id ? { ...block, tool_id: renamed(block.tool_id) } : block));
      return { ...event, payload: { ...payload, blocks } };
    }
    if (!event.type.startsWith('tool.')) return event;
    return { ...event, payload: { ...payload, call_id: renamed(payload.call_id) } };
  });
}

/** Returns the system prompt with what an agent is told about its tools, as it is recorded. */
export function instructed(events, system) {
  const blocks = ofType(events, 'message.user')[0]?.payload.blocks ?? [];
  const text = blocks.find(({ purpose }) => purpose === 'system_prompt')?.text ?? '';
  return text.startsWith(system) && text.includes('MCP server `quipu`') ? text : `${system} … MCP server`;
}

export function checkServed(events, requests) {
  const problems = [];
  const calls = ofType(events, 'tool.call');
  for (const { payload } of [...calls, ...ofType(events, 'tool.result')]) {
    if (payload.fidelity !== 'router') problems.push(`${payload.name} ${payload.call_id} is ${payload.fidelity}`);
  }
  const linked = linksIn(events).map(({ payload }) => payload.tool_id);
  for (const { payload } of calls) {
    const times = linked.filter((id) => id === payload.call_id).length;
    if (times !== 1) problems.push(`${payload.name} ${payload.call_id} is linked ${times} times`);
    const type = payload.name === 'Write' ? 'file.written' : 'file.read';
    const touched = ofType(events, type).filter((event) => event.payload.call_id === payload.call_id);
    if (touched.length !== 1) problems.push(`${payload.name} ${payload.call_id}: ${touched.length} times ${type}`);
  }
  if (!requests.some(({ results }) => textsIn(results).some((text) => text.includes('gamma')))) {
    problems.push('what was read did not go back to the model');
  }
  const offered = requests.flatMap(({ tools }) => tools ?? []).filter((name) => OWN.includes(name));
  if (offered.length) problems.push(`it still has tools of its own: ${[...new Set(offered)].join(', ')}`);
  return problems;
}

function linksIn(events) {
  return ofType(events, 'system').filter(({ payload }) => payload.subtype === 'tool_linked');
}
