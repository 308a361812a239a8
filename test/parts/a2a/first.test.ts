// Alone in its file: what answers A2A is loaded once in a process, with the first request.
import assert from 'node:assert/strict'
import test from 'node:test'
import { listen } from '../../fixtures/client.ts'
import { message } from './ask.ts'

test('of large answers to those who come first, one is made in a turn', async (t) => {
  const made: string[] = []
  const large = 'x'.repeat(200_000)
  const { url } = await listen(t, {
    protocol: 'a2a',
    agents: [{
      name: 'Bot',
      run(prompt) {
        made.push(prompt)
        setImmediate(() => made.push('turn'))
        return large
      },
    }],
  })
  const headers = { 'Content-Type': 'application/json' }
  const prompts = ['one', 'two', 'three', 'four']
  await Promise.all(prompts.map(async (prompt) => {
    const body = JSON.stringify(message(prompt))
    const response = await fetch(`${url}/a2a`, { method: 'POST', headers, body })
    assert.ok((await response.text()).includes(large))
  }))
  assert.deepEqual(made.filter((what) => what !== 'turn').toSorted(), prompts.toSorted())
  for (const [at, what] of made.entries()) assert.ok(what === 'turn' || at === 0 || made[at - 1] === 'turn')
})
