import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent, defineGroup } from '../../lib/core/agent.ts'
import type { AgentDefinition, Call, GroupDefinition } from '../../lib/index.ts'

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
