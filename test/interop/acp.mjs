/**
 * The client of ACP, as editors use it, with the command as its agent: answers whole and in pieces, history,
 * tools, questions, files, cancelling, errors, a choice of agents; threads listed, deleted, kept by a store.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { compile } from '../../dist/index.js'
import { shows } from './clients.mjs'
import { missing, node22, root } from './start.mjs'
import { THOUGHT, tool } from './weather.mjs'

const skip = missing('@agentclientprotocol/sdk', 'acp-0.4')
if (skip) console.log(`acp: skipped: ${skip}`)
const { client, methods, ndJsonStream, RequestError } = skip ? {} : await import('@agentclientprotocol/sdk')
const { ClientSideConnection } = skip ? {} : await import('acp-0.4')

const folder = mkdtempSync(join(tmpdir(), 'acp-'))
test.after(() => rmSync(folder, { recursive: true }))
const module = join(folder, 'agents.mjs')

writeFileSync(module, `
console.log('The module says something.')

export const name = 'Desk'

import { agent } from '${new URL('weather.mjs', import.meta.url)}'

export const agents = [
  {
    name: 'Echo', description: 'Says it again.',
    run: (prompt, { history, client }) => client.name + ' ' + history.length + ': ' + prompt,
  },
  {
    name: 'Worker',
    async* run(_prompt, call) {
      call.event({ type: 'reasoning', text: 'Let me see.' })
      call.event({ type: 'tool-call', id: 'c1', name: 'search', args: { of: 'tea' } })
      call.event({ type: 'tool-result', id: 'c1', result: { found: 2 } })
      yield 'Two '
      yield 'cups.'
      yield { type: 'image', data: 'aGk=', mimeType: 'image/png' }
      yield { type: 'resource_link', uri: 'file:///cups.md', name: 'cups.md' }
      yield { type: 'data', data: { cups: 2 } }
      yield { data: { sum: 2 } }
    },
  },
  {
    name: 'Asker',
    async run(prompt, call) {
      const schema = JSON.parse(prompt)
      const { action, content } = await call.elicit({ message: 'Really?', schema })
      return action + ' ' + JSON.stringify(content ?? null)
    },
  },
  {
    name: 'Slow',
    async* run(_prompt, { signal }) {
      yield 'One'
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  },
  { name: 'Reader', run: (prompt, { message }) => prompt + JSON.stringify(message) },
  { name: 'Folders', run: async (_prompt, call) => JSON.stringify(await call.roots()) },
  { name: 'Servers', run: (_prompt, { metadata }) => JSON.stringify(metadata['triport/mcpServers']) },
  { name: 'Broken', run: () => { throw new Error('secret') } },
  agent,
]
`)

/** Checks what both say against the schema of the protocol. Returns what is wrong with it. */
function checked(toAgent, fromAgent) {
  const file = new URL('node_modules/@agentclientprotocol/sdk/schema/v1/schema.json', import.meta.url)
  const { $defs } = JSON.parse(readFileSync(file, 'utf8'))
  const ofMethod = (method, ending) => Object.keys($defs).find((name) => (
    $defs[name]['x-method'] === method && name.endsWith(ending)
  ))
  const wrong = []
  const check = (name, value) => {
    const result = compile({ $defs, $ref: `#/$defs/${name}` })(value)
    if (!result.valid) wrong.push(`${name}: ${JSON.stringify(value)}: ${JSON.stringify(result.errors)}`)
  }
  const asked = new Map()
  const read = (stream, take) => {
    let text = ''
    stream.on('data', (chunk) => {
      const lines = (text + chunk).split('\n')
      text = lines.pop()
      lines.forEach((line) => take(JSON.parse(line)))
    })
  }
  read(toAgent, ({ id, method }) => { if (method !== undefined) asked.set(id, method) })
  read(fromAgent, ({ id, method, params, result, error }) => {
    if (error !== undefined) check('Error', error)
    else if (method === undefined) check(ofMethod(asked.get(id), 'Response'), result)
    else check(ofMethod(method, id === undefined ? 'Notification' : 'Request'), params)
  })
  return wrong
}

