// Gemini: POST /v1beta/models/MODEL:generateContent and :streamGenerateContent.

import { base64, pieces } from './answer.mjs';
import { resolve } from './tools.mjs';

export function gemini(answer, reply, request) {
  const responseId = answer.id('gresp');
  const parts = reply.flatMap((part) => speak(answer, part, request));
  const firstCall = parts.find((part) => part.functionCall);
  if (firstCall) firstCall.thoughtSignature = base64('fake-thought-signature');
  if (!parts.length) parts.push({ text: '' });
  const { input, output, cache_read, reasoning } = answer.usage;
  const promptTokenCount = input + cache_read;
  const whole = {
    promptTokenCount,
    candidatesTokenCount: output,
    thoughtsTokenCount: reasoning,
    cachedContentTokenCount: cache_read,
    totalTokenCount: promptTokenCount + output + reasoning,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: promptTokenCount }],
  };
  const wrap = (some, isLast) => ({
    candidates: [
      {
        content: { role: 'model', parts: some },
        index: 0,
        ...(isLast ? { finishReason: answer.stop ?? 'STOP' } : {}),
      },
    ],
    modelVersion: request.model,
    responseId,
    usageMetadata: isLast ? whole : { promptTokenCount, totalTokenCount: promptTokenCount },
  });
  const events = parts.map((part, i) => [null, wrap([part], i === parts.length - 1)]);
  // Thoughts are counted beside the candidates, so what was put out is both.
  const billed = {
    input_tokens: input,
    output_tokens: output + reasoning,
    cache_read_tokens: cache_read,
    reasoning_tokens: reasoning,
  };
  return { final: wrap(parts, true), events, billed };
}

function speak(answer, part, request) {
  if (part.think !== undefined) {
    answer.thinking(part.think);
    return [{ text: part.think, thought: true }];
  }
  if (part.text !== undefined) {
    answer.text(part.text);
    return pieces(part.text).map((text) => ({ text }));
  }
  const { name, args } = resolve(part, request);
  answer.call(part, undefined, name, args);
  return [{ functionCall: { name, args } }];
}
