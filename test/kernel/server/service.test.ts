/** What all protocols share: where its log goes, and whose state is in a store that processes share. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { createServer } from '../../../lib/kernel.ts'
import {
  deployments, echo, eventually, fleetOf, listed, request, serve, sharedMemory, spacesIn,
} from '../../fixtures/kernel.ts'
import { queries } from '../../fixtures/queries.ts'
import type { ProbeOptions } from '../../fixtures/kernel.ts'

const WARNING = /^\S+ warning The agent 'Mute' has no description/
const ACCESS = /^\S+ info POST \/ 200/
const logs: readonly (readonly [options: ProbeOptions, said: readonly RegExp[]])[] = [
  [{}, [WARNING]],
  [{ accessLog: true }, [WARNING, ACCESS]],
  [{ log: false }, []],
  [{ log: false, accessLog: true }, []],
  [{ log: () => {}, accessLog: true }, []],
]

test('without a logger standard error has warnings, and requests where they are asked for', async (t) => {
  for (const [options, said] of logs) {
    const lines: string[] = []
    const stderr = t.mock.method(process.stderr, 'write', (text: string) => lines.push(text) > 0)
    const server = createServer({
      agents: [{ name: 'Mute', run: () => '' }], parts: [queries()], ...options,
    })
    await (await server.fetch(request('/', { query: 'hi' }))).text()
    await server.close()
    stderr.mock.restore()
    assert.equal(lines.length, said.length, lines.join(''))
    for (const [at, line] of said.entries()) assert.match(lines[at]!, line)
  }
})

const [OLD, NEW] = ['the old secret of all', 'the new secret of all']

test('a secret that is given goes before that of the environment, and its mistake says where it is', (t) => {
  t.after(() => { delete process.env['TRIPORT_SECRET'] })
  process.env['TRIPORT_SECRET'] = 'short'
  const serving = (secret?: string): unknown => serve(t, { agents: [echo], ...secret && { secret } })
  assert.throws(() => serving(), /^TypeError: TRIPORT_SECRET: A secret of 5 characters/)
  assert.ok(serving(OLD))
  process.env['TRIPORT_SECRET'] = OLD
  assert.throws(() => serving('tiny'), /^TypeError: A secret of 4 characters/)
})

test('what a store has forgotten of its deployment is written again, whichever secret is new', async (t) => {
  const shared = sharedMemory()
  const { memory } = shared
  const { servers: [first] } = await fleetOf(t, 1, { agents: [echo], secret: OLD }, shared)
  const both = { agents: [echo], secret: [NEW, OLD], leaseMs: 2_000 }
  const { servers: [second] } = await fleetOf(t, 1, both, shared)
  await first!.close()
  const [space] = spacesIn(memory.read(deployments))
  memory.remove(deployments, 'any')
  for (const { key } of memory.list(`${space}leases`, '~', Infinity)) {
    memory.remove({ collection: `${space}leases`, owner: '~', key }, 'any')
  }
  await eventually(() => memory.read(deployments) !== undefined, 'the id is written again')
  // One that has only the new secret finds the same state.
  await fleetOf(t, 1, { agents: [echo], secret: NEW }, shared)
  assert.deepEqual(spacesIn(memory.read(deployments)), [space])
  assert.equal(listed(memory, 'leases', '~').length, 2)
  await second!.close()
})
