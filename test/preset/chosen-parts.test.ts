/** Servers of chosen parts beside the preset, which has all of them: what clients get is the same. */
import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import test from 'node:test'
import { a2a } from '../../lib/parts/a2a/part.ts'
import { agui } from '../../lib/parts/agui/part.ts'
import { docs } from '../../lib/parts/docs/part.ts'
import { http } from '../../lib/parts/http/part.ts'
import { mcp } from '../../lib/parts/mcp/part.ts'
import { mcpTasks } from '../../lib/parts/mcp-tasks/part.ts'
import { apps } from '../../lib/parts/apps/part.ts'
import { oauthProxy } from '../../lib/parts/oauth/oauth-proxy.ts'
import { oauth } from '../../lib/parts/oauth/part.ts'
import { openai } from '../../lib/parts/openai/part.ts'
import { skills } from '../../lib/parts/skills/part.ts'
import { uiStream } from '../../lib/parts/ui-stream/part.ts'
import { createServer, defineAgent, defineResource, defineTool } from '../../lib/kernel.ts'
import { jsonOf, request, serve } from '../fixtures/client.ts'
import { serve as serveParts } from '../fixtures/kernel.ts'
import { ask, begin, withMeta } from '../parts/mcp/client.ts'
import { defineTool as defineToolOfAll, serveStdio } from '../../lib/index.ts'
import type { Part, Tool, ToolDefinition } from '../../lib/kernel.ts'
import type { SkillDefinition } from '../../lib/parts/skills/skill.ts'
import type { Json } from '../fixtures/events.ts'
import type { Answering } from '../parts/mcp/client.ts'

const refunds: SkillDefinition = {
  name: 'refunds', description: 'Refunds.', instructions: 'Ask.', files: { 'docs/mail.md': 'Dear …' },
}
const greet: SkillDefinition = { name: 'greet', description: 'Greets.', instructions: 'Hello.' }
const uri = 'skill://refunds/SKILL.md'
const UI = 'io.modelcontextprotocol/ui'
const SKILLS = 'io.modelcontextprotocol/skills'
const TASKS = 'io.modelcontextprotocol/tasks'
const capabilities = { extensions: { [UI]: { mimeTypes: ['text/html;profile=mcp-app'] }, [TASKS]: {} } }

const clerk = defineAgent({ name: 'Clerk', description: 'Helps.', run: () => 'Hello.' })
const add = defineTool({ name: 'add', description: 'Adds.', run: () => '2' })
const slow = defineTool({ name: 'slow', description: 'Waits.', task: 'optional', run: () => 'done' })
const long = defineTool({ name: 'long', description: 'Takes long.', task: 'required', run: () => 'done' })
const offer = {
  name: 'Shop', agents: [clerk], tools: [add, slow],
  resources: [defineResource({ uri: 'test://a', name: 'a', read: () => 'a' })],
}

function everything(): readonly Part[] {
  return [
    docs(), http(), openai(), agui(), uiStream(), mcp(), a2a(), oauth(), apps(), mcpTasks(),
    skills([refunds, greet]),
  ]
}

/** What clients get that know all extensions, over MCP. */
async function overMcp(server: Answering): Promise<readonly string[]> {
  const asked: readonly (readonly [method: string, params?: Json])[] = [
    ['server/discover'], ['tools/list'], ['resources/list'], ['skills/list'], ['skills/get', { uri }],
    ['resources/directory/read', { uri: 'skill://refunds' }], ['resources/read', { uri }],
    ['tasks/get', { taskId: 'none' }], ['tasks/list'],
  ]
  const answers: string[] = []
  for (const [method, params] of asked) {
    const headers = params?.taskId === undefined ? {} : { 'Mcp-Name': params.taskId }
    const { id: _id, ...answer } = await ask(server, method, params, { capabilities, headers })
    answers.push(JSON.stringify(answer))
  }
  for (const revision of ['2025-06-18', '2025-11-25']) {
    const session = await begin(server, revision, capabilities)
    answers.push(JSON.stringify(session.opened))
    for (const method of ['tools/list', 'skills/list', 'tasks/list']) {
      answers.push(JSON.stringify(await session.ask(method)))
    }
  }
  return answers
}

