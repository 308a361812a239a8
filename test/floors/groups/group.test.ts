import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineGroup } from '../../../lib/kernel.ts'
import { timeoutOf } from '../../../lib/floors/conversations/answer-message.ts'
import { runGroup } from '../../../lib/floors/groups/group.ts'
import { Fault } from '../../../lib/kernel.ts'
import { ask as answer, callOf, serviceOf, wordOf } from '../../fixtures/house.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { Answer } from '../../../lib/floors/answers/answer.ts'
import type { AgentOutput, GroupDefinition } from '../../../lib/index.ts'

function agent(
  name: string, run: (prompt: string) => AgentOutput,
): { name: string; run: (prompt: string) => AgentOutput } {
  return { name, run }
}

const a = agent('A', (prompt) => `a(${prompt})`)
const b = agent('B', async (prompt) => `b(${prompt})`)
const c = agent('C', async function* (prompt) { yield 'c('; yield `${prompt})` })
const broken = agent('Broken', () => { throw new Error('secret') })
const failing = agent('Failing', () => { throw new Fault('failed', 'No ink') })
const refusing = agent('Refusing', () => ({ text: 'Not that', state: 'rejected' }))
const asking = agent('Asking', () => ({ text: 'Which?', state: 'input-required' }))

async function ask(definition: Omit<GroupDefinition, 'name'>, said?: string[]): Promise<Answer> {
  const { service } = serviceOf()
  const group = defineGroup({ name: 'Group', ...definition })
  return answer(
    service, group, 'q', callOf(),
    said && ((piece) => { said.push(wordOf(piece)) }),
  )
}

const working: readonly (readonly [
  what: string, group: Omit<GroupDefinition, 'name'>, text: string, who: string, state?: string,
])[] = [
  ['in sequence', { agents: [a, b, c] }, 'c(b(a(q)))', 'A a(q), B b(a(q)), C c(b(a(q)))'],
  ['one alone', { agents: [b] }, 'b(q)', 'B b(q)'],
  ['in parallel', { agents: [a, b, c], mode: 'parallel' }, 'a(q)\n\nb(q)\n\nc(q)', 'A a(q), B b(q), C c(q)'],
  ['as a router says, by id', { agents: [a, b, c], mode: () => 'b' }, 'b(q)', 'B b(q)'],
  ['as a router says, by name', { agents: [a, b, c], mode: async () => 'C' }, 'c(q)', 'C c(q)'],
  ['several, as a router says', { agents: [a, b, c], mode: () => ['c', 'a'] }, 'a(c(q))',
    'C c(q), A a(c(q))'],
  ['a group within a group', { agents: [a, { name: 'Inner', agents: [b, c] }] }, 'c(b(a(q)))',
    'A a(q), Inner c(b(a(q)))'],
  ['groups within a group in parallel', {
    mode: 'parallel',
    agents: [{ name: 'Inner', agents: [a, b] }, { name: 'Other', agents: [c], mode: () => 'c' }],
  }, 'b(a(q))\n\nc(q)', 'Inner b(a(q)), Other c(q)'],
  ['a group that a router picks', { agents: [a, { name: 'Inner', agents: [b, c] }], mode: () => 'inner' },
    'c(b(q))', 'Inner c(b(q))'],
  ['until one asks within', { agents: [{ name: 'Inner', agents: [asking, a] }, c] }, 'Which?', 'Inner Which?',
    'input-required'],
  ['past a group that fails', {
    agents: [a, { name: 'Inner', agents: [failing] }, c], onAgentError: 'continue',
  }, 'c(a(q))', 'A a(q), Inner !Failing failed: No ink, C c(a(q))'],
  ['until one asks', { agents: [a, asking, c] }, 'Which?', 'A a(q), Asking Which?', 'input-required'],
  ['in parallel, where one asks', { agents: [a, asking], mode: 'parallel' }, 'a(q)\n\nWhich?',
    'A a(q), Asking Which?', 'input-required'],
  ['past one that fails', { agents: [a, failing, c], onAgentError: 'continue' }, 'c(a(q))',
    'A a(q), Failing !No ink, C c(a(q))'],
  ['past one that fails first', { agents: [broken, c], onAgentError: 'continue' }, 'c(q)',
    'Broken !Internal error (request r-1), C c(q)'],
  ['past one that fails last', { agents: [a, refusing], onAgentError: 'continue' }, 'a(q)',
    'A a(q), Refusing !Not that'],
  ['in parallel past one that fails', { agents: [failing, b], mode: 'parallel', onAgentError: 'continue' },
    'b(q)', 'Failing !No ink, B b(q)'],
]

