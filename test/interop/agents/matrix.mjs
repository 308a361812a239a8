/**
 * What every agent of another framework has to do, behind a server that listens: no test itself. A file of
 * a framework calls `matrix` with how its agents are made; at its end one line says what works.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SECRET, startModel, TOKENS } from './model.mjs'

const server = new URL('../../../dist/index.js', import.meta.url)
const { adapt, createServer } = existsSync(server) ? await import(server) : {}

/**
 * Why the tests of a file cannot run, in a sentence for `skip`; false where they can. `folder` is the URL of
 * the file that asks.
 */
export function missing(folder, ...packages) {
  if (createServer === undefined) return 'triport is not built; run npm run build first'
  const absent = packages.filter((name) => !existsSync(new URL(`node_modules/${name}/package.json`, folder)))
  return absent.length > 0 && `${absent.join(', ')} not installed; run npm ci first`
}

/** The version of a package that is there; `folder` as for `missing`. */
export function versionOf(folder, name) {
  const file = new URL(`node_modules/${name}/package.json`, folder)
  return existsSync(file) ? JSON.parse(readFileSync(file)).version : ''
}

const columns = ['whole', 'stream', 'history', 'abort', 'tools', 'files', 'questions', 'usage', 'data']

/** A picture of one pixel. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAA'
  + 'AABJRU5ErkJggg=='

/** What agents with an answer for machines give. */
export const data = { city: 'Paris', degrees: 21 }

/**
 * Tests one framework. `agents` are functions of the address of a model; each makes or resolves to an agent:
 * - `plain`: says what the model says, without retries;
 * - `tools`: has the tool `weather`, which takes `{ city }` and returns 'sunny in Paris';
 * - `approval`: has the tool `book`, which takes `{ city }`, returns 'booked Paris', and must be approved
 *   before; `booked()` counts how often it ran;
 * - `question`: has the tool `seat`, which takes `{ city }`, asks 'Which seat?' in a form with the text
 *   `seat`, and returns what was filled in;
 * - `data`: its answer is `data`, in whatever way it makes its model write it.
 * What is no agent of theirs has `write`, the function that an author would write.
 * `returns` are functions `(agent, prompt, call)` by what they are called, as 'generate()', whose results an
 * author may return as they are; `agent` is a plain one. Those of `returnsData` return `data` in some form.
 * `without` says, by the name of a column, why it is not there; its tests are not run.
 * `several`, where it can: a prompt after which `book` is called several times.
 * `approval` makes what a form that asks for an approval holds. `hidesStatus`: its errors do not have the
 * status of the model's answer. `documents`: its models take documents (PDF) too. `parks`: its questions are
 * answered by a run from the top too.
 */