/** Runs the command, and what the editor does with it. */
async function edit(work, {
  file = module, args = [], env = {}, capabilities = {}, answer, node = process.execPath,
} = {}) {
  const child = spawn(node, [join(root, 'dist/cli.js'), 'serve', '--acp', file, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env },
  })
  let log = ''
  child.stderr.on('data', (text) => { log += text })
  const updates = []
  const asked = []
  const reply = (method) => ({ params }) => {
    asked.push({ method, ...params })
    return answer(params)
  }
  const app = client({ name: 'editor' })
    .onNotification(methods.client.session.update, ({ params }) => { updates.push(params.update) })
    .onRequest(methods.client.session.requestPermission, reply('permission'))
    .onRequest(methods.client.elicitation.create, reply('elicitation'))
  const [input, output] = [new PassThrough(), new PassThrough()]
  const wrong = checked(input, child.stdout)
  input.pipe(child.stdin)
  child.stdout.pipe(output)
  const stream = ndJsonStream(Writable.toWeb(input), Readable.toWeb(output))
  const seen = await app.connectWith(stream, async (agent) => {
    const about = await agent.request(methods.agent.initialize, {
      protocolVersion: 1, clientCapabilities: capabilities, clientInfo: { name: 'editor', version: '1' },
    })
    return work({ agent, about, updates, asked, child })
  })
  child.stdin.end()
  if (child.exitCode === null) await once(child, 'exit')
  assert.equal(child.exitCode, 0)
  assert.deepEqual(wrong, [])
  return { seen, log }
}

/** A session in which one of the agents answers. */
async function begin(agent, chosen) {
  const session = await agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] })
  const { sessionId } = session
  if (chosen !== undefined) {
    await agent.request(methods.agent.session.setConfigOption, {
      sessionId, configId: 'agent', value: chosen,
    })
  }
  return session
}

const ask = (agent, sessionId, ...prompt) => agent.request(methods.agent.session.prompt, {
  sessionId, prompt: prompt.map((block) => typeof block === 'string' ? { type: 'text', text: block } : block),
})

const said = (updates, kind = 'agent_message_chunk') => updates.splice(0)
  .filter(({ sessionUpdate }) => sessionUpdate === kind).map(({ content }) => content.text ?? content)

test('an answer comes, and the thread has a history', { skip }, async () => {
  const { log } = await edit(async ({ agent, about, updates }) => {
    assert.deepEqual([about.protocolVersion, about.agentInfo.name], [1, 'Desk'])
    const { sessionId, configOptions: [option] } = await begin(agent, 'echo')
    assert.deepEqual([option.category, option.currentValue, option.options.length], ['mode', 'desk', 10])
    assert.equal((await ask(agent, sessionId, 'Hello')).stopReason, 'end_turn')
    assert.deepEqual(said(updates), ['editor 0: Hello'])
    await ask(agent, sessionId, 'Again')
    assert.deepEqual(said(updates), ['editor 2: Again'])
    const other = await begin(agent, 'echo')
    await ask(agent, other.sessionId, 'New')
    assert.deepEqual(said(updates), ['editor 0: New'])
  })
  assert.match(log, /The module says something\./)
})

