/** What front ends send over AG-UI: threads as they are, whatever is in them, and files in each form. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { request, serve } from '../../fixtures/client.ts'
import type { TestContext } from 'node:test'
import type { Call, TriportServer } from '../../../lib/index.ts'

interface Seen extends Pick<Call, 'history' | 'message' | 'clientToolResults' | 'clientTools'> {
  readonly prompt: string
}

/** A server, what its agent saw last, and what it has logged. */
interface Served { readonly server: TriportServer; readonly seen: () => Seen; readonly logged: unknown[] }

function serving(t: TestContext): Served {
  let last: Seen | undefined
  const logged: unknown[] = []
  const server = serve(t, {
    agents: [{ name: 'Agent', description: 'Sees.', run(prompt, call) {
      const { history, message, clientToolResults, clientTools } = call
      last = { prompt, history, message, clientToolResults, clientTools }
      return 'Done.'
    } }],
    log: (_level, sentence, fields) => { logged.push([sentence, fields?.['parts']]) },
  })
  return { server, seen: () => last!, logged }
}

async function run({ server, seen }: Served, messages: readonly unknown[], more: object = {}): Promise<Seen> {
  const body = { threadId: 'thread-1', runId: 'run-1', messages, ...more }
  const response = await server.fetch(request('/agui', body))
  const text = await response.text()
  assert.equal(response.status, 200, text)
  assert.match(text, /"type":"RUN_FINISHED"/)
  return seen()
}

const hello = { id: 'u', role: 'user', content: 'Hello' }
const call = (id: unknown, name: unknown, written: unknown): object => (
  { id, type: 'function', function: { name, arguments: written } }
)
const asking = (...toolCalls: readonly unknown[]): object => ({ id: 'a', role: 'assistant', toolCalls })
const told = (toolCallId: unknown, content: unknown, more: object = {}): object => (
  { id: 't', role: 'tool', toolCallId, content, ...more }
)

test('an agent runs without a message of the user: it greets, or works on the state', async (t) => {
  const served = serving(t)
  assert.deepEqual(await run(served, []), {
    prompt: '', message: [], history: [], clientToolResults: [], clientTools: [],
  })
  const system = { id: 's', role: 'system', content: 'Greet.' }
  const developer = { id: 'd', role: 'developer', content: 'Be brief.' }
  const { prompt, history } = await run(served, [system, developer])
  assert.deepEqual([prompt, history], ['', [
    { role: 'system', content: 'Greet.' }, { role: 'system', content: 'Be brief.' },
  ]])
  // It may call a tool of the client then, too.
  const { clientToolResults } = await run(served, [system, asking(call('c', 'f', '{"a":1}')), told('c', 'x')])
  assert.deepEqual(clientToolResults, [{ id: 'c', name: 'f', args: { a: 1 }, result: 'x' }])
  assert.deepEqual(served.logged, [])
})

/** An entry, what is left of it in the history, and what the log says. */
const entries: readonly (readonly [what: string, entry: unknown, kept: readonly string[], why?: RegExp])[] = [
  ['no message', 1, [], /^messages\[0\] is no message$/],
  ['null', null, [], /is no message/],
  ['a role of a later version', { id: '1', role: 'judge', content: 'x' }, [], /^messages\[0\]\.role is none/],
  ['no role', { id: '1', content: 'x' }, [], /role is none/],
  ['reasoning', { id: '1', role: 'reasoning', content: 'So' }, []],
  ['an activity', { id: '1', role: 'activity', activityType: 'PLAN', content: { steps: [] } }, []],
  ['no content', { id: '1', role: 'user' }, ['']],
  ['content that is none', { id: '1', role: 'user', content: 5 }, [''], /^messages\[0\]\.content is none$/],
  ['parts of any type', { id: '1', role: 'user', content: [1, null, 'a', { type: 'map' },
    { type: 'text', text: 'b' }] }, ['a\nb']],
  ['arguments that are cut', asking(call('c', 'f', '{"of":"te')), ['f({"of":"te)'],
    /^messages\[0\]\.toolCalls\[0\]\.function\.arguments is not the text of a JSON object, and stays text$/],
  ['arguments that are a list', asking(call('c', 'f', '[1]')), ['f([1])'], /stays text/],
  ['arguments that are a number', asking(call('c', 'f', 5)), ['f(5)'], /stays text/],
  ['arguments that are an object', asking(call('c', 'f', { of: 1 })), ['f({"of":1})']],
  ['no arguments', asking(call('c', 'f', undefined)), ['f({})']],
  ['a call without a result', asking(call('c', 'f', '{}')), ['f({})']],
  ['a call without an id', asking(call('', 'f', '{}'), call('c', 'g', '{}')), ['g({})'],
    /^messages\[0\]\.toolCalls\[0\] is a call without an id or a name$/],
  ['a call without a name', asking(call('c', undefined, '{}')), [''], /without an id or a name/],
  ['a call that is none', asking(null, 5), [''], /without an id or a name/],
  ['calls that are none', { id: '1', role: 'assistant', content: 'x', toolCalls: 'f' }, ['x'], /is no list/],
  ['a result without its call', told('c', 'x'), ['A tool returned: x'],
    /^messages\[0\] is the result of no call before it, and is only text$/],
  ['a result without an id', told(undefined, 'x'), ['A tool returned: x'], /the result of no call/],
  ['a result that is an error', told('c', '', { error: 'No.' }), ['A tool returned: No.'], /of no call/],
  ['a result that is a value', told('c', { found: 2 }), ['A tool returned: {"found":2}'], /content is none/],
  ['a result of parts', told('c', [{ type: 'text', text: 'x' }, { type: 'image' }]), ['A tool returned: x'],
    /of no call/],
]

