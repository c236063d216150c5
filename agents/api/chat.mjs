// OpenAI Chat Completions: POST /v1/chat/completions.

import { CREATED, pieces } from './answer.mjs';
import { resolve } from './tools.mjs';

export function chat(answer, reply, request) {
  const id = answer.id('chatcmpl');
  const think = reply.map((part) => part.think ?? '').join('');
  const text = reply.map((part) => part.text ?? '').join('');
  if (think) answer.thinking(think);
  if (text) answer.text(text);
  const calls = reply
    .filter((part) => part.tool || part.raw_tool)
    .map((part) => {
      const { name, args } = resolve(part, request);
      const call = { id: answer.id('call'), type: 'function', function: { name, arguments: JSON.stringify(args) } };
      answer.call(part, call.id, name, args);
      return call;
    });
  const { input, output, cache_read, reasoning } = answer.usage;
  const usage = {
    prompt_tokens: input + cache_read,
    completion_tokens: output,
    total_tokens: input + cache_read + output,
    prompt_tokens_details: { cached_tokens: cache_read },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
  const finish = answer.stop ?? (calls.length ? 'tool_calls' : 'stop');
  const common = { id, created: CREATED, model: request.model };
  const message = {
    role: 'assistant',
    content: text || null,
    ...(think ? { reasoning_content: think } : {}),
    ...(calls.length ? { tool_calls: calls } : {}),
  };
  const final = {
    ...common,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: finish }],
    usage,
  };
  const events = [];
  const chunk = (choices, more) =>
    events.push([null, { ...common, object: 'chat.completion.chunk', choices, ...more }]);
  const delta = (part, finish_reason = null) => chunk([{ index: 0, delta: part, finish_reason }]);
  delta({ role: 'assistant', content: '' });
  if (think) pieces(think).forEach((piece) => delta({ reasoning_content: piece }));
  if (text) pieces(text).forEach((piece) => delta({ content: piece }));
  calls.forEach((call, index) => {
    delta({ tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: '' } }] });
    for (const piece of pieces(call.function.arguments)) {
      delta({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  });
  delta({}, finish);
  chunk([], { usage });
  events.push([null, '[DONE]']);
  const billed = {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: cache_read,
    reasoning_tokens: reasoning,
  };
  return { final, events, billed };
}