function sharesOf(results: Answer['results']): string {
  return (results ?? []).map(({ agent: name, response, error }) => {
    return `${name} ${error === undefined ? response : `!${error}`}`
  }).join(', ')
}

test('a group answers in its mode, and says what each agent said', async () => {
  for (const [what, group, text, who, state = 'completed'] of working) {
    const outcome = await ask(group)
    assert.equal(outcome.text, text, what)
    assert.equal(sharesOf(outcome.results), who, what)
    assert.equal(outcome.state, state, what)
  }
})

const stopping: readonly (readonly [
  what: string, group: Omit<GroupDefinition, 'name'>, message: string, who: string,
])[] = [
  ['in sequence', { agents: [a, failing, c] }, 'Failing failed: No ink', 'A a(q), Failing !No ink'],
  ['within a group', { agents: [a, { name: 'Inner', agents: [b, failing] }, c] },
    'Inner failed: Failing failed: No ink', 'A a(q), Inner !Failing failed: No ink'],
  ['at one that rejects', { agents: [refusing, c] }, 'Refusing failed: Not that', 'Refusing !Not that'],
  ['at one that breaks', { agents: [broken, c] }, 'Broken failed: Internal error (request r-1)',
    'Broken !Internal error (request r-1)'],
  ['in parallel', { agents: [a, failing, b], mode: 'parallel' }, 'Failing failed: No ink',
    'A a(q), Failing !No ink, B b(q)'],
  ['where all fail', { agents: [failing, refusing], onAgentError: 'continue' }, 'Refusing failed: Not that',
    'Failing !No ink, Refusing !Not that'],
  ['where all fail in parallel', { agents: [failing, refusing], mode: 'parallel', onAgentError: 'continue' },
    'Failing failed: No ink',
    'Failing !No ink, Refusing !Not that'],
]

test('of agents in parallel who have no words only the files are told', async () => {
  const file = { type: 'image', data: 'AAEC', mimeType: 'image/png' } as const
  const drawing = agent('Drawing', () => [file])
  const both = await ask({ agents: [drawing, a], mode: 'parallel' })
  assert.deepEqual([both.text, both.content], ['a(q)', [{ type: 'text', text: 'a(q)' }, file]])
  const drawn = await ask({ agents: [drawing], mode: 'parallel' })
  assert.deepEqual([drawn.text, drawn.content], ['', [file]])
})

test('files in the middle of a sequence are told to its author, once; not those of the reply', async () => {
  const file = { type: 'image', data: 'AAEC', mimeType: 'image/png' } as const
  const drawing = agent('Drawing', () => ({ text: 'Drawn', content: [file] }))
  const failing = agent('Failing', () => { throw new Fault('failed', 'No ink') })
  const rows: readonly (readonly [agents: readonly ReturnType<typeof agent>[], times: number])[] = [
    [[drawing, a], 1], [[a, drawing], 0], [[drawing], 0], [[drawing, failing], 0],
  ]
  for (const [agents, times] of rows) {
    const { service, logged } = serviceOf()
    const group = defineGroup({ name: 'Group', agents, onAgentError: 'continue' })
    for (let round = 0; round < 2; round++) await answer(service, group, 'q', callOf())
    const said = logged.filter(([, message]) => /answered with files/.test(message))
    assert.equal(said.length, times, agents.map(({ name }) => name).join())
    if (times > 0) assert.match(said[0]![1], /^The agent 'Drawing' .* of the group 'Group', where only/)
  }
})