/** What clients get over plain HTTP and A2A. */
async function overHttp(server: Answering): Promise<readonly string[]> {
  const paths = [
    '/', '/health', '/openapi.json', '/llms.txt', '/.well-known/agent-card.json', '/skills',
    '/skills/refunds', '/skills/refunds/docs/mail.md', '/resources', '/tools',
  ]
  const answers: string[] = []
  for (const path of paths) answers.push(await textOf(server, path))
  return answers
}

async function textOf(server: Answering, path: string): Promise<string> {
  return (await server.fetch(request(path, undefined, { accept: '*/*' }))).text()
}

test('all parts, chosen one by one, answer what the preset answers', async (t) => {
  const preset = serve(t, { ...offer, protocol: 'all', skills: [refunds, greet] })
  const chosen = serveParts(t, { ...offer, parts: everything() })
  assert.deepEqual([...chosen.protocols].toSorted(), [...preset.protocols].toSorted())
  assert.deepEqual(await overMcp(chosen), await overMcp(preset))
  assert.deepEqual(await overHttp(chosen), await overHttp(preset))
  const { capabilities: offered } = (await ask(chosen, 'server/discover')).result
  assert.deepEqual(Object.keys(offered.extensions), [TASKS, SKILLS])
})

test('one client over stdio gets what clients of the preset get over HTTP', async (t) => {
  const cart = defineToolOfAll({ name: 'cart', ui: { html: '<!doctype html>' }, run: () => '' })
  const all = { tools: [cart, slow] }
  const options = { name: 'Shop', skills: [refunds, greet] }
  const server = serve(t, { ...all, ...options, protocol: 'mcp' })
  const methods: readonly (readonly [method: string, params?: Json])[] = [
    ['server/discover'], ['tools/list'], ['resources/list'], ['skills/list'], ['skills/get', { uri }],
    ['resources/directory/read', { uri: 'skill://refunds' }], ['tasks/list'],
  ]
  const messages = methods.map(([method, params], id) => (
    { jsonrpc: '2.0', id, method, params: withMeta(params, { capabilities }) }
  ))
  const output = new PassThrough()
  const input = Readable.from(messages.map((message) => `${JSON.stringify(message)}\n`))
  await serveStdio(all, { ...options, input, output, signals: false, log: false })
  const lines = String(output.read()).trim().split('\n').map((line) => JSON.parse(line))
  for (const [id, [method, params]] of methods.entries()) {
    const { id: _id, ...answer } = await ask(server, method, params, { capabilities })
    const { id: _same, ...line } = lines.find((one) => one.id === id)
    assert.deepEqual(line, answer, method)
  }
})

test('the order in which parts are listed changes nothing that clients of MCP get', async (t) => {
  const parts = everything()
  const wanted = await overMcp(serveParts(t, { ...offer, parts }))
  for (let at = 1; at < parts.length; at += 3) {
    const turned = [...parts.slice(at), ...parts.slice(0, at)]
    assert.deepEqual(await overMcp(serveParts(t, { ...offer, parts: turned })), wanted, String(at))
  }
  assert.deepEqual(await overMcp(serveParts(t, { ...offer, parts: parts.toReversed() })), wanted)
})

