import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { HostLookups, lookupHost, lookupIn } from '../../../lib/floors/outbound/host-lookups.ts'
import { eventually } from '../../fixtures/wire.ts'
import type { TestContext } from 'node:test'
import type { HostAddress } from '../../../lib/floors/outbound/host.ts'
import type { Inquirer } from '../../../lib/floors/outbound/host-lookups.ts'

const found: readonly HostAddress[] = [{ address: '127.0.0.1', family: 4 }]
const never = (): Promise<never> => new Promise(() => {})

function by(owner: string, signal: AbortSignal = new AbortController().signal): Inquirer {
  return { owner, signal }
}

interface NameServer { readonly address: string; readonly asked: number }

/** One that says of each name that there is none, or nothing at all. Counts what it is asked. */
async function nameServer(t: TestContext, isSilent: boolean): Promise<NameServer> {
  let asked = 0
  const socket = createSocket('udp4', (message, { port, address }) => {
    asked++
    if (isSilent) return
    const answer = Buffer.from(message)
    // An answer, and NXDOMAIN.
    answer[2] = 0x81
    answer[3] = 0x83
    socket.send(answer, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, get asked() { return asked } }
}

test('look-ups that never end are bounded, in all and for one owner, and count until they end', async () => {
  const ends: (() => void)[] = []
  const lookups = new HostLookups('look-ups of tests', () => (
    new Promise((resolve) => { ends.push(() => resolve(found)) })
  ))
  const gone = new AbortController()
  const ask = (owner: string, nth: number): Promise<unknown> => (
    lookups.find(`${nth}.test`, by(owner, gone.signal)).catch(() => 0)
  )
  const all = Array.from({ length: 100 }, (_one, nth) => ask(`owner ${nth % 5}`, nth))
  await eventually(() => lookups.running === 32 && lookups.waiting === 68)
  assert.equal(ends.length, 32)
  gone.abort(new Error('gone'))
  await Promise.all(all)
  assert.deepEqual([lookups.running, lookups.waiting], [32, 0])
  const late = new AbortController()
  const other = lookups.find('late.test', by('new', late.signal))
  late.abort(new Error('late'))
  await assert.rejects(other, { kind: 'busy' })
  ends[0]!()
  await eventually(() => lookups.running === 31)
  const next = lookups.find('late.test', by('new'))
  await eventually(() => ends.length === 33)
  ends[32]!()
  assert.deepEqual(await next, found)
})

test('who asks for one name is answered by one look-up, which ends when nobody waits', async () => {
  const signals: AbortSignal[] = []
  let end: () => void = () => {}
  const lookups = new HostLookups('look-ups of tests', (_name, { signal }) => {
    signals.push(signal)
    return new Promise((resolve, reject) => {
      end = () => resolve(found)
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  })
  const leaving = [new AbortController(), new AbortController()]
  const asked = leaving.map(({ signal }) => lookups.find('a.test', by('ann', signal)))
  await eventually(() => lookups.running === 1)
  leaving[0]!.abort(new Error('gone'))
  await assert.rejects(asked[0]!, /gone/)
  assert.equal(signals[0]!.aborted, false)
  leaving[1]!.abort(new Error('gone'))
  await assert.rejects(asked[1]!, /gone/)
  await eventually(() => lookups.running === 0)
  assert.equal(signals[0]!.aborted, true)
  const again = lookups.find('a.test', by('ann'))
  await eventually(() => signals.length === 2)
  end()
  assert.deepEqual(await again, found)
})

test('where too many wait one more is refused at once', async () => {
  const lookups = new HostLookups('look-ups of tests', never)
  const gone = new AbortController()
  const ask = (nth: number): Promise<unknown> => lookups.find(`${nth}.test`, by('ann', gone.signal))
  const all = Array.from({ length: 72 }, (_one, nth) => ask(nth).catch(() => 0))
  await eventually(() => lookups.waiting === 64)
  await assert.rejects(ask(100), { kind: 'busy', message: /Too many names/ })
  gone.abort(new Error('gone'))
  await Promise.all(all)
})

test('a silent name server is left when nobody waits, and the system is never asked after it', async (t) => {
  const silent = await nameServer(t, true)
  let systems = 0
  const lookup = lookupIn({ hosts: '/none', servers: [silent.address], system: () => {
    systems++
    return never()
  } })
  const gone = new AbortController()
  const ann = by('ann', gone.signal)
  const all = Array.from({ length: 40 }, (_one, nth) => lookup(`${nth}.example.com`, ann))
  await eventually(() => silent.asked >= 80, 'it is asked')
  gone.abort(new Error('gone'))
  for (const one of await Promise.allSettled(all)) assert.equal(one.status, 'rejected')
  assert.equal(systems, 0)
})

test('the system is asked last, one look-up at a time until that has ended', async (t) => {
  const server = await nameServer(t, false)
  const asked: string[] = []
  let end: () => void = () => {}
  const lookup = lookupIn({ hosts: '/none', servers: [server.address], system: (name) => {
    asked.push(name)
    return new Promise((resolve) => { end = () => resolve(found) })
  } })
  const gone = new AbortController()
  const ann = by('ann', gone.signal)
  const all = Array.from({ length: 40 }, (_one, nth) => lookup(`${nth}.example.com`, ann))
  const other = lookup('other.example.com', by('bob'))
  await eventually(() => server.asked >= 82 && asked.length === 1, 'it is asked')
  gone.abort(new Error('gone'))
  for (const one of await Promise.allSettled(all)) assert.equal(one.status, 'rejected')
  assert.equal(asked.length, 1)
  end()
  await eventually(() => asked.length === 2)
  assert.equal(asked[1], 'other.example.com')
  end()
  assert.deepEqual(await other, found)
})

test('the list of hosts comes first, and localhost is this machine wherever it is listed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hosts-'))
  t.after(() => rm(folder, { recursive: true }))
  const hosts = join(folder, 'hosts')
  await writeFile(hosts, [
    '# 10.0.0.9 hooks.test', '10.0.0.1\tother  Hooks.Test # one', '::1 hooks.test',
    'fe80::1%lo0 hooks.test', '',
  ].join('\n'))
  const lookup = lookupIn({ hosts, servers: ['127.0.0.1:1'], system: never })
  assert.deepEqual(await lookup('hooks.test', by('ann')), [
    { address: '10.0.0.1', family: 4 }, { address: '::1', family: 6 },
  ])
  const here = await lookup('a.localhost', by('ann'))
  assert.deepEqual(here.map(({ address }) => address), ['127.0.0.1', '::1'])
  const really = await lookupHost('localhost', by('ann'))
  assert.ok(really.some(({ address }) => address === '127.0.0.1' || address === '::1'))
})
