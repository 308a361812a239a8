import assert from 'node:assert/strict'
import test from 'node:test'
import { noAdapters } from '../../../lib/kernel/define/adapters.ts'
import { Catalog } from '../../../lib/kernel/define/catalog.ts'
import { definePrompt } from '../../../lib/kernel/define/prompt.ts'
import { defineResource, defineResourceTemplate } from '../../../lib/kernel/define/resource.ts'
import { defineAgent, defineGroup, defineTool } from '../../../lib/kernel.ts'
import type { Served } from '../../../lib/kernel/define/catalog.ts'
import type { ServedKind } from '../../../lib/kernel/define/validate.ts'
import type { Thing } from '../../../lib/kernel/define/normalize-definitions.ts'

const helper = defineAgent({ name: 'Helper', run: () => '' })
const writer = defineAgent({ name: 'The Writer', run: () => '' })
const desk = defineGroup({ name: 'Desk', agents: [helper, writer] })
const add = defineTool({ name: 'add', run: () => 1 })
const readme = defineResource({ uri: 'docs://readme', name: 'readme', read: () => '' })
const page = defineResourceTemplate({ uriTemplate: 'docs://{page}', name: 'page', read: () => '' })
const review = definePrompt({ name: 'review', get: () => '' })

const rows: readonly (readonly [Served, string])[] = [
  [helper, 'helper'], [writer, 'the-writer'], [add, 'add'],
  [readme, 'docs://readme'], [page, 'docs://{page}'], [review, 'review'],
]

test('what is added is found by its name, listed in order, and can be taken away', () => {
  const catalog = new Catalog('test', noAdapters)
  for (const [thing] of rows) catalog.add(thing)
  assert.deepEqual(catalog.agents, [helper, writer])
  assert.deepEqual(catalog.tools, [add])
  assert.deepEqual(catalog.resources, [readme])
  assert.deepEqual(catalog.templates, [page])
  assert.deepEqual(catalog.prompts, [review])
  assert.equal(catalog.runnable('the_writer'), writer)
  assert.equal(catalog.tool('add'), add)
  assert.equal(catalog.resource('docs://readme'), readme)
  assert.equal(catalog.template('docs://{page}'), page)
  assert.equal(catalog.prompt('review'), review)
  for (const [thing, name] of rows) {
    assert.equal(catalog.remove(thing.kind, name), true)
    assert.equal(catalog.remove(thing.kind, name), false)
  }
  assert.deepEqual([...catalog.resources, ...catalog.templates, ...catalog.prompts], [])
})

test('a group brings its agents and is the root', () => {
  const catalog = new Catalog('test', noAdapters)
  catalog.add(helper)
  assert.equal(catalog.root, helper)
  catalog.add(desk)
  assert.equal(catalog.root, desk)
  assert.deepEqual(catalog.agents, [helper, writer])
})

test('a group within a group is served too, behind the one that holds it', () => {
  const catalog = new Catalog('test', noAdapters)
  const outer = defineGroup({ name: 'Outer', agents: [desk, { name: 'Third', run: () => '' }] })
  catalog.add(outer)
  assert.equal(catalog.root, outer)
  assert.deepEqual(catalog.groups, [outer, desk])
  assert.deepEqual(catalog.agents.map(({ id }) => id), ['helper', 'the-writer', 'third'])
  assert.equal(catalog.runnable('desk'), desk)
})

const definitions: readonly (readonly [given: Thing, kind: ServedKind, name: string])[] = [
  [(prompt: string) => prompt, 'agent', 'assistant'],
  [{ name: 'Helper', run: () => '' }, 'agent', 'helper'],
  [{ name: 'Desk', agents: [() => ''] }, 'group', 'desk'],
  [{ name: 'add', inputSchema: { type: 'object' }, run: () => 1 }, 'tool', 'add'],
  [{ uri: 'docs://readme', name: 'readme', read: () => '' }, 'resource', 'docs://readme'],
  [{ uriTemplate: 'docs://{page}', name: 'page', read: () => '' }, 'resource-template', 'docs://{page}'],
  [{ name: 'review', get: () => '' }, 'prompt', 'review'],
]

test('a definition is defined when it is added', () => {
  for (const [given, kind, name] of definitions) {
    const catalog = new Catalog('test', noAdapters)
    const told: unknown[] = []
    catalog.onChange((change) => told.push(change))
    catalog.add(given)
    assert.deepEqual(told, [{ kind, name, change: 'added' }])
    assert.equal(catalog.remove(kind, name), true)
  }
})

const unfit: readonly (readonly [given: unknown, sentence: RegExp])[] = [
  [{}, /^Cannot serve an object: write a function \(prompt\) => answer, or use defineAgent/],
  [undefined, /^Cannot serve undefined/],
  [[helper], /^Cannot serve an array/],
  [{ tools: [add] }, /^Cannot serve lists as one thing; give each of its tools by itself$/],
  [{ name: 'x', handler: () => '' }, /^The agent 'x' needs 'run'.* Rename its 'handler' to 'run'$/],
  [{ name: 'x', run: () => '', verison: '1' },
    /^The agent 'x' has no option 'verison'; did you mean 'version'\?$/],
]

