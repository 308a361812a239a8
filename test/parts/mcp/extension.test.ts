import assert from 'node:assert/strict'
import test from 'node:test'
import { frameworks } from '../../../lib/adapters/frameworks.ts'
import { noAdapters } from '../../../lib/kernel/define/adapters.ts'
import { ownTool, toolFrom } from '../../../lib/kernel/define/tool.ts'
import { createService } from '../../../lib/kernel/server/service.ts'
import { kernelServer } from '../../../lib/kernel/server/server.ts'
import { createSeal } from '../../../lib/kernel/wire/seal.ts'
import { mcpLimits } from '../../../lib/parts/mcp/options.ts'
import { mcpExtensionsOf } from '../../../lib/parts/mcp/methods/extension.ts'
import { McpServer } from '../../../lib/parts/mcp/methods/methods.ts'
import { mcp } from '../../../lib/parts/mcp/part.ts'
import type { Part } from '../../../lib/kernel/server/part.ts'
import type { McpExtension } from '../../../lib/parts/mcp/methods/extension.ts'
import type { Seal } from '../../../lib/kernel/wire/seal.ts'

const META = 'io.modelcontextprotocol/'
const tools = [
  ownTool({ name: 'plain', description: 'Says a.', run: () => 'a' }),
  ownTool({ name: 'long', description: 'Says b.', task: 'optional', run: () => 'b' }),
]

interface Asked { readonly revision?: string; readonly extensions?: object; readonly name?: string }

/** A part that extends MCP, named by its place. */
function extending(extension: McpExtension, at: number): Part {
  const name = `extension-${at}`
  return {
    name,
    needs: ['mcp'],
    open(kernel) {
      mcpExtensionsOf(kernel).add(name, extension)
      return {}
    },
  }
}

/** Asks a server of MCP alone, with these extensions. */
async function ask(
  extensions: readonly McpExtension[], method: string, params: object = {}, asked: Asked = {},
): Promise<{ readonly status: number; readonly text: string; readonly body: Record<string, any> }> {
  const { revision = '2026-07-28', name, extensions: declared = {} } = asked
  const server = kernelServer({ tools, adapters: noAdapters, parts: [mcp(), ...extensions.map(extending)] })
  const isModern = revision === '2026-07-28'
  const _meta = {
    [`${META}protocolVersion`]: revision, [`${META}clientCapabilities`]: { extensions: declared },
  }
  const response = await server.fetch(new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json', 'Accept': 'application/json, text/event-stream',
      ...method !== 'initialize' && { 'MCP-Protocol-Version': revision },
      ...isModern && { 'Mcp-Method': method }, ...name !== undefined && { 'Mcp-Name': name },
    },
    body: JSON.stringify({
      jsonrpc: '2.0', id: 1, method, params: isModern ? { ...params, _meta } : params,
    }),
  }))
  const text = method === 'subscriptions/listen' ? await firstOf(response) : await response.text()
  return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : {} }
}

/** What a stream begins with. */
async function firstOf({ body }: Response): Promise<string> {
  const reader = body!.getReader()
  let text = ''
  while (!text.includes('changed')) text += Buffer.from((await reader.read()).value ?? []).toString()
  await reader.cancel()
  return text
}

test('MCP alone knows no tasks', async () => {
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const { body: { error } } = await ask([], 'tasks/get', { taskId: 't' }, { revision, name: 't' })
    assert.equal(error.code, -32601, revision)
    const { body: { result: { tools: shown } } } = await ask([], 'tools/list', {}, { revision })
    assert.deepEqual(shown.map((tool: object) => 'execution' in tool), [false, false], revision)
    const called = await ask([], 'tools/call', { name: 'long', arguments: {} }, { revision, name: 'long' })
    assert.equal(called.body['result'].content[0].text, 'b', revision)
  }
  const opened = await ask([], 'initialize', { protocolVersion: '2025-11-25' }, { revision: '2025-11-25' })
  assert.deepEqual(Object.keys(opened.body['result'].capabilities), ['tools', 'logging'])
})

