/** ACP over streams in memory: its methods, what a client sees of a run, questions, and how all ends. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { defineAgent, definePrompt, Fault, memoryStore, serveStdio } from '../../../lib/index.ts'
import { eventually } from '../../fixtures/client.ts'
import { damagedStore, damages } from '../../fixtures/damaged-store.ts'
import type { Call, StdioOptions } from '../../../lib/index.ts'

type Json = Readonly<Record<string, any>>

const cwd = process.cwd()

/** Agents by their names. */
const echo = defineAgent({
  name: 'Echo', description: 'Says it again.', run: (prompt, { history }) => `${history.length}: ${prompt}`,
})
const agentOf = (run: (prompt: string, call: Call) => unknown) => (
  defineAgent({ name: 'Agent', run: run as never })
)

class Editor {
  readonly input = new PassThrough()
  readonly output = new PassThrough()
  readonly over: Promise<void>
  /** What has come so far, besides answers. */
  readonly others: Json[] = []
  readonly #answers = new Map<unknown, (message: Json) => void>()
  #id = 0

  constructor(what: unknown, options: Partial<StdioOptions> = {}) {
    const { input, output } = this
    this.over = serveStdio(what as never, {
      protocol: 'acp', input, output, log: false, graceMs: 20, ...options,
    })
    let text = ''
    output.on('data', (chunk) => {
      const lines = (text + String(chunk)).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) this.#take(JSON.parse(line))
    })
  }

  #take(message: Json): void {
    const resolve = message['method'] === undefined ? this.#answers.get(message['id']) : undefined
    if (resolve === undefined) this.others.push(message)
    else resolve(message)
  }

  write(message: object | string): void {
    const line = typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })
    this.input.write(`${line}\n`)
  }

  ask(method: string, params?: object): Promise<Json> {
    const id = ++this.#id
    const answer = new Promise<Json>((resolve) => { this.#answers.set(id, resolve) })
    this.write({ id, method, params })
    return answer
  }

  /** Initializes, and begins a session. */
  async begin(clientCapabilities: object = {}): Promise<string> {
    await this.ask('initialize', { protocolVersion: 1, clientCapabilities })
    const { result } = await this.ask('session/new', { cwd, mcpServers: [] })
    return result.sessionId
  }

  prompt(sessionId: string, ...blocks: (string | object)[]): Promise<Json> {
    const prompt = blocks.map((one) => typeof one === 'string' ? { type: 'text', text: one } : one)
    return this.ask('session/prompt', { sessionId, prompt })
  }

  /** The updates that have come since. */
  updates(): readonly Json[] {
    const found = this.others.splice(0).filter(({ method }) => method === 'session/update')
    return found.map(({ params }) => params.update)
  }

  texts(): readonly unknown[] {
    return this.updates().map(({ content }) => content?.text ?? content)
  }

  /** The next request to the client. */
  async asked(): Promise<Json> {
    const find = (): Json | undefined => this.others.find(({ id, method }) => method && id !== undefined)
    await eventually(() => find() !== undefined, 'a request')
    return find()!
  }

  async end(): Promise<void> {
    this.input.end()
    await this.over
  }
}

test('initialize says what the agent can, and comes first', async () => {
  const editor = new Editor(echo, { name: 'Desk', version: '2.0.0' })
  const early = await editor.ask('session/new', { cwd, mcpServers: [] })
  assert.deepEqual(early['error'], { code: -32600, message: "'initialize' comes before 'session/new'" })
  const { result } = await editor.ask('initialize', { protocolVersion: 7 })
  assert.deepEqual(result, {
    protocolVersion: 1,
    agentInfo: { name: 'Desk', version: '2.0.0' },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: true, embeddedContext: true },
      sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, additionalDirectories: {} },
    },
    authMethods: [],
  })
  for (const protocolVersion of [undefined, '2025-11-25']) {
    const { error } = await editor.ask('initialize', { protocolVersion })
    assert.deepEqual([error.code, error.message], [-32602,
      'protocolVersion must be a whole number, as 1; for a host of MCP, start triport serve --stdio'])
  }
  await editor.end()
})

test('pictures and sounds are announced where an agent may read them', async () => {
  const reader = (name: string, ...inputModes: readonly string[]) => (
    defineAgent({ name, inputModes, run: () => '' })
  )
  for (const [agents, image, audio] of [
    [[reader('a', 'text/plain')], false, false], [[reader('a', 'text/plain', 'image/*')], true, false],
    [[reader('a', 'image/png'), reader('b', 'Audio/wav')], true, true], [[reader('a', '*/*')], true, true],
  ] as const) {
    const editor = new Editor({ agents })
    const { result } = await editor.ask('initialize', { protocolVersion: 1 })
    assert.deepEqual(result.agentCapabilities.promptCapabilities, { image, audio, embeddedContext: true })
    await editor.end()
  }
})

