import assert from 'node:assert/strict'
import test from 'node:test'
import { frameworks } from '../../lib/adapters/frameworks.ts'
import { definePrompt } from '../../lib/kernel/define/prompt.ts'
import { defineResource, defineResourceTemplate } from '../../lib/kernel/define/resource.ts'
import { defineOffer } from '../../lib/kernel/define/normalize-definitions.ts'
import { normalizeDefinitions } from '../../lib/preset/subject.ts'
import type { Defined } from '../../lib/kernel/define/normalize-definitions.ts'
import type { Subject } from '../../lib/preset/subject.ts'

const agent = { name: 'Helper', run: (prompt: string) => prompt }
const tool = { name: 'add', inputSchema: { type: 'object' }, run: () => 1 } as const
const resource = { uri: 'x:1', name: 'one', read: () => '' }
const template = { uriTemplate: 'x:{n}', name: 'n', read: () => '' }
const prompt = { name: 'hello', get: () => '' }

/** An agent whose state has the names of other things. */
class Instance {
  readonly name = 'Instance'
  readonly task = 'waiting'
  readonly uri = 'x:1'
  readonly title = 'Agent'
  run(): string { return '' }
}

/** What came out, as the names by kind that are not empty. */
function names(defined: Defined): Readonly<Record<string, readonly string[]>> {
  const lists: Readonly<Record<string, readonly { readonly name: string }[]>> = { ...defined }
  const filled = Object.entries(lists).filter(([, list]) => list.length > 0)
  return Object.fromEntries(filled.map(([kind, list]) => [kind, list.map(({ name }) => name)]))
}

test('a promise of what is served has to be awaited first, in every place', () => {
  const promise = Promise.resolve(agent)
  const offers: readonly object[] = [
    { agents: promise }, { agents: [promise] }, { tools: promise }, { tools: [promise] },
    { tools: { add: promise } }, { groups: [promise] }, { resources: [promise] }, { prompts: [promise] },
  ]
  for (const offer of offers) {
    assert.throws(() => normalizeDefinitions(offer as Subject, 'All', frameworks),
      { name: 'TypeError', message: 'Cannot serve a promise: write await before it' }, Object.keys(offer)[0])
  }
})

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
    // Without its schema a tool is none to the compiler, but to a program without types it is.
    [{ name: 'now', outputSchema: { type: 'number' }, run: () => 1 } as never, { tools: ['now'] }],
    [{ name: 'now', annotations: { readOnlyHint: true }, run: () => 1 } as never, { tools: ['now'] }],
    [{ name: 'now', task: 'optional', run: () => 1 } as never, { tools: ['now'] }],
    [new Instance() as never, { agents: ['Instance'] }],
    [{ resourceTemplates: [template], prompts: [prompt] }, { resourceTemplates: ['n'], prompts: ['hello'] }],
  ]
  for (const [subject, expected] of rows) {
    assert.deepEqual(names(normalizeDefinitions(subject, 'all', frameworks)), expected)
  }
})

test('several agents in a list are a group of that name', () => {
  const two = [agent, { ...agent, name: 'Writer' }, resource]
  assert.deepEqual(names(normalizeDefinitions(two, 'all', frameworks)), {
    agents: ['Helper', 'Writer'], groups: ['all'], resources: ['one'],
  })
})

test('what can be none of the kinds says what to write', () => {
  for (const subject of [7, null, 'x', {}, [{}], [7]]) {
    assert.throws(() => normalizeDefinitions(subject as never, 'all', frameworks), {
      name: 'TypeError', message: /^Cannot serve .*: write a function \(prompt\) => answer, or use/,
    })
  }
  const rows: readonly (readonly [subject: object, sentence: RegExp])[] = [
    [Promise.resolve(agent), /^Cannot serve a promise: write await before it$/],
    [{ name: 'a', tools: [], listen() {}, close() {}, fetch() {} }, /^What is served has no option 'name'/],
    [{ name: 'a', catalog: {}, listen() {}, close() {}, fetch() {} },
      /^Cannot serve a server that is made already: call its listen\(\), or give what it serves, as in/],
    [class Helper { run(): string { return '' } }, /^The agent is the class Helper; write new Helper\(\)$/],
    [{ tool: [tool] }, /^Cannot serve an object with 'tool'; did you mean 'tools'\?$/],
    [{ Agents: [agent] }, /^Cannot serve an object with 'Agents'; did you mean 'agents'\?$/],
    [{ tools: [tool], agent: [agent] }, /^What is served has no option 'agent'; did you mean 'agents'\?$/],
    [{ tools: tool }, /^'tools' is an object; write a list, as in \{ tools: \[one\] \}/],
    [{ name: 'a', handler: agent.run }, /^The agent 'a' needs 'run'.* Rename its 'handler' to 'run'$/],
    [{ name: 'a', inputSchema: {}, execute: agent.run },
      /^The tool 'a' needs 'run'.* Rename its 'execute' to 'run'$/],
    [{ name: 'a', input_schema: {}, run: agent.run },
      /^The tool 'a' has no option 'input_schema'; did you mean 'inputSchema'\?/],
    [{ name: 'a', uri: 'x:1', handler: agent.run },
      /^The resource 'x:1' needs 'read'.* Rename its 'handler' to 'read'$/],
    [{ name: 'a', run: 'hi' }, /^The agent 'a' needs 'run': a function, not "hi"/],
    [[agent, { name: 'b', run: agent.run, version: 7 }], /^The agent 'b' has version 7/],
  ]
  for (const [subject, message] of rows) {
    const define = (): unknown => normalizeDefinitions(subject as never, 'all', frameworks)
    assert.throws(define, { name: 'TypeError', message })
  }
  assert.throws(() => defineOffer({ prompts: prompt as never }, frameworks), {
    name: 'TypeError', message: /'prompts' is an object; write a list, as in \{ prompts: \[one\] \}/,
  })
})
