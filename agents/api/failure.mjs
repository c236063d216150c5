// How each API words a failure.

import { CREATED } from './answer.mjs';

const KINDS = {
  anthropic: {
    400: 'invalid_request_error',
    401: 'authentication_error',
    429: 'rate_limit_error',
    529: 'overloaded_error',
    other: 'api_error',
  },
  gemini: { 400: 'INVALID_ARGUMENT', 429: 'RESOURCE_EXHAUSTED', 503: 'UNAVAILABLE', other: 'INTERNAL' },
  openai: { 400: 'invalid_request_error', 429: 'rate_limit_exceeded', other: 'server_error' },
};

export function failureBody(api, error) {
  const { status = 500, message = 'scripted failure' } = error;
  const kinds = KINDS[api] ?? KINDS.openai;
  const type = error.type ?? kinds[status] ?? kinds.other;
  if (api === 'anthropic') return { type: 'error', error: { type, message }, request_id: 'req_fake0001' };
  if (api === 'gemini') return { error: { code: status, message, status: type } };
  return { error: { message, type, code: type, param: null } };
}

/** Returns the event that tells of a failure in the middle of a stream. */
export function failureEvent(api, error) {
  const body = failureBody(api, error);
  if (api === 'anthropic') return ['error', body];
  if (api !== 'responses') return [null, body];
  const response = {
    id: 'resp_fakefail',
    object: 'response',
    created_at: CREATED,
    status: 'failed',
    output: [],
    error: { code: body.error.code, message: body.error.message },
    usage: null,
  };
  return ['response.failed', { type: 'response.failed', sequence_number: 99, response }];
}
