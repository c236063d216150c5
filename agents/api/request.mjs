// One neutral view of a request, whichever API it came by.

export function readRequest(api, body, model, agent) {
  const view = { users: [], results: [], tools: new Map(), toolResult: false, system: '' };
  READERS[api](body, view);
  return {
    api,
    model,
    client: clientOf(agent),
    system: view.system,
    tools: view.tools,
    toolResult: view.toolResult,
    firstUser: view.users.at(0) ?? '',
    lastUser: view.users.at(-1) ?? '',
    users: view.users,
    results: view.results,
  };
}

const READERS = {
  anthropic(body, view) {
    view.system = textOf(body.system);
    for (const message of body.messages ?? []) {
      const blocks = Array.isArray(message.content) ? message.content : [{ type: 'text', text: message.content }];
      const results = blocks.filter((block) => block.type === 'tool_result');
      if (message.role === 'assistant') view.toolResult = false;
      if (message.role !== 'user') continue;
      view.toolResult = results.length > 0;
      if (results.length) view.results = results.map((block) => textOf(block.content));
      addUser(view, textOf(blocks.filter((block) => block.type === 'text')));
    }
    for (const tool of body.tools ?? []) view.tools.set(tool.name, tool);
  },

  responses(body, view) {
    view.system = body.instructions ?? '';
    const items = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : (body.input ?? []);
    const offered = [...(body.tools ?? [])];
    for (const item of items) {
      const kind = item.type ?? 'message';
      if (kind.endsWith('_output')) {
        view.toolResult = true;
        const { output } = item;
        view.results.push(typeof output === 'string' ? output : textOf(output) || JSON.stringify(output));
      } else if (kind === 'message') {
        view.toolResult = false;
        if (item.role === 'user') addUser(view, textOf(item.content));
        else if (item.role !== 'assistant') view.system += `\n${textOf(item.content)}`;
      } else if (kind === 'additional_tools') {
        offered.push(...(item.tools ?? []));
      }
    }
    for (const tool of offered) {
      if (tool.type === 'namespace') {
        const namespace = tool.name === 'functions' ? undefined : tool.name;
        for (const inner of tool.tools ?? []) view.tools.set(inner.name, { ...inner, namespace });
      } else {
        view.tools.set(tool.name ?? tool.type, tool);
      }
    }
  },

  chat(body, view) {
    for (const message of body.messages ?? []) {
      view.toolResult = message.role === 'tool';
      if (message.role === 'system' || message.role === 'developer') view.system += textOf(message.content);
      else if (message.role === 'user') addUser(view, textOf(message.content));
      else if (message.role === 'tool') view.results.push(textOf(message.content));
    }
    for (const tool of body.tools ?? []) view.tools.set((tool.function ?? tool).name ?? tool.type, tool);
  },

  gemini(body, view) {
    view.system = textOf(body.systemInstruction?.parts);
    for (const content of body.contents ?? []) {
      if (content.role === 'model') {
        view.toolResult = false;
        continue;
      }
      const results = (content.parts ?? []).flatMap((part) => part.functionResponse ?? []);
      view.toolResult = results.length > 0;
      if (results.length) view.results = results.map((result) => JSON.stringify(result.response));
      addUser(view, textOf(content.parts));
    }
    for (const tool of body.tools ?? []) {
      for (const declaration of tool.functionDeclarations ?? []) view.tools.set(declaration.name, declaration);
    }
  },
};

function addUser(view, text) {
  if (text) view.users.push(text);
}

function textOf(content) {
  if (typeof content === 'string') return content;
  const texts = [];
  for (const part of content ?? []) {
    if (typeof part === 'string') texts.push(part);
    for (const key of ['text', 'content', 'output']) {
      if (typeof part?.[key] === 'string') texts.push(part[key]);
      else if (Array.isArray(part?.[key])) texts.push(textOf(part[key]));
    }
  }
  return texts.join('\n');
}

const MARKS = [
  ['claude', 'claude-cli'],
  ['codex', 'codex'],
  ['gemini', 'geminicli'],
  ['opencode', 'opencode'],
  ['copilot', 'copilot'],
];

function clientOf(agent) {
  const name = (agent ?? '').toLowerCase();
  return MARKS.find(([, mark]) => name.includes(mark))?.[0] ?? 'unknown';
}
