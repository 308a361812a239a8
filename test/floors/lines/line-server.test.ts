/** A server of lines that ends while something waits: lines, answers, calls, a client that does not read. */
import assert from 'node:assert/strict'
import { PassThrough, Writable } from 'node:stream'
import test from 'node:test'
import { Fault } from '../../../lib/kernel.ts'
import { serveLines } from '../../../lib/floors/lines/line-server.ts'
import { HIGH_WATER } from '../../../lib/floors/lines/line-outlet.ts'
import { callOf, serviceOf } from '../../fixtures/house.ts'
import type { LineClient, LineProtocol } from '../../../lib/floors/lines/line-server.ts'
import type { LineServer } from '../../../lib/kernel/server/part.ts'
import type { Service } from '../../../lib/kernel/run/service.ts'
import type { Logged } from '../../fixtures/house.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function turns(count = 10): Promise<void> {
  for (let at = 0; at < count; at++) await turn()
}

/** An end that takes a piece when it is told to, or each at once. */
class Reader extends Writable {
  pieces: string[] = []
  isOpen: boolean
  #done: ((error?: Error) => void) | undefined

  constructor(isOpen: boolean) {
    super({ highWaterMark: 1, decodeStrings: false })
    this.isOpen = isOpen
  }

  get text(): string { return this.pieces.join('') }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.pieces.push(chunk)
    if (this.isOpen) done()
    else this.#done = done
  }

  async take(error?: Error): Promise<void> {
    const done = this.#done
    this.#done = undefined
    done?.(error)
    await turns(3)
  }
}

interface Served {
  readonly server: LineServer
  readonly service: Service
  readonly logged: readonly Logged[]
  readonly input: PassThrough
  readonly output: Reader
  /** What the protocol was told, in order. */
  readonly told: unknown[]
  readonly client: LineClient
  isOver(): Promise<boolean>
}

interface Options {
  readonly graceMs?: number
  readonly maxBodyBytes?: number
  readonly isOpen?: boolean
  readonly protocol?: (client: LineClient, told: unknown[]) => Partial<LineProtocol>
}

function serve({ graceMs = 0, maxBodyBytes = 1_000_000, isOpen = true, protocol }: Options = {}): Served {
  const { service, logged } = serviceOf({ graceMs, maxBodyBytes })
  const input = new PassThrough()
  const output = new Reader(isOpen)
  const told: unknown[] = []
  let client: LineClient | undefined
  const server = serveLines(service, input, output, (given) => {
    client = given
    return {
      receive: (message, length) => { told.push(message, length) },
      refuse: (why, code) => { told.push(why, code) },
      endInput: () => { told.push('no input') },
      closeIdle: () => { told.push('close idle') },
      cancel: () => { told.push('cancel') },
      close: () => { told.push('close') },
      ...protocol?.(given, told),
    }
  })
  let over = false
  void server.over.then(() => { over = true })
  const isOver = async (): Promise<boolean> => {
    await turns()
    return over
  }
  return { server, service, logged, input, output, told, client: client!, isOver }
}

const end = ['no input', 'close idle', 'cancel', 'close']
const large = 'x'.repeat(HIGH_WATER + 1)

test('a line that ends with the input is taken, and then all is told of the end, once', async () => {
  const { input, told, server } = serve()
  input.write('{"a":1}\n[2]')
  await turn()
  assert.deepEqual(told, [{ a: 1 }, 7])
  input.end()
  input.destroy()
  await server.over
  assert.deepEqual(told, [{ a: 1 }, 7, [2], 3, ...end])
})

test('an input that has ended, or fails, before it is read ends the server', async () => {
  for (const spoil of [
    (input: PassThrough) => { input.destroy() },
    (input: PassThrough) => { input.on('error', () => {}).destroy(new Error('gone')) },
    (input: PassThrough) => { input.resume().end() },
  ]) {
    const { service } = serviceOf({ graceMs: 0 })
    const input = new PassThrough()
    spoil(input)
    await turns()
    const told: string[] = []
    await serveLines(service, input, new Reader(true), () => ({
      receive() {}, refuse() {}, endInput: () => { told.push('no input') },
    })).over
    assert.deepEqual(told, ['no input'])
  }
})

