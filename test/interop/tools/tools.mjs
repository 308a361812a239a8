/**
 * Tools of other frameworks, made by their own packages and served as they are: called by the official client
 * of MCP and over plain HTTP. A table of what runs with which version is printed at the end. Skips itself,
 * and says so, where the packages are not installed.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, test } from 'node:test'

const here = new URL('./node_modules/', import.meta.url)
const skip = existsSync(here) ? false : 'the packages are not installed: cd test/interop/tools && npm ci'
if (skip) console.log(`tools: skipped: ${skip}`)

/** What the handlers of a tool have been called with, and their signals. */
const runs = []

/** What each tool does, by its argument `mode`. */
async function work({ a, b, mode }, signal) {
  runs.push({ a, b, mode, signal })
  if (mode === 'fail') throw new Error('a secret of the inside')
  if (mode !== 'wait') return { sum: a + b }
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, 8_000)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
  return { sum: 0 }
}

const description = 'Adds.'

function schemaOf(z) {
  return z.object({ a: z.number().describe('One.'), b: z.number().default(1), mode: z.string().optional() })
}

async function aiSdk(name, z) {
  const { tool } = await import(name)
  const make = (more) => tool({
    description, inputSchema: schemaOf(z), ...more,
    execute: (args, { abortSignal }) => work(args, abortSignal),
  })
  return { plain: make({}), asking: make({ needsApproval: async ({ a }) => a > 0 }), hasSignal: true }
}