test('thoughts, tools, pieces, files and data are updates', { skip }, async () => {
  await edit(async ({ agent, updates }) => {
    const { sessionId } = await begin(agent, 'worker')
    const answer = await ask(agent, sessionId, 'Tea')
    assert.deepEqual(answer, { stopReason: 'end_turn', _meta: { 'triport/data': { sum: 2 } } })
    const kinds = updates.map(({ sessionUpdate }) => sessionUpdate)
    assert.deepEqual(kinds.slice(0, 3), ['agent_thought_chunk', 'tool_call', 'tool_call_update'])
    const [, call, done] = updates
    assert.deepEqual([call.title, call.rawInput, call.status], ['search', { of: 'tea' }, 'in_progress'])
    assert.deepEqual([done.toolCallId, done.status, done.rawOutput],
      [call.toolCallId, 'completed', { found: 2 }])
    const [first, second, image, link, data] = said(updates)
    assert.deepEqual([first, second, image.type, link.uri], ['Two ', 'cups.', 'image', 'file:///cups.md'])
    assert.match(data, /"cups":\s?2/)
  })
})

/** What an editor shows of the updates of a prompt. */
function shown(updates) {
  const all = updates.splice(0)
  const texts = (kind) => (
    all.flatMap(({ sessionUpdate, content }) => sessionUpdate === kind ? content.text : [])
  )
  const calls = all.flatMap(({ sessionUpdate, title, content }) => {
    if (sessionUpdate === 'tool_call') return title
    return sessionUpdate === 'tool_call_update' ? content[0].content.text : []
  })
  return [texts('agent_thought_chunk').join(''), calls, texts('agent_message_chunk')]
}
const turns = [['Rome', 0], ['Oslo', 1]].map(([city, before]) => (
  [city, [THOUGHT, [tool.name, `sunny in ${city}`], [`${before} before; `, `sunny in ${city}`]]]
))

test('two turns with a tool and reasoning, in pieces', { skip }, async (t) => {
  shows(t, 'acp-2', 'two turns', 'tool', 'reasoning', 'stream')
  await edit(async ({ agent, updates }) => {
    const { sessionId } = await begin(agent, 'forecaster')
    for (const [city, seen] of turns) {
      await ask(agent, sessionId, city)
      assert.deepEqual(shown(updates), seen)
    }
  })
})

test('a prompt has files by reference and in place, pictures and sounds', { skip }, async () => {
  await edit(async ({ agent, updates }) => {
    const { sessionId } = await begin(agent, 'reader')
    await ask(agent, sessionId, 'Look at ', { type: 'resource_link', uri: 'file:///a.js', name: 'a.js' },
      { type: 'resource', resource: { uri: 'file:///b.js', text: 'let b', mimeType: null } },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' })
    const [text] = said(updates)
    assert.ok(text.startsWith('Look at [a.js](file:///a.js)[b.js](file:///b.js)['), text)
    const blocks = JSON.parse(text.slice(text.indexOf('[{')))
    assert.deepEqual(blocks.map(({ type }) => type), ['text', 'resource_link', 'resource', 'image', 'audio'])
    assert.deepEqual(blocks[2].resource, { uri: 'file:///b.js', text: 'let b' })
    const folders = await begin(agent, 'folders')
    await ask(agent, folders.sessionId, 'Where?')
    assert.deepEqual(JSON.parse(said(updates)[0]), [{ uri: pathToFileURL(folder).href }])
  })
})

const yesOrNo = { type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] }
const size = { type: 'object', properties: { size: { type: 'string', enum: ['S', 'L'] } } }
const form = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a'] }

test('a yes or no and a choice are asked as a permission', { skip }, async () => {
  const choose = (name) => ({ options, toolCall }) => {
    assert.equal(toolCall.title, 'Really?')
    const { optionId } = options.find((option) => option.name === name)
    return { outcome: { outcome: 'selected', optionId } }
  }
  const rows = [
    [yesOrNo, choose('Yes'), 'accept {"sure":true}'], [yesOrNo, choose('No'), 'accept {"sure":false}'],
    [size, choose('L'), 'accept {"size":"L"}'], [size, choose('Decline'), 'decline null'],
    [size, () => ({ outcome: { outcome: 'cancelled' } }), 'cancel null'],
  ]
  let row
  await edit(async ({ agent, updates }) => {
    const { sessionId } = await begin(agent, 'asker')
    for (row of rows) {
      await ask(agent, sessionId, JSON.stringify(row[0]))
      const tools = updates.filter(({ toolCallId }) => toolCallId)
      assert.deepEqual(tools.map(({ status }) => status), ['pending', 'completed'])
      assert.deepEqual(said(updates), [row[2]])
    }
    await assert.rejects(ask(agent, sessionId, JSON.stringify(form)), /has not declared elicitation\.form/)
  }, { answer: (params) => row[1](params) })
})