test('what serves no pages takes no tool with one, however it was defined', () => {
  const definition = { name: 'cart', run: () => '', ui: { html: '<!doctype html>' } }
  for (const tool of [definition, ownTool(definition), toolFrom(definition, frameworks)]) {
    assert.throws(() => kernelServer({ tools: [tool], parts: [mcp()] }), {
      name: 'TypeError',
      message: "The tool 'cart' has ui, and no part that serves pages is here; add apps() to parts, or leave "
        + 'it out',
    })
  }
})

/** Everything that an extension can have. */
const everything: McpExtension = () => ({
  methods: {
    'tasks/get': {
      run: ({ params }) => ({ is: params['taskId'] }), namedBy: 'taskId', isOffered: () => true,
    },
    'tasks/cancel': { run: () => ({}), isOffered: () => false },
    'other/method': { run: () => ({ is: 'other' }) },
    'later/method': { run: () => ({ is: 'later' }), isIn: ({ stamps }) => stamps },
    'older/method': { run: () => ({ is: 'older' }), isIn: ({ opening }) => opening === 'initialize' },
  },
  calls: {
    isIn: ({ extensible }) => extensible,
    takes: (_request, { name }) => name === 'long',
    run: (_request, { name }, args) => ({ taken: name, args }),
  },
  tools: {
    viewOf: ({ abilities }) => String('hidden' in abilities.extensions),
    shown: ({ name }, { abilities }) => (
      name === 'long' && 'hidden' in abilities.extensions ? undefined : { title: `The ${name}` }
    ),
  },
  capabilities: () => ({ tasks: { list: {} } }),
  settings: ({ name }) => name === '2026-07-28' ? { 'com.example/it': { a: 1 } } : {},
  follow: async (_request, { taskIds }) => taskIds === undefined ? undefined : {
    member: 'taskIds', ids: ['t'],
    follow(notify) {
      notify('notifications/tasks', { changed: true })
      return () => {}
    },
  },
})

test('an extension says which revisions have its methods; left out, all that are extensible', async () => {
  for (const [revision, known] of [
    ['2026-07-28', ['other', 'later']], ['2025-11-25', ['other', 'older']], ['2025-06-18', ['older']],
    ['2024-11-05', ['older']],
  ] as const) {
    for (const what of ['other', 'later', 'older'] as const) {
      // What only newer clients call is of the newest revision, whatever the header says.
      if (what === 'later' && revision !== '2026-07-28') continue
      const { body } = await ask([everything], `${what}/method`, {}, { revision })
      const isKnown = known.some((one) => one === what)
      assert.deepEqual([body['result']?.is, body['error']?.code], isKnown ? [what, undefined]
        : [undefined, -32601], `${what} ${revision}`)
    }
  }
})

test('a method that newer clients alone call shows which revision a request without one is of', async () => {
  for (const [extensions, code] of [[[everything], -32602], [[], -32601]] as const) {
    const { body } = await ask(extensions, 'later/method', {}, { revision: '2025-11-25' })
    assert.equal(body['error'].code, code)
  }
})

function sealing<T extends object>(service: T): T & { readonly seal: Seal } {
  return Object.assign(service, { seal: createSeal(undefined) })
}

test('MCP alone has a method of its own behind each name that a revision has, and no other', () => {
  const { service } = createService({ tools, parts: [] })
  const server = new McpServer(sealing(service), { limits: mcpLimits.defaults })
  server.extend()
  for (const [revision, methods] of server.methods) {
    const named = [...revision.methods].filter((name) => name !== 'initialize')
    assert.deepEqual([...methods.keys()].toSorted(), named.toSorted(), revision.name)
  }
})

test('a session runs no more calls than the server', () => {
  const { service } = createService({ tools, parts: [], maxCalls: 5 })
  const { limits } = new McpServer(sealing(service), { limits: mcpLimits.defaults })
  assert.deepEqual(limits, { ...mcpLimits.defaults, maxCallsPerSession: 5 })
})

test('an extension adds methods, where the server offers them', async () => {
  const got = await ask([everything], 'tasks/get', { taskId: 't' }, { name: 't' })
  assert.equal(got.body['result'].is, 't')
  const misnamed = await ask([everything], 'tasks/get', { taskId: 't' }, { name: 'u' })
  assert.deepEqual([misnamed.status, misnamed.body['error'].data.header], [400, 'Mcp-Name'])
  assert.equal((await ask([everything], 'tasks/cancel')).body['error'].code, -32601)
})

