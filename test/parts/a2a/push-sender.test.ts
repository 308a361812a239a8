import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import test from 'node:test'
import { pushSettingsOf } from '../../../lib/parts/a2a/model/push-settings.ts'
import { PushSender } from '../../../lib/parts/a2a/push/push-sender.ts'
import { HostLookups } from '../../../lib/floors/outbound/host-lookups.ts'
import { eventually } from '../../fixtures/client.ts'
import { webhook } from '../../fixtures/webhook.ts'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { Inquirer } from '../../../lib/floors/outbound/host-lookups.ts'
import type { PushAnswer } from '../../../lib/parts/a2a/push/push-sender.ts'
import type { PushConfig } from '../../../lib/parts/a2a/model/model.ts'

/** Every name stands for this machine. */
function senderOf(timeoutMs = 5_000): PushSender {
  const settings = pushSettingsOf({ allowInsecure: true, allowPrivate: true, timeoutMs })!
  return new PushSender(settings, new HostLookups(async () => [{ address: '127.0.0.1', family: 4 }]))
}

function config(url: string): PushConfig {
  return { id: 'a', taskId: undefined, url, token: undefined, authentication: undefined }
}

const ann: Inquirer = { owner: 'ann', signal: new AbortController().signal }

/** Posts until the test is over. */
function poster(t: TestContext, timeoutMs?: number): (url: string) => Promise<PushAnswer> {
  const made = senderOf(timeoutMs)
  t.after(() => made.close())
  return (url) => made.post(config(url), 'application/json', '{"text":"ü"}', ann)
}

test('a body is posted as it is, and its status comes back', async (t) => {
  const hook = await webhook(t, (response) => response.writeHead(202).end('thanks'))
  const post = poster(t)
  assert.deepEqual(await post(`${hook.url}?a=b#c`), { status: 202, retryAfterMs: undefined })
  const [{ path, body, headers }] = hook.received as [typeof hook.received[number]]
  assert.deepEqual([path, body, headers['content-length'], headers['content-type']],
    ['/hook?a=b', '{"text":"ü"}', '13', 'application/json'])
})

test('a connection is used again, and one that the receiver has closed is made again', async (t) => {
  const hook = await webhook(t, (response, nth) => {
    response.end('ok')
    if (nth === 1) setImmediate(() => response.socket?.destroy())
  })
  const post = poster(t)
  for (let nth = 0; nth < 4; nth++) {
    assert.equal((await post(hook.url)).status, 200)
    await new Promise((resolve) => { setImmediate(resolve) })
  }
  assert.ok(hook.connections >= 1 && hook.connections <= 2, String(hook.connections))
  assert.equal(hook.received.length, 4)
})

test('a kept connection that breaks under a post is made again, once, and a new one is not', async (t) => {
  const hook = await webhook(t, (response, nth) => {
    if (nth === 1 || nth > 2) response.socket!.resetAndDestroy()
    else response.end('ok')
  })
  const post = poster(t)
  assert.equal((await post(hook.url)).status, 200)
  await new Promise((resolve) => { setImmediate(resolve) })
  assert.equal((await post(hook.url)).status, 200)
  assert.equal(hook.received.length, 3)
  await new Promise((resolve) => { setImmediate(resolve) })
  // The first was kept, the next is new.
  await assert.rejects(post(hook.url), { code: 'ECONNRESET' })
  assert.equal(hook.received.length, 5)
  await assert.rejects(post(hook.url), { code: 'ECONNRESET' })
  assert.equal(hook.received.length, 6)
})

test('however many hosts there are, few connections are kept', async (t) => {
  const open = new Set<unknown>()
  const hook = await webhook(t, (response) => {
    const { socket } = response
    open.add(socket)
    socket!.once('close', () => open.delete(socket))
    response.end('ok')
  })
  const post = poster(t)
  for (let nth = 0; nth < 80; nth++) await post(`http://hooks-${nth}.example:${hook.port}/`)
  await eventually(() => open.size === 64, 'only some are kept')
  assert.equal(hook.connections, 80)
})

test('a name is connected to at the address that was checked, whatever it stands for', async (t) => {
  const hook = await webhook(t)
  const { status } = await poster(t)(`http://hooks.invalid:${hook.port}/a`)
  assert.equal(status, 200)
  assert.equal(hook.received[0]!.headers.host, `hooks.invalid:${hook.port}`)
})

test('a redirect is an answer like another', async (t) => {
  const target = await webhook(t)
  const hook = await webhook(t, (response) => response.writeHead(307, { location: target.url }).end())
  assert.equal((await poster(t)(hook.url)).status, 307)
  assert.equal(target.received.length, 0)
})