test('an entry of a thread that is cut, broken or of a later version never ends the thread', async (t) => {
  const served = serving(t)
  for (const [what, entry, kept, why] of entries) {
    served.logged.length = 0
    const { history, prompt } = await run(served, [entry, hello])
    assert.equal(prompt, 'Hello', what)
    assert.deepEqual(history.map(({ content }) => content), kept, what)
    const [line] = served.logged as [[string, string[]]?]
    if (why === undefined) assert.equal(line, undefined, what)
    else assert.match(String(line?.[1][0]), why, what)
    // Behind the present message too.
    await run(served, [hello, entry])
  }
  // All of them, and more of one than a line of the log tells.
  served.logged.length = 0
  await run(served, [...entries.map(([, entry]) => entry), hello, ...entries.map(([, entry]) => entry)])
  const [[sentence, parts]] = served.logged as [[string, string[]]]
  assert.match(sentence, /^The request was answered without \d\d of its parts, which could not be read$/)
  assert.equal(parts.length, 5)
})

test('of ids that come twice each result is of the call before it, and the last one counts', async (t) => {
  const served = serving(t)
  const twice = [hello, asking(call('c', 'f', '{"a":1}')), told('c', 'x'), asking(call('c', 'f', '{"a":2}')),
    told('c', 'y'), told('c', 'z')]
  const { clientToolResults } = await run(served, twice)
  assert.deepEqual(clientToolResults, [
    { id: 'c', name: 'f', args: { a: 1 }, result: 'x' }, { id: 'c', name: 'f', args: { a: 2 }, result: 'z' },
  ])
  // Equal messages are equal ids at most.
  const { history } = await run(served, [hello, hello, hello])
  assert.equal(history.length, 2)
})

test('a schema of arguments may be true, false or nothing', async (t) => {
  const served = serving(t)
  const any = { type: 'object', properties: {} }
  const own = { type: 'object', required: ['a'] }
  const tools = [true, {}, null, undefined, false, own].map((parameters, at) => (
    { name: `f${at}`, description: 'F.', parameters }
  ))
  const { clientTools } = await run(served, [hello], { tools })
  assert.deepEqual(clientTools.map(({ inputSchema }) => inputSchema), [
    any, any, any, any, { ...any, additionalProperties: false }, own,
  ])
  // A front end may offer one again.
  const again = { ...tools[5], description: 'G.' }
  const twice = await run(served, [hello], { tools: [tools[5], tools[0], again] })
  assert.deepEqual(twice.clientTools.map(({ name, description }) => [name, description]), [
    ['f5', 'G.'], ['f0', 'F.'],
  ])
})

const png = 'iVBORw0KGgo='
const inline = `data:image/png;base64,${png}`
const elsewhere = 'https://example.com/a'
const picture = { type: 'image', data: png, mimeType: 'image/png' }
const link = (name: string): object => ({ type: 'resource_link', uri: elsewhere, name })
const file = (name: string, mimeType: string, blob = png): object => (
  { type: 'resource', resource: { uri: `attachment:${name}`, mimeType, blob } }
)
const of = (type: string, source: object, more: object = {}): object => ({ type, source, ...more })
const url = (value: string, mimeType?: string): object => ({ type: 'url', value, mimeType })