test('a group that cannot go on says who failed, and what was said before', async () => {
  for (const [what, group, message, who] of stopping) {
    await assert.rejects(ask(group), (error) => {
      assert.ok(error instanceof Fault, what)
      assert.deepEqual([error.kind, error.message], ['failed', message], what)
      assert.equal(sharesOf((error.detail as { results: Answer['results'] }).results), who, what)
      return true
    })
  }
})

const lost: readonly (readonly [choice: unknown, sentence: RegExp])[] = [
  ['nobody', /The router of 'Group' chose nobody; it has 'a', 'b'/],
  [undefined, /chose undefined; it has/],
  [['a', 'z'], /chose z; it has/],
  [[], /chose \[\]; it has/],
  [{ id: 'a' }, /chose \{"id":"a"\}; it has/],
]

test('a router that chooses nobody has failed, and the log says whom it chose', async () => {
  for (const [choice, sentence] of lost) {
    const { service, logged } = serviceOf()
    const group = defineGroup({ name: 'Group', agents: [a, b], mode: () => choice as string })
    await assert.rejects(async () => answer(service, group, 'q', callOf()), {
      kind: 'upstream', message: `The router of 'Group' chose an agent that is not there`,
    })
    assert.match(String(logged[0]?.[2]['cause']), sentence)
  }
  await assert.rejects(
    ask({ agents: [a], mode: () => { throw new Fault('forbidden', 'Not you') } }), { kind: 'forbidden' },
  )
})

test('what a group streams is what its last agent says piece by piece', async () => {
  const rows: readonly (readonly [group: Omit<GroupDefinition, 'name'>, said: readonly string[]])[] = [
    [{ agents: [a, c] }, ['c(', 'a(q))']],
    [{ agents: [a, b], mode: 'parallel' }, []],
    [{ agents: [asking, c] }, []],
    [{ agents: [a, c], mode: () => 'c' }, ['c(', 'q)']],
    [{ agents: [a, { name: 'Inner', agents: [b, c] }] }, ['c(', 'b(a(q)))']],
    [{ agents: [{ name: 'Inner', agents: [b, c] }, a] }, []],
  ]
  for (const [group, expected] of rows) {
    const said: string[] = []
    await ask(group, said)
    assert.deepEqual(said, expected)
  }
})

test('who listens hears each agent begin, and all that it says, in groups within groups too', async () => {
  const silent = agent('Silent', () => '')
  const late = agent('Late', async () => { await sleep(5); return 'late' })
  const inner = { name: 'Inner', agents: [b, c] }
  const rows: readonly (readonly [group: Omit<GroupDefinition, 'name'>, heard: readonly string[]])[] = [
    [{ agents: [a, c] }, ['A', 'A: a(q)', 'C', 'C: c(', 'C: a(q))']],
    [{ agents: [silent, a] }, ['Silent', 'A', 'A: a()']],
    [{ agents: [late, a], mode: 'parallel' }, ['Late', 'A', 'A: a(q)', 'Late: late']],
    [{ agents: [asking, c] }, ['Asking', 'Asking: Which?']],
    [{ agents: [failing, a], onAgentError: 'continue' }, ['Failing', 'A', 'A: a(q)']],
    [{ agents: [refusing, a], onAgentError: 'continue' }, ['Refusing', 'A', 'A: a(q)']],
    [{ agents: [a, c], mode: () => ['a', 'a'] }, ['A', 'A: a(q)', 'A', 'A: a(a(q))']],
    [{ agents: [inner, a] }, ['B', 'B: b(q)', 'C', 'C: c(', 'C: b(q))', 'A', 'A: a(c(b(q)))']],
    [{ agents: [a, inner] }, ['A', 'A: a(q)', 'B', 'B: b(a(q))', 'C', 'C: c(', 'C: b(a(q)))']],
  ]
  for (const [definition, expected] of rows) {
    const { service } = serviceOf()
    const heard: string[] = []
    const group = defineGroup({ name: 'Group', ...definition })
    await runGroup(service, group, 'q', callOf(), (event) => {
      const { name } = event.agent!
      heard.push(event.type === 'step' ? name : `${name}: ${wordOf(event)}`)
    }, true)
    assert.deepEqual(heard, expected)
  }
})

