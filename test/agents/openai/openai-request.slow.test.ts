/** Replies of a model that are endless, and very many parts of one. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { defineTool } from '../../../lib/preset/define.ts'
import { ask, data, delta, DONE, endpoint, EVENTS, faultOf, JSON_TYPE } from './endpoint.ts'
import { part } from './stream-parts.ts'
import type { Respond } from './endpoint.ts'

const echo = defineTool({
  name: 'echo', inputSchema: { type: 'object', properties: { n: { type: 'number' } } }, run: ({ n }) => n,
})

/** Answers with the same text again and again, as fast as it is read, for as long as it is read. */
function endless(text: string, headers: Readonly<Record<string, string>> = EVENTS): Respond {
  const block = text.repeat(Math.ceil(64 * 1024 / text.length))
  return (response) => {
    response.writeHead(200, headers)
    const fill = (): void => { while (response.writable && response.write(block)); }
    response.on('drain', fill)
    response.on('error', () => {})
    fill()
  }
}

const endlessly: readonly (readonly [what: string, respond: Respond])[] = [
  ['text', endless(delta('more and more '.repeat(20)))],
  ['thoughts', endless(data({ choices: [{ delta: { reasoning_content: 'hm '.repeat(90) } }] }))],
  ['comments', endless(`: ${'x'.repeat(1000)}\n\n`)],
  ['comments without an end', endless(': waiting\n')],
  ['data lines without data', endless('data:\n')],
  ['one line', endless('x')],
  ['empty parts', endless(data({ choices: [{ delta: { content: '' }, padding: 'x'.repeat(1000) }] }))],
  ['arguments', endless(part(0, 'i1', 'echo', 'x'.repeat(300)))],
  ['calls', endless(part(undefined, '', 'echo', '{}'))],
  ['a body', endless(' ', JSON_TYPE)],
]

test('a reply without an end is given up, whatever it is made of', async (t) => {
  for (const [what, respond] of endlessly) {
    const made = await endpoint(t, respond)
    const fault = await faultOf({ baseUrl: made.baseUrl, tools: [echo] })
    assert.equal(fault.message, 'The model sent more than is read', what)
    await made.closed()
  }
})

test('a million tiny parts are one answer', async (t) => {
  const block = delta('x').repeat(1000)
  const { baseUrl } = await endpoint(t, (response) => {
    response.writeHead(200, EVENTS)
    let left = 1000
    const fill = (): void => {
      while (left > 0) {
        left--
        if (!response.write(block)) return
      }
      response.end(DONE)
    }
    response.on('drain', fill)
    fill()
  })
  const { answer } = await ask({ baseUrl, tools: [echo] })
  assert.equal(answer.text.length, 1_000_000)
})
