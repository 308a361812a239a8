import assert from 'node:assert/strict'
import test from 'node:test'
import { frameworks } from '../../../lib/adapters/frameworks.ts'
import { openaiAgent } from '../../../lib/agents/openai/openai.ts'
import { answerOf } from '../../../lib/floors/answers/answer.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { defineTool } from '../../../lib/preset/define.ts'
import { callOf } from '../../fixtures/house.ts'
import {
  calls, delta, DONE, endpoint, EVENTS, faultOf, inTurn, JSON_TYPE, stream,
} from './endpoint.ts'
import { part } from './stream-parts.ts'
import type { Respond } from './endpoint.ts'

const never = new Promise<never>(() => {})

test('half a call is no call', async (t) => {
  const half = part(0, 'i1', 'echo', '{"n":')
  const table: readonly (readonly [respond: Respond, message: string])[] = [
    [stream(half), 'The model broke off its answer'],
    [(response) => { response.writeHead(200, EVENTS).write(half, () => response.destroy()) },
      'The model broke off its answer'],
    [stream(`${half}data: {"choices":[{"delta":{"tool_ca`), 'The model broke off its answer'],
    [stream(part(0, 'i1', '', '{}') + DONE), 'The model sent what cannot be read'],
  ]
  for (const [respond, message] of table) {
    let isRun = false
    const { baseUrl } = await endpoint(t, respond)
    const tool = defineTool({ name: 'echo', run: () => { isRun = true } })
    assert.equal((await faultOf({ baseUrl, tools: [tool] })).message, message)
    assert.equal(isRun, false)
  }
})

test('garbage is refused', async (t) => {
  const bytes = Buffer.from(Array.from({ length: 4096 }, (_none, at) => at * 7919 % 256))
  const table: readonly (readonly [body: string | Buffer, message: RegExp])[] = [
    [bytes, /^The model (?:gave no answer|sent what cannot be read)$/],
    ['data: \u0000\n\n', /^The model sent what cannot be read$/],
    ['data: []\n\n', /^The model sent what cannot be read$/],
    ['data: {"choices":{"0":{}}}\n\n', /^The model gave no answer$/],
    ['data: {"choices":[[]]}\n\ndata: [DONE]\n\n', /^The model gave no answer$/],
    ['event: error\ndata: {}\n\n', /^The model failed$/],
  ]
  for (const [body, message] of table) {
    const { baseUrl } = await endpoint(t, (response) => { response.writeHead(200, EVENTS).end(body) })
    assert.match((await faultOf({ baseUrl })).message, message)
  }
})

/** A place at which the caller leaves; `leave` is called when it is reached. */
interface Stage {
  readonly what: string
  respond(leave: () => void): Respond
  run?(leave: () => void, signal: AbortSignal): unknown
}

const calling = calls(['wait', '{}']) + DONE

const stages: readonly Stage[] = [
  { what: 'before the head of the reply', respond: (leave) => () => leave() },
  {
    what: 'in the reply',
    respond: (leave) => (response) => { response.writeHead(200, EVENTS).write(delta('half'), () => leave()) },
  },
  {
    what: 'in the body of a refusal',
    respond: (leave) => (response) => {
      response.writeHead(400, JSON_TYPE).write('{"error":', () => leave())
    },
  },
  {
    what: 'within a call',
    respond: (leave) => (response) => {
      response.writeHead(200, EVENTS).write(part(0, 'i1', 'wait', '{"n":'), () => leave())
    },
  },
  { what: 'while a tool runs', respond: () => stream(calling), run: (leave) => { leave(); return never } },
  {
    what: 'while a tool that heeds its signal runs',
    respond: () => stream(calling),
    run: (leave, signal) => new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
      leave()
    }),
  },
  {
    what: 'before the second reply',
    respond: (leave) => inTurn(stream(calling), () => leave()),
    run: () => 1,
  },
  {
    what: 'in the second reply',
    respond: (leave) => inTurn(stream(calling), (response) => {
      response.writeHead(200, EVENTS).write(delta('half'), () => leave())
    }),
    run: () => 1,
  },
]

/** What keeps the process alive. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
}

test('a caller that leaves, at whatever stage, leaves no request, no tool and no timer behind', async (t) => {
  const before = timers()
  for (const { what, respond, run } of stages) {
    const call = callOf()
    const gone = new Fault('cancelled', 'The client has left')
    // What was written has to be on its way before the caller is gone.
    const leave = (): void => { setTimeout(() => call.cancel(gone), 10) }
    let signal: AbortSignal | undefined
    const open = new Set<unknown>()
    const answers = respond(leave)
    const { baseUrl, received } = await endpoint(t, (response, request) => {
      open.add(response)
      response.on('close', () => open.delete(response))
      answers(response, request)
    })
    const wait = defineTool({
      name: 'wait', run: (_args, inner) => { signal = inner.signal; return run?.(leave, signal) },
    })
    const logged: unknown[] = []
    const agent = openaiAgent({ baseUrl, tools: [wait], log: (...line) => logged.push(line) })
    await assert.rejects(async () => answerOf(agent.run('hi', call), call, 1e7, frameworks),
      { kind: 'cancelled', message: 'The client has left' }, what)
    while (open.size > 0) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.ok(signal === undefined || run === undefined || signal.aborted || received.length === 2, what)
    assert.deepEqual(logged, [], what)
    assert.equal(timers(), before, what)
  }
})
