import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { basename } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { dial, echo, listen, parseAnswers } from '../../fixtures/kernel.ts'

const MiB = 1024 * 1024
const HEAD = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
const run = promisify(execFile)

/** Both are refused before they are read. */
const refused = [
  ['a body that is twice as long as it may be', {}, 413],
  ['a long body without a key', { apiKey: 'k' }, 401],
] as const

/** Clients that write all of a body before they read, each a program that is told the port and the size. */
const clients: readonly (readonly [command: string, flag: string, program: string])[] = [
  [process.execPath, '-e', `
    const [port, size] = process.argv.slice(1)
    const headers = { 'content-type': 'application/json' }
    const ask = async () => {
      const body = 'x'.repeat(size)
      const answer = await fetch('http://127.0.0.1:' + port, { method: 'POST', headers, body })
      console.log(answer.status, (await answer.text()).length > 10)
    }
    const asked = async () => { for (let round = 0; round < 10; round++) await ask() }
    asked()`],
  ['python3', '-c', `
import http.client, sys
for round in range(10):
    connection = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]))
    connection.request('POST', '/', b'x' * int(sys.argv[2]), {'Content-Type': 'application/json'})
    answer = connection.getresponse()
    print(answer.status, str(len(answer.read()) > 10).lower())`],
]

for (const [command, flag, program] of clients) {
  const name = basename(command)
  test(`${name} reads why a body is refused, though it sends all of it first`, async (t) => {
    try {
      await run(command, ['--version'])
    } catch {
      return t.skip(`there is no ${name} here`)
    }
    for (const [what, options, status] of refused) {
      const { port } = await listen(t, { agents: [echo], ...options })
      const { stdout } = await run(command, [flag, program, String(port), String(8 * MiB - 1)])
      assert.equal(stdout, `${status} true\n`.repeat(10), what)
    }
  })
}

test('who goes on sending without end is dropped, after as much as one body may be', async (t) => {
  const { port } = await listen(t, { agents: [echo], maxBodyBytes: MiB })
  const wire = await dial(t, port)
  wire.send(`${HEAD}Content-Length: ${64 * MiB}\r\n\r\n`)
  let sent = 0
  while (!wire.isClosed) {
    if (!wire.socket.write('x'.repeat(64 * 1024))) await new Promise((resolve) => setTimeout(resolve, 1))
    sent += 64 * 1024
  }
  assert.ok(sent < 32 * MiB, String(sent))
  assert.equal(parseAnswers(wire.text)[0]?.status, 413)
})

test('who sends ever more slowly is let go after a while', async (t) => {
  const { port } = await listen(t, { agents: [echo], maxBodyBytes: MiB })
  const wire = await dial(t, port)
  // Its own half stays open, as that of a client does that writes first and reads then.
  wire.socket.allowHalfOpen = true
  wire.send(`${HEAD}Content-Length: ${2 * MiB}\r\n\r\n`)
  const beganAt = performance.now()
  const drip = setInterval(() => wire.send('x'), 20)
  t.after(() => clearInterval(drip))
  await wire.closed()
  assert.equal(parseAnswers(wire.text)[0]?.status, 413)
  assert.ok(performance.now() - beganAt > 1_500)
})