/** A part as a front end writes it, and the block that an agent sees. */
const files: readonly (readonly [what: string, part: unknown, block: unknown])[] = [
  ['bytes', of('image', { type: 'data', value: png, mimeType: 'image/png' }), picture],
  ['bytes without padding', of('image', { type: 'data', value: png.slice(0, -1), mimeType: 'image/png' }),
    picture],
  ['a data URL', of('image', url(inline)), picture],
  ['a data URL in capitals', of('image', url(`DATA:IMAGE/PNG;name=a.png;BASE64,${png}`)), picture],
  ['a data URL beside a type', of('image', url(`data:image/png;base64,${png}`, 'image/*')), picture],
  ['a data URL as data', of('image', { type: 'data', value: inline, mimeType: 'x/y' }), picture],
  ['escaped base64', of('image', url(`data:image/png;base64,${png.replace('=', '%3D')}`)), picture],
  ['a data URL without a type', of('image', url(`data:;base64,${png}`, 'image/png')), picture],
  ['a data URL of text', of('document', url('data:,a%20b')), file('document', 'text/plain', 'YSBi')],
  ['a sound', of('audio', url(`data:audio/wav;base64,${png}`)),
    { type: 'audio', data: png, mimeType: 'audio/wav' }],
  ['a film', of('video', url(`data:video/mp4;base64,${png}`)), file('video', 'video/mp4')],
  ['a document with a name', of('document', url(`data:application/pdf;base64,${png}`),
    { metadata: { filename: 'a b.pdf' } }), file('a%20b.pdf', 'application/pdf')],
  ['a picture as a document', of('document', url(inline)), picture],
  ['an address', of('image', url(elsewhere)), link('image')],
  ['an address with a name', of('document', url(elsewhere), { metadata: { filename: 'a.pdf' } }),
    link('a.pdf')],
  ['old: bytes', { type: 'binary', mimeType: 'image/png', data: png }, picture],
  ['old: a data URL', { type: 'binary', mimeType: 'image/png', url: inline }, picture],
  ['old: a data URL as data', { type: 'binary', mimeType: 'image/png', data: inline }, picture],
  ['old: an address', { type: 'binary', mimeType: 'x/y', url: elsewhere, filename: 'a' },
    { ...link('a'), mimeType: 'x/y' }],
  ['old: a file with a name', { type: 'binary', mimeType: 'x/y', data: png, filename: 'a' },
    file('a', 'x/y')],
  ['old: an id', { type: 'binary', mimeType: 'x/y', id: '1' },
    { type: 'data', data: { type: 'binary', mimeType: 'x/y', id: '1' } }],
  ['a file of a provider', of('image', { type: 'file', value: 'file-1', provider: 'openai' }),
    { type: 'data', data: of('image', { type: 'file', value: 'file-1', provider: 'openai' }) }],
  ['a part of a later version', { type: 'map', at: [1, 2] },
    { type: 'data', data: { type: 'map', at: [1, 2] } }],
  ['a string', 'Hi', { type: 'text', text: 'Hi' }],
]

test('a file is a file in each form, and a part that is not known is data', async (t) => {
  const served = serving(t)
  for (const [what, part, block] of files) {
    const { message } = await run(served, [{ ...hello, content: [part] }])
    assert.deepEqual(message, [block], what)
  }
  // One file in two forms is one.
  const { message } = await run(served, [{ ...hello, content: [
    { type: 'binary', mimeType: 'image/png', data: png },
    of('image', { type: 'data', value: png, mimeType: 'image/png' }),
    { type: 'binary', mimeType: 'image/png', url: elsewhere }, of('image', url(elsewhere)),
  ] }])
  assert.deepEqual(message, [picture, link('image')])
})

test('files of a result stand behind those of the message, and what is none is passed over', async (t) => {
  const served = serving(t)
  // One in the form of before 1.0 may be the mirror of another.
  const present = files.filter(([what]) => !what.startsWith('old'))
  const parts = [{ type: 'text', text: 'See.' }, ...present.map(([, part]) => part)]
  const { message, clientToolResults } = await run(served, [
    hello, asking(call('c', 'shoot', '{}')), told('c', parts),
  ])
  const blocks = present.flatMap(([, part, block]) => typeof part === 'string' ? [] : [block])
  assert.deepEqual(message, [{ type: 'text', text: 'Hello' }, ...blocks])
  assert.equal(clientToolResults[0]?.result, 'See.\nHi')
  assert.equal(served.logged.length, 0)
  const broken = [of('image', { type: 'data', value: 'A*A' }), { type: 'text', text: 5 }]
  const { message: rest } = await run(served, [hello, asking(call('c', 'shoot', '{}')), told('c', broken)])
  assert.deepEqual(rest, [{ type: 'text', text: 'Hello' }])
  const [[, why]] = served.logged as [[string, string[]]]
  assert.deepEqual(why, [
    'messages[2].content[0] is no file, and no text', 'messages[2].content[1] is no file, and no text',
  ])
})

test('a client that declares its version gets ours', async (t) => {
  const { server } = serving(t)
  for (const protocolVersion of ['1.0', undefined]) {
    const body = { threadId: 't', runId: 'r', messages: [], protocolVersion }
    const text = await (await server.fetch(request('/agui', body))).text()
    assert.equal(text.includes('"protocolVersion":"1.0"'), protocolVersion !== undefined)
  }
})