test('a session has a history; another has none', async () => {
  const editor = new Editor(echo)
  const sessionId = await editor.begin()
  assert.deepEqual((await editor.prompt(sessionId, 'a'))['result'], { stopReason: 'end_turn' })
  await editor.prompt(sessionId, 'b', 'c')
  const other = await editor.ask('session/new', { cwd, mcpServers: [] })
  await editor.prompt(other['result'].sessionId, 'd')
  assert.deepEqual(editor.texts(), ['0: a', '2: b\nc', '0: d'])
  await editor.end()
})

test('what an agent says of its work are updates, in order', async () => {
  const editor = new Editor(agentOf(async function * (_prompt, call) {
    call.event({ type: 'reasoning', text: 'Hm.' })
    call.event({ type: 'tool-call', id: 'c', name: 'search', args: { of: 'tea' } })
    yield 'a'
    call.event({ type: 'tool-result', id: 'c', result: 'none', isError: true })
    call.event({ type: 'usage', inputTokens: 3, outputTokens: 2 })
    call.artifact({ name: 'notes', parts: ['later'] })
    yield { text: 'b', data: { sum: 5 } }
  }))
  const sessionId = await editor.begin()
  const { result } = await editor.prompt(sessionId, 'Go')
  assert.deepEqual(result, {
    stopReason: 'end_turn',
    _meta: { 'triport/usage': { inputTokens: 3, outputTokens: 2 }, 'triport/data': { sum: 5 } },
  })
  const updates = editor.updates()
  const id: unknown = updates[1]?.['toolCallId']
  assert.deepEqual(updates, [
    { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Hm.' } },
    {
      sessionUpdate: 'tool_call', toolCallId: id, title: 'search', name: 'search', kind: 'other',
      status: 'in_progress', rawInput: { of: 'tea' },
    },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'a' } },
    {
      sessionUpdate: 'tool_call_update', toolCallId: id, status: 'failed',
      content: [{ type: 'content', content: { type: 'text', text: 'none' } }],
    },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'b' } },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'later' } },
  ])
  await editor.prompt(sessionId, 'Go')
  assert.notEqual(editor.updates()[1]?.['toolCallId'], id)
  await editor.end()
})

test('a call knows its client, its session, its folders and its trace', async () => {
  const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
  const editor = new Editor(agentOf(async (_prompt, call) => JSON.stringify([
    call.protocol, call.client, call.sessionId, call.trace, call.metadata, await call.roots(),
    ['elicit', 'elicit-url', 'sample', 'roots'].map((what) => call.can(what as never)),
  ])))
  const clientInfo = { name: 'e', version: '1', title: null }
  const mcpServers = [{ name: 'files', command: '/bin/files', args: [], env: [] }]
  await editor.ask('initialize', { protocolVersion: 1, clientInfo })
  const { result: { sessionId } } = await editor.ask('session/new', {
    cwd: '/home/a b', additionalDirectories: ['/srv'], mcpServers,
  })
  await editor.ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'a' }], _meta: trace })
  assert.deepEqual(JSON.parse(String(editor.texts()[0])), [
    'acp', { name: 'e', version: '1' }, sessionId, trace, { ...trace, 'triport/mcpServers': mcpServers },
    [{ uri: 'file:///home/a%20b' }, { uri: 'file:///srv' }], [true, false, false, true],
  ])
  await editor.end()
})

