import assert from 'node:assert/strict'
import test from 'node:test'
import { allMembers, slug } from '../../../lib/kernel/define/agent.ts'
import { defineAgent, defineGroup, defineTool } from '../../../lib/kernel.ts'
import type { AgentDefinition, Call, GroupDefinition } from '../../../lib/kernel.ts'

const run = (): string => 'ok'
const noCall = {} as Call

test('an agent is checked once, then frozen, and is itself when it is defined again', () => {
  const agent = defineAgent({ name: 'Support Bot', run })
  assert.deepEqual(
    [agent.kind, agent.id, agent.name, agent.description], ['agent', 'support-bot', 'Support Bot', ''],
  )
  assert.ok(Object.isFrozen(agent))
  assert.equal(defineAgent(agent), agent)
})

test('a bare function is an agent', () => {
  const agent = defineAgent((prompt) => `You said ${prompt}`)
  assert.deepEqual([agent.id, agent.name], ['assistant', 'Assistant'])
  assert.equal(agent.run('hi', noCall), 'You said hi')
})

test('an object with methods and state can be an agent', () => {
  class Counter {
    readonly name = 'Counter'
    count = 0
    run(): string { return String(++this.count) }
  }
  const agent = defineAgent(new Counter())
  assert.deepEqual([agent.run('', noCall), agent.run('', noCall)], ['1', '2'])
  const copy = defineAgent({ ...agent, name: 'Other' })
  assert.deepEqual([copy.name, copy.run('', noCall), 'count' in copy], ['Other', '3', false])
})

test('a copy of an agent or a group with other members is one too', () => {
  const agent = defineAgent({ name: 'Helper', run, version: '2.0.0' })
  const copy = defineAgent({ ...agent, id: 'other', description: 'Another.' })
  assert.deepEqual([copy.id, copy.version, copy.description], ['other', '2.0.0', 'Another.'])
  assert.equal(defineGroup({ ...defineGroup({ name: 'Desk', agents: [agent] }), id: 'other' }).id, 'other')
})

