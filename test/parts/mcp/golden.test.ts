/**
 * Golden wire: requests and replies as they are on the wire, one folder per revision, walked in order by
 * one client. What is made anew each time is written as its name in angle brackets.
 *
 * `GOLDEN=write` writes what the server says now into the files; look at the difference before you keep it.
 * Each message is checked by the official schema of its revision too, where that is at hand
 * (`fixtures/optional.ts`).
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { compile, Fault } from '../../../lib/index.ts'
import { mcpSchemas } from '../../fixtures/optional.ts'
import { allRevisions, serveMcp } from './client.ts'
import { EventStream } from '../../fixtures/events.ts'
import type { ServerEvent } from '../../../lib/floors/outbound/event-reader.ts'
import type { Call, TriportServer, Validate } from '../../../lib/index.ts'
import type { Scope } from '../../fixtures/client.ts'
import type { Json } from '../../fixtures/events.ts'

interface Exchange {
  readonly request: {
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: Json
  }
  /** Answers to the questions of a stream, posted one by one as the questions come. */
  readonly during?: readonly Exchange[]
  /** How many events are read of a stream that does not end by itself. */
  readonly take?: number
  readonly response?: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    /** The JSON value, or the list of events. */
    readonly body?: Json
  }
}

// From the root of the checkout, where tests are started: compiled ones lie elsewhere than what they read.
const folder = 'test/fixtures/mcp'
const shownHeaders = ['content-type', 'mcp-session-id', 'allow', 'cache-control', 'x-accel-buffering']

const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }

