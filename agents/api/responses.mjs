// OpenAI Responses: POST /v1/responses.

import { base64, CREATED, pieces } from './answer.mjs';
import { resolve } from './tools.mjs';

export function responses(answer, reply, request) {
  const base = {
    id: answer.id('resp'),
    object: 'response',
    created_at: CREATED,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    model: request.model,
    output: [],
    parallel_tool_calls: true,
    store: false,
    usage: null,
  };
  const events = [];
  const emit = (type, data) => events.push([type, { type, sequence_number: events.length, ...data }]);
  emit('response.created', { response: base });
  emit('response.in_progress', { response: base });
  const output = reply.map((part, output_index) => {
    const item = speak(answer, part, request, output_index, emit);
    emit('response.output_item.done', { output_index, item });
    return item;
  });
  const { input, output: out, cache_read, reasoning } = answer.usage;
  const usage = {
    input_tokens: input + cache_read,
    input_tokens_details: { cached_tokens: cache_read },
    output_tokens: out,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + cache_read + out,
  };
  const final = { ...base, status: 'completed', output, usage };
  emit('response.completed', { response: final });
  const billed = {
    input_tokens: input,
    output_tokens: out,
    cache_read_tokens: cache_read,
    reasoning_tokens: reasoning,
  };
  return { final, events, billed };
}

function speak(answer, part, request, output_index, emit) {
  if (part.think !== undefined) return think(answer, part.think, output_index, emit);
  if (part.text !== undefined) return say(answer, part.text, output_index, emit);
  const { name, namespace, args, custom } = resolve(part, request);
  const field = custom ? 'input' : 'arguments';
  const event = custom ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
  const text = custom ? args : JSON.stringify(args);
  const item = {
    id: answer.id(custom ? 'ctc' : 'fc'),
    type: custom ? 'custom_tool_call' : 'function_call',
    status: 'completed',
    call_id: answer.id('call'),
    name,
    [field]: text,
    ...(namespace ? { namespace } : {}),
  };
  answer.call(part, item.call_id, name, args);
  emit('response.output_item.added', { output_index, item: { ...item, [field]: '', status: 'in_progress' } });
  for (const delta of pieces(text)) emit(`${event}.delta`, { item_id: item.id, output_index, delta });
  emit(`${event}.done`, { item_id: item.id, output_index, [field]: text });
  return item;
}

function think(answer, text, output_index, emit) {
  answer.thinking(text);
  const part = { type: 'summary_text', text };
  const item = {
    id: answer.id('rs'),
    type: 'reasoning',
    summary: [part],
    encrypted_content: base64(`fake-encrypted-reasoning-${output_index}`),
  };
  const at = { item_id: item.id, output_index, summary_index: 0 };
  emit('response.output_item.added', { output_index, item: { ...item, summary: [], encrypted_content: '' } });
  emit('response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } });
  for (const delta of pieces(text)) emit('response.reasoning_summary_text.delta', { ...at, delta });
  emit('response.reasoning_summary_text.done', { ...at, text });
  emit('response.reasoning_summary_part.done', { ...at, part });
  return item;
}

function say(answer, text, output_index, emit) {
  answer.text(text);
  const part = { type: 'output_text', text, annotations: [], logprobs: [] };
  const item = { id: answer.id('msg'), type: 'message', role: 'assistant', status: 'completed', content: [part] };
  const at = { item_id: item.id, output_index, content_index: 0 };
  emit('response.output_item.added', { output_index, item: { ...item, content: [], status: 'in_progress' } });
  emit('response.content_part.added', { ...at, part: { ...part, text: '' } });
  for (const delta of pieces(text)) emit('response.output_text.delta', { ...at, delta });
  emit('response.output_text.done', { ...at, text });
  emit('response.content_part.done', { ...at, part });
  return item;
}
