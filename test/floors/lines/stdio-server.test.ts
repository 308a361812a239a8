/** One client over lines, served by parts of the tests: which is asked, with what limits, and how it ends. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { serveLines } from '../../../lib/floors/lines/line-server.ts'
import { serveStdio } from '../../../lib/stdio.ts'
import { probe } from '../../fixtures/probe.ts'
import type { Part } from '../../../lib/kernel.ts'
import type { Lines, StdioOptions } from '../../../lib/stdio.ts'

const add = { name: 'add', description: 'Adds.', run: () => '2' }

/** A part that sends every message back, with how long conversations are kept. */
function back(
  name = 'back', lines: Partial<Lines> = {}, onStep: (step: string) => void = () => {},
): Part {
  return {
    name, protocol: name, open: () => assert.fail('It has no socket'),
    lines: {
      open(kernel) {
        onStep(`${name} open`)
        return {
          ready: () => onStep(`${name} ready`),
          serve: async (input, output) => serveLines(kernel, input, output, (client) => ({
            receive: (message) => client.send(JSON.stringify([message, kernel.limits.conversationIdleMs])),
            refuse() {}, endInput() {},
          })),
        }
      },
      ...lines,
    },
  }
}

/** What a client gets that sends one message and ends its input. */
async function answerOf(options: Partial<StdioOptions>): Promise<string> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  input.end('"hello"\n')
  await serveStdio({ tools: [add], parts: [], input, output, log: false, ...options })
  return String(output.read())
}

test('the part with lines serves, and the limits that it needs give way to options', async () => {
  const defaults = { conversationIdleMs: 5 }
  assert.equal(await answerOf({ parts: [back()] }), '["hello",1800000]\n')
  assert.equal(await answerOf({ parts: [back('back', { defaults })] }), '["hello",5]\n')
  const parts = [back('back', { defaults })]
  assert.equal(await answerOf({ parts, conversationIdleMs: 7 }), '["hello",7]\n')
  assert.equal(await answerOf({ parts, ...{ conversationIdleMs: undefined as never } }), '["hello",5]\n')
})

test('what else is there is opened in order, hears that all are open, and ends with the input', async () => {
  const steps: string[] = []
  const onStep = (step: string): void => { steps.push(step) }
  const other = probe({ name: 'other', needs: ['back'], onStep })
  await answerOf({ parts: [other, back('back', {}, onStep)] })
  assert.deepEqual(steps, ['back open', 'other open', 'back ready', 'other cancel', 'other release'])
})

test('without a part that serves lines, or with two, nothing is served', async () => {
  const rows: readonly (readonly [options: Partial<StdioOptions>, why: RegExp])[] = [
    [{ parts: [probe()] }, /^TypeError: None of the parts serves a client on standard input and output; add/],
    [{ parts: [back('one'), back('two')] }, /one protocol, and parts has 'one' and 'two'; leave all but/],
    [{ parts: [] }, /^TypeError: parts is empty/],
    [{ parts: [back('one', { open: () => 'one needs an agent' })] }, /^TypeError: one needs an agent$/],
    [{ parts: [back()], port: 1 } as object, /^TypeError: .*'port'.* has no socket; leave it out$/],
    [{ parts: [back()], input: 'x' as never }, /^TypeError: input is "x"; write a readable stream/],
    [{ parts: [back()], output: {} as never }, /^TypeError: output is an object; write a writable stream/],
  ]
  for (const [options, why] of rows) await assert.rejects(answerOf(options), why)
  await assert.rejects((serveStdio as () => Promise<void>)(), /^TypeError: serveStdio/)
})

test('what cannot be served leaves nothing behind', async () => {
  const steps: string[] = []
  const failing: Lines = {
    open: () => ({ serve: () => Promise.reject(new TypeError('not here')) }),
  }
  const parts = [probe({ onStep: (step) => { steps.push(step) } }), back('back', failing)]
  await assert.rejects(answerOf({ parts, signals: true }), /not here/)
  assert.deepEqual(steps, ['probe open', 'probe cancel', 'probe release'])
  assert.equal(process.listenerCount('SIGTERM'), 0)
})

test('what has no effect on one client is named in a warning', async () => {
  const lines: string[] = []
  await answerOf({
    parts: [back(), probe({ protocol: 'probe' })], apiKey: 'the key of all', cors: '*',
    log: (_level, message) => { lines.push(message) },
  })
  assert.deepEqual(lines.filter((line) => line.startsWith('One client')), [
    'One client on standard input and output needs no apiKey, cors, probe; leave that out',
  ])
})