function golden(t: Scope): TriportServer {
  return serveMcp(t, {
    name: 'Golden',
    version: '1.2.3',
    mcp: { pageSize: 2, instructions: 'Be kind.' },
    agents: [{ name: 'Helper', description: 'Helps.', run: (prompt) => `You said ${prompt}` }],
    tools: [
      {
        name: 'add', title: 'Add', description: 'Adds two numbers.',
        inputSchema: {
          type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'],
        },
        outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
        annotations: { readOnlyHint: true },
        icons: [{ src: 'https://example.com/add.png', mimeType: 'image/png', sizes: ['48x48'] }],
        run: ({ a, b }) => ({ sum: Number(a) + Number(b) }),
      },
      { name: 'blocks', description: 'Every kind of content.', run: () => [
        { type: 'text', text: 'text', annotations: { audience: ['user'], priority: 1 } },
        { type: 'image', data: 'AA==', mimeType: 'image/png' },
        { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'docs://a', mimeType: 'text/plain', text: 'text' } },
        { type: 'resource_link', uri: 'docs://a', name: 'a' },
      ] },
      { name: 'count', description: 'Gives a number.', outputSchema: { type: 'integer' }, run: () => 42 },
      { name: 'fail', description: 'Fails.', run() { throw new Fault('failed', 'The archive is closed') } },
      { name: 'work', description: 'Tells how far it is.', async run(_args, call) {
        await new Promise(setImmediate)
        call.progress(1, 2, 'half of it')
        call.log('info', { step: 1 }, 'work')
        call.progress(2, 2)
        return 'done'
      } },
      { name: 'ask_person', description: 'Asks the person.', run: (_args, call) => person(call) },
      { name: 'ask_browser', description: 'Has an address opened.', async run(_args, call) {
        const { action } = await call.elicit({ key: 'in', message: 'Sign in', url: 'https://example.com/in' })
        return action
      } },
      { name: 'ask_model', description: 'Asks the model.', async run(_args, call) {
        const messages = [{ role: 'user' as const, content: 'Capital of France?' }]
        const { content } = await call.sample({ key: 'capital', messages, maxTokens: 10 })
        return (content as Json).text
      } },
      { name: 'ask_roots', description: 'Asks for the roots.', async run(_args, call) {
        return JSON.stringify(await call.roots({ key: 'roots' }))
      } },
      { name: 'route', description: 'Has a header.', run: ({ region }) => region, inputSchema: {
        type: 'object', required: ['region'],
        properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
      } },
    ],
    resources: [
      {
        uri: 'docs://a', name: 'a', title: 'A', description: 'A text.', mimeType: 'text/plain', size: 4,
        annotations: { audience: ['assistant'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' },
        read: () => 'text',
      },
      { uri: 'docs://b', name: 'b', mimeType: 'image/png', read: () => new Uint8Array([0]) },
    ],
    resourceTemplates: [{
      uriTemplate: 'docs://page/{page}', name: 'page', description: 'A page.', mimeType: 'text/plain',
      complete: { page: () => ['1', '2'] }, read: ({ page }) => `page ${String(page)}`,
    }],
    prompts: [{
      name: 'review', title: 'Review', description: 'Reviews code.',
      arguments: [{ name: 'code', title: 'Code', description: 'The code.', required: true }],
      get: ({ code }) => `Please review: ${code}`,
    }],
  })
}

async function person(call: Call): Promise<string> {
  const { action, content } = await call.elicit({ key: 'who', message: 'Who are you?', schema: form })
  return `${action}: ${String(content?.['name'])}`
}

/** One walk through a folder: what was made anew, by its name in the files. */
class Walk {
  readonly server: TriportServer
  readonly #made = new Map<string, string>()

  constructor(t: Scope) {
    this.server = golden(t)
  }

  /** Puts in what was made before. */
  #fill<T>(value: T): T {
    let text = JSON.stringify(value)
    for (const [name, made] of this.#made) text = text.replaceAll(name, made)
    return JSON.parse(text)
  }

  #note(name: string, made: unknown): unknown {
    if (typeof made !== 'string') return made
    this.#made.set(name, made)
    return name
  }

  /** Takes out what is made anew. */
  #normal(message: Json): Json {
    return JSON.parse(JSON.stringify(message), (name, value: unknown) => {
      if (name === 'requestState') return this.#note('<state>', value)
      if (name === 'elicitationId') return this.#note('<elicitation>', value)
      if (name === 'nextCursor') return this.#note('<cursor>', value)
      return value
    })
  }

  #event({ event, data, id }: ServerEvent): object {
    return {
      ...id !== '' && { id: this.#eventId(id) },
      ...event !== 'message' && { event },
      data: data === '' ? '' : event === 'endpoint' ? this.#endpoint(data) : this.#normal(JSON.parse(data)),
    }
  }

  #eventId(id: string): unknown {
    const number = id.slice(id.lastIndexOf('-') + 1)
    return this.#note(`<event-${number}>`, id)
  }

  #endpoint(data: string): string {
    const id = data.slice(data.indexOf('=') + 1)
    this.#note('<pair>', id)
    return data.replace(id, '<pair>')
  }

  async exchange(wanted: Exchange): Promise<NonNullable<Exchange['response']>> {
    const { method, path, headers, body } = this.#fill(wanted.request)
    const response = await this.server.fetch(new Request(`http://localhost${path}`, {
      method, headers, ...body !== undefined && {
        body: typeof body === 'string' ? body : JSON.stringify(body),
      },
    }))
    const shown: Record<string, string> = {}
    for (const name of shownHeaders) {
      const value = response.headers.get(name)
      if (value !== null) shown[name] = String(
        name === 'mcp-session-id' ? this.#note('<session>', value) : value,
      )
    }
    const reply = { status: response.status, headers: shown }
    if (shown['content-type']?.startsWith('text/event-stream')) {
      return { ...reply, body: await this.#stream(new EventStream(response), wanted) }
    }
    const text = await response.text()
    if (text === '') return reply
    const isJson = shown['content-type']?.startsWith('application/json') === true
    return { ...reply, body: isJson ? this.#normal(JSON.parse(text)) : text }
  }

  async #stream(stream: EventStream, { during = [], take = Infinity }: Exchange): Promise<object[]> {
    const events: object[] = []
    const answers = [...during]
    while (events.length < take) {
      const event = await stream.event()
      if (event === undefined) return events
      events.push(this.#event(event))
      const isQuestion = event.data.includes('"method":') && /"id":"ask-\d+"/.test(event.data)
      const next = isQuestion ? answers.shift() : undefined
      if (next !== undefined) assert.deepEqual(
        await this.exchange(next), next.response ?? { status: 202, headers: {} },
      )
    }
    await stream.cancel()
    return events
  }
}

/** Checks by the official schema of a revision; undefined where it is not at hand. */
function official(revision: string): ((type: string) => Validate) | undefined {
  const path = join(mcpSchemas.folder, `${revision}.json`)
  if (!existsSync(path)) return undefined
  const schema = JSON.parse(readFileSync(path, 'utf8')) as Record<string, Json>
  const home = '$defs' in schema ? '$defs' : 'definitions'
  const known = new Map<string, Validate>()
  return (type) => {
    let validate = known.get(type)
    if (validate === undefined) {
      assert.ok(type in schema[home], `${type} is in no schema of ${revision}`)
      validate = compile(
        { $schema: schema['$schema'], [home]: schema[home], allOf: [{ $ref: `#/${home}/${type}` }] },
      )
      known.set(type, validate)
    }
    return validate
  }
}

const resultTypes: ReadonlyMap<string, string> = new Map([
  ['initialize', 'InitializeResult'], ['ping', 'EmptyResult'], ['server/discover', 'DiscoverResult'],
  ['tools/list', 'ListToolsResult'], ['tools/call', 'CallToolResult'], [
    'resources/list', 'ListResourcesResult',
  ],
  ['resources/templates/list', 'ListResourceTemplatesResult'], ['resources/read', 'ReadResourceResult'],
  ['resources/subscribe', 'EmptyResult'], ['resources/unsubscribe', 'EmptyResult'], [
    'prompts/list', 'ListPromptsResult',
  ],
  ['prompts/get', 'GetPromptResult'], ['completion/complete', 'CompleteResult'], [
    'logging/setLevel', 'EmptyResult',
  ],
])

const noticeTypes: ReadonlyMap<string, string> = new Map([
  ['notifications/progress', 'ProgressNotification'], ['notifications/message', 'LoggingMessageNotification'],
  ['notifications/subscriptions/acknowledged', 'SubscriptionsAcknowledgedNotification'],
  ['sampling/createMessage', 'CreateMessageRequest'], ['elicitation/create', 'ElicitRequest'], [
    'roots/list', 'ListRootsRequest',
  ],
])

/** The types that a message of the server must be of. */
function typesOf(message: Json, method: string | undefined): string[] {
  const types = ['JSONRPCMessage']
  if (message.method !== undefined) types.push(noticeTypes.get(message.method)!)
  return message.result === undefined ? types : [...types, resultTypeOf(message, method)]
}

function resultTypeOf(message: Json, method: string | undefined): string {
  if (message.result.resultType === 'input_required') return 'InputRequiredResult'
  return resultTypes.get(method ?? '') ?? 'Result'
}

function messagesIn(exchange: Exchange): Json[] {
  const body = exchange.response?.body
  if (exchange.response?.headers['content-type']?.startsWith('text/event-stream')) {
    return body.map(({ data }: Json) => data).filter((data: unknown) => typeof data === 'object')
  }
  return typeof body === 'object' ? [body].flat() : []
}

for (const revision of allRevisions) {
  const home = join(folder, revision)
  const names = readdirSync(home).filter((name) => name.endsWith('.json')).sort()
  const exchanges = names.map((name) => JSON.parse(readFileSync(join(home, name), 'utf8')) as Exchange)

  test(`${revision}: every reply is as it was written down`, async (t) => {
    const walk = new Walk(t)
    for (const [index, name] of names.entries()) {
      const exchange = exchanges[index]!
      const response = await walk.exchange(exchange)
      if (process.env['GOLDEN'] === 'write') {
        writeFileSync(join(home, name), `${JSON.stringify({ ...exchange, response }, undefined, 2)}\n`)
        continue
      }
      await t.test(name, () => assert.deepEqual(response, exchange.response))
    }
  })

  const schema = official(revision)
  test(`${revision}: every message is valid by the official schema`, {
    skip: schema === undefined && mcpSchemas.absent,
  }, () => {
    for (const [index, name] of names.entries()) {
      const exchange = exchanges[index]!
      const { body } = exchange.request
      for (const message of messagesIn(exchange)) {
        // The older schemas have no error without an id, and there are requests without a readable one.
        if (message.error !== undefined && message.id === undefined && revision < '2025-11-25') continue
        const asked = [body].flat().find((one: Json) => one?.id === message.id)
        for (const type of typesOf(message, asked?.method)) {
          const value = type.endsWith('Result') ? message.result : message
          const { valid, errors } = schema!(type)(value)
          assert.ok(valid, `${name}: ${type}: ${JSON.stringify(errors)} in ${JSON.stringify(value)}`)
        }
      }
      const isAnswered = messagesIn(exchange).every(({ error }) => error === undefined)
      const isMessage = typeof body === 'object' && !Array.isArray(body) && exchange.response!.status < 300
      if (!isAnswered || !isMessage) continue
      const type = body.id === undefined ? 'ClientNotification'
        : body.method === undefined ? 'JSONRPCMessage' : 'ClientRequest'
      const { valid, errors } = schema!(type)(body)
      assert.ok(valid, `${name}: the request is no ${type}: ${JSON.stringify(errors)}`)
    }
  })
}
