// What a definition says becomes of its task when the process that runs it dies.
import assert from 'node:assert/strict'
import test from 'node:test'
import { mayRerun } from '../../../lib/kernel/define/agent.ts'
import { defineAgent, defineGroup, defineTool } from '../../../lib/kernel.ts'

const run = (): string => ''

test('recover is rerun or left out, and anything else is a mistake that says so', () => {
  for (const recover of ['again', true, null, 3]) {
    const shown = typeof recover === 'string' ? JSON.stringify(recover) : String(recover)
    const why = `has recover ${shown}; write 'rerun', or leave it out: then it runs at most once`
    const bad = { name: 'Bot', run, recover } as unknown as { name: string; run: typeof run }
    assert.throws(() => defineAgent(bad), new TypeError(`The agent 'Bot' ${why}`))
    assert.throws(() => defineTool(bad), new TypeError(`The tool 'Bot' ${why}`))
  }
  assert.throws(() => defineAgent({ name: 'Bot', run, recovers: 'rerun' } as never), /recover/)
  assert.equal(defineTool({ name: 'bot', run, recover: 'rerun' }).recover, 'rerun')
})

test('a group is run again where all of its agents are', () => {
  const again = defineAgent({ name: 'Again', run, recover: 'rerun' })
  const once = defineAgent({ name: 'Once', run })
  const group = (...agents: (typeof again)[]) => defineGroup({ name: 'Both', agents })
  assert.deepEqual([again, once, group(again), group(again, once)].map(mayRerun), [true, false, true, false])
})