test('an extension takes calls of tools only in revisions that it says', async () => {
  const rows = [['2026-07-28', true], ['2025-11-25', true], ['2025-06-18', false]] as const
  for (const [revision, isTaken] of rows) {
    const { body } = await ask([everything], 'tools/call', { name: 'long' }, { name: 'long', revision })
    assert.equal('taken' in body['result'], isTaken, revision)
  }
})

test('an extension takes calls of tools, and changes how they are listed', async () => {
  const call = async (name: string): Promise<any> => (
    (await ask([everything], 'tools/call', { name, arguments: { a: 1 } }, { name })).body['result']
  )
  const { taken, args } = await call('long')
  assert.deepEqual([taken, args], ['long', { a: 1 }])
  assert.equal('taken' in await call('plain'), false)
  for (const [extensions, titles] of [[{}, ['The plain', 'The long']], [{ hidden: {} }, ['The plain']]]) {
    const { body } = await ask([everything], 'tools/list', {}, { extensions: extensions as object })
    assert.deepEqual(body['result'].tools.map(({ title }: { title: string }) => title), titles)
  }
})

test('its capabilities are declared to the revisions that have them', async () => {
  const revision = '2025-11-25'
  const { body: { result: old } } = await ask([everything], 'initialize', { protocolVersion: revision }, {
    revision,
  })
  assert.deepEqual(old.capabilities, { tools: { listChanged: true }, logging: {}, tasks: { list: {} } })
  const { body: { result: { capabilities } } } = await ask([everything], 'server/discover')
  assert.equal('tasks' in capabilities, false)
  assert.deepEqual(capabilities.extensions, { 'com.example/it': { a: 1 } })
})

test('a subscription follows what an extension follows, behind its acknowledgement', async () => {
  const { text } = await ask([everything], 'subscriptions/listen', { notifications: { taskIds: ['t', 'u'] } })
  const [first = '', second = ''] = text.split('\n\n')
  assert.match(first, /acknowledged.*"taskIds":\["t"\]/)
  assert.match(second, /notifications\/tasks.*"changed":true/)
})

test('an extension is refused where MCP is not, and when MCP is made already', () => {
  const extension = extending(() => ({}), 1)
  assert.throws(() => kernelServer({ tools, parts: [extension] }), {
    name: 'TypeError', message: "The part 'extension-1' needs 'mcp'; add that to parts",
  })
  const late: Part = {
    name: 'late', needs: ['mcp'],
    open: (kernel) => ({ ready: () => { mcpExtensionsOf(kernel).add('late', () => ({})) } }),
  }
  assert.throws(() => kernelServer({ tools, parts: [late, mcp()] }), {
    name: 'TypeError', message: "'late' extends MCP, which is made already; add it where the part is opened",
  })
})

test('an extension is opened once all parts are, and a mistake that it finds is one of the server', () => {
  const steps: string[] = []
  const after: Part = {
    name: 'after',
    open() {
      steps.push('after')
      return {}
    },
  }
  const careful = extending(() => {
    steps.push('extension')
    throw new TypeError('The tool cannot be served')
  }, 1)
  assert.throws(() => kernelServer({ tools, parts: [careful, mcp(), after] }), {
    name: 'TypeError', message: 'The tool cannot be served',
  })
  assert.deepEqual(steps, ['after', 'extension'])
})

test('a tool that runs only as a task needs the part that makes tasks', async () => {
  const tool = { name: 'slow', description: 'Takes long.', task: 'required', run: () => 'Done.' } as const
  const message = "The tool 'slow' has task 'required', which MCP serves with the part 'mcp-tasks'; add "
    + "mcpTasks(), of import { mcpTasks } from 'triport/mcp-tasks', to parts"
  assert.throws(() => kernelServer({ tools: [tool], parts: [mcp()] }), { name: 'TypeError', message })
  const server = kernelServer({ tools: [{ ...tool, task: 'optional' }], parts: [mcp()] })
  const late = { ...tool, name: 'slower' }
  assert.throws(() => { server.catalog.add(late) }, { message: /^The tool 'slower' has task / })
  assert.equal(server.catalog.tools.length, 1)
  await server.close()
})