test('an agent of a group waits for who listens', async () => {
  const { service } = serviceOf()
  const order: string[] = []
  const two = agent('Two', async function* () {
    yield 'one'
    order.push('went on')
    yield 'two'
  })
  await runGroup(service, defineGroup({ name: 'Group', agents: [two] }), 'q', callOf(), async (event) => {
    if (event.type !== 'piece') return
    await sleep(5)
    order.push(wordOf(event))
  }, true)
  assert.deepEqual(order, ['one', 'went on', 'two'])
})

test('a group in parallel waits for all at once, and one that is cancelled for none', async () => {
  const slow = agent('Slow', async () => { await sleep(30); return 'slow' })
  const { service } = serviceOf()
  const two = defineGroup({ name: 'Group', agents: [slow, { ...slow, name: 'Slow too' }], mode: 'parallel' })
  assert.equal((await answer(service, two, 'q', callOf())).text, 'slow\n\nslow')
  const call = callOf()
  const ended = answer(service, two, 'q', call)
  call.cancel(new Fault('cancelled', 'Gone'))
  await assert.rejects(async () => ended, { kind: 'cancelled' })
})

test('a group has the time that its agents may take together, unless it says otherwise', () => {
  const { service } = serviceOf({ agentTimeoutMs: 100 })
  const agents = [{ ...a, timeoutMs: 30 }, b]
  const rows: readonly (readonly [group: Partial<GroupDefinition>, ms: number])[] = [
    [{}, 130], [{ mode: 'parallel' }, 100], [{ mode: () => 'a' }, 130], [{ timeoutMs: 7 }, 7],
    [{ agents: [{ name: 'Inner', agents }, c] }, 230],
    [{ agents: [{ name: 'Inner', agents, timeoutMs: 7 }, c] }, 107],
    [{ agents: [{ name: 'Inner', agents, mode: 'parallel' }, c] }, 200],
    [{ agents: [{ name: 'Inner', agents }, c], mode: 'parallel' }, 130],
  ]
  for (const [more, ms] of rows) {
    assert.equal(timeoutOf(service, defineGroup({ name: 'Group', agents, ...more })), ms)
  }
})

test('a group may take longer than any one of its agents', async (t) => {
  const pass = standingTime(t)
  const slow = (name: string): ReturnType<typeof agent> => agent(name, async (prompt) => {
    await new Promise((resolve) => { setTimeout(resolve, 60) })
    return `${name}(${prompt})`
  })
  const { service } = serviceOf({ agentTimeoutMs: 100 })
  const group = defineGroup({ name: 'Group', agents: [slow('X'), slow('Y'), slow('Z')] })
  const whole = answer(service, group, 'q', callOf())
  for (let count = 0; count < 3; count++) {
    await new Promise((resolve) => { setImmediate(resolve) })
    pass(60)
  }
  assert.equal((await whole).text, 'Z(Y(X(q)))')
})

test('what a service has failed at is told as that, and logged with its agent and protocol', async () => {
  const statused = (status: number): Error => (
    Object.assign(new Error('secret'), { status, headers: { 'retry-after': '7' } })
  )
  const rows = [[429, 'busy', 7, /is busy/], [503, 'upstream', undefined, /has failed/]] as const
  for (const [status, kind, retryAfterSeconds, said] of rows) {
    for (const mode of ['sequence', 'parallel'] as const) {
      const { service, logged } = serviceOf()
      const agents = [a, agent('Model', () => { throw statused(status) })]
      const group = defineGroup({ name: 'Group', agents, mode })
      await assert.rejects(async () => answer(service, group, 'q', callOf()), (error: unknown) => {
        assert.ok(error instanceof Fault)
        assert.deepEqual([error.kind, error.retryAfterSeconds], [kind, retryAfterSeconds])
        assert.match(error.message, said)
        return true
      })
      const lines = logged.filter(([, message]) => message === 'An agent of a group failed')
      assert.deepEqual(lines.map(([level, , { agent: name, protocol }]) => [level, name, protocol]),
        [['warning', 'Model', 'http']])
    }
  }
})
