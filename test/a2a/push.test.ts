import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import test from 'node:test'
import { PushClient, retryAfterMsOf } from '../../lib/a2a/push.ts'
import { eventually } from '../fixtures/client.ts'
import { webhook } from '../fixtures/webhook.ts'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { PushAnswer } from '../../lib/a2a/push.ts'

const here = [{ address: '127.0.0.1', family: 4 }]

/** Posts until the test is over. */
function client(t: TestContext): (url: string, timeoutMs?: number) => Promise<PushAnswer> {
  const made = new PushClient()
  t.after(() => made.close())
  return (url, timeoutMs = 5_000) => made.post({
    url: new URL(url), addresses: here, headers: { 'content-type': 'application/json' },
    body: '{"text":"ü"}', timeoutMs,
  })
}

test('a body is posted as it is, and its status comes back', async (t) => {
  const hook = await webhook(t, (response) => response.writeHead(202).end('thanks'))
  const post = client(t)
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
  const post = client(t)
  for (let nth = 0; nth < 4; nth++) {
    assert.equal((await post(hook.url)).status, 200)
    await new Promise((resolve) => { setImmediate(resolve) })
  }
  assert.ok(hook.connections >= 1 && hook.connections <= 2, String(hook.connections))
  assert.equal(hook.received.length, 4)
})

test('a name is connected to at the address that was checked, whatever it stands for', async (t) => {
  const hook = await webhook(t)
  const { status } = await client(t)(`http://hooks.invalid:${hook.port}/a`)
  assert.equal(status, 200)
  assert.equal(hook.received[0]!.headers.host, `hooks.invalid:${hook.port}`)
})

test('a redirect is an answer like another', async (t) => {
  const target = await webhook(t)
  const hook = await webhook(t, (response) => response.writeHead(307, { location: target.url }).end())
  assert.equal((await client(t)(hook.url)).status, 307)
  assert.equal(target.received.length, 0)
})

test('who does not answer in time is left', async (t) => {
  const silent = await webhook(t, () => {})
  await assert.rejects(client(t)(silent.url, 50), /No answer within 50 ms/)
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
  assert.equal((await client(t)(hook.url)).status, 200)
  await eventually(() => isLeft, 'the receiver is left')
  assert.ok(sent < 1e8, `${sent} bytes were sent`)
})

test('an answer whose body never ends is left when the time is over', async (t) => {
  let isLeft = false
  const hook = await webhook(t, (response) => {
    response.writeHead(200).on('close', () => { isLeft = true })
    response.write('a')
  })
  assert.equal((await client(t)(hook.url, 1_000)).status, 200)
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
    await assert.rejects(client(t)(`http://127.0.0.1:${port}/`), Error, answer.slice(0, 20))
    await new Promise((resolve) => { server.close(resolve) })
    await assert.rejects(client(t)(`http://127.0.0.1:${port}/`), /ECONNREFUSED/)
  }
})

test('closing breaks off what is on its way, and nothing is posted after it', async (t) => {
  const silent = await webhook(t, () => {})
  const made = new PushClient()
  const post = { url: new URL(silent.url), addresses: here, headers: {}, body: '' }
  const running = made.post({ ...post, timeoutMs: 60_000 })
  await silent.until(1)
  made.close()
  await assert.rejects(running, /closing down/)
  await assert.rejects(made.post({ ...post, timeoutMs: 60_000 }), /closing down/)
})

test('Retry-After is seconds or a date, and what is neither says nothing', () => {
  assert.equal(retryAfterMsOf('3'), 3_000)
  const inAMinute = retryAfterMsOf(new Date(Date.now() + 60_000).toUTCString())!
  assert.ok(inAMinute > 55_000 && inAMinute <= 60_000)
  for (const value of [undefined, '', '0', 'soon', '-1', '1.5.2', 'Thu, 01 Jan 1970 00:00:00 GMT']) {
    assert.equal(retryAfterMsOf(value), undefined, value)
  }
})