/** Each makes a tool, and one that needs an approval where its framework has those; and what they can do. */
const makers = {
  'ai 7': ['ai', async ({ z }) => aiSdk('ai', z)],
  'ai 6': ['ai-6', async ({ z }) => aiSdk('ai-6', z)],
  'ai 5, with zod 3': ['ai-5', async ({ z3 }) => aiSdk('ai-5', z3)],
  'ai 7, dynamicTool': ['ai', async () => {
    const { dynamicTool, jsonSchema } = await import('ai')
    return {
      plain: dynamicTool({
        description, execute: (args, { abortSignal }) => work(args, abortSignal),
        inputSchema: jsonSchema({
          type: 'object', required: ['a'], properties: {
            a: { type: 'number' }, b: { type: 'number', default: 1 }, mode: { type: 'string' },
          },
        }),
      }),
      hasSignal: true,
    }
  }],
  'ai 7, with valibot': ['ai', async () => {
    const [{ tool }, v] = [await import('ai'), await import('valibot')]
    return {
      plain: tool({
        description, execute: (args, { abortSignal }) => work(args, abortSignal),
        inputSchema: v.object({ a: v.number(), b: v.optional(v.number(), 1), mode: v.optional(v.string()) }),
      }),
      hasSignal: true,
    }
  }],
  'ai 7, with arktype': ['ai', async () => {
    const [{ tool }, { type }] = [await import('ai'), await import('arktype')]
    return {
      plain: tool({
        description, execute: (args, { abortSignal }) => work(args, abortSignal),
        inputSchema: type({ 'a': 'number', 'b': 'number = 1', 'mode?': 'string' }),
      }),
      hasSignal: true,
    }
  }],
  'Mastra 1': ['@mastra/core', async ({ z }) => {
    const { createTool } = await import('@mastra/core/tools')
    const make = (more) => createTool({
      id: 'add', description, inputSchema: schemaOf(z), outputSchema: z.object({ sum: z.number() }),
      mcp: { annotations: { readOnlyHint: true } },
      execute: (args, { abortSignal }) => work(args, abortSignal), ...more,
    })
    return {
      plain: make({}), asking: make({ requireApproval: true }), hasSignal: true, hasOutput: true,
      isReadOnly: true,
    }
  }],
  'Mastra 0.24': ['mastra-0', async ({ z }) => {
    const { createTool } = await import('mastra-0/tools')
    const make = (more) => createTool({
      id: 'add', description, inputSchema: schemaOf(z),
      execute: ({ context }, options) => work(context, options?.abortSignal), ...more,
    })
    return { plain: make({}), asking: make({ requireApproval: true }), hasSignal: true }
  }],
  'LangChain': ['@langchain/core', async ({ z }) => {
    const { tool } = await import('@langchain/core/tools')
    return {
      plain: tool((args, { signal }) => work(args, signal), {
        name: 'add', description, schema: schemaOf(z),
      }),
      hasSignal: true,
    }
  }],
  'OpenAI Agents': ['@openai/agents-core', async ({ z }) => {
    const { tool } = await import('@openai/agents-core')
    const make = (more) => tool({
      name: 'add', description, strict: true, ...more,
      parameters: z.object({
        a: z.number(), b: z.number().default(1), mode: z.string().nullable().default(null),
      }),
      execute: (args, _context, details) => work(args, details?.signal),
    })
    return {
      plain: make({}), asking: make({ needsApproval: async (_context, { a }) => a > 0 }), hasSignal: true,
      failure: /An error occurred while running the tool/,
    }
  }],
  'Strands': ['@strands-agents/sdk', async ({ z }) => {
    const { tool } = await import('@strands-agents/sdk')
    return {
      plain: tool({
        name: 'add', description, inputSchema: schemaOf(z),
        callback: (args, context) => work(args, context?.cancelSignal),
      }),
      hasSignal: true,
    }
  }],
  'VoltAgent': ['@voltagent/core', async ({ z }) => {
    const { createTool } = await import('@voltagent/core')
    const make = (more) => createTool({
      name: 'add', description, parameters: schemaOf(z),
      execute: (args, options) => work(args, options?.toolContext?.abortSignal), ...more,
    })
    return { plain: make({}), asking: make({ needsApproval: true }), hasSignal: true }
  }],
  'Google ADK': ['@google/adk', async ({ z }) => {
    const { FunctionTool } = await import('@google/adk')
    const make = (more) => new FunctionTool({
      name: 'add', description, parameters: schemaOf(z),
      execute: (args, context) => work(args, context?.abortSignal), ...more,
    })
    return { plain: make({}), asking: make({ requireConfirmation: true }), hasSignal: true }
  }],
  'LlamaIndex': ['@llamaindex/core', async ({ z }) => {
    const { tool } = await import('@llamaindex/core/tools')
    return {
      plain: tool({ name: 'add', description, parameters: schemaOf(z), execute: (args) => work(args) }),
    }
  }],
  'Inngest AgentKit': ['@inngest/agent-kit', async ({ z }) => {
    const { createTool } = await import('@inngest/agent-kit')
    return {
      plain: createTool({ name: 'add', description, parameters: schemaOf(z), handler: (args) => work(args) }),
    }
  }],
  'Anthropic betaZodTool': ['@anthropic-ai/sdk', async ({ z }) => {
    const { betaZodTool } = await import('@anthropic-ai/sdk/helpers/beta/zod')
    return {
      plain: betaZodTool({
        name: 'add', description, inputSchema: schemaOf(z),
        run: async (args, context) => JSON.stringify(await work(args, context?.signal)),
      }),
      hasSignal: true, isText: true,
    }
  }],
  'Claude Agent SDK': ['@anthropic-ai/claude-agent-sdk', async ({ z }) => {
    const { tool } = await import('@anthropic-ai/claude-agent-sdk')
    return {
      plain: tool('add', description, schemaOf(z).shape, async (args, extra) => ({
        content: [{ type: 'text', text: JSON.stringify(await work(args, extra?.signal)) }],
      }), { annotations: { readOnlyHint: true } }),
      hasSignal: true, isText: true, isReadOnly: true,
    }
  }],
  'Genkit': ['genkit', async () => {
    const { genkit, z } = await import('genkit')
    const ai = genkit({})
    return {
      plain: ai.defineTool({
        name: 'add', description, outputSchema: z.object({ sum: z.number() }),
        // It fills in no defaults.
        inputSchema: z.object({ a: z.number(), b: z.number().optional(), mode: z.string().optional() }),
      }, ({ a, b = 1, mode }, { abortSignal }) => work({ a, b, mode }, abortSignal)),
      hasSignal: true, hasOutput: true,
    }
  }],
  'any object': [undefined, async ({ z }) => ({
    plain: { name: 'add', description, schema: schemaOf(z), func: (args, { signal }) => work(args, signal) },
    asking: {
      name: 'add', description, args: schemaOf(z), needsApproval: true,
      handler: (args, { signal }) => work(args, signal),
    },
    hasSignal: true,
  })],
}

/** The key of a framework in the dictionary of all tools. */
const keyOf = (framework) => framework.toLowerCase().replace(/[^a-z0-9]+/g, '_')

const made = new Map()
const rows = []
let server, url, client
/** What the client's user answers. */
let answer = { action: 'decline' }
const questions = []