export function matrix({
  framework, version, skip = false, agents = {}, returns = {}, returnsData = {}, without = {}, booked,
  hidesStatus = false, documents = false, parks = false, several,
  approval = (approve) => ({ approve }),
}) {
  const title = `${framework} ${version}`
  if (skip) {
    console.log(`${title} | skipped: ${skip}`)
    test(title, { skip }, () => {})
    return
  }
  // The columns of the tests that began, and of those that came to their end.
  const started = []
  const passed = []
  let model
  let url
  let served

  before(async () => {
    model = await startModel()
    const ours = []
    for (const [name, make] of Object.entries(agents)) {
      const made = await make(model.url)
      const about = { name, description: `The ${name} one.` }
      ours.push(made.write === undefined ? adapt(made, about) : { ...about, run: made.write })
    }
    for (const [at, make] of [...Object.values(returns), ...Object.values(returnsData)].entries()) {
      const agent = await agents.plain(model.url)
      ours.push({ name: `return ${at}`, run: (prompt, call) => make(agent, prompt, call) })
    }
    const log = process.env.LOG === '1' ? console : false
    served = createServer({ agents: ours, protocol: 'all', log, graceMs: 0 })
    url = (await served.listen(0)).url
  })
  after(async () => {
    await served?.close()
    await model?.close()
    const count = (list, column) => list.filter((one) => one === column).length
    const cells = columns.map((column) => {
      if (!started.includes(column)) return column in without ? 'no' : '-'
      return count(passed, column) === count(started, column) ? 'yes' : 'FAILED'
    })
    console.log(`${title} | ${cells.join(' | ')}`)
    for (const [column, why] of Object.entries(without)) console.log(`  ${column}: ${why}`)
  })

  /** A test that belongs to a column. */
  function check(column, what, run) {
    if (column in without) return
    test(`${title}: ${what}`, { timeout: 120_000 }, async () => {
      started.push(column)
      await run()
      passed.push(column)
    })
  }

  const post = (path, body, more = {}) => fetch(new URL(path, url), {
    method: 'POST', ...more, body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', ...more.headers },
  })
  const query = async (agent, body, more) => {
    const response = await post(`/agents/${agent}`, body, more)
    return { status: response.status, headers: response.headers, ...await response.json() }
  }
  const streamed = async (agent, body, more) => {
    const response = await post(`/agents/${agent}`, { ...body, stream: true }, more)
    assert.equal(response.status, 200)
    return events(response.body)
  }
  const collect = async (agent, body) => {
    const all = []
    for await (const event of await streamed(agent, body)) all.push(event)
    return all
  }
  const chat = async (agent, messages, more) => (
    await post('/v1/chat/completions', { model: agent, messages, ...more })
  ).json()
  const rpc = async (path, method, params, headers) => {
    const response = await post(path, { jsonrpc: '2.0', id: 1, method, params }, { headers })
    return response.json()
  }

  check('whole', 'the whole answer', async () => {
    const { status, response } = await query('plain', { query: 'Good day' })
    assert.deepEqual([status, response], [200, 'You said Good day.'])
  })

  check('stream', 'the answer piece by piece, the first before the model is done', async () => {
    const all = await collect('plain', { query: 'Good day' })
    const pieces = all.filter(({ event }) => event === 'delta').map(({ data: { text } }) => text)
    assert.equal(pieces.join(''), 'You said Good day.')
    assert.ok(pieces.length > 1, `one piece: ${JSON.stringify(pieces)}`)
    assert.deepEqual([all.at(-1).event, all.at(-1).data.response], ['done', 'You said Good day.'])
    const leaving = new AbortController()
    for await (const { event, data: { text } } of await streamed('plain', { query: '(slow)' }, leaving)) {
      if (event !== 'delta') continue
      assert.match(text, /^One /)
      break
    }
    leaving.abort()
  })

  check('history', 'earlier messages reach the model in order, once', async () => {
    const session = { session_id: `history-${Date.now()}` }
    await query('plain', { query: 'My name is Ann', ...session })
    await query('plain', { query: 'Who am I?', ...session })
    assert.deepEqual(said(model.last), [
      ['user', 'My name is Ann'], ['assistant', 'You said My name is Ann.'], ['user', 'Who am I?'],
    ])
    await chat('plain', [
      { role: 'system', content: 'Be brief.' }, { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' }, { role: 'user', content: 'Three' },
    ])
    assert.deepEqual(said(model.last), [['user', 'One'], ['assistant', 'Two'], ['user', 'Three']])
    // As the system's, or a user's where the author has given the agent instructions.
    assert.equal(model.last.messages.filter(({ text }) => /Be brief\./.test(text)).length, 1)
  })

  for (const isStream of [false, true]) {
    const how = isStream ? 'streamed' : 'whole'
    check('abort', `a client that leaves ends the request to the model, ${how}`, async () => {
      const before = model.requests.length
      const leaving = new AbortController()
      const left = query('plain', { query: '(slow)', stream: isStream }, { signal: leaving.signal })
      await until('the request', () => model.requests.length > before)
      leaving.abort()
      await assert.rejects(left)
      assert.equal(await withinSeconds(20, model.last.hasLeft), true)
    })
  }

  if (agents.tools !== undefined) {
    check('tools', 'a tool of the agent is called, and its call is shown', async () => {
      const all = await collect('tools', { query: '(weather)' })
      assert.match(all.at(-1).data.response, /^The tool said .*sunny in Paris.*\.$/)
      const shown = all.filter(({ event }) => /^tool/.test(event))
      assert.ok(shown.length >= 2, `events: ${all.map(({ event }) => event)}`)
      const { name } = shown[0].data
      assert.equal(name, 'weather')
      assert.match(JSON.stringify(shown), /sunny in Paris/)
      const texts = []
      const response = await post('/mcp', mcpCall('tools', '(weather)'), { headers: mcpHeaders('tools') })
      for await (const { data: { method, params } } of events(response.body)) {
        if (method === 'notifications/progress') texts.push(params.message)
      }
      assert.deepEqual(texts.filter((text) => /weather/.test(text)), ['Calls weather…', 'weather is done'])
    })
  }

  check('files', 'a picture of the present message reaches the model', async () => {
    const image = `data:image/png;base64,${PIXEL}`
    const content = [{ type: 'text', text: 'What is it?' }, { type: 'image_url', image_url: { url: image } }]
    await chat('plain', [{ role: 'user', content }])
    const message = model.last.messages.findLast(({ role }) => role === 'user')
    assert.deepEqual(message, { role: 'user', text: 'What is it?', files: [image] })
    if (!documents) return
    const parts = [{ text: 'Read it.' }, { raw: 'JVBERi0=', mediaType: 'application/pdf', filename: 'a.pdf' }]
    await a2a('plain', '', { parts })
    assert.match(model.last.messages.at(-1).files.join(), /JVBERi0=/)
  })

  if (agents.approval !== undefined) {
    for (const [answer, times] of [['yes', 1], ['no', 0]]) {
      check('questions', `A2A: a tool waits for its approval, which is '${answer}'`, async () => {
        const before = booked()
        const { result: { task: asked } } = await a2a('approval', '(book)')
        assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
        assert.match(textOf(asked.status.message.parts), /book/)
        assert.equal(booked(), before, 'it ran before it was approved')
        const { result: { task } } = await a2a('approval', answer, { taskId: asked.id })
        assert.equal(task.status.state, 'TASK_STATE_COMPLETED', JSON.stringify(task.status))
        assert.equal(booked() - before, times)
        assert.match(textOf(task.artifacts.at(-1).parts), times === 1 ? /booked Paris/ : /./)
      })
    }
    for (const [action, content, times] of [
      ['accept', approval(true), 1], ['accept', approval(false), 0], ['decline', undefined, 0],
    ]) {
      const what = `${action} ${JSON.stringify(content) ?? ''}`
      check('questions', `MCP 2026-07-28: a tool waits for its approval: ${what}`, async () => {
        const [before, asked] = [booked(), model.requests.length]
        const first = await rpc('/mcp', ...mcpAsk('approval', '(book)'))
        assert.equal(first.result.resultType, 'input_required', JSON.stringify(first))
        assert.equal(booked(), before, 'it ran before it was approved')
        const { inputRequests, requestState } = first.result
        const [key] = Object.keys(inputRequests)
        const { result } = await rpc('/mcp', ...mcpAsk('approval', '(book)', {
          requestState, inputResponses: { [key]: { action, ...content && { content } } },
        }))
        assert.equal(result.resultType, 'complete')
        assert.notEqual(result.isError, true, JSON.stringify(result))
        assert.equal(booked() - before, times)
        assert.match(textOf(result.content), times === 1 ? /booked Paris/ : /./)
        assert.ok(model.requests.length - asked <= 2, 'the model was asked again')
      })
    }
    if (several) check('questions', `one question after the other: ${several}`, async () => {
      const before = booked()
      let { result: { task } } = await a2a('approval', several)
      const answers = several.match(/book/g).map((_book, at) => (at === 1 ? 'no' : 'yes'))
      for (const answer of answers) {
        assert.equal(task.status.state, 'TASK_STATE_INPUT_REQUIRED', JSON.stringify(task.status))
        task = (await a2a('approval', answer, { taskId: task.id })).result.task
      }
      assert.equal(task.status.state, 'TASK_STATE_COMPLETED', JSON.stringify(task.status))
      assert.equal(booked() - before, answers.length - 1)
    })
    check('questions', 'MCP 2025-11-25: the question comes within the call', async () => {
      const before = booked()
      const headers = {
        'Accept': 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-11-25',
      }
      const send = (method, params, more) => (
        post('/mcp', { jsonrpc: '2.0', method, params, ...more }, { headers })
      )
      const opened = await send('initialize', {
        protocolVersion: '2025-11-25', clientInfo: { name: 'matrix', version: '1.0.0' },
        capabilities: { elicitation: {} },
      }, { id: 1 })
      headers['Mcp-Session-Id'] = opened.headers.get('mcp-session-id')
      await opened.text()
      await (await send('notifications/initialized')).text()
      const called = await send('tools/call', {
        name: 'execute_approval_task', arguments: { prompt: '(book)' },
      }, { id: 2 })
      let questions = 0
      for await (const { data: { id, method, params, result } } of events(called.body)) {
        if (method === 'elicitation/create') {
          questions++
          assert.match(params.message, /book/)
          await post('/mcp', {
            jsonrpc: '2.0', id, result: { action: 'accept', content: approval(true) },
          }, { headers })
        }
        if (result !== undefined) assert.match(textOf(result.content), /booked Paris/)
      }
      assert.deepEqual([questions, booked() - before], [1, 1])
    })
    check('questions', 'where the client cannot be asked, the tool does not run', async () => {
      const before = booked()
      const { status } = await query('approval', { query: '(book)' })
      assert.equal(booked(), before)
      assert.ok(status >= 400, String(status))
    })
  }

  if (parks) {
    const what = 'an answer that comes late finds its run parked, and the model is not asked again'
    check('questions', what, async () => {
      const own = adapt(await agents.approval(model.url), { name: 'approval' })
      const options = { protocol: 'a2a', askTimeoutMs: 200, log: false, graceMs: 0 }
      const late = createServer({ agents: [own], ...options })
      const at = (await late.listen(0)).url
      const asking = (text, more) => a2a('approval', text, more, at)
      try {
        const [before, asked] = [booked(), model.requests.length]
        const { result: { task: { id } } } = await asking('(book)')
        await sleep(600)
        const { result: { task } } = await asking('yes', { taskId: id })
        assert.equal(task.status.state, 'TASK_STATE_COMPLETED', JSON.stringify(task.status))
        assert.deepEqual([booked() - before, model.requests.length - asked], [1, 2])
      } finally {
        await late.close()
      }
    })
  }

  if (agents.question !== undefined) {
    check('questions', 'a tool asks its own question, and gets what was filled in', async () => {
      const { result: { task: asked } } = await a2a('question', '(seat)')
      assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED', JSON.stringify(asked.status))
      assert.match(textOf(asked.status.message.parts), /Which seat\?/)
      const { result: { task } } = await a2a('question', '1A', { taskId: asked.id })
      assert.match(textOf(task.artifacts.at(-1).parts), /1A/)
      for (const answer of [{ action: 'accept', content: { seat: '2B' } }, { action: 'decline' }]) {
        const { result: { inputRequests, requestState } } = await rpc('/mcp', ...mcpAsk('question', '(seat)'))
        const [[key, { params }]] = Object.entries(inputRequests)
        assert.deepEqual(Object.keys(params.requestedSchema.properties), ['seat'])
        const { result } = await rpc('/mcp', ...mcpAsk('question', '(seat)', {
          requestState, inputResponses: { [key]: answer },
        }))
        assert.notEqual(result.isError, true, JSON.stringify(result))
        assert.match(textOf(result.content), answer.content ? /2B/ : /./)
      }
    })
  }

  check('usage', 'the tokens of all steps are told', async () => {
    const { usage } = await chat('plain', [{ role: 'user', content: 'Hi' }])
    assert.deepEqual([usage.prompt_tokens, usage.completion_tokens], [TOKENS.input, TOKENS.output])
    if (agents.tools === undefined) return
    const { usage: sum } = await chat('tools', [{ role: 'user', content: '(weather)' }])
    assert.deepEqual([sum.prompt_tokens, sum.completion_tokens], [2 * TOKENS.input, 2 * TOKENS.output])
  })

  if (agents.data !== undefined) {
    check('data', 'an answer for machines is data', async () => {
      const answer = await query('data', { query: 'The weather?' })
      assert.deepEqual([answer.status, answer.data], [200, data])
    })
  }

  check('whole', 'a model that fails is said to have failed, and nothing of it is told', async () => {
    for (const [mark, status] of [['(500)', 502], ['(429)', 503], ['(401)', 500], ['(cut)', undefined]]) {
      const answer = await query('plain', { query: mark })
      assert.ok(answer.status >= 500, `${mark}: ${answer.status}`)
      if (status !== undefined && !hidesStatus) assert.equal(answer.status, status, mark)
      assert.doesNotMatch(JSON.stringify(answer), new RegExp(SECRET))
    }
  })

  check('stream', 'a model that fails in a stream ends it with an error', async () => {
    for (const mark of ['(500)', '(cut)', '(broken)']) {
      const all = await collect('plain', { query: mark })
      assert.equal(all.at(-1).event, 'error', mark)
      assert.doesNotMatch(JSON.stringify(all), new RegExp(SECRET))
    }
  })

  check('whole', 'MCP and A2A', async () => {
    const { result } = await rpc('/mcp', ...mcpAsk('plain', 'Good day'))
    assert.equal(textOf(result.content), 'You said Good day.')
    const { result: { task } } = await a2a('plain', 'Good day')
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    assert.equal(textOf(task.artifacts.flatMap(({ parts }) => parts)), 'You said Good day.')
  })

  for (const [at, name] of Object.keys(returns).entries()) {
    check('whole', `what ${name} gives may be returned`, async () => {
      const { status, response } = await query(`return-${at}`, { query: 'Good day' })
      assert.deepEqual([status, response], [200, 'You said Good day.'])
      const all = await collect(`return-${at}`, { query: 'Good day' })
      const text = all.filter(({ event }) => event === 'delta').map((event) => event.data.text).join('')
      assert.equal(text, 'You said Good day.')
      for (const mark of ['(500)', '(cut)']) {
        const failed = await query(`return-${at}`, { query: mark })
        assert.ok(failed.status >= 500, `${mark}: ${failed.status} ${failed.response}`)
        assert.doesNotMatch(JSON.stringify(failed), new RegExp(SECRET))
      }
    })
  }

  for (const [at, name] of Object.keys(returnsData).entries()) {
    check('data', `what ${name} gives may be returned`, async () => {
      const agent = `return-${Object.keys(returns).length + at}`
      const answer = await query(agent, { query: 'The weather?' })
      assert.deepEqual([answer.status, answer.data], [200, data])
      const all = await collect(agent, { query: 'The weather?' })
      assert.deepEqual(all.at(-1).data.data, data)
      assert.deepEqual(JSON.parse(all.at(-1).data.response), data, 'the text is told twice, or not at all')
      const { status } = await query(agent, { query: '(500)' })
      assert.ok(status >= 500, String(status))
    })
  }

  async function a2a(agent, text, more = {}, at = url) {
    const message = { role: 'ROLE_USER', parts: [{ text }], messageId: `m-${Math.random()}`, ...more }
    return rpc(`${at}/agents/${agent}/a2a`, 'SendMessage', { message }, { 'A2A-Version': '1.0' })
  }
}

const clientMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'matrix', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
}

