/** Everything that an agent may yield, on every face: a client sees it, or the log says that none does. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { serveStdio } from '../lib/index.ts'
import { eventually, request, serve } from './fixtures/client.ts'
import { begin, legacyRevisions, modern } from './parts/mcp/client.ts'
import type { Piece } from '../lib/kernel/define/answer.ts'
import type { AgentOutput, Call, TriportServer } from '../lib/index.ts'

/** What is looked for in the answer, and the same as base64. */
const plain = 'm4rk'
const mark = Buffer.from(plain).toString('base64')

type Kind = readonly [what: string, pieces: readonly Piece[], marks: readonly string[]]

const pieces: readonly Kind[] = [
  ['a text', [plain], [plain]],
  ['a text as an answer', [{ text: plain }], [plain]],
  ['a block of text', [{ type: 'text', text: plain }], [plain]],
  ['content', [{ content: [plain, { type: 'text', text: 'second' }] }], [plain, 'second']],
  ['a picture', [{ type: 'image', data: mark, mimeType: 'image/png' }], [mark]],
  ['a sound', [{ type: 'audio', data: mark, mimeType: 'audio/wav' }], [mark]],
  ['a resource of text', [{ type: 'resource', resource: { uri: 'file:///a', text: plain } }], [plain]],
  ['a resource of bytes', [{ type: 'resource', resource: { uri: 'file:///a', blob: mark } }], [mark]],
  ['a link', [{ type: 'resource_link', uri: 'https://m4rk.example/', name: 'a' }], ['m4rk.example']],
  ['a block of data', [{ type: 'data', data: { m4rk: 1 } }], [plain]],
  ['data', [{ data: { m4rk: 1 } }], [plain]],
  ['data beside a text', [{ text: 'text', data: { m4rk: 1 } }], ['text', plain]],
  ['data behind a text', ['text', { data: { m4rk: 1 } }], ['text', plain]],
  ['a file behind a text', ['text', { type: 'image', data: mark, mimeType: 'image/png' }], ['text', mark]],
  ['a question', [{ text: plain, state: 'input-required' }], [plain]],
  ['a question behind a text', ['text', { text: plain, state: 'input-required' }], ['text', plain]],
  ['a question with data', [{ text: 'text', data: { m4rk: 1 }, state: 'input-required' }], ['text', plain]],
  ['a question, and an answer after all', [
    { text: 'first', state: 'input-required' }, { text: plain, state: 'completed' },
  ], ['first', plain]],
  ['a question behind a text, and no more', [
    'text', { text: plain, state: 'input-required' }, { text: '', state: 'completed' },
  ], ['text', plain]],
  ['a way to sign in', [{ text: plain, state: 'auth-required' }], [plain]],
  ['a failure', [{ text: plain, state: 'failed' }], [plain]],
  ['a failure behind a text', ['text', { text: plain, state: 'failed' }], [plain]],
  ['a failure with data', [{ text: 'text', data: { m4rk: 1 }, state: 'failed' }], ['text', plain]],
  ['a failure with a file', [
    { text: 'text', content: [{ type: 'image', data: mark, mimeType: 'image/png' }], state: 'failed' },
  ], ['text', mark]],
  ['a refusal', [{ text: plain, state: 'rejected' }], [plain]],
  ['a message', [{ text: plain, reply: 'message' }], [plain]],
  ['a message in pieces', [{ text: 'first', reply: 'message' }, plain], ['first', plain]],
  ['a message behind a text', ['first', { text: plain, reply: 'message' }], ['first', plain]],
  ['a message, and a task after all', [{ text: 'first', reply: 'message' }, { text: plain, reply: 'task' }],
    ['first', plain]],
]

const artifacts: readonly Kind[] = [
  ['an artifact of text', [plain], [plain]],
  ['an artifact of data', [{ type: 'data', data: { m4rk: 1 } }], [plain]],
  ['an artifact of a file', [{ type: 'image', data: mark, mimeType: 'image/png' }], [mark]],
  ['an artifact of bytes', [
    { type: 'image', data: Buffer.from(plain), mimeType: 'image/png' } as unknown as Piece,
  ], [mark]],
]

type Face = (server: TriportServer) => Promise<string>

