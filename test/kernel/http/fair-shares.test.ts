import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import test from 'node:test'
import { eventually, listen } from '../../fixtures/kernel.ts'
import type { ClientRequest } from 'node:http'
import type { TestContext } from 'node:test'
import type { ProbeOptions } from '../../fixtures/kernel.ts'
import type { KernelServer } from '../../../lib/kernel.ts'

const KiB = 1024
const keys = ['a', 'b'].map((id) => ({ id, key: `the key of ${id}` }))

/** A client: with a key, or from an address of its own. */
interface Client { readonly key?: string; readonly localAddress?: string }

interface House {
  readonly server: KernelServer
  /** Begins a request; what it sends and reads is its caller's business. */
  begin(client: Client, path: string, headers?: Readonly<Record<string, string | number>>): ClientRequest
  /** The status of a call. */
  call(client: Client, path: string, body?: string): Promise<number>
}

async function house(t: TestContext, options: ProbeOptions): Promise<House> {
  const waiting: (() => void)[] = []
  const wait = (): Promise<string> => new Promise((resolve) => waiting.push(() => resolve('Done')))
  const { server, port } = await listen(t, {
    agents: [{ name: 'Quick', run: () => 'x' }],
    tools: [
      { name: 'slow', description: 'Waits.', run: wait },
      { name: 'quick', description: 'Does not.', inputSchema: { type: 'object' }, run: () => 'x' },
    ],
    ...options,
  })
  const begin: House['begin'] = ({ key, localAddress }, path, headers = {}) => {
    const credential = key === undefined ? {} : { 'x-api-key': key }
    const one = httpRequest({
      port, path, method: 'POST', agent: false,
      ...localAddress !== undefined && { localAddress },
      headers: { 'content-type': 'application/json', ...credential, ...headers },
    })
    one.on('error', () => {})
    t.after(() => one.destroy())
    return one
  }
  t.after(() => { for (const done of waiting) done() })
  return {
    server, begin,
    call: (client, path, body = '{}') => new Promise((resolve, reject) => {
      const one = begin(client, path, { 'content-length': Buffer.byteLength(body) })
      one.on('response', (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      one.on('error', reject)
      one.end(body)
    }),
  }
}

const pairs: readonly (readonly [what: string, one: Client, other: Client, options: ProbeOptions])[] = [
  ['key', { key: keys[0]!.key }, { key: keys[1]!.key }, { apiKey: keys }],
  ['network', { localAddress: '127.0.0.1' }, { localAddress: '127.0.0.2' }, {}],
]

for (const [what, one, other, options] of pairs) {
  test(`a ${what} that fills all calls shuts no other out`, async (t) => {
    const { server, begin, call } = await house(t, { ...options, maxCalls: 4 })
    const running = Array.from({ length: 4 }, () => begin(one, '/tools/slow'))
    for (const slow of running) slow.end('{}')
    await eventually(() => server.status().calls.running === 4, 'one caller alone has all calls')
    assert.equal(await call(one, '/tools/quick'), 503)
    assert.equal(await call(other, '/tools/quick'), 200)
    assert.equal(await call(other, '/', '{"query":"x","stream":true}').catch(() => 0), 200)
    for (let at = 0; at < 2; at++) begin(other, '/tools/slow').end('{}')
    await eventually(() => server.status().calls.running === 6, 'another one has fewer than an equal part')
    assert.equal(await call(other, '/tools/quick'), 503, 'there is an end to what comes beyond the limit')
    for (const slow of running) slow.destroy()
  })

  test(`a ${what} that fills the room of all bodies shuts no other out`, async (t) => {
    const { server, begin, call } = await house(t, { ...options, maxBodiesBytes: 800 * KiB })
    const long = { 'content-length': 130 * KiB }
    const stalled = Array.from({ length: 7 }, () => begin(one, '/tools/quick', long))
    for (const half of stalled) half.write('x'.repeat(100 * KiB))
    await eventually(() => server.status().bodies.bytes >= 600 * KiB, 'all that one caller may hold is held')
    const text = JSON.stringify({ long: 'x'.repeat(100 * KiB) })
    assert.equal(await call(one, '/tools/quick', text), 503)
    assert.equal(await call(other, '/tools/quick', text), 200)
    for (const half of stalled) half.destroy()
    await eventually(() => server.status().bodies.bytes === 0, 'nothing is held for those who left')
  })
}
