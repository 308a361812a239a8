import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent, defineGroup } from '../../lib/core/agent.ts'
import { Catalog } from '../../lib/core/catalog.ts'
import { definePrompt } from '../../lib/core/prompt.ts'
import { defineResource, defineResourceTemplate } from '../../lib/core/resource.ts'
import { defineTool } from '../../lib/core/tool.ts'
import type { Served } from '../../lib/core/catalog.ts'

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
  const catalog = new Catalog('test')
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
  const catalog = new Catalog('test')
  catalog.add(helper)
  assert.equal(catalog.root, helper)
  catalog.add(desk)
  assert.equal(catalog.root, desk)
  assert.deepEqual(catalog.agents, [helper, writer])
})

test('listeners are told by the name by which a thing is removed, until they leave', () => {
  const catalog = new Catalog('test')
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
  const catalog = new Catalog('test')
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
  const catalog = new Catalog('test')
  assert.equal(catalog.offers('resource') || catalog.offers('prompt') || catalog.offers('completion'), false)
  catalog.add(page)
  assert.equal(catalog.offers('resource'), true)
  assert.equal(catalog.offers('completion'), false)
  catalog.add(definePrompt({ name: 'a', arguments: [{ name: 'b', complete: () => [] }], get: () => '' }))
  assert.equal(catalog.offers('prompt') && catalog.offers('completion'), true)
  catalog.remove('prompt', 'a')
  assert.equal(catalog.offers('prompt') && catalog.offers('completion'), true)
})
