// Anthropic Messages: POST /v1/messages.

import { base64, pieces } from './answer.mjs';
import { resolve } from './tools.mjs';

export function anthropic(answer, reply, request) {
  const { input, output, cache_read, cache_write } = answer.usage;
  const counts = {
    input_tokens: input,
    cache_creation_input_tokens: cache_write,
    cache_read_input_tokens: cache_read,
    output_tokens: output,
  };
  const content = [];
  const events = [];
  const emit = (type, data) => events.push([type, { type, ...data }]);
  for (const part of reply) {
    const index = content.length;
    const { block, start, deltas } = speak(answer, part, request, index);
    content.push(block);
    emit('content_block_start', { index, content_block: start });
    for (const delta of deltas) emit('content_block_delta', { index, delta });
    emit('content_block_stop', { index });
  }
  const stop = answer.stop ?? (content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn');
  const usage = {
    ...counts,
    cache_creation: { ephemeral_5m_input_tokens: cache_write, ephemeral_1h_input_tokens: 0 },
    service_tier: 'standard',
  };
  const message = {
    id: answer.id('msg'),
    type: 'message',
    role: 'assistant',
    model: request.model,
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage,
  };
  const head = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  events.unshift(['message_start', { type: 'message_start', message: head }], ['ping', { type: 'ping' }]);
  emit('message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage: counts });
  emit('message_stop', {});
  const billed = {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: cache_read,
    cache_write_tokens: cache_write,
  };
  return { final: message, events, billed };
}

function speak(answer, part, request, index) {
  if (part.think !== undefined) {
    answer.thinking(part.think);
    const signature = base64(`fake-signature-${index}`);
    return {
      block: { type: 'thinking', thinking: part.think, signature },
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...pieces(part.think).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature },
      ],
    };
  }
  if (part.text !== undefined) {
    answer.text(part.text);
    return {
      block: { type: 'text', text: part.text },
      start: { type: 'text', text: '' },
      deltas: pieces(part.text).map((text) => ({ type: 'text_delta', text })),
    };
  }
  const { name, args } = resolve(part, request);
  const block = { type: 'tool_use', id: answer.id('toolu'), name, input: args };
  answer.call(part, block.id, name, args);
  return {
    block,
    start: { ...block, input: {} },
    deltas: ['', ...pieces(JSON.stringify(args))].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  };
}