const post = (path: string, body: object, headers: Record<string, string> = {}): Face => async (server) => (
  (await server.fetch(request(path, body, headers))).text()
)
const user = { role: 'user', content: 'Hi' }
const chat = { model: 'agent', messages: [user] }
const texts = [{ type: 'text', text: 'Hi' }]
const said = { role: 'ROLE_USER', parts: [{ text: 'Hi' }] }
const parts = [{ kind: 'text', text: 'Hi' }]
const rpc = (method: string, message: object): object => (
  { jsonrpc: '2.0', id: 1, method, params: { message: { messageId: 'm', ...message } } }
)
const tool = { name: 'execute_agent_task', arguments: { prompt: 'Hi' } }
const faces: Readonly<Record<string, Face>> = {
  'a query': post('/', { query: 'Hi' }),
  'a query as events': post('/', { query: 'Hi', stream: true }),
  'a chat completion': post('/v1/chat/completions', chat),
  'a chat completion in chunks': post('/v1/chat/completions', { ...chat, stream: true }),
  'a response': post('/v1/responses', { model: 'agent', input: 'Hi' }),
  'a response as events': post('/v1/responses', { model: 'agent', input: 'Hi', stream: true }),
  'AG-UI': post('/agui', { threadId: 't', runId: 'r', messages: [user] }),
  'the AI SDK': post('/ui-stream', { id: 'chat-0001', messages: [{ role: 'user', parts: texts }] }),
  'plain A2A': post('/a2a', rpc('message/send', { role: 'user', parts: texts })),
  'A2A 0.3': post('/a2a', rpc('message/send', { kind: 'message', role: 'user', parts })),
  'A2A 0.3 as events': post('/a2a', rpc('message/stream', { kind: 'message', role: 'user', parts })),
  'A2A 1.0': post('/a2a', rpc('SendMessage', said)),
  'A2A 1.0 as events': post('/a2a', rpc('SendStreamingMessage', said)),
  'MCP without a session': post('/messages/', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: tool }),
  ...Object.fromEntries(legacyRevisions.map((revision) => [`MCP ${revision}`, async (server) => (
    JSON.stringify(await (await begin(server, revision)).ask('tools/call', tool))
  )] satisfies [string, Face])),
  'MCP 2026-07-28': async (server) => (await modern(server, 'tools/call', tool)).text(),
}

/** The answer of each kind of agent on a face, without what the client said, and the lines of its log. */
async function answered(
  t: test.TestContext, face: Face, run: (prompt: string, call: Call) => AgentOutput,
  replies?: 'either' | 'message',
): Promise<readonly [answer: string, logged: string]> {
  const logged: unknown[] = []
  const server = serve(t, {
    agents: [{ name: 'Agent', description: 'Yields.', run, ...replies !== undefined && { replies } }],
    protocol: 'all', log: (level, sentence) => { if (level === 'warning') logged.push(sentence) },
  })
  const answer = await face(server)
  await server.close()
  return [answer, logged.join('\n')]
}

/** Events hold a text in pieces. */
const unbroken = (answer: string): string => answer.replace(/\\n|\\"|\s/g, '')

function check(what: string, [answer, logged]: readonly [string, string], marks: readonly string[]): void {
  for (const one of marks) {
    const isShown = unbroken(answer).includes(one) || answer.includes(Buffer.from(one).toString('base64'))
    const isTold = isShown || /which clients of .* do not get|clients may get the text alone/.test(logged)
    assert.ok(isTold, `${what}: no ${one} in ${answer.slice(0, 2_000)}\n${logged}`)
  }
}

async function* yielding(given: readonly Piece[]): AsyncGenerator<Piece> {
  for (const piece of given) {
    await null
    yield piece
  }
}

for (const [name, face] of Object.entries(faces)) {
  test(`${name} shows all that an agent yields`, async (t) => {
    for (const [what, given, marks] of pieces) {
      check(`${what} in pieces`, await answered(t, face, () => yielding(given)), marks)
      for (const replies of ['either', 'message'] as const) {
        check(`${what}, of which it decides`, await answered(t, face, () => yielding(given), replies), marks)
      }
      const [whole] = given
      if (given.length === 1) check(what, await answered(t, face, () => whole as AgentOutput), marks)
    }
  })

  test(`${name} shows the artifacts of an agent`, async (t) => {
    for (const [what, given, marks] of artifacts) {
      check(what, await answered(t, face, (_prompt, call) => {
        call.artifact({ name: 'report', parts: given as readonly string[] })
      }), marks)
    }
  })
}

test('ACP shows all that an agent yields, and its artifacts', async () => {
  for (const [what, given, marks] of [...pieces, ...artifacts]) {
    const input = new PassThrough()
    const output = new PassThrough()
    let text = ''
    output.on('data', (chunk) => { text += String(chunk) })
    const run = (_prompt: string, call: Call): AgentOutput => {
      if (!what.startsWith('an artifact')) return yielding(given)
      call.artifact({ parts: given as readonly string[] })
    }
    const logged: string[] = []
    const log = (_level: string, sentence: string): void => { logged.push(sentence) }
    const options = { protocol: 'acp', input, output, log, graceMs: 20 } as const
    const over = serveStdio({ name: 'Agent', run }, options)
    const ask = async (id: number, method: string, params: object): Promise<any> => {
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      const answer = (): string | undefined => text.split('\n').find((line) => line.includes(`"id":${id},`))
      await eventually(() => answer() !== undefined, 'an answer')
      return JSON.parse(answer()!)
    }
    await ask(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} })
    const { result: { sessionId } } = await ask(2, 'session/new', { cwd: process.cwd(), mcpServers: [] })
    text = ''
    await ask(3, 'session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Hi' }] })
    input.end()
    await over
    check(what, [text, logged.join('\n')], marks)
  }
})