test('what is wrong with a line is said with its reason, and the next line is read', async () => {
  const { input, told } = serve({ maxBodyBytes: 64 })
  input.write(Buffer.concat([
    Buffer.from(`"${'x'.repeat(63)}"\n"${'x'.repeat(62)}"\n`), Buffer.of(0xff, 0x0a),
    Buffer.from('{"a"\n\n[]\n'),
  ]))
  await turn()
  assert.deepEqual(told.map((one) => typeof one === 'string' ? one.replace(/:.*/s, '') : one), [
    'A line is longer than 64 bytes', -32600, 'x'.repeat(62), 64, 'A line is not UTF-8', -32700,
    told[6], -32700, [], 2,
  ])
  assert.match(String(told[6]), /^A line /)
})

test('lines wait while the client does not read, and the end of the input waits for them', async () => {
  const { input, output, told, client, isOver } = serve({
    isOpen: false, graceMs: 60_000, protocol: (to, all) => ({
      receive(message) {
        all.push(message)
        to.send(`"${String(message)}"`)
        if (message === 1) to.send(large)
      },
    }),
  })
  input.write('1\n2\n3\n')
  await turns()
  assert.deepEqual([told, client.isEnding], [[1], false])
  input.end()
  await turns()
  // What waits may be an answer to what the server has asked.
  assert.deepEqual([told, client.isEnding, await isOver()], [[1], false, false])
  for (let count = 0; count < 6; count++) await output.take()
  assert.deepEqual(told, [1, 2, 3, ...end])
  assert.equal(output.text, `"1"\n${large}\n"2"\n"3"\n`)
  assert.equal(client.isEnding, true)
  assert.equal(await isOver(), true)
})

test('a little is read ahead, and no more, while the client does not read', async () => {
  const { input, output, told } = serve({
    isOpen: false, protocol: (to, all) => ({
      receive(message) {
        all.push(message)
        to.send(large)
      },
    }),
  })
  input.write('1\n')
  await turns()
  const line = `"${'y'.repeat(1_000)}"\n`
  const all = line.repeat(HIGH_WATER / line.length * 2)
  input.write(all.slice(0, HIGH_WATER))
  await turns()
  assert.equal(input.isPaused(), false)
  input.write(all.slice(HIGH_WATER))
  await turns()
  assert.deepEqual([told.length, input.isPaused()], [1, true])
  while (told.length < 1 + all.length / line.length - 1) await output.take()
  assert.equal(input.isPaused(), false)
})

test('a server that is ended takes what still comes, to say no, and nothing after its end', async () => {
  const { service, server, input, output, told, client, isOver } = serve({
    graceMs: 60_000, protocol: (to, all) => ({
      receive(message) {
        all.push([message, to.isEnding])
        to.send(`"${String(message)}"`)
      },
    }),
  })
  const call = callOf()
  const lease = service.workload.enter(call)
  assert.deepEqual([server.running, client.isEnding], [1, false])
  server.end()
  input.write('1\n')
  assert.equal(await isOver(), false)
  assert.deepEqual([told, client.isEnding], [['close idle', [1, true]], true])
  lease.leave()
  await server.over
  assert.deepEqual([told.slice(2), output.text, call.over], [['cancel', 'close'], '"1"\n', false])
  input.write('2\n')
  client.send('late')
  input.end()
  await turns()
  assert.deepEqual([told.length, output.text, input.isPaused()], [4, '"1"\n', true])
})

test('an input that ends while the server does is told of, because no answer will come', async () => {
  const { service, server, input, told } = serve({ graceMs: 60_000 })
  const lease = service.workload.enter(callOf())
  server.end()
  input.end('3')
  await turns()
  assert.deepEqual(told, ['close idle', 3, 1, 'no input'])
  lease.leave()
  await server.over
  assert.deepEqual(told, ['close idle', 3, 1, 'no input', 'cancel', 'close'])
})

