import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { patient, ports, post } from './pipelined.ts'
import { dial, eventually } from '../../fixtures/kernel.ts'

test('all that is sent ahead is answered in its order', async (t) => {
  const count = 5_000
  for (const port of await ports(t, { agents: [(prompt: string) => prompt] })) {
    const wire = await dial(t, port)
    wire.send(Array.from({ length: count }, (_, at) => post(`q${at}`)).join(''))
    await wire.until((text) => text.includes(`"q${count - 1}"`))
    const said = [...wire.text.matchAll(/"response":"q(\d+)"/g)].map(([, number]) => Number(number))
    assert.deepEqual(said, Array.from({ length: count }, (_, at) => at))
  }
})

test('a request that waits is read to its end when it is its turn', async (t) => {
  const agent = patient()
  for (const port of await ports(t, { agents: [{ name: 'Patient', run: agent.run }] })) {
    agent.asked.length = 0
    const wire = await dial(t, port)
    const long = 'x'.repeat(500_000)
    wire.send(post('first') + post(long))
    await eventually(() => agent.asked.length === 1, 'the first runs')
    await sleep(50)
    assert.deepEqual(agent.asked, ['first'])
    agent.release()
    await eventually(() => agent.asked.length === 2, 'the second runs')
    agent.release()
    const answers = await wire.answers(2)
    assert.equal(answers[1]?.status, 200)
    assert.equal(agent.asked[1], long)
  }
})