test('files of a prompt are links in its text, and blocks of the message', async () => {
  const editor = new Editor(agentOf((prompt, { message }) => [prompt, { type: 'data', data: message }]))
  const sessionId = await editor.begin()
  const blob = { uri: 'file:///b.bin', mimeType: 'a/b', blob: 'aGk=' }
  await editor.prompt(sessionId,
    'See ', { type: 'resource_link', uri: 'file:///a.js', name: 'a.js', size: null },
    { type: 'resource', resource: blob }, { type: 'image', data: 'aGk=', mimeType: 'image/png', uri: null })
  const [text, data] = editor.texts()
  assert.equal(text, 'See [a.js](file:///a.js)[b.bin](file:///b.bin)')
  assert.deepEqual(JSON.parse(String(data).replace(/```(?:json)?/g, '')), [
    { type: 'text', text: 'See ' }, { type: 'resource_link', uri: 'file:///a.js', name: 'a.js' },
    { type: 'resource', resource: blob }, { type: 'image', data: 'aGk=', mimeType: 'image/png' },
  ])
  await editor.end()
})

test('prompts are slash commands', async () => {
  const praise = definePrompt({
    name: 'praise', description: 'Praises.', arguments: [{ name: 'what', required: true }, { name: 'how' }],
    get: ({ what, how = 'much' }) => [
      { role: 'user', content: `Praise ${what} ${how}.` },
      { role: 'user', content: { type: 'resource_link', uri: 'file:///b', name: 'b' } },
    ],
  })
  const stuck = definePrompt({
    name: 'stuck', get: (_, { signal }) => (
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('late')))
    ),
  })
  const secret = definePrompt({ name: 'secret', scopes: ['admin'], get: () => 'secret' })
  const reader = agentOf((prompt, { message }) => `${prompt} ${message.map(({ type }) => type).join()}`)
  const editor = new Editor({ agents: [reader], prompts: [praise, stuck, secret] })
  const sessionId = await editor.begin()
  await eventually(() => editor.others.length > 0, 'commands')
  const availableCommands = [
    { name: 'praise', description: 'Praises.', input: { hint: 'what [how]' } },
    { name: 'stuck', description: '' },
  ]
  const commands = [{ sessionUpdate: 'available_commands_update', availableCommands }]
  assert.deepEqual(editor.updates(), commands)
  await editor.prompt(sessionId, '/praise pears very much')
  await editor.prompt(sessionId, '/praise  ', { type: 'resource_link', uri: 'file:///a', name: 'a' })
  for (const text of ['/praise\napples', '/secret', '/praises x', '/etc/praise', 'a /praise b']) {
    await editor.prompt(sessionId, text)
  }
  assert.deepEqual(editor.texts(), [
    'Praise pears very much.[b](file:///b) text,resource_link',
    'Praise [a](file:///a) much.[b](file:///b) text,resource_link,resource_link',
    'Praise apples much.[b](file:///b) text,resource_link',
    ...['/secret', '/praises x', '/etc/praise', 'a /praise b'].map((text) => `${text} text`),
  ])
  const { error } = await editor.prompt(sessionId, '/praise')
  assert.deepEqual([error.code, error.message], [-32602, "The prompt 'praise' needs the argument 'what'"])
  const cancelled = editor.prompt(sessionId, '/stuck')
  await editor.ask('session/list', {})
  editor.write({ method: 'session/cancel', params: { sessionId } })
  assert.deepEqual((await cancelled)['result'], { stopReason: 'cancelled' })
  assert.equal((await listed(editor))[0]?.['title'], '/praise pears very much')
  await editor.ask('session/resume', { sessionId, cwd, mcpServers: [] })
  await eventually(() => editor.others.length > 0, 'commands')
  assert.deepEqual(editor.updates(), commands)
  await editor.end()
})

const yesOrNo = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }
const titled = {
  type: 'object', properties: { size: { type: 'string', oneOf: [{ const: 's', title: 'Small' }] } },
}
const nothing = { type: 'object', properties: {} }
const form = { type: 'object', properties: { name: { type: 'string', minLength: 2 } }, required: ['name'] }

const asker = agentOf(async (prompt, call) => {
  const { action, content } = await call.elicit({ message: 'Sure?', schema: JSON.parse(prompt) })
  return `${action} ${JSON.stringify(content)}`
})

const permissions: readonly (readonly [
  schema: object, options: readonly string[], answers: readonly string[],
])[] = [
  [yesOrNo, ['Yes allow_once', 'No reject_once'], ['accept {"ok":true}', 'accept {"ok":false}']],
  [titled, ['Small allow_once', 'Decline reject_once'], ['accept {"size":"s"}', 'decline undefined']],
  [nothing, ['Accept allow_once', 'Decline reject_once'], ['accept {}', 'decline undefined']],
]

test('a yes or no and a choice are asked as a permission', async () => {
  const editor = new Editor(asker)
  const sessionId = await editor.begin()
  for (const [schema, options, answers] of permissions) {
    for (const [index, expected] of answers.entries()) {
      const answer = editor.prompt(sessionId, JSON.stringify(schema))
      const { id, method, params } = await editor.asked()
      assert.deepEqual([method, params.sessionId, params.toolCall.title],
        ['session/request_permission', sessionId, 'Sure?'])
      assert.deepEqual(params.options.map(({ name, kind }: Json) => `${name} ${kind}`), options)
      const { optionId } = params.options[index]
      editor.write({ id, result: { outcome: { outcome: 'selected', optionId } } })
      await answer
      const updates = editor.updates()
      assert.deepEqual(updates.map(({ status, toolCallId }) => [status, toolCallId]), [
        ['pending', params.toolCall.toolCallId], ['completed', params.toolCall.toolCallId],
        [undefined, undefined],
      ])
      assert.equal(updates[2]?.['content'].text, expected)
    }
  }
  // The first option is a yes: nothing may be taken for it.
  for (const optionId of ['7', '', ' 0', '0.0', null, 0, false, [], { toString: 0 }, undefined]) {
    const answer = editor.prompt(sessionId, JSON.stringify(yesOrNo))
    const { id } = await editor.asked()
    editor.write({ id, result: { outcome: { outcome: 'selected', optionId } } })
    assert.match((await answer)['error'].message, /none of the options/, JSON.stringify(optionId))
    editor.updates()
  }
  await editor.end()
})

test('other forms and addresses are asked of clients that have declared them', async () => {
  const without = new Editor(asker)
  const refused = await without.prompt(await without.begin(), JSON.stringify(form))
  assert.match(refused['error'].message, /^This client has not declared elicitation\.form, so it can/)
  await without.end()
  const editor = new Editor(asker)
  const sessionId = await editor.begin({ elicitation: { form: {} } })
  const answer = editor.prompt(sessionId, JSON.stringify(form))
  const { id, method, params } = await editor.asked()
  assert.deepEqual([method, params], [
    'elicitation/create', { sessionId, mode: 'form', message: 'Sure?', requestedSchema: form },
  ])
  editor.write({ id, result: { action: 'accept', content: { name: 'x' } } })
  assert.match((await answer)['error'].message, /does not fit the form/)
  await editor.end()
  const opener = new Editor(agentOf(async (_prompt, call) => {
    const { action, elicitationId = '' } = await call.elicit({ message: 'Log in', url: 'https://a.example' })
    call.completeElicitation(elicitationId)
    return action
  }))
  const opened = opener.prompt(await opener.begin({ elicitation: { url: {} } }), 'Go')
  const asked = await opener.asked()
  assert.deepEqual([asked['params'].mode, asked['params'].url], ['url', 'https://a.example'])
  opener.write({ id: asked['id'], result: { action: 'accept' } })
  await opened
  const complete = opener.others.find((one) => one['method'] === 'elicitation/complete')
  assert.equal(complete?.['params'].elicitationId, asked['params'].elicitationId)
  await opener.end()
})

test('a client that refuses to answer, or does not, ends the question', async () => {
  const editor = new Editor(asker, { askTimeoutMs: 30 })
  const sessionId = await editor.begin()
  const first = editor.prompt(sessionId, JSON.stringify(yesOrNo))
  editor.write({ id: (await editor.asked())['id'], error: { code: -32601, message: 'No such method' } })
  assert.equal((await first)['error'].message, 'The client refused to answer: No such method')
  assert.deepEqual(editor.updates().map(({ status }) => status), ['pending', 'failed'])
  const late = await editor.prompt(sessionId, JSON.stringify(yesOrNo))
  assert.match(late['error'].message, /did not answer within 30 ms/)
  const { id } = await editor.asked()
  const withdrawn = editor.others.find(({ method }) => method === '$/cancel_request')
  assert.deepEqual(withdrawn?.['params'], { requestId: id })
  await editor.end()
})

test('a prompt is cancelled with its questions, by its session or by its request', async () => {
  const editor = new Editor(asker)
  const sessionId = await editor.begin()
  for (const message of [
    { method: 'session/cancel', params: { sessionId } },
    { method: '$/cancel_request', params: { requestId: 4 } },
  ]) {
    const answer = editor.prompt(sessionId, JSON.stringify(yesOrNo))
    await editor.asked()
    editor.write(message)
    assert.deepEqual((await answer)['result'], { stopReason: 'cancelled' })
    assert.deepEqual(editor.updates().map(({ status }) => status), ['pending', 'failed'])
  }
  editor.write({ method: 'session/cancel', params: { sessionId: 'unknown' } })
  editor.write({ method: 'session/cancel' })
  await editor.end()
})

test('a question that the agent does not wait for is withdrawn at its end', async () => {
  const editor = new Editor(agentOf((_prompt, call) => {
    void call.elicit({ message: 'Sure?', schema: yesOrNo })
    return new Promise((resolve) => setTimeout(() => resolve('done'), 5))
  }))
  const sessionId = await editor.begin()
  await editor.prompt(sessionId, 'Go')
  const methods = editor.others.map(({ method, params }) => method + (params.update?.status ?? ''))
  assert.deepEqual(methods, [
    'session/updatepending', 'session/request_permission', 'session/update', '$/cancel_request',
    'session/updatefailed',
  ])
  await editor.end()
})

test('one session answers one prompt at a time, and a closed one none', async () => {
  const editor = new Editor(agentOf(async (_prompt, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  }))
  const sessionId = await editor.begin()
  const first = editor.prompt(sessionId, 'a')
  const second = await editor.prompt(sessionId, 'b')
  assert.deepEqual([second['error'].code, second['error'].message],
    [-32600, 'This session answers a prompt already; send session/cancel first'])
  assert.deepEqual((await editor.ask('session/close', { sessionId }))['result'], {})
  assert.deepEqual((await first)['result'], { stopReason: 'cancelled' })
  assert.equal((await editor.prompt(sessionId, 'c'))['error'].code, -32002)
  await editor.end()
})

test('a session is loaded with what was said in it, and resumed without', async () => {
  const editor = new Editor(echo)
  const sessionId = await editor.begin()
  await editor.prompt(sessionId, 'a')
  editor.updates()
  await editor.ask('session/close', { sessionId })
  const params = { sessionId, cwd, mcpServers: [] }
  assert.deepEqual((await editor.ask('session/load', params))['result'], {})
  assert.deepEqual(editor.updates().map(({ sessionUpdate, content }) => [sessionUpdate, content.text]),
    [['user_message_chunk', 'a'], ['agent_message_chunk', '0: a']])
  assert.deepEqual((await editor.ask('session/resume', params))['result'], {})
  assert.deepEqual(editor.updates(), [])
  await editor.prompt(sessionId, 'b')
  assert.deepEqual(editor.texts(), ['2: b'])
  for (const unknown of ['none', '12345678-1234', 7]) {
    const { error } = await editor.ask('session/load', { ...params, sessionId: unknown })
    assert.equal(error.code, typeof unknown === 'number' ? -32602 : -32002)
  }
  await editor.end()
})

test('what sessions take is bounded: the one that was not used for longest is forgotten', async () => {
  const editor = new Editor(echo)
  const [old, used] = [await editor.begin(), await editor.begin()]
  const large = { cwd: `/${'x'.repeat(60_000)}`, mcpServers: [] }
  const over = await editor.ask('session/new', { ...large, additionalDirectories: [large.cwd] })
  assert.match(over['error'].message, /^cwd, additionalDirectories and mcpServers may have 65536 bytes/)
  await editor.prompt(old, 'a')
  // It grows when it is opened again.
  await editor.ask('session/resume', { sessionId: old, ...large })
  await editor.prompt(used, 'a')
  for (let count = 0; count < 280; count++) {
    await editor.prompt(used, 'b')
    await editor.ask('session/new', large)
  }
  assert.equal((await editor.prompt(used, 'c'))['result'].stopReason, 'end_turn')
  assert.equal((await editor.prompt(old, 'c'))['error'].code, -32002)
  await editor.end()
})

test('what prompts that run hold is bounded together', async () => {
  const editor = new Editor(agentOf((_prompt, { signal }) => (
    new Promise((resolve) => signal.addEventListener('abort', resolve))
  )), { maxCallsBytes: 100_000 })
  const [first, second] = [await editor.begin(), await editor.begin()]
  const held = editor.prompt(first, 'x'.repeat(40_000))
  const { error } = await editor.prompt(second, 'x'.repeat(40_000))
  assert.match(error.message, /hold 100000 bytes together/)
  editor.write({ method: 'session/cancel', params: { sessionId: first } })
  await held
  await editor.end()
})

/** The sessions of all pages. */
async function listed(editor: Editor, params: object = {}): Promise<readonly Json[]> {
  const found: Json[] = []
  for (let cursor: unknown; ;) {
    const { result } = await editor.ask('session/list', { ...params, cursor })
    found.push(...result.sessions)
    cursor = result.nextCursor
    if (cursor === undefined) return found
  }
}

const stores: readonly (readonly [what: string, options: () => Partial<StdioOptions>])[] = [
  ['of this process', () => ({})],
  ['of a store', () => (
    { store: memoryStore({ isShared: true }), secret: 'the secret of the editors', deployment: 'editors' }
  )],
]

for (const [what, options] of stores) {
  test(`the sessions ${what} are listed, the one that was used last first, and deleted`, async () => {
    const editor = new Editor(echo, options())
    await editor.ask('initialize', { protocolVersion: 1 })
    const begin = async (folder: string): Promise<string> => {
      const params = { cwd: folder, additionalDirectories: ['/srv'], mcpServers: [] }
      return (await editor.ask('session/new', params))['result'].sessionId
    }
    assert.deepEqual(await listed(editor), [])
    const ids: string[] = []
    for (let count = 0; count < 120; count++) {
      const id = await begin(count % 2 === 0 ? '/even' : '/odd')
      await editor.prompt(id, `Prompt\n  ${count}`)
      ids.unshift(id)
    }
    await begin('/even')
    assert.deepEqual((await listed(editor)).map(({ sessionId }) => sessionId), ids)
    const [last] = await listed(editor)
    assert.deepEqual({ ...last, updatedAt: '' }, {
      sessionId: ids[0], cwd: '/odd', additionalDirectories: ['/srv'], title: 'Prompt 119', updatedAt: '',
    })
    assert.ok(Math.abs(Date.parse(last?.['updatedAt']) - Date.now()) < 60_000)
    const even = await listed(editor, { cwd: '/even' })
    assert.deepEqual(even.map(({ sessionId }) => sessionId), ids.filter((_, at) => at % 2 === 1))
    await editor.prompt(ids[5]!, 'Again')
    assert.deepEqual([(await listed(editor))[0]?.['sessionId'], (await listed(editor))[0]?.['title']],
      [ids[5], 'Prompt 114'])
    for (let times = 0; times < 2; times++) {
      assert.deepEqual((await editor.ask('session/delete', { sessionId: ids[5] }))['result'], {})
      assert.equal((await listed(editor)).length, 119)
    }
    assert.equal((await editor.prompt(ids[5]!, 'Again'))['error'].code, -32002)
    const params = { sessionId: ids[5], cwd, mcpServers: [] }
    assert.equal((await editor.ask('session/load', params))['error'].code, -32002)
    for (const [wrong, why] of [
      [{ cwd: 'here' }, 'cwd must be an absolute path'],
      [{ cursor: 'next' }, 'cursor must be the nextCursor of a page before it'],
    ] as const) {
      assert.deepEqual((await editor.ask('session/list', wrong))['error'], { code: -32602, message: why })
    }
    await editor.end()
  })
}

test('a session of which what is kept cannot be read is passed over, and goes on', async () => {
  const store = damagedStore()
  const lines: unknown[] = []
  const editor = new Editor(echo, {
    store, secret: 'the secret of the editors', deployment: 'editors',
    log: (_level, line, fields) => { lines.push(line.slice(0, 27), fields?.['collection']) },
  })
  await editor.ask('initialize', { protocolVersion: 1 })
  const ids: string[] = []
  for (let count = 0; count < 70; count++) {
    const { result } = await editor.ask('session/new', { cwd, mcpServers: [] })
    ids.unshift(result.sessionId)
    await editor.prompt(ids[0]!, `Prompt ${count}`)
  }
  for (const [what, change] of Object.entries(damages)) {
    // More than a page, and one of the next.
    for (const id of [...ids.slice(0, 55), ids[60]!]) store.damage('acp-sessions', change, id)
    const left = [...ids.slice(55, 60), ...ids.slice(61)]
    assert.deepEqual((await listed(editor)).map(({ sessionId }) => sessionId), left, what)
    assert.deepEqual((await editor.ask('session/load', { sessionId: ids[60], cwd, mcpServers: [] }))['error'],
      undefined, what)
  }
  assert.deepEqual(lines, ['A kept value cannot be read', 'acp-sessions'])
  await editor.prompt(ids[60]!, 'Again')
  assert.deepEqual((await listed(editor))[0]?.['sessionId'], ids[60])
  assert.deepEqual((await editor.ask('session/delete', { sessionId: ids[0] }))['result'], {})
  assert.equal(store.keys('acp-sessions').length, 69)
  await editor.end()
})

test('a session that is deleted while it answers is cancelled, and not kept', async () => {
  const editor = new Editor(agentOf((_prompt, { signal }) => (
    new Promise((resolve) => signal.addEventListener('abort', () => resolve('late')))
  )))
  const sessionId = await editor.begin()
  const answer = editor.prompt(sessionId, 'a')
  await editor.ask('session/delete', { sessionId })
  assert.deepEqual((await answer)['result'], { stopReason: 'cancelled' })
  assert.deepEqual(await listed(editor), [])
  await editor.end()
})

test('a session of a store that fails is answered all the same', async () => {
  const store = memoryStore({ isShared: true })
  const lines: string[] = []
  const editor = new Editor(echo, {
    secret: 'the secret of the editors', deployment: 'editors', log: (_level, line) => { lines.push(line) },
    store: {
      ...store, write: (key, ...rest) => key.collection.endsWith('acp-sessions')
        ? Promise.reject(new Error('full')) : store.write(key, ...rest),
    },
  })
  const sessionId = await editor.begin()
  assert.deepEqual((await editor.prompt(sessionId, 'a'))['result'], { stopReason: 'end_turn' })
  assert.deepEqual(lines, ['A session could not be kept: it will not be listed'])
  await editor.end()
})

test('of several agents a session has the one that is chosen; those with scopes are hidden', async () => {
  const secret = defineAgent({ name: 'Secret', scopes: ['admin'], run: () => 'secret' })
  const agents = [echo, defineAgent({ name: 'Shout', run: (prompt) => prompt.toUpperCase() }), secret]
  const editor = new Editor({ agents })
  await editor.ask('initialize', { protocolVersion: 1 })
  const { result } = await editor.ask('session/new', { cwd, mcpServers: [] })
  const { sessionId, configOptions: [option] } = result
  const values = option.options.map(({ value }: Json) => value)
  const { id, type, category, currentValue } = option
  assert.deepEqual([id, type, category, currentValue], ['agent', 'select', 'mode', values[0]])
  assert.ok(values.includes('shout') && !values.includes('secret'), values.join())
  const choose = (configId: string, value: unknown) => (
    editor.ask('session/set_config_option', { sessionId, configId, value })
  )
  assert.equal((await choose('agent', 'shout'))['result'].configOptions[0].currentValue, 'shout')
  await editor.prompt(sessionId, 'a')
  assert.deepEqual(editor.texts(), ['A'])
  assert.match((await choose('agent', 'secret'))['error'].message, /^value must be one of /)
  const setMode = (modeId: string) => editor.ask('session/set_mode', { sessionId, modeId })
  assert.deepEqual(result.modes.currentModeId, values[0])
  assert.deepEqual(result.modes.availableModes.map(({ id }: Json) => id), values)
  assert.match((await setMode('secret'))['error'].message, /^modeId must be one of /)
  assert.deepEqual((await setMode('echo'))['result'], {})
  await editor.prompt(sessionId, 'a')
  assert.deepEqual(editor.texts(), ['2: a'])
  assert.equal((await choose('agent', 'shout'))['result'].configOptions[0].currentValue, 'shout')
  // The one that answered last answers again.
  await editor.prompt(sessionId, 'a')
  await editor.ask('session/close', { sessionId })
  const opened = await editor.ask('session/resume', { sessionId, cwd, mcpServers: [] })
  assert.equal(opened['result'].configOptions[0].currentValue, 'shout')
  assert.equal(opened['result'].modes.currentModeId, 'shout')
  assert.equal((await choose('model', 'shout'))['error'].message, "configId must be 'agent'")
  await editor.end()
})

test('faults have the codes of the protocol, and a defect shows nothing', async () => {
  const faults: Readonly<Record<string, unknown>> = {
    failed: new Fault('failed', 'It is out of tea', { cups: 0 }),
    missing: new Fault('not-found', 'No such cup'),
    defect: new Error('secret'),
    refused: { text: 'Not that.', state: 'rejected' },
    open: { text: 'Which?', state: 'input-required' },
  }
  const editor = new Editor(agentOf((prompt) => {
    const what = faults[prompt]
    if (what instanceof Error) throw what
    return what
  }))
  const sessionId = await editor.begin()
  assert.deepEqual((await editor.prompt(sessionId, 'failed'))['error'],
    { code: -32603, message: 'It is out of tea', data: { cups: 0 } })
  assert.deepEqual((await editor.prompt(sessionId, 'missing'))['error'],
    { code: -32002, message: 'No such cup' })
  const { error } = await editor.prompt(sessionId, 'defect')
  assert.deepEqual(Object.keys(error), ['code', 'message'])
  assert.match(error.message, /^Internal error \(request [\w-]+\)$/)
  assert.deepEqual((await editor.prompt(sessionId, 'refused'))['result'], { stopReason: 'refusal' })
  assert.deepEqual((await editor.prompt(sessionId, 'open'))['result'], { stopReason: 'end_turn' })
  assert.deepEqual(editor.texts(), ['Not that.', 'Which?'])
  await editor.end()
})

const wrongs: readonly (readonly [method: string, params: unknown, code: number, why: RegExp])[] = [
  ['session/fork', {}, -32601, /^There is no method 'session\/fork' here; there are initialize, .*prompt$/],
  ['session/cancel', {}, -32601, /^'session\/cancel' is a notification; send it without an id$/],
  ['constructor', {}, -32601, /no method/],
  ['session/new', [], -32600, /"params" must be an object/],
  ['session/new', { cwd: 'here' }, -32602, /^cwd must be an absolute path$/],
  ['session/new', { cwd, additionalDirectories: ['x'] }, -32602, /^additionalDirectories\[0\] must be /],
  ['session/new', { cwd, additionalDirectories: 'x' }, -32602, /^additionalDirectories must be a list/],
  ['session/new', { cwd, mcpServers: {} }, -32602, /^mcpServers must be a list$/],
  ['session/delete', {}, -32602, /^sessionId must be a string$/],
  ['authenticate', { methodId: 'x' }, -32602, /authMethods is empty/],
  ['session/prompt', { sessionId: 'x', prompt: [] }, -32002, /^There is no such session; begin one with/],
  ['session/prompt', { prompt: [] }, -32602, /^sessionId must be a string$/],
  ['session/prompt', { prompt: 'x' }, -32602, /^prompt must be a list of content blocks$/],
  ['session/prompt', { prompt: [] }, -32602, /^prompt must be a list/],
  ['session/prompt', { prompt: [7] }, -32602, /^prompt\[0\] must be a content block$/],
  ['session/prompt', { prompt: [{}] }, -32602, /^prompt\[0\]\.type must be text.* or resource$/],
  ['session/prompt', { prompt: [{ type: 'video' }] }, -32602,
    /^prompt\[0\]\.type must be text, image.*: "video" would not be seen$/],
  ['session/prompt', { prompt: [{ type: 'text' }] }, -32602, /^prompt\[0\]\.text must be a string$/],
  ['session/prompt', { prompt: [{ type: 'image', data: '?', mimeType: 'a/b' }] }, -32602,
    /^prompt\[0\]\.data must be base64$/],
  ['session/prompt', { prompt: [{ type: 'resource', resource: { uri: 'a' } }] }, -32602,
    /^prompt\[0\]\.resource\.blob must be a string$/],
]

test('what is wrong with a request is a sentence', async () => {
  const editor = new Editor(echo)
  const sessionId = await editor.begin()
  for (const [index, [method, params, code, why]] of wrongs.entries()) {
    const isPrompt = method === 'session/prompt' && index !== 11
    const all = Array.isArray(params) ? params : { ...isPrompt && { sessionId }, ...params as object }
    const { error } = await editor.ask(method, all)
    assert.equal(error.code, code, `${method} ${JSON.stringify(params)}: ${JSON.stringify(error)}`)
    assert.match(error.message, why)
  }
  await editor.end()
})

test('lines that are no messages are answered without an id, or not at all', async () => {
  const editor = new Editor(echo, { maxBodyBytes: 200 })
  for (const line of ['{', '7', '[]', `"${'x'.repeat(300)}"`, '{"jsonrpc":"1.0","id":3,"method":"a"}']) {
    editor.write(line)
  }
  editor.write({ result: 1 })
  editor.write({ id: 9, result: 1 })
  editor.write({ method: 'unknown/notice' })
  await editor.end()
  assert.deepEqual(editor.others.map(({ id, error }) => [id, error.code, error.message]), [
    [null, -32700, 'A line is not JSON'], [null, -32600, 'A message is a JSON object'],
    [null, -32600, 'A message is a JSON object'], [null, -32600, 'A line is longer than 200 bytes'],
    [3, -32600, '"jsonrpc" must be "2.0"'],
  ])
})

test('a client that reads slowly makes the agent wait', async () => {
  let made = 0
  const editor = new Editor(agentOf(async function * () {
    for (; made < 1_000; made++) yield 'x'.repeat(10_000)
  }))
  const sessionId = await editor.begin()
  editor.output.pause()
  const answer = editor.prompt(sessionId, 'Go')
  await eventually(() => made > 0, 'a piece')
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.ok(made < 100, `${made} pieces were made`)
  editor.output.resume()
  assert.deepEqual((await answer)['result'], { stopReason: 'end_turn' })
  assert.equal(editor.texts().length, 1_000)
  await editor.end()
})

test('the end of the input answers what came, and ends what takes longer than graceMs', async () => {
  let isAborted = false
  const editor = new Editor(agentOf(async (prompt, { signal }) => {
    if (prompt === 'short') return new Promise((resolve) => setTimeout(() => resolve('done'), 5))
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    isAborted = true
  }), { graceMs: 1_000 })
  const [one, other] = [await editor.begin(), await editor.begin()]
  const short = editor.prompt(one, 'short')
  const long = editor.prompt(other, 'long')
  const again = editor.ask('session/load', { sessionId: one, cwd, mcpServers: [] })
  await editor.end()
  assert.deepEqual((await short)['result'], { stopReason: 'end_turn' })
  assert.deepEqual((await long)['result'], { stopReason: 'cancelled' })
  assert.deepEqual((await again)['result'], {})
  assert.ok(isAborted)
})

test('what is asked after the end of the input is not waited for', async () => {
  const agent = agentOf(async (prompt, call) => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    const asked = call.elicit({ message: 'Sure?', schema: yesOrNo as never })
    return prompt === 'ask' ? (await asked).action : asked.catch(({ message }) => `Nobody: ${message}`)
  })
  const editor = new Editor(agent, { graceMs: 30_000 })
  const [one, other] = [await editor.begin(), await editor.begin()]
  const [asking, going] = [editor.prompt(one, 'ask'), editor.prompt(other, 'go on')]
  const begun = performance.now()
  await editor.end()
  assert.ok(performance.now() - begun < 5_000)
  assert.deepEqual((await asking)['result'], { stopReason: 'cancelled' })
  assert.deepEqual((await going)['result'], { stopReason: 'end_turn' })
  assert.deepEqual(editor.texts(), ['Nobody: The client has closed its end'])
})

test('sessions are opened one at a time: each takes a whole history', async () => {
  const store = memoryStore({ isShared: true })
  let [reading, most] = [0, 0]
  const editor = new Editor(echo, {
    secret: 'the secret of the editors', deployment: 'editors', store: {
      ...store, async read(key) {
        most = Math.max(most, ++reading)
        await new Promise((resolve) => setTimeout(resolve, 1))
        reading--
        return store.read(key)
      },
    },
  })
  const sessionId = await editor.begin()
  await editor.prompt(sessionId, 'a')
  const params = { sessionId, cwd, mcpServers: [] }
  const missing = editor.ask('session/load', { ...params, sessionId: 'missing-1' })
  const opened = Array.from({ length: 20 }, () => editor.ask('session/load', params))
  for (const answer of await Promise.all(opened)) assert.deepEqual(answer['result'], {})
  assert.equal((await missing)['error'].code, -32002)
  assert.equal(most, 1)
  await editor.end()
})

test('streams that fail before anything is read end the server', async () => {
  const editor = new Editor(echo)
  editor.input.destroy(new Error('gone'))
  editor.output.destroy(new Error('gone'))
  await editor.over
})

test('wrong options and nothing to ask are refused', async () => {
  const rejected = (what: unknown, options: object, why: RegExp) => {
    const all = { input: new PassThrough(), log: false, ...options }
    return assert.rejects(serveStdio(what as never, all as never), why)
  }
  const tool = { name: 'add', description: 'Adds.', inputSchema: { type: 'object' }, run: () => '1' }
  const output = new PassThrough()
  await rejected({ tools: [tool] }, { protocol: 'acp', output }, /^TypeError: Over ACP agents are served/)
  await rejected(echo, { protocol: 'http', output }, /^TypeError: protocol is "http"; over stdio write/)
  const lines: string[] = []
  const editor = new Editor(echo, {
    instructions: 'Ask.', apiKey: 'k', log: (_level: string, message: string) => { lines.push(message) },
  })
  await editor.end()
  assert.match(lines.join('\n'), /needs no apiKey, instructions; leave that out/)
})
