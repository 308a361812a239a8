import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { POST, QUERY } from './requests.ts'
import { dial, listen, parseAnswers } from '../../fixtures/kernel.ts'
import type { ProbeOptions } from '../../fixtures/kernel.ts'

const LAST = 'Connection: close\r\n'
const HOST = `Host: localhost\r\n${LAST}`
const CHUNKED = `${POST}${LAST}Transfer-Encoding: chunked\r\n\r\n`

/** `owed`: the status of the second answer. Without one, the connection ends when the first is sent. */
const broken: readonly (readonly [what: string, bytes: string, owed?: number])[] = [
  ['a request line that is none', '!"$%&\r\n\r\n'],
  ['a header that is none', `GET /health HTTP/1.1\r\nHost : localhost\r\n\r\n`],
  ['a header that is too long', `GET /health HTTP/1.1\r\n${HOST}X: ${'x'.repeat(17_000)}\r\n\r\n`],
  ['a target that is too long', `GET /${'x'.repeat(17_000)} HTTP/1.1\r\n${HOST}\r\n`],
  ['too many lines', `GET /health HTTP/1.1\r\n${HOST}${'X: y\r\n'.repeat(200)}\r\n`, 431],
  ['two Host lines', `GET /health HTTP/1.1\r\n${HOST}Host: evil.example\r\n\r\n`, 400],
  ['a length and chunks', `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a chunk size that is none', `${CHUNKED}zz\r\n`],
  ['an unknown expectation', `GET /health HTTP/1.1\r\n${HOST}Expect: magic\r\n\r\n`, 417],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a body over the limit', `${POST}${LAST}Content-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`, 413],
  ['chunks over the limit', `${CHUNKED}30d40\r\n${'x'.repeat(200_000)}\r\n0\r\n\r\n`, 413],
  ['a media type that is not read', `POST / HTTP/1.1\r\n${HOST}Content-Length: 5\r\n\r\nquery`, 415],
  ['CONNECT', `CONNECT localhost:80 HTTP/1.1\r\n${HOST}\r\n`],
  ['an upgrade to h2c',
    `GET /health HTTP/1.1\r\n${HOST}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n`
    + 'HTTP2-Settings: AAMAAABk\r\n\r\n', 200],
  ['an upgrade to websocket',
    `GET /health HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`, 200],
]
/** Its connection ends when its time is over, which many others at once may use up. */
const half = [['half a head', 'GET /health HTTP/1.1\r\n']] as const

const late = async (): Promise<string> => { await sleep(250); return 'late' }
const long = 'x'.repeat(5_000_000)
const options: ProbeOptions = {
  agents: [
    { name: 'Late', run: late },
    { name: 'Streamed', run: async function* () { yield 'early '; yield await late() } },
    { name: 'Long', run: () => `${long}late` },
  ],
  maxBodyBytes: 100_000, checkIntervalMs: 20,
}

const firsts = [
  ['late', QUERY], ['streamed', '{"query":"hello","stream":true}'], ['long', QUERY],
] as const

function asked(path: string, query: string): string {
  return POST.replace('POST /', `POST /agents/${path}`) + `Content-Length: ${query.length}\r\n\r\n${query}`
}

for (const isLater of [false, true]) {
  const how = isLater ? 'sent behind a request that runs' : 'sent along with a request'
  test(`a fault ${how} leaves its answer whole`, async (t) => {
    const wrong: string[] = []
    const tryAll = async (faults: typeof broken, headersTimeoutMs: number): Promise<void> => {
      const { port } = await listen(t, { ...options, headersTimeoutMs })
      for (const [path, query] of firsts) await Promise.all(faults.map(async ([what, bytes, owed]) => {
        const wire = await dial(t, port)
        wire.send(isLater ? asked(path, query) : asked(path, query) + bytes)
        if (isLater) {
          await sleep(path === 'long' ? 2 : 60)
          wire.send(bytes)
        }
        const answers = parseAnswers(await wire.closed())
        const isWhole = answers[0]?.status === 200 && answers[0].body.includes('late')
        if (isWhole && (owed === undefined || answers[1]?.status === owed)) return
        const statuses = answers.map(({ status }) => status).join()
        wrong.push(`${path}, ${what}: ${statuses}${isWhole ? '' : ', not whole'}`)
      }))
    }
    await tryAll(broken, 60_000)
    await tryAll(half, 1_000)
    assert.deepEqual(wrong, [])
  })
}
