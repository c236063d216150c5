// What the agent said and did, compared with what the model was scripted to say: every block in its order,
// every call once, every result with what the tool really printed.

import { callAsTold } from './clients.mjs';
import { blocksOf, ofType, spokenBy, textsIn } from './transcript.mjs';

export function checkSpeech(facts, events, requests) {
  const parties = facts.client.subagents === 'all' ? ['main', 'subagent'] : ['main'];
  const problems = parties.flatMap((by) => checkParty(facts, events, requests, by));
  if (facts.client.subagents === 'none' && spokenBy(events, 'subagent').length) {
    problems.push('a subagent that the agent does not tell of');
  }
  return problems;
}

function checkParty(facts, events, requests, by) {
  const answers = requests.filter((request) => request.by === by && request.said);
  const told = (answer) => answer.said.filter((block) => isTold(block, facts.client));
  const whole = answers.filter((answer) => answer.whole).flatMap(told);
  const cut = answers.filter((answer) => !answer.whole).slice(0, 1).flatMap(told);
  const found = blocksOf(events, by);
  const blocks = facts.client.keepsOrder ? found : inOrder(facts.client, whole, found);
  const problems = [];
  const wanted = [...whole, ...cut.slice(0, Math.max(0, blocks.length - whole.length))];
  if (shape(blocks, facts.client) !== shape(wanted, facts.client)) {
    problems.push(`${by} said ${shape(blocks, facts.client)}, scripted was ${shape(wanted, facts.client)}`);
    return problems;
  }
  whole.forEach((block, i) => problems.push(...checkBlock(facts, block, blocks[i])));
  problems.push(...checkCut(facts, cut, blocks.slice(whole.length)));
  problems.push(...checkCalls(facts, spokenBy(events, by), pairs(whole, blocks)));
  return problems;
}

/** Puts calls that were made together into the order in which the model made them. */
function inOrder(client, whole, found) {
  const blocks = [...found];
  const fits = (wanted, block) => block?.type === 'tool_use' && !checkBlock({ client }, wanted, block).length;
  whole.forEach((wanted, i) => {
    if (wanted.type !== 'tool_use') return;
    for (let j = i; blocks[j]?.type === 'tool_use'; j += 1) {
      const isIt = blocks[j].tool_name === callAsTold(client, wanted)[0] && fits(wanted, blocks[j]);
      if (isIt) return blocks.splice(i, 0, ...blocks.splice(j, 1));
    }
  });
  return blocks;
}

function isTold(block, client) {
  if (block.type === 'thinking') return client.thinks;
  return !(block.unfinished && !client.tellsCallsEarly);
}

/** Names blocks shortly: what is compared first, and what a person wants to see of a difference. */
function shape(blocks, client) {
  const names = blocks.map((block) => {
    if (block.type !== 'tool_use') return block.type;
    return block.prints ? callAsTold(client, block)[0] : block.tool_name;
  });
  return `[${names.join(' ')}]`;
}

function checkBlock({ client }, wanted, block) {
  if (wanted.type !== 'tool_use') {
    const [found, text] = [block[block.type], wanted[wanted.type]];
    return found === text ? [] : [`${block.type} ${JSON.stringify(found)}, scripted was ${JSON.stringify(text)}`];
  }
  const problems = [];
  if (!client.ownCalls && wanted.tool_id && block.tool_id !== wanted.tool_id) {
    problems.push(`${block.tool_name} has the id ${block.tool_id}, not ${wanted.tool_id}`);
  }
  const given = textsIn(block.tool_input);
  for (const text of callAsTold(client, wanted)[1]) {
    if (!given.some((one) => one.includes(text))) problems.push(`${block.tool_name} was not given ${JSON.stringify(text)}`);
  }
  return problems;
}

/** Of an answer that was cut off, as much must be there as the agent tells of it. */
function checkCut({ client, scenario }, cut, blocks) {
  if (!cut.length) return [];
  const missing = client.tellsOfCut.filter((type) => !blocks.some((block) => block.type === type));
  const problems = missing.map((type) => `the ${type} before the silence is missing`);
  blocks.forEach((block, i) => {
    const [found, text] = [block[block.type], cut[i][cut[i].type]];
    if (!text.startsWith(found)) problems.push(`${block.type} ${JSON.stringify(found)}, scripted was ${JSON.stringify(text)}`);
  });
  if (!scenario.expect?.timed_out) problems.push('an answer was cut in a scenario that is not about it');
  return problems;
}

function pairs(whole, blocks) {
  return whole.flatMap((wanted, i) => (wanted.type === 'tool_use' ? [{ wanted, block: blocks[i] }] : []));
}

function checkCalls({ client }, events, calls) {
  const problems = [];
  const count = ofType(events, 'tool.call').length;
  if (count !== calls.length) problems.push(`${count} tool calls, scripted were ${calls.length}`);
  for (const { wanted, block } of calls) {
    const of = (type) => ofType(events, type).filter((event) => event.payload.call_id === block.tool_id);
    const [made, results] = [of('tool.call'), of('tool.result')];
    if (made.length !== 1) problems.push(`${made.length} calls of ${block.tool_name} ${block.tool_id}`);
    const places = [...events.filter((event) => event.payload.blocks?.includes(block)), ...made, ...results];
    // A call that reaches us by another way may be told before the agent speaks of it.
    const isRouted = made.some(({ payload }) => payload.fidelity === 'router');
    if (!isRouted && places.some((event, i) => i && event.seq < places[i - 1].seq)) {
      problems.push(`${block.tool_name} ${block.tool_id} is not told in the order message, call, result`);
    }
    if (wanted.unfinished) {
      if (results.some(({ payload }) => payload.status === 'completed')) problems.push(`${block.tool_name} has ended, they say`);
      continue;
    }
    if (results.length !== 1) problems.push(`${results.length} results of ${block.tool_name} ${block.tool_id}`);
    else problems.push(...checkResult(client, wanted, results[0].payload));
  }
  return problems;
}

function checkResult(client, wanted, result) {
  const problems = [];
  const status = wanted.fails && client.tellsFailure ? 'failed' : 'completed';
  if (result.status !== status) problems.push(`${result.name} is ${result.status}, not ${status}`);
  if (client.silentTools.includes(wanted.tool_name)) return problems;
  const printed = textsIn(result.output).join('\n');
  for (const text of wanted.prints) {
    if (!printed.includes(text)) problems.push(`${result.name} gave ${JSON.stringify(printed)}, without "${text}"`);
  }
  return problems;
}
