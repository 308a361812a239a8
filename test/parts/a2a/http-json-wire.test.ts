import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from '../../fixtures/at-once.ts'
import { serve } from '../../fixtures/client.ts'
import type { ServerOptions } from '../../../lib/index.ts'
import type { TriportServer } from '../../../lib/preset/create-server.ts'

/** What is asked and answered; `<task>` in a request is the id of the task that `first` began. */
interface Golden {
  /** Sent before: a message that becomes a task, and further lines whose answers are not looked at. */
  readonly first?: { readonly text: string; readonly then?: readonly Asked[] }
  readonly request: Asked
  readonly status: number
  readonly type: string | null
  /** The body; of a stream its events, and null where there is none. */
  readonly response: unknown
}

interface Asked {
  readonly line: string
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

// From the root of the checkout, where tests are started: compiled ones lie elsewhere than what they read.
const folder = 'test/fixtures/a2a/http-json'

const options: ServerOptions = {
  protocol: 'a2a',
  apiKey: 'golden',
  a2a: { pushNotifications: { allowPrivate: true }, extendedCard: { description: 'For friends.' } },
  agents: [{
    name: 'Golden',
    description: 'Answers as it is told.',
    async * run(prompt, call) {
      if (prompt === 'ask') {
        yield { text: 'Which year?', state: 'input-required' as const }
      } else if (prompt === 'wait') {
        await new Promise((resolve) => call.signal.addEventListener('abort', resolve, { once: true }))
      } else {
        yield `You said ${prompt}`
      }
    },
  }, {
    name: 'Talker',
    description: 'Answers with messages.',
    replies: 'message',
    run(prompt) {
      if (prompt === 'throw') throw new Error('the password is swordfish')
      return `You said ${prompt}`
    },
  }],
}

function send(server: TriportServer, { line, headers, body }: Asked, task = ''): Promise<Response> {
  const [method = '', path = ''] = line.replaceAll('<task>', task).split(' ')
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  return server.fetch(new Request(`http://agents.test${path}`, {
    method,
    headers: { 'x-api-key': 'golden', 'x-request-id': 'golden', ...type, ...headers },
    body: body === undefined ? null : textOf(body).replaceAll('<task>', task),
  }))
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}

async function begin(
  server: TriportServer, { text, then = [] }: NonNullable<Golden['first']>,
): Promise<string> {
  const response = await send(server, {
    line: 'POST /message:send',
    body: {
      message: { messageId: 'first', contextId: 'talk', role: 'ROLE_USER', parts: [{ text }] },
      configuration: { returnImmediately: text === 'wait' },
    },
  })
  const { task: { id } } = await response.json() as { task: { id: string } }
  for (const asked of then) await (await send(server, asked, id)).text()
  return id
}

/** Members that are made anew each time become their names. */
function normal(body: string): unknown {
  const made = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
  return JSON.parse(body, (name, value: unknown) => {
    if (name === 'timestamp') return Number.isNaN(Date.parse(String(value))) ? value : '<timestamp>'
    return made.test(String(value)) ? `<${name}>` : value
  })
}

function responseOf(type: string | null, text: string): unknown {
  if (text === '') return null
  if (type !== 'text/event-stream') return normal(text)
  return text.split('\n\n').filter((block) => block !== '' && !block.startsWith(':')).map((block) => {
    const [, event, data] = /^(?:event: (.*)\n)?data: (.*)$/.exec(block)!
    return { ...event !== undefined && { event }, data: normal(data!) }
  })
}

for (const file of readdirSync(folder).sort()) {
  const golden = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Golden
  test(`http-json/${file} is answered as it stands there`, async (t) => {
    const server = serve(t, options)
    const id = golden.first === undefined ? '' : await begin(server, golden.first)
    const reply = await send(server, golden.request, id)
    const type = reply.headers.get('content-type')
    const response = responseOf(type, await reply.text())
    assert.deepEqual({ status: reply.status, type, response },
      { status: golden.status, type: golden.type, response: golden.response })
  })
}