test('ended again, calls are cancelled at once, and the end waits a little for their answers', async () => {
  const { service, server, told, isOver } = serve({ graceMs: 60_000 })
  const call = callOf()
  const lease = service.workload.enter(call)
  server.end()
  assert.deepEqual([await isOver(), call.over], [false, false])
  server.end()
  await turns()
  assert.deepEqual([call.reason?.kind, told], ['cancelled', ['close idle', 'cancel']])
  assert.equal(await isOver(), false)
  lease.leave()
  await server.over
  assert.deepEqual(told, ['close idle', 'cancel', 'close'])
})

test('a call that goes on though it was cancelled, or a busy protocol, is waited for a little', async () => {
  const { service, server, told } = serve()
  service.workload.enter(callOf())
  const begun = performance.now()
  server.end()
  await server.over
  assert.ok(performance.now() - begun >= 900)
  assert.deepEqual(told, ['close idle', 'cancel', 'close'])
  let isBusy = true
  const busy = serve({ protocol: () => ({ get isBusy() { return isBusy } }) })
  busy.server.end()
  assert.equal(await busy.isOver(), false)
  isBusy = false
  await busy.server.over
})

test('a client that goes away is told of once, ends calls, and nothing more is taken or sent', async () => {
  const { service, server, input, output, told, logged, client } = serve({ graceMs: 60_000, isOpen: false })
  const call = callOf()
  const lease = service.workload.enter(call)
  client.send('a')
  client.send(large)
  const ready = client.ready()
  assert.notEqual(ready, undefined)
  output.on('error', () => {})
  await output.take(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
  await ready
  assert.equal(client.ready(), undefined)
  assert.equal(call.reason?.kind, 'cancelled')
  input.write('1\n')
  client.send('b')
  lease.leave()
  await server.over
  assert.deepEqual(told, ['close idle', 'cancel', 'close'])
  assert.deepEqual([output.text, output.destroyed], ['a\n', true])
  const lines = logged.map(([level, message]) => [level, message])
  assert.deepEqual(lines, [['debug', 'The client has closed its end']])
  assert.equal(service.workload.running, 0)
})

test('a client that does not read what it is sent is gone, and lines that wait are dropped', async () => {
  const { input, told, logged, server, client, output } = serve({
    isOpen: false, protocol: (to, all) => ({
      receive(message) {
        all.push(message)
        to.send(large)
      },
    }),
  })
  input.end('1\n2\n')
  await server.over
  assert.deepEqual(told, [1, 'close idle', 'cancel', 'close'])
  assert.deepEqual(logged.map(([level, message]) => [level, message]), [
    ['warning', 'The client does not read what it is sent'],
  ])
  await output.take()
  client.send('late')
  await turns()
  assert.deepEqual([told.length, output.pieces.length], [4, 1])
})

test('whoever waits for a client goes on when it has taken enough', async () => {
  const { client, output } = serve({ isOpen: false })
  assert.equal(client.ready(), undefined)
  client.send('a')
  assert.equal(client.ready(), undefined)
  client.send(large)
  let count = 0
  for (let at = 0; at < 2; at++) void client.ready()?.then(() => count++)
  await turns()
  assert.equal(count, 0)
  await output.take()
  await output.take()
  assert.deepEqual([count, client.ready()], [2, undefined])
})

test('the end waits until everything is sent', async () => {
  const { client, server, output, isOver } = serve({ isOpen: false, graceMs: 60_000 })
  client.send('a')
  client.send('b')
  server.end()
  assert.equal(await isOver(), false)
  await output.take()
  assert.equal(await isOver(), false)
  await output.take()
  assert.deepEqual([await isOver(), output.text], [true, 'a\nb\n'])
})

test('calls are given the grace, and then cancelled with a reason', async () => {
  const { service, input, told, server } = serve({ graceMs: 20 })
  const call = callOf()
  const lease = service.workload.enter(call)
  call.onCancel(() => lease.leave())
  input.end()
  await server.over
  assert.ok(call.reason instanceof Fault)
  assert.deepEqual([call.reason.kind, call.reason.message], ['cancelled', 'The server is closing down'])
  assert.deepEqual(told, end)
})
