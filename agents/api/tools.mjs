// Neutral tools become whatever tool of that kind the request offers, so that one scenario drives
// every client. Each kind lists the names it may have, with what its arguments look like there.

const described = (block) => ({ command: block.command, description: block.description ?? 'Run a command' });
const cat = (block) => `cat ${block.path}`;

const TOOLS = {
  shell: {
    Bash: described,
    run_shell_command: described,
    exec_command: (block) => ({ cmd: block.command, yield_time_ms: 60000 }),
    shell_command: (block) => ({ command: block.command }),
    shell: (block) => ({ command: ['bash', '-lc', block.command] }),
    bash: described,
  },
  read: {
    Read: (block) => ({ file_path: block.path }),
    read_file: (block) => ({ file_path: block.path }),
    read: (block) => ({ filePath: block.path }),
    view: (block) => ({ path: block.path }),
    exec_command: (block) => ({ cmd: cat(block) }),
    shell_command: (block) => ({ command: cat(block) }),
  },
  write: {
    Write: (block) => ({ file_path: block.path, content: block.content }),
    write_file: (block) => ({ file_path: block.path, content: block.content }),
    write: (block) => ({ filePath: block.path, content: block.content }),
    create: (block) => ({ path: block.path, file_text: block.content }),
    apply_patch: (block) => patch(`Add File: ${block.path}\n${prefixed('+', block.content)}`),
  },
  edit: {
    Edit: (block) => ({ file_path: block.path, old_string: block.old, new_string: block.new }),
    replace: (block) => ({
      file_path: block.path,
      instruction: 'Change the line',
      old_string: block.old,
      new_string: block.new,
    }),
    // Two clients call it the same and read it differently; `known` keeps what the offered one declares.
    edit: (block) => ({
      path: block.path,
      old_str: block.old,
      new_str: block.new,
      filePath: block.path,
      oldString: block.old,
      newString: block.new,
    }),
    apply_patch: (block) =>
      patch(`Update File: ${block.path}\n@@\n${prefixed('-', block.old)}${prefixed('+', block.new)}`),
  },
  task: {
    Agent: (block) => ({
      description: block.description,
      prompt: block.prompt,
      subagent_type: 'general-purpose',
      run_in_background: false,
    }),
    Task: (block) => ({ description: block.description, prompt: block.prompt, subagent_type: 'general-purpose' }),
    invoke_agent: (block) => ({ agent_name: 'generalist', prompt: block.prompt }),
    generalist: (block) => ({ request: block.prompt }),
    spawn_agent: (block) => ({ message: block.prompt, task_name: 'subtask_one' }),
    task: (block) => ({
      description: block.description,
      prompt: block.prompt,
      subagent_type: 'general',
      agent_type: 'general-purpose',
      name: 'sub-one',
      mode: 'sync',
    }),
  },
};

/** Returns the call that a block of a reply stands for: its name, its arguments, and whether they are free text. */
export function resolve(block, request) {
  if (block.raw_tool) {
    const spec = request.tools.get(block.raw_tool) ?? {};
    const args = known(spec, fromResults(block.args, request.results));
    return { name: block.raw_tool, namespace: spec.namespace, args, custom: false };
  }
  if (block.tool === 'mcp') return served(block, request);
  const kinds = TOOLS[block.tool];
  if (!kinds) throw new Error(`a scenario has the unknown tool "${block.tool}"`);
  for (const [name, make] of Object.entries(kinds)) {
    const spec = request.tools.get(name);
    if (!spec) continue;
    const made = make(block);
    const custom = spec.type === 'custom';
    const args = typeof made === 'string' && !custom ? { input: made } : known(spec, made);
    return { name, namespace: spec.namespace, args, custom };
  }
  throw new Error(`the client offers no tool for "${block.tool}": ${[...request.tools.keys()].join(', ')}`);
}

/** Returns the call of a tool that an MCP server has: every client has its own way to name those. */
function served({ server, name, args }, request) {
  for (const [offered, spec] of request.tools) {
    const place = spec.namespace ?? offered;
    if (offered.endsWith(name) && place.includes(server)) return { name: offered, namespace: spec.namespace, args, custom: false };
  }
  // It may be offered only to those who ask for it, and be called all the same.
  if (request.api === 'responses') return { name, namespace: `mcp__${server}`, args, custom: false };
  throw new Error(`the client offers no tool ${name} of ${server}: ${[...request.tools.keys()].join(', ')}`);
}

/** Returns a step's reply with its `finish` blocks resolved: a tool where subagents have one for it, else text. */
export function finished(reply, request) {
  return (reply ?? []).map((block) => {
    if (block.finish === undefined) return block;
    const spec = request.tools.get('complete_task');
    if (!spec) return { text: block.finish };
    const wants = schemaOf(spec).properties?.result ?? {};
    const isObject = String(wants.type).toLowerCase() === 'object';
    const keys = Object.keys(wants.properties ?? { response: 0 });
    const result = isObject ? Object.fromEntries(keys.map((key) => [key, block.finish])) : block.finish;
    return { raw_tool: 'complete_task', args: { result } };
  });
}

function schemaOf(spec) {
  return spec.input_schema ?? spec.parameters ?? spec.parametersJsonSchema ?? spec.function?.parameters ?? {};
}

/** Keeps only the arguments that the offered tool declares: versions of a client differ. */
function known(spec, args) {
  const { properties } = schemaOf(spec);
  if (!properties || typeof args !== 'object') return args;
  return Object.fromEntries(Object.entries(args).filter(([key]) => key in properties));
}

/** Replaces "{result:REGEX}" by the first group of REGEX in the newest tool results. */
function fromResults(value, results) {
  if (typeof value === 'string') {
    const wanted = /^\{result:(.*)\}$/.exec(value);
    if (!wanted) return value;
    const hits = results.toReversed().map((result) => new RegExp(wanted[1]).exec(result));
    return hits.find(Boolean)?.[1] ?? 'not-found';
  }
  if (Array.isArray(value)) return value.map((item) => fromResults(item, results));
  if (value && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fromResults(item, results)]));
  }
  return value;
}

function patch(body) {
  return `*** Begin Patch\n*** ${body}*** End Patch\n`;
}

function prefixed(mark, text) {
  return text.replace(/\n$/, '').split('\n').map((line) => `${mark}${line}\n`).join('');
}
