import assert from 'node:assert/strict'
import test from 'node:test'
import { runInNewContext } from 'node:vm'
import { callTool } from '../../../lib/kernel/run/call-tool.ts'
import { definePrompt } from '../../../lib/kernel/define/prompt.ts'
import { complete, getPrompt, readResource } from '../../../lib/kernel/run/reading.ts'
import { defineResource } from '../../../lib/kernel/define/resource.ts'
import { andThen, caught, isThenable } from '../../../lib/kernel/util/thenable.ts'
import { ask, callOf, serviceOf } from '../../fixtures/house.ts'
import { defineAgent, defineGroup, defineTool } from '../../../lib/kernel.ts'
import type { StandardResult, StandardSchema } from '../../../lib/kernel/schema/standard.ts'

type Result = StandardResult<unknown>
type Make = <T>(value: T) => PromiseLike<T>

/** Of another make: it has `then`, and nothing else. */
const promised: Make = (value) => ({ then: (resolve) => Promise.resolve(value).then(resolve) })

/** Promises that are none of this realm's. */
const makes: readonly (readonly [name: string, make: Make])[] = [
  ['of its own make', promised],
  ['of another realm', runInNewContext('(value) => Promise.resolve(value)') as Make],
  // As builders of queries are: nothing happens before somebody waits.
  ['that is a function', (value) => Object.assign(() => {}, promised(value))],
  ['that calls back at once, and twice', (value) => ({
    then(resolve?: ((value: never) => unknown) | null) {
      resolve?.(value as never)
      return Promise.resolve(resolve?.('again' as never)) as never
    },
  })],
]

test('what has then is waited for, and nothing else', () => {
  for (const value of [Promise.resolve(), ...makes.map(([, make]) => make(1))]) {
    assert.equal(isThenable(value), true)
  }
  for (const value of [undefined, null, 7, 'then', {}, { then: 7 }, [], () => {}]) {
    assert.equal(isThenable(value), false)
  }
})

test('what work fails with is caught, now or later, and what it gives is handed on as it is', async () => {
  const failing = (): never => { throw new Error('broken') }
  const said = (cause: unknown): string => `caught ${String(cause)}`
  assert.equal(caught(() => 'fine', failing), 'fine')
  assert.equal(await caught(() => Promise.resolve('fine'), failing), 'fine')
  assert.equal(caught(failing, said), 'caught Error: broken')
  assert.equal(await caught(() => Promise.reject(new Error('later')), said), 'caught Error: later')
})

test('whatever an author returns may be a promise of any make', async () => {
  for (const [make, promised] of makes) await eachKind(make, promised)
})

async function eachKind(make: string, promised: Make): Promise<void> {
  const prompt = definePrompt({
    name: 'hello',
    arguments: [{ name: 'who', complete: () => promised(['Ann']) }],
    get: () => promised('Hello'),
  })
  const resource = defineResource({ uri: 'x:1', name: 'one', read: () => promised('One') })
  const agent = defineAgent({ name: 'Agent', run: () => promised('Said') })
  const group = defineGroup({ name: 'Group', agents: [agent], mode: () => promised('agent') })
  const tool = defineTool({ name: 'tool', run: () => promised('Done') })
  const { service } = serviceOf({ prompts: [prompt], resources: [resource] })
  const rows: readonly (readonly [what: string, outcome: unknown, expected: string])[] = [
    ['an agent', await ask(service, agent, 'hi', callOf()), 'Said'],
    ['a router', await ask(service, group, 'hi', callOf()), 'Said'],
    ['a tool', await callTool(service, tool, {}, callOf()), 'Done'],
    ['a resource', await readResource(service, 'x:1', callOf()), 'One'],
    ['a prompt', await getPrompt(service, 'hello', {}, callOf()), 'Hello'],
    ['a completer', await complete(service, prompt, 'who', '', undefined, callOf()), 'Ann'],
  ]
  for (const [what, outcome, expected] of rows) {
    assert.ok(JSON.stringify(outcome).includes(expected), `${what}, a promise ${make}`)
  }
}

test('no make of promise lets a value pass unchecked', async () => {
  for (const [make, promised] of makes) {
    const schema = (issues: readonly { readonly message: string }[]): StandardSchema => ({
      '~standard': {
        version: 1, vendor: 'own',
        validate: (value) => promised(issues.length === 0 ? { value } : { issues }) as Promise<Result>,
      },
    })
    let runs = 0
    const run = (): object => {
      runs++
      return { a: 1 }
    }
    const { service } = serviceOf({})
    const plain = { type: 'object' } as const
    const refused = [{ message: 'not so' }]
    const takes = defineTool({ name: 'a', inputSchema: plain, validate: schema(refused), run })
    const result = await callTool(service, takes, {}, callOf())
    assert.equal(result.isError, true, make)
    assert.equal(runs, 0, `a promise ${make} ran what it had refused`)
    const silent: StandardSchema = {
      '~standard': { version: 1, vendor: 'own', validate: () => promised({}) as Promise<Result> },
    }
    const unsaid = defineTool({ name: 'c', inputSchema: plain, validate: silent, run })
    await assert.rejects(async () => callTool(service, unsaid, {}, callOf()), { kind: 'internal' }, make)
    assert.equal(runs, 0)
    const passes = defineTool({ name: 'b', inputSchema: plain, validate: schema([]), run })
    assert.notEqual((await callTool(service, passes, {}, callOf())).isError, true, make)
    assert.equal(runs, 1)
  }
})

test('what is there already goes on at once, what is promised later', async () => {
  assert.equal(andThen(1, (value) => value + 1), 2)
  assert.equal(await andThen(Promise.resolve(1), (value) => value + 1), 2)
})