test('what is nothing to serve, or no kind, says what to write, and changes nothing', () => {
  const catalog = new Catalog('test', noAdapters)
  catalog.onChange(() => assert.fail('nothing has changed'))
  for (const [given, message] of unfit) {
    assert.throws(() => catalog.add(given as never), { name: 'TypeError', message })
  }
  const message = /^catalog\.remove takes a kind, not "tools"; write 'agent', 'group', 'tool', 'resource', /
  assert.throws(() => catalog.remove('tools' as never, 'add'), { name: 'TypeError', message })
  assert.throws(() => catalog.remove('tool', undefined as never), /catalog\.remove needs 'name': a non-empty/)
  assert.throws(() => catalog.updated(7 as never), /catalog\.updated needs 'uri': a non-empty string, not 7/)
})

test('a group of which one id is taken brings nobody', () => {
  const catalog = new Catalog('test', noAdapters)
  catalog.add(helper)
  catalog.onChange(() => assert.fail('nothing has changed'))
  const groups = [
    { name: 'Desk', agents: [writer, { name: 'Helper', run: () => '' }] },
    { name: 'Helper', agents: [writer] },
    { name: 'Desk', agents: [writer, { name: 'Inner', agents: [{ name: 'Helper', run: () => '' }] }] },
  ]
  for (const group of groups) {
    assert.throws(() => catalog.add(group), /test has two agents with the id 'helper'/)
  }
  assert.deepEqual(catalog.agents, [helper])
  assert.deepEqual(catalog.groups, [])
})

test('whoever is there already is not added again', () => {
  const catalog = new Catalog('test', noAdapters)
  catalog.add(desk)
  const told: unknown[] = []
  catalog.onChange((change) => told.push(change))
  catalog.add(helper)
  catalog.add(desk)
  assert.deepEqual(told, [])
  catalog.add(defineGroup({ name: 'Other', agents: [helper] }))
  assert.deepEqual(catalog.agents, [helper, writer])
})

test('the id of an agent that a group still runs stays taken', () => {
  const catalog = new Catalog('test', noAdapters)
  catalog.add(desk)
  assert.equal(catalog.remove('agent', 'helper'), true)
  assert.deepEqual(catalog.agents, [writer])
  assert.throws(() => catalog.add({ name: 'Helper', run: () => '' }), /two agents with the id 'helper'/)
  catalog.add(helper)
  assert.deepEqual(catalog.agents, [writer, helper])
  assert.equal(catalog.remove('group', 'desk'), true)
  assert.deepEqual(catalog.agents, [writer, helper])
})

test('what a door could not serve is not added', () => {
  const catalog = new Catalog('test', noAdapters)
  catalog.onChange(() => assert.fail('nothing has changed'))
  let seen = 0
  const leave = catalog.onCheck(() => {
    seen = catalog.agents.length + catalog.groups.length
    throw new TypeError('No room')
  })
  assert.throws(() => catalog.add(desk), { message: 'No room' })
  assert.equal(seen, 3)
  assert.deepEqual([catalog.agents, catalog.groups, catalog.root], [[], [], undefined])
  leave()
})

test('listeners are told by the name by which a thing is removed, until they leave', () => {
  const catalog = new Catalog('test', noAdapters)
  const told: unknown[] = []
  const leave = catalog.onChange((change) => told.push(change))
  for (const [thing, name] of rows) {
    catalog.add(thing)
    catalog.remove(thing.kind, name)
  }
  catalog.updated('docs://readme')
  leave()
  catalog.add(add)
  assert.deepEqual(told, [
    ...rows.flatMap(([{ kind }, name]) => ['added', 'removed'].map((change) => ({ kind, name, change }))),
    { kind: 'resource', name: 'docs://readme', change: 'updated' },
  ])
})

test('a name that is taken is a mistake, and changes nothing', () => {
  const catalog = new Catalog('test', noAdapters)
  for (const [thing] of rows) catalog.add(thing)
  const twins: readonly (readonly [Served, RegExp])[] = [
    [defineAgent({ name: 'helper!', run: () => '' }), /two agents with the id 'helper'/],
    [defineTool({ name: 'add', run: () => 2 }), /Two tools are named 'add'; rename one of them/],
    [defineResource({ uri: readme.uri, name: 'other', read: () => '' }), /Two resources are 'docs:/],
    [defineResourceTemplate({ uriTemplate: 'docs://{page}', name: 'x', read: () => '' }), /Two resource t/],
    [definePrompt({ name: 'review', get: () => 'x' }), /Two prompts are named 'review'; rename one of them/],
  ]
  catalog.onChange(() => assert.fail('nothing has changed'))
  for (const [twin, message] of twins) assert.throws(() => catalog.add(twin), { name: 'TypeError', message })
  assert.equal(catalog.resource('docs://readme'), readme)
})

test('what was once offered stays offered', () => {
  const catalog = new Catalog('test', noAdapters)
  assert.equal(catalog.offers('resource') || catalog.offers('prompt') || catalog.offers('completion'), false)
  catalog.add(page)
  assert.equal(catalog.offers('resource'), true)
  assert.equal(catalog.offers('completion'), false)
  catalog.add(definePrompt({ name: 'a', arguments: [{ name: 'b', complete: () => [] }], get: () => '' }))
  assert.equal(catalog.offers('prompt') && catalog.offers('completion'), true)
  catalog.remove('prompt', 'a')
  assert.equal(catalog.offers('prompt') && catalog.offers('completion'), true)
})