test('who does not answer in time is left', async (t) => {
  const silent = await webhook(t, () => {})
  await assert.rejects(poster(t, 50)(silent.url), /No answer within \d+ ms/)
})

test('of an answer no more is read than keeps its connection usable', async (t) => {
  let sent = 0
  let isLeft = false
  const hook = await webhook(t, (response) => {
    response.writeHead(200).on('close', () => { isLeft = true })
    const flood = (): void => {
      while (!isLeft && sent < 1e9) {
        sent += 65_536
        if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', flood)
      }
    }
    flood()
  })
  assert.equal((await poster(t)(hook.url)).status, 200)
  await eventually(() => isLeft, 'the receiver is left')
  assert.ok(sent < 1e8, `${sent} bytes were sent`)
})

test('a long answer is left at once, and a short one is read to its end', async (t) => {
  // No time passes: what is left is left for its length.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const hook = await webhook(t, (response, nth) => {
    if (nth === 0) response.write(Buffer.alloc(4_097))
    else response.end(Buffer.alloc(4_096))
  })
  const post = poster(t)
  for (let nth = 0; nth < 3; nth++) {
    assert.equal((await post(hook.url)).status, 200)
    await new Promise((resolve) => { setImmediate(resolve) })
  }
  assert.equal(hook.connections, 2)
})

test('one that is given up before it leaves is not posted', async (t) => {
  const hook = await webhook(t)
  const made = senderOf()
  t.after(() => made.close())
  const leaving = new AbortController()
  const inquirer = { owner: 'ann', signal: leaving.signal }
  const posting = made.post(config(hook.url), 'application/json', '1', inquirer)
  leaving.abort(new Error('not wanted'))
  await assert.rejects(posting, /not wanted/)
  assert.equal((await made.post(config(hook.url), 'application/json', '2', ann)).status, 200)
  assert.deepEqual(hook.received.map(({ body }) => body), ['2'])
})

test('what goes to https speaks TLS, and to nobody whom it cannot verify', async (t) => {
  const first: number[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', (bytes) => {
      first.push(bytes[0]!)
      socket.end()
    })
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.after(() => { server.close() })
  const { port } = server.address() as AddressInfo
  await assert.rejects(poster(t)(`https://hooks.example:${port}/`), Error)
  // A handshake of TLS.
  assert.deepEqual(first, [0x16])
})

test('an answer whose body never ends is left when the time is over', async (t) => {
  let isLeft = false
  const hook = await webhook(t, (response) => {
    response.writeHead(200).on('close', () => { isLeft = true })
    response.write('a')
  })
  assert.equal((await poster(t, 1_000)(hook.url)).status, 200)
  await eventually(() => isLeft, 'the receiver is left')
})

test('what is no HTTP, a head without end, and nobody at all are failures', async (t) => {
  const answers = ['SSH-2.0-OpenSSH_9.2\r\n', `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`, '']
  for (const answer of answers) {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(answer))
    })
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
    const { port } = server.address() as AddressInfo
    await assert.rejects(poster(t)(`http://127.0.0.1:${port}/`), Error, answer.slice(0, 20))
    await new Promise((resolve) => { server.close(resolve) })
    await assert.rejects(poster(t)(`http://127.0.0.1:${port}/`), /ECONNREFUSED/)
  }
})

test('closing breaks off what is on its way, and nothing is posted after it', async (t) => {
  const silent = await webhook(t, () => {})
  const made = senderOf(60_000)
  const post = (): Promise<PushAnswer> => made.post(config(silent.url), 'application/json', '', ann)
  const running = post()
  await silent.until(1)
  made.close()
  await assert.rejects(running, /socket hang up/)
  await assert.rejects(post(), /closing down/)
})

test('Retry-After is seconds or a date, and what is neither says nothing', async (t) => {
  let said = ''
  const hook = await webhook(t, (response) => response.writeHead(429, { 'retry-after': said }).end())
  const post = poster(t)
  const wait = (text: string): Promise<number | undefined> => {
    said = text
    return post(hook.url).then(({ retryAfterMs }) => retryAfterMs)
  }
  assert.equal(await wait('3'), 3_000)
  const inAMinute = await wait(new Date(Date.now() + 60_000).toUTCString())
  assert.ok(inAMinute! > 50_000 && inAMinute! <= 60_000, String(inAMinute))
  for (const text of ['', '0', 'soon', '-1', '1.5.2', 'Thu, 01 Jan 1970 00:00:00 GMT']) {
    assert.equal(await wait(text), undefined, text)
  }
})