if (!skip) {
  process.env.VOLTAGENT_DISABLE_MODEL_REFRESH ??= '1'
  const [{ z }, { z: z3 }] = await Promise.all([import('zod'), import('zod-3')])
  const { createServer } = await import('../../../dist/index.js')
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js')
  const tools = {}
  for (const [framework, [, make]] of Object.entries(makers)) {
    const one = await make({ z, z3 })
    made.set(framework, one)
    tools[keyOf(framework)] = one.plain
    if (one.asking !== undefined) tools[`${keyOf(framework)}_asking`] = one.asking
  }
  server = createServer({ name: 'tools', tools, protocol: ['mcp', 'http'], log: false, graceMs: 0 })
  ;({ url } = await server.listen(0))
  client = new Client({ name: 'test', version: '1.0.0' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    questions.push(params.message)
    return answer
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
  // Some keep the process alive by what they have begun to do.
  after(async () => {
    await client.close()
    await server.close()
    console.log(tableOf(rows))
    setTimeout(() => process.exit(), 500).unref()
  })
}

function versionOf(name) {
  if (name === undefined) return '–'
  return JSON.parse(readFileSync(new URL(`${name}/package.json`, here), 'utf8')).version
}

function tableOf(all) {
  const head = ['framework', 'version', 'schema', 'call', 'invalid args', 'abort', 'failure', 'approval']
  const lines = [head, ...all]
  const widths = lines[0].map((_, at) => Math.max(...lines.map((line) => line[at].length)))
  return lines.map((line) => `# ${line.map((cell, at) => cell.padEnd(widths[at])).join('  ')}`).join('\n')
}

async function post(name, args) {
  const response = await fetch(`${url}/tools/${name}`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(args),
  })
  return { status: response.status, body: await response.json() }
}

const textOf = ({ content }) => content.map(({ text }) => text).join('')

test('all are listed, with their schemas and hints', { skip }, async () => {
  const { tools } = await client.listTools()
  for (const [framework, { isReadOnly, hasOutput }] of made) {
    const tool = tools.find(({ name }) => name === keyOf(framework))
    assert.equal(tool.description, description, framework)
    assert.deepEqual(Object.keys(tool.inputSchema.properties).sort(), ['a', 'b', 'mode'], framework)
    assert.ok(tool.inputSchema.required.includes('a'), framework)
    assert.equal(tool.annotations?.readOnlyHint, isReadOnly, framework)
    assert.equal(tool.outputSchema !== undefined, hasOutput === true, framework)
  }
})

for (const framework of Object.keys(makers)) {
  test(framework, { skip, timeout: 120_000 }, async () => {
    const name = keyOf(framework)
    const { hasSignal, isText, failure, asking } = made.get(framework)
    const args = framework === 'OpenAI Agents' ? { a: 2, b: 1, mode: null } : { a: 2 }

    // Both ways, with the default of what is left out.
    const result = await client.callTool({ name, arguments: args })
    assert.equal(result.isError, undefined, JSON.stringify(result))
    assert.deepEqual(isText ? JSON.parse(textOf(result)) : result.structuredContent, { sum: 3 })
    const { status, body } = await post(name, args)
    assert.equal(status, 200)
    assert.deepEqual(isText ? JSON.parse(body.result) : body.result, { sum: 3 })

    runs.length = 0
    const wrong = await client.callTool({ name, arguments: { ...args, a: 'two' } })
    assert.equal(wrong.isError, true)
    assert.match(textOf(wrong), /^Invalid arguments for \w+: a: /)
    assert.equal((await post(name, { ...args, a: 'two' })).status, 422)
    assert.deepEqual(runs, [], 'it ran with wrong arguments')

    const failed = await client.callTool({ name, arguments: { ...args, mode: 'fail' } })
    assert.equal(failed.isError, true)
    assert.match(textOf(failed), failure ?? /^Internal error/)
    const over = await post(name, { ...args, mode: 'fail' })
    assert.equal(over.status, 500)
    for (const shown of [failed, over]) assert.ok(!JSON.stringify(shown).includes('secret'))

    runs.length = 0
    const controller = new AbortController()
    const waiting = client.callTool(
      { name, arguments: { ...args, mode: 'wait' } }, undefined, { signal: controller.signal },
    )
    while (runs.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    controller.abort()
    await assert.rejects(waiting)
    const [{ signal }] = runs
    if (hasSignal) {
      for (let ms = 0; ms < 5_000 && !signal.aborted; ms += 10) {
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      assert.equal(signal.aborted, true, 'its signal is not aborted')
    } else {
      assert.equal(signal, undefined)
    }

    if (asking !== undefined) await assertAsks(`${name}_asking`, args)
    rows.push([
      framework, versionOf(makers[framework][0]), 'yes', 'yes', 'yes', hasSignal ? 'yes' : 'no signal', 'yes',
      asking === undefined ? 'has none' : 'yes',
    ])
  })
}

async function assertAsks(name, args) {
  runs.length = questions.length = 0
  answer = { action: 'decline' }
  const declined = await client.callTool({ name, arguments: args })
  assert.equal(declined.isError, true)
  assert.equal(textOf(declined), `The user did not approve '${name}'`)
  const unasked = await post(name, args)
  assert.ok(unasked.status >= 400, `${unasked.status}`)
  assert.match(unasked.body.detail, /needs the approval of a user, whom this client cannot ask/)
  assert.deepEqual(runs, [], 'it ran without an approval')
  answer = { action: 'accept', content: { approve: true } }
  const approved = await client.callTool({ name, arguments: args })
  assert.equal(approved.isError, undefined, JSON.stringify(approved))
  assert.equal(runs.length, 1)
  assert.match(questions.at(-1), /^May the tool '\w+' run with \{"a":2/)
}

test('a generator of the AI SDK sends its steps as progress', { skip }, async () => {
  const [{ tool }, { z }] = [await import('ai'), await import('zod')]
  server.catalog.add({
    name: 'steps',
    ...tool({
      description, inputSchema: z.object({}),
      async* execute() {
        yield 'one'
        yield 'two'
        yield { sum: 3 }
      },
    }),
  })
  const steps = []
  const { structuredContent } = await client.callTool({ name: 'steps', arguments: {} }, undefined, {
    onprogress: ({ message }) => steps.push(message),
  })
  assert.deepEqual([structuredContent, steps], [{ sum: 3 }, ['one', 'two']])
})

test('a form is the schema of a library, and so is its answer', { skip }, async () => {
  const [{ z }, v, { type }] = [await import('zod'), await import('valibot'), await import('arktype')]
  const forms = {
    zod: z.object({ mail: z.email(), size: z.enum(['small', 'large']), count: z.int().min(1).optional() }),
    valibot: v.object({
      mail: v.pipe(v.string(), v.email()), size: v.picklist(['small', 'large']),
      count: v.optional(v.number()),
    }),
    arktype: type({ 'mail': 'string.email', 'size': "'small' | 'large'", 'count?': 'number' }),
  }
  for (const [library, schema] of Object.entries(forms)) {
    server.catalog.add({
      name: `form_${library}`, inputSchema: { type: 'object' },
      run: async (_args, call) => call.elicit({ message: 'Which?', schema }),
    })
    answer = { action: 'accept', content: { mail: 'a@b.example', size: 'small' } }
    const { structuredContent } = await client.callTool({ name: `form_${library}`, arguments: {} })
    assert.deepEqual(structuredContent, answer, library)
    answer = { action: 'accept', content: { mail: 'nobody', size: 'small' } }
    const refused = await client.callTool({ name: `form_${library}`, arguments: {} })
    assert.equal(refused.isError, true, library)
    assert.match(textOf(refused), /answer does not fit the form: mail/, library)
  }
})

test('what a client runs is refused, and the tools of a client of MCP are one line', { skip }, async () => {
  const [{ tool }, { z }] = [await import('ai'), await import('zod')]
  const { createServer, defineTool } = await import('../../../dist/index.js')
  assert.throws(() => createServer({ tools: { ask: tool({ description, inputSchema: z.object({}) }) } }),
    /without execute, which a client runs; give it an execute, or leave it out/)
  assert.throws(() => createServer({ tools: [client] }),
    /This is a client of MCP, which has many tools; write tools: /)
  const proxy = createServer({
    log: false, graceMs: 0, protocol: 'http',
    tools: (await client.listTools()).tools.map(({ execution, ...tool }) => defineTool({
      ...tool, run: (args) => client.callTool({ name: tool.name, arguments: args }),
    })),
  })
  const response = await proxy.fetch(new Request('http://localhost/tools/langchain', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"a":2}',
  }))
  const reply = await response.json()
  assert.deepEqual(reply.result, { sum: 3 }, JSON.stringify(reply))
  await proxy.close()
})