test('other forms are asked of clients that have them', { skip }, async (t) => {
  shows(t, 'acp-2', 'question')
  await edit(async ({ agent, updates, asked }) => {
    const { sessionId } = await begin(agent, 'asker')
    await ask(agent, sessionId, JSON.stringify(form))
    assert.deepEqual(said(updates), ['accept {"a":"x","b":2}'])
    assert.deepEqual(asked.map(({ method, mode, sessionId: at }) => [method, mode, at]),
      [['elicitation', 'form', sessionId]])
  }, {
    capabilities: { elicitation: { form: {} } },
    answer: () => ({ action: 'accept', content: { a: 'x', b: 2 } }),
  })
})

test('a prompt is cancelled, by its session and by its request', { skip }, async () => {
  await edit(async ({ agent, updates }) => {
    const { sessionId } = await begin(agent, 'slow')
    const first = ask(agent, sessionId, 'Go')
    while (updates.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await agent.notify(methods.agent.session.cancel, { sessionId })
    assert.equal((await first).stopReason, 'cancelled')
    updates.splice(0)
    const stop = new AbortController()
    const second = agent.request(methods.agent.session.prompt, {
      sessionId, prompt: [{ type: 'text', text: 'Go' }],
    }, { cancellationSignal: stop.signal })
    while (updates.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    stop.abort()
    assert.equal((await second).stopReason, 'cancelled')
  })
})

test('a question is withdrawn with the prompt that asks it', { skip }, async () => {
  let answer
  await edit(async ({ agent, asked }) => {
    const { sessionId } = await begin(agent, 'asker')
    const prompt = ask(agent, sessionId, JSON.stringify(size))
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await agent.notify(methods.agent.session.cancel, { sessionId })
    assert.equal((await prompt).stopReason, 'cancelled')
    answer({ outcome: { outcome: 'cancelled' } })
  }, { answer: () => new Promise((resolve) => { answer = resolve }) })
})

test('errors are sentences with the codes of the protocol', { skip }, async (t) => {
  shows(t, 'acp-2', 'error')
  const { log } = await edit(async ({ agent }) => {
    const { sessionId } = await begin(agent, 'broken')
    const failing = (promise, code, message) => assert.rejects(promise, (error) => {
      assert.ok(error instanceof RequestError)
      assert.equal(error.code, code)
      assert.match(error.message, message)
      return true
    })
    await failing(ask(agent, sessionId, 'Go'), -32603, /^Internal error \(request /)
    await failing(ask(agent, 'nothing', 'Go'), -32002, /^There is no such session/)
    await failing(agent.request('session/fork', {}), -32601, /^There is no method 'session\/fork' here;/)
    await failing(agent.request(methods.agent.authenticate, { methodId: 'x' }), -32602,
      /authMethods is empty/)
    await failing(agent.request(methods.agent.session.new, { cwd: 'here', mcpServers: [] }), -32602,
      /^cwd must be an absolute path$/)
  })
  assert.match(log, /secret/)
})

test('threads are listed and deleted', { skip }, async () => {
  await edit(async ({ agent, about }) => {
    assert.deepEqual([about.agentCapabilities.sessionCapabilities.list,
      about.agentCapabilities.sessionCapabilities.delete], [{}, {}])
    const list = async () => (await agent.request(methods.agent.session.list, { cwd: folder })).sessions
    const ids = []
    for (const prompt of ['One', 'Two']) {
      const { sessionId } = await begin(agent, 'echo')
      await ask(agent, sessionId, prompt)
      ids.unshift(sessionId)
    }
    const sessions = await list()
    assert.deepEqual(sessions.map(({ sessionId, title, cwd }) => [sessionId, title, cwd]),
      [[ids[0], 'Two', folder], [ids[1], 'One', folder]])
    assert.ok(Date.parse(sessions[0].updatedAt) > 0)
    await agent.request(methods.agent.session.delete, { sessionId: ids[0] })
    assert.deepEqual((await list()).map(({ sessionId }) => sessionId), [ids[1]])
  })
})

test('prompts are slash commands', { skip }, async () => {
  const file = join(folder, 'praise.mjs')
  writeFileSync(file, `export { agents } from './agents.mjs'
    export const prompts = [{
      name: 'praise', description: 'Praises.', arguments: [{ name: 'what', required: true }],
      get: ({ what }) => 'Praise ' + what + '.',
    }]`)
  await edit(async ({ agent, updates }) => {
    const { sessionId } = await begin(agent, 'echo')
    const [{ availableCommands }] = updates.splice(0)
    assert.deepEqual(availableCommands, [
      { name: 'praise', description: 'Praises.', input: { hint: 'what' } },
    ])
    await ask(agent, sessionId, '/praise pears')
    assert.deepEqual(said(updates), ['editor 0: Praise pears.'])
  }, { file })
})

test('an agent is chosen as a mode, and gets the MCP servers of its session', { skip }, async () => {
  await edit(async ({ agent, updates }) => {
    const mcpServers = [{ name: 'files', command: '/bin/files', args: [], env: [] }]
    const { sessionId, modes } = await agent.request(methods.agent.session.new, { cwd: folder, mcpServers })
    assert.deepEqual([modes.currentModeId, modes.availableModes.length], ['desk', 10])
    await agent.request(methods.agent.session.setMode, { sessionId, modeId: 'servers' })
    await ask(agent, sessionId, 'Which?')
    assert.deepEqual(JSON.parse(said(updates)[0]), mcpServers)
  })
})

test('a thread is loaded, within a process and from a store', { skip }, async () => {
  const options = {
    args: ['--store', `sqlite:${join(folder, 'threads.db')}`],
    env: { TRIPORT_SECRET: 'a secret of more than sixteen characters' },
  }
  const node = node22()
  const sqlite = node === undefined ? {} : { node, ...options }
  if (node === undefined) console.log('acp: no Node 22, so no thread is loaded from a store')
  let id
  const load = async (agent, updates) => {
    await agent.request(methods.agent.session.load, { sessionId: id, cwd: folder, mcpServers: [] })
    assert.deepEqual(updates.splice(0).map(({ sessionUpdate, content }) => [sessionUpdate, content.text]), [
      ['user_message_chunk', 'Hello'], ['agent_message_chunk', 'editor 0: Hello'],
    ])
    await agent.request(methods.agent.session.resume, { sessionId: id, cwd: folder })
    assert.equal(updates.length, 0)
  }
  await edit(async ({ agent, updates }) => {
    id = (await begin(agent, 'echo')).sessionId
    await ask(agent, id, 'Hello')
    said(updates)
    await load(agent, updates)
    await agent.request(methods.agent.session.close, { sessionId: id })
    await assert.rejects(ask(agent, id, 'Go'), /There is no such session/)
    await assert.rejects(agent.request(methods.agent.session.load, {
      sessionId: '00000000-0000', cwd: folder, mcpServers: [],
    }), /There is no such session/)
  }, sqlite)
  if (node === undefined) return
  await edit(async ({ agent, updates }) => {
    const { sessions: [kept] } = await agent.request(methods.agent.session.list, {})
    assert.deepEqual([kept.sessionId, kept.title], [id, 'Hello'])
    await load(agent, updates)
    // The agent that answered before answers again.
    await ask(agent, id, 'Again')
    assert.deepEqual(said(updates), ['editor 2: Again'])
  }, sqlite)
})

test('an older client is answered, asked, and gets its thread again', { skip }, async (t) => {
  shows(t, 'acp-0.4', 'two turns', 'tool', 'reasoning', 'stream', 'question', 'error')
  const child = spawn(process.execPath, [join(root, 'dist/cli.js'), 'serve', '--acp', module], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  t.after(() => child.kill())
  const updates = []
  const seen = []
  const connection = new ClientSideConnection(() => ({
    sessionUpdate({ update }) {
      const { sessionUpdate, content, status } = update
      updates.push(update)
      seen.push(`${sessionUpdate} ${content?.text ?? status}`)
    },
    requestPermission({ options: [yes] }) {
      return { outcome: { outcome: 'selected', optionId: yes.optionId } }
    },
  }), ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)))
  const { protocolVersion } = await connection.initialize({ protocolVersion: 1, clientCapabilities: {} })
  assert.equal(protocolVersion, 1)
  // It knows no options of a session, and chooses an agent as a mode.
  const { sessionId, modes } = await connection.newSession({ cwd: folder, mcpServers: [] })
  assert.equal(modes.currentModeId, 'desk')
  await connection.setSessionMode({ sessionId, modeId: 'asker' })
  const prompt = [{ type: 'text', text: JSON.stringify(yesOrNo) }]
  assert.deepEqual(await connection.prompt({ sessionId, prompt }), { stopReason: 'end_turn' })
  const answer = 'agent_message_chunk accept {"sure":true}'
  assert.deepEqual(seen.splice(0), ['tool_call pending', 'tool_call_update completed', answer])
  await connection.loadSession({ sessionId, cwd: folder, mcpServers: [] })
  assert.deepEqual(seen, [`user_message_chunk ${prompt[0].text}`, answer])
  await connection.setSessionMode({ sessionId, modeId: 'broken' })
  await assert.rejects(connection.prompt({ sessionId, prompt }), { code: -32603 })
  const { sessionId: other } = await connection.newSession({ cwd: folder, mcpServers: [] })
  await connection.setSessionMode({ sessionId: other, modeId: 'forecaster' })
  updates.length = 0
  for (const [city, seenOfIt] of turns) {
    await connection.prompt({ sessionId: other, prompt: [{ type: 'text', text: city }] })
    // It may hand out the last updates after the answer.
    while (updates.at(-1)?.content?.text !== seenOfIt[2].at(-1)) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    assert.deepEqual(shown(updates), seenOfIt)
  }
  child.stdin.end()
  await once(child, 'exit')
})

test('the agent of the guide answers, by the lines that it has for editors', { skip }, async () => {
  const guide = readFileSync(join(root, 'lib/parts/acp/editors.md'), 'utf8')
  const blocksOf = (language) => [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))]
    .map(([, text]) => text)
  const editors = blocksOf('json').map((text) => Object.values(JSON.parse(text).agent_servers)[0])
  assert.equal(editors.length, 2)
  for (const { command, args } of editors) {
    assert.deepEqual([command, ...args], ['npx', 'triport', 'serve', '--acp', '/path/to/agent.js'])
  }
  // Where the package finds itself.
  mkdirSync(join(root, '.test/acp'), { recursive: true })
  const file = join(root, '.test/acp/agent.mjs')
  writeFileSync(file, blocksOf('js')[0])
  await edit(async ({ agent, updates }) => {
    const { sessionId } = await begin(agent)
    await ask(agent, sessionId, 'Review ', { type: 'resource_link', uri: 'file:///a.js', name: 'a.js' })
    assert.deepEqual(updates[0].content.text, `The project is ${pathToFileURL(folder).href}.`)
    assert.deepEqual(said(updates), ['Linked: file:///a.js\n', 'Everything is fine.'])
  }, { file, answer: ({ options: [yes] }) => ({ outcome: { outcome: 'selected', optionId: yes.optionId } }) })
})