test('skills are served with whichever protocols are there, and listed before or behind them', async (t) => {
  const own = (): Part => skills([refunds])
  for (const parts of [[own(), http(), docs()], [docs(), http(), own()]]) {
    const server = serveParts(t, { ...offer, parts })
    assert.match(await textOf(server, '/skills'), /^\{"skills":\[\{"name":"refunds"/)
    assert.equal(await textOf(server, '/skills/refunds/docs/mail.md'), 'Dear …')
    assert.match(await textOf(server, '/llms.txt'), /\n## Skills\n\n- \[refunds\]/)
    assert.match(await textOf(server, '/openapi.json'), /"\/skills\/refunds"/)
    assert.match(await textOf(server, '/health'), /"\/skills"/)
  }
  for (const parts of [[own(), a2a()], [a2a(), own()]]) {
    const card = await jsonOf(await serveParts(t, { ...offer, parts }).fetch(
      request('/.well-known/agent-card.json'),
    )) as Json
    assert.equal(card.skills.at(-1).id, 'refunds')
  }
  for (const parts of [[own(), mcp()], [mcp(), own()]]) {
    const { result } = await ask(serveParts(t, { parts }), 'skills/list')
    assert.deepEqual(result.skills.map((one: Json) => one.uri), [uri])
  }
})

test('without its part an extension is not there, and MCP is as it is alone', async (t) => {
  const server = serveParts(t, { ...offer, parts: [mcp(), http(), a2a()] })
  assert.equal('extensions' in (await ask(server, 'server/discover')).result.capabilities, false)
  const headers = { 'Mcp-Name': 't' }
  for (const method of ['skills/list', 'resources/directory/read', 'tasks/get', 'tasks/update']) {
    assert.equal((await ask(server, method, { taskId: 't' }, { headers })).error.code, -32601, method)
  }
  const { opened } = await begin(server, '2025-11-25')
  assert.equal('tasks' in opened.capabilities, false)
  assert.deepEqual(JSON.parse(await textOf(server, '/skills')), { skills: [] })
})

test('two servers of one process have extensions and skills of their own, also of one part', async (t) => {
  const tasks = mcpTasks()
  const one = serveParts(t, { tools: [slow], parts: [mcp(), tasks, skills([refunds])] })
  const other = serveParts(t, { tools: [add], parts: [mcp(), tasks, skills([greet])] })
  const bare = serveParts(t, { tools: [slow], parts: [mcp()] })
  const extensionsOf = async (server: Answering): Promise<Json> => (
    (await ask(server, 'server/discover')).result.capabilities.extensions
  )
  assert.deepEqual(await extensionsOf(one), { [TASKS]: {}, [SKILLS]: { directoryRead: true } })
  assert.deepEqual(await extensionsOf(other), { [SKILLS]: { directoryRead: true } })
  assert.equal(await extensionsOf(bare), undefined)
  const skillsOf = async (server: Answering): Promise<Json> => (
    (await ask(server, 'skills/list')).result.skills.map((skill: Json) => skill.uri)
  )
  assert.deepEqual([await skillsOf(one), await skillsOf(other)], [[uri], ['skill://greet/SKILL.md']])
})

test('a tool runs as a task where the part of tasks is there', async (t) => {
  const called = async (task: Tool['task'], parts: readonly Part[]): Promise<Json> => {
    const server = serveParts(t, { tools: [{ ...long, task }], parts })
    return (await ask(server, 'tools/call', { name: 'long', arguments: {} }, { capabilities })).result
  }
  assert.equal((await called('optional', [mcp()])).content[0].text, 'done')
  assert.equal((await called('required', [mcpTasks(), mcp()])).resultType, 'task')
})

test('a tool has its page where the part of pages is there, however it was defined', async (t) => {
  const page = '<!doctype html><title>Cart</title>'
  const cart = (name: string): ToolDefinition => (
    { name, description: 'Shows.', ui: { html: page, prefersBorder: true }, run: () => '' }
  )
  const ui = (name: string): object => (
    { ui: { resourceUri: `ui://tools/${name}`, visibility: ['model', 'app'] } }
  )
  const chosen = serveParts(t, {
    tools: [cart('one'), defineTool(cart('two')), defineToolOfAll(cart('three'))], parts: [apps(), mcp()],
  })
  const whole = serve(t, { tools: [defineTool(cart('one'))], protocol: 'mcp' })
  for (const [server, names] of [[chosen, ['one', 'two', 'three']], [whole, ['one']]] as const) {
    server.catalog.add(defineTool(cart('late')))
    const { tools } = (await ask(server, 'tools/list', {}, { capabilities })).result
    const all = [...names, 'late']
    assert.deepEqual(tools.map(({ name, _meta }: Json) => [name, _meta]), all.map((name) => [name, ui(name)]))
    for (const name of all) {
      const { contents: [{ text, _meta }] } = (await ask(
        server, 'resources/read', { uri: `ui://tools/${name}` }, { capabilities },
      )).result
      assert.deepEqual([text, _meta], [page, { ui: { prefersBorder: true } }])
    }
    assert.deepEqual((await ask(server, 'server/discover')).result.capabilities.extensions, { [UI]: {} })
  }
  const wrong = defineTool({ ...cart('wrong'), ui: { html: 'a' } })
  assert.throws(() => serveParts(t, { tools: [wrong], parts: [mcp(), apps()] }), {
    name: 'TypeError', message: /^The tool 'wrong' has a ui\.html that is no whole document; begin it with/,
  })
  const renamed = { ...defineTool(cart('one')), name: 'copy' }
  const copy = serveParts(t, { tools: [renamed], parts: [mcp(), apps()] })
  assert.equal(copy.catalog.tool('copy')?.ui?.uri, 'ui://tools/copy')
})

test('an extension that needs MCP is refused by name without it', () => {
  for (const [part, name] of [[mcpTasks(), 'mcp-tasks'], [apps(), 'apps']] as const) {
    assert.throws(() => serveParts({ after() {} }, { ...offer, parts: [http(), part] }), {
      name: 'TypeError', message: `The part '${name}' needs 'mcp'; add that to parts`,
    })
  }
})

test('what an extension is made with is checked where it is made', () => {
  const rows: readonly (readonly [make: () => unknown, message: RegExp])[] = [
    [() => mcpTasks({ max: 1 } as Json), /^mcpTasks .*'max'/],
    [() => apps({ page: 'a' } as Json), /^apps .*'page'/],
    [() => skills(undefined as Json), /^skills is undefined; write a folder/],
    [() => skills(5 as Json), /^skills is 5; write a folder/],
    [() => (skills as Json)('./one', './two'), /^skills takes one argument, .*write skills\(\['\.\/one'/],
  ]
  for (const [make, message] of rows) assert.throws(make, { name: 'TypeError', message })
})

test('skills alone are something to serve, and no skills are nothing', (t) => {
  const { catalog } = serveParts(t, { parts: [mcp(), skills([refunds])] })
  assert.equal(catalog.resources.length, 2)
  const message = /^There is nothing to serve/
  assert.throws(() => serveParts(t, { parts: [mcp(), skills([])] }), { name: 'TypeError', message })
})

test('a part that cannot serve what there is says so without a word of the preset', (t) => {
  assert.throws(() => serveParts(t, { resources: offer.resources, parts: [a2a()] }), {
    name: 'TypeError', message: 'a2a needs an agent or a tool: A2A clients send messages; '
      + 'add agents: [agent] or tools: [tool], or leave a2a() out of the parts',
  })
})

test('logins at a provider are served by their part, and its absence is told', () => {
  const auth = oauthProxy({
    resource: 'https://agents.example/mcp', authorizationEndpoint: 'https://login.example/a',
    tokenEndpoint: 'https://login.example/t', clientId: 'a', clientSecret: 'b', identify: () => undefined,
  })
  const tools = [{ name: 'add', run: () => 1 + 2 }]
  const options = { tools, auth, secret: 'a secret of some length', log: false } as const
  assert.throws(() => createServer({ ...options, parts: [mcp()] }), {
    name: 'TypeError', message: `auth needs the part 'oauth', where its users log in; add that to parts`,
  })
  const server = createServer({ ...options, parts: [mcp(), oauth()] })
  assert.deepEqual(server.protocols, ['mcp'])
})
