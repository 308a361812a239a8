import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent, defineGroup } from '../../lib/core/agent.ts'
import { callTool } from '../../lib/core/call-tool.ts'
import { definePrompt } from '../../lib/core/prompt.ts'
import { complete, getPrompt, readResource } from '../../lib/core/reading.ts'
import { defineResource } from '../../lib/core/resource.ts'
import { isThenable } from '../../lib/core/thenable.ts'
import { defineTool } from '../../lib/core/tool.ts'
import { ask, callOf, serviceOf } from '../fixtures/house.ts'

/** A promise of another make: it has `then`, and nothing else. */
function promised<T>(value: T): PromiseLike<T> {
  return { then: (resolve) => Promise.resolve(value).then(resolve) }
}

test('what has then is waited for, and nothing else', () => {
  for (const value of [Promise.resolve(), promised(1)]) assert.equal(isThenable(value), true)
  for (const value of [undefined, null, 7, 'then', {}, { then: 7 }, [], () => {}]) {
    assert.equal(isThenable(value), false)
  }
})

const ref = { type: 'ref/prompt', name: 'hello' }
const prompt = definePrompt({
  name: 'hello',
  arguments: [{ name: 'who', complete: () => promised(['Ann']) }],
  get: () => promised('Hello'),
})
const resource = defineResource({ uri: 'x:1', name: 'one', read: () => promised('One') })
const agent = defineAgent({ name: 'Agent', run: () => promised('Said') })
const group = defineGroup({ name: 'Group', agents: [agent], mode: () => promised('agent') })
const tool = defineTool({ name: 'tool', run: () => promised('Done') })

test('whatever an author returns may be a promise of any make', async () => {
  const { service } = serviceOf({ prompts: [prompt], resources: [resource] })
  const rows: readonly (readonly [what: string, outcome: unknown, expected: string])[] = [
    ['an agent', await ask(service, agent, 'hi', callOf()), 'Said'],
    ['a router', await ask(service, group, 'hi', callOf()), 'Said'],
    ['a tool', await callTool(service, tool, {}, callOf()), 'Done'],
    ['a resource', await readResource(service, 'x:1', callOf()), 'One'],
    ['a prompt', await getPrompt(service, 'hello', {}, callOf()), 'Hello'],
    ['a completer', await complete(service, ref, { name: 'who', value: '' }, undefined, callOf()), 'Ann'],
  ]
  for (const [what, outcome, expected] of rows) assert.ok(JSON.stringify(outcome).includes(expected), what)
})