const mcpHeaders = (agent) => ({
  'Accept': 'application/json, text/event-stream', 'MCP-Protocol-Version': '2026-07-28',
  'Mcp-Method': 'tools/call', 'Mcp-Name': `execute_${agent}_task`,
})

/** The arguments of `rpc` behind its path, for a call of an agent. */
function mcpAsk(agent, prompt, more) {
  const params = { name: `execute_${agent}_task`, arguments: { prompt }, _meta: clientMeta, ...more }
  return ['tools/call', params, mcpHeaders(agent)]
}

function mcpCall(agent, prompt) {
  const [method, params] = mcpAsk(agent, prompt)
  return { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...clientMeta, progressToken: 1 } } }
}

function textOf(parts) {
  return parts.map(({ text }) => text ?? '').join('')
}

/** What was said, but for the system's. */
function said({ messages }) {
  return messages.filter(({ role, text }) => role !== 'system' && text !== 'Be brief.')
    .map(({ role, text }) => [role, text])
}

/** The events of a stream, their data read. */
export async function* events(body) {
  let text = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const blocks = text.split('\n\n')
    text = blocks.pop()
    for (const block of blocks) {
      const lines = block.split('\n')
      const valueOf = (name) => (
        lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1).trim()
      )
      const read = valueOf('data')
      // A stream that can be resumed begins with an empty one.
      if (read) yield { event: valueOf('event') ?? 'message', data: JSON.parse(read) }
    }
  }
}

async function until(what, is) {
  for (const end = Date.now() + 30_000; !await is(); await sleep(5)) {
    assert.ok(Date.now() < end, `${what} did not come`)
  }
}

async function withinSeconds(seconds, promise) {
  return Promise.race([promise, sleep(seconds * 1000, 'nothing', { ref: false })])
}
