import assert from 'node:assert/strict'
import test from 'node:test'
import { definePrompt } from '../../lib/core/prompt.ts'
import { defineResource, defineResourceTemplate } from '../../lib/core/resource.ts'
import { define, sortOut } from '../../lib/core/subject.ts'
import type { Defined, Subject } from '../../lib/core/subject.ts'

const agent = { name: 'Helper', run: (prompt: string) => prompt }
const tool = { name: 'add', inputSchema: { type: 'object' }, run: () => 1 } as const
const resource = { uri: 'x:1', name: 'one', read: () => '' }
const template = { uriTemplate: 'x:{n}', name: 'n', read: () => '' }
const prompt = { name: 'hello', get: () => '' }

/** What came out, as the names by kind that are not empty. */
function names(defined: Defined): Readonly<Record<string, readonly string[]>> {
  const lists: Readonly<Record<string, readonly { readonly name: string }[]>> = { ...defined }
  const filled = Object.entries(lists).filter(([, list]) => list.length > 0)
  return Object.fromEntries(filled.map(([kind, list]) => [kind, list.map(({ name }) => name)]))
}

test('each thing is known by what it has', () => {
  const rows: readonly (readonly [Subject, object])[] = [
    [(said: string) => said, { agents: ['Assistant'] }],
    [agent, { agents: ['Helper'] }],
    [tool, { tools: ['add'] }],
    [resource, { resources: ['one'] }],
    [template, { resourceTemplates: ['n'] }],
    [prompt, { prompts: ['hello'] }],
    [defineResource(resource), { resources: ['one'] }],
    [defineResourceTemplate(template), { resourceTemplates: ['n'] }],
    [definePrompt(prompt), { prompts: ['hello'] }],
    [{ name: 'Desk', agents: [agent] }, { groups: ['Desk'] }],
    [[agent, tool, resource, template, prompt], {
      agents: ['Helper'], tools: ['add'], resources: ['one'], resourceTemplates: ['n'], prompts: ['hello'],
    }],
    [{ resources: [resource] }, { resources: ['one'] }],
    [{ resourceTemplates: [template], prompts: [prompt] }, { resourceTemplates: ['n'], prompts: ['hello'] }],
  ]
  for (const [subject, expected] of rows) assert.deepEqual(names(sortOut(subject, 'all')), expected)
})

test('several agents in a list are a group of that name', () => {
  const two = [agent, { ...agent, name: 'Writer' }, resource]
  assert.deepEqual(names(sortOut(two, 'all')), {
    agents: ['Helper', 'Writer'], groups: ['all'], resources: ['one'],
  })
})

test('what can be none of the kinds says what to write', () => {
  for (const subject of [7, null, 'x', {}, [{}], [7]]) {
    assert.throws(() => sortOut(subject as never, 'all'), {
      name: 'TypeError', message: /^Cannot serve .*: write a function \(prompt\) => answer, or use/,
    })
  }
  assert.throws(() => define({ prompts: prompt as never }), {
    name: 'TypeError', message: /'prompts' is an object; write a list, as in \{ prompts: \[one\] \}/,
  })
})