const brokenAgents: readonly (readonly [definition: unknown, sentence: RegExp])[] = [
  [undefined, /defineAgent takes an object, not undefined\. Write defineAgent\(\{ name: 'Helper'/],
  ['Helper', /defineAgent takes an object, not "Helper"/],
  [[], /defineAgent takes an object, not an array/],
  [{ run }, /An agent needs 'name': a non-empty string, not undefined/],
  [{ name: '', run }, /An agent needs 'name'/],
  [{ name: 7, run }, /An agent needs 'name': a non-empty string, not 7/],
  [{ name: 'Helper' }, /The agent 'Helper' needs 'run': a function, not undefined\. Write \{ name/],
  [{ name: 'Helper', run: 'hi' }, /needs 'run': a function, not "hi"/],
  [{ name: '助手', run }, /give an id, as in/],
  [{ name: 'List', run }, /The id 'list' is taken/],
  [{ name: 'Helper', run, id: 'Help Er' },
    /has the id "Help Er": an id is lower-case letters.*; write 'help-er'/],
  [{ name: 'Helper', run, id: 7 }, /has the id 7: an id is lower-case letters and digits joined by '-'$/],
  [{ name: 'Helper', run, description: 7 }, /has description 7; write a string/],
  [{ name: 'Helper', run, version: {} }, /has version an object; write a string/],
  [{ name: 'Helper', run, timeoutMs: 0 }, /has timeoutMs 0; write milliseconds above zero, or Infinity/],
  [{ name: 'Helper', run, skills: [{ id: 'a' }] },
    /has skills without id, name or description; write skills: \[\{ id/],
  [{ name: 'Helper', run, skills: 'sums' }, /has skills without id/],
  [{ name: 'Helper', run, skills: [{ id: '', name: 'A', description: 'b' }] }, /has skills without id/],
  [{ name: 'Helper', run, skills: [{ id: 'a', name: '', description: 'b' }] }, /has skills without id/],
  [{ name: 'Helper', run, skills: ['A', 'B'].map((name) => ({ id: 'a', name, description: 'c' })) },
    /The skill 'a' of 'Helper' is there twice; give each skill an id of its own/],
  [{ name: 'Helper', agents: [run] },
    /^The agent 'Helper' has agents, so it is a group; put it into 'groups'$/],
  [{ name: 'Helper', handler: run },
    /The agent 'Helper' needs 'run': a function, not undefined\. Rename its 'handler' to 'run'$/],
  [{ name: 'Helper', execute: run }, /Rename its 'execute' to 'run'$/],
  [{ name: 'Helper', call: run }, /Rename its 'call' to 'run'$/],
  [{ name: 'Helper', run: null, handler: run }, /needs 'run': a function, not null\. Write \{ name/],
  [{ name: 'Helper', run, descripton: 'x' },
    /^The agent 'Helper' has no option 'descripton'; did you mean 'description'\?$/],
  [{ name: 'Helper', run, timeoutms: undefined }, /has no option 'timeoutms'; did you mean 'timeoutMs'\?/],
  [{ name: 'Helper', run, colour: 'x' },
    /has no option 'colour'; it has name, id, description, version, run, skills,/],
  [Object.assign(Object.create(null), { name: 'Helper', run, tiemoutMs: 1 }), /did you mean 'timeoutMs'\?/],
  [{ name: 'Helper', run, kind: 'robot' }, /The agent 'Helper' has the kind "robot"; leave it out/],
  [{ name: 'Helper', run, kind: 'tool' }, /has the kind "tool"; put it into 'tools'/],
  [{ name: 'Helper', run, inputModes: 'text/plain' },
    /has inputModes "text\/plain"; write a list of strings, as in \['text\/plain'\]/],
  [{ name: 'Helper', run, outputModes: [7] }, /has outputModes an array; write a list of strings/],
  [{ name: 'Helper', run, skills: [{ id: 'a', name: 'A', description: '', tag: [] }] },
    /The skill 'a' of 'Helper' has no option 'tag'; did you mean 'tags'\?/],
  [{ name: 'Helper', run, skills: [{ id: 'a', name: 'A', description: '', tags: 'x' }] },
    /The skill 'a' of 'Helper' has tags "x"; write a list of strings, as in \['math'\]/],
  [{ name: 'Helper', run, skills: [{ id: 'a', name: 'A', description: '', examples: [7] }] },
    /The skill 'a' of 'Helper' has examples an array/],
]

test('a mistake in an agent says what to write instead', () => {
  for (const [definition, sentence] of brokenAgents) {
    assert.throws(
      () => defineAgent(definition as AgentDefinition),
      (error) => error instanceof TypeError && sentence.test(error.message),
    )
  }
})

test('an id of its own lets an agent have any name', () => {
  assert.equal(defineAgent({ name: '助手', id: 'helper', run }).id, 'helper')
})

const first = { name: 'First', run }
const second = { name: 'Second', run }

test('what an author has frozen is defined like any other', () => {
  const frozen = Object.freeze({ kind: 'agent', name: 'Helper', run })
  const agent = defineAgent(frozen as unknown as AgentDefinition)
  assert.deepEqual([agent.id, agent.description], ['helper', ''])
  const group = defineGroup(
    Object.freeze({ kind: 'group', name: 'Desk', agents: [agent] }) as unknown as GroupDefinition,
  )
  assert.deepEqual([group.id, group.mode], ['desk', 'sequence'])
})

test('a group defines its agents, says who they are, and is frozen', () => {
  const group = defineGroup({ name: 'The Desk', agents: [first, second, run] })
  assert.deepEqual(
    [group.kind, group.id, group.mode, group.onAgentError], ['group', 'the-desk', 'sequence', 'stop'],
  )
  assert.deepEqual(group.agents.map(({ id }) => id), ['first', 'second', 'assistant'])
  assert.equal(group.description, 'Runs First, Second, Assistant.')
  assert.ok(Object.isFrozen(group) && Object.isFrozen(group.agents))
  assert.equal(defineGroup(group), group)
})

test('a group may hold groups, made or as they are written, and one agent may be in several', () => {
  const shared = defineAgent(first)
  const inner = defineGroup({ name: 'Inner', agents: [shared, second] })
  const group = defineGroup({
    name: 'Outer',
    agents: [inner, { name: 'Other', agents: [shared], mode: 'parallel' }, { name: 'Third', run }],
  })
  const kinds = group.agents.map(({ kind, id }) => `${kind} ${id}`)
  assert.deepEqual(kinds, ['group inner', 'group other', 'agent third'])
  assert.equal(group.agents[0], inner)
  const ids = allMembers(group).map(({ id }) => id)
  assert.deepEqual(ids, ['inner', 'first', 'second', 'other', 'first', 'third'])
  assert.equal(group.description, 'Runs Inner, Other, Third.')
})

const circle: { name: string; agents: unknown[] } = { name: 'Circle', agents: [] }
circle.agents.push({ name: 'Around', agents: [circle] })

const once = defineAgent(first)

const brokenGroups: readonly (readonly [definition: unknown, sentence: RegExp])[] = [
  [undefined, /defineGroup takes an object, not undefined/],
  [{ agents: [first] }, /A group needs 'name'/],
  [{ name: 'Desk' }, /The group 'Desk' needs 'agents': a list of at least one agent\. Write defineGroup\(\{/],
  [{ name: 'Desk', agents: [] }, /a list of at least one agent/],
  [{ name: 'Desk', agents: first }, /a list of at least one agent/],
  [{ name: 'Desk', agents: [{ name: 'First' }] }, /The agent 'First' needs 'run'/],
  [{ name: 'Desk', agents: [first], mode: 'queue' },
    /has mode "queue"; write 'sequence', 'parallel' or a function that routes/],
  [{ name: 'Desk', agents: [first], onAgentError: 'ignore' },
    /has onAgentError "ignore"; write 'stop' or 'continue'/],
  [{ name: 'Desk', agents: [first], timeoutMs: -1 }, /has timeoutMs -1/],
  [{ name: 'Desk', agents: [first], description: [] }, /has description an array/],
  [{ name: 'Desk', agents: [first], onagenterror: 'stop' },
    /has no option 'onagenterror'; did you mean 'onAgentError'\?/],
  [{ name: 'Desk', agents: [first], kind: 'agent' },
    /The group 'Desk' has the kind "agent"; put it into 'agents'/],
  [{ name: 'Desk', agent: [first] }, /The group 'Desk' has no option 'agent'; did you mean 'agents'\?/],
  [{ name: 'Desk', agents: [defineAgent(first), { name: 'Inner', agents: [first] }] },
    new RegExp(`The group 'Desk' has two agents with the id 'first' \\('First' and 'First'\\); `
      + 'define one agent once, with defineAgent, and')],
  [{ name: 'Desk', agents: [once, once] }, /The group 'Desk' has 'First' twice; take one of them out/],
  [{ name: 'Desk', agents: [{ name: 'Inner', agents: [{ name: 'Desk', run }] }] },
    /The group 'Desk' has two agents with the id 'desk'/],
  [{ name: 'Desk', agents: [{ name: 'Desk', run }] }, /The group 'Desk' has two agents with the id 'desk'/],
  [{ name: 'Desk', agents: [first, { name: 'Inner', agents: [] }] }, /The group 'Inner' needs 'agents'/],
  [{ name: 'Desk', agents: [defineTool({ name: 'add', run })] }, /The agent 'add' has the kind "tool"/],
  [circle, /The group 'Circle' is a member of itself; take it out of its agents/],
  [{ name: 'Desk', agents: [first, { name: 'FIRST!', run }] },
    /two agents with the id 'first' \('First' and 'FIRST!'\); give one of them another name, or an id/],
]

test('a mistake in a group says what to write instead', () => {
  for (const [definition, sentence] of brokenGroups) {
    assert.throws(
      () => defineGroup(definition as GroupDefinition),
      (error) => error instanceof TypeError && sentence.test(error.message),
    )
  }
})

const slugs: readonly (readonly [name: string, id: string])[] = [
  ['Assistant', 'assistant'],
  ['Support Bot', 'support-bot'],
  ['  Support -- Bot!  ', 'support-bot'],
  ['Déjà Vu', 'deja-vu'],
  ['Ünïcödé №1', 'unicode-no1'],
  ['ﬁne ①', 'fine-1'],
  ['a_b.c', 'a-b-c'],
  ['GPT-4o', 'gpt-4o'],
  ['__proto__', 'proto'],
  ['Помощник 7', '7'],
  ['x'.repeat(48), 'x'.repeat(48)],
]

test('an id is made of a name', () => {
  for (const [name, id] of slugs) assert.equal(slug(name), id, name)
})

const unfit: readonly (readonly [name: string, sentence: RegExp])[] = [
  ['', /has no letter or digit to make an id of; give an id, as in \{ id: 'helper' \}/],
  ['!!!', /The name '!!!' has no letter or digit/],
  ['助手', /has no letter or digit/],
  ['x'.repeat(49), /has 49 characters; give a shorter name, or an id of at most 48/],
  ['List', /The id 'list' is taken by the list of agents; choose another name/],
]

test('a name of which no id can be made says what to write instead', () => {
  for (const [name, sentence] of unfit) assert.throws(() => slug(name), sentence)
})
