import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { Script } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { dial, echo, listen, request, serve } from '../../fixtures/client.ts'
import { createServer } from '../../../lib/index.ts'

const shown = createServer({ agents: [echo], log: false })
const page = await (await shown.fetch(request('/docs'))).text()
await shown.close()

function digestsOf(element: string): readonly string[] {
  const found = [...page.matchAll(new RegExp(`<${element}>([^]*?)</${element}>`, 'g'))]
  assert.ok(found.length > 0, element)
  return found.map(([, text]) => `'sha256-${createHash('sha256').update(text!).digest('base64')}'`)
}

test('the page is served whole, with a policy that lets its own parts run and nothing else', async (t) => {
  const response = await serve(t, { agents: [echo] }).fetch(request('/docs'))
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  const policy = String(response.headers.get('content-security-policy'))
  const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0]!, rule.split(' ').slice(1)]))
  assert.deepEqual(rules.get('default-src'), [`'none'`])
  assert.deepEqual(rules.get('connect-src'), [`'self'`])
  assert.deepEqual(rules.get('frame-ancestors'), [`'none'`])
  assert.deepEqual(rules.get('script-src'), digestsOf('script'))
  assert.deepEqual(rules.get('style-src'), digestsOf('style'))
  assert.equal(await response.text(), page)
  const lines = (text: string): readonly string[] => text.split('\n').map((line) => line.trim())
  const file = lines(readFileSync('lib/parts/docs/docs.html', 'utf8'))
  const served = lines(page)
  assert.deepEqual(served.filter((line) => !file.includes(line) && !line.includes('id="hosts"')), [])
  assert.deepEqual(file.filter((line) => !served.includes(line) && !/^\/\/|id="hosts"/.test(line)), [])
})

test('the page needs nothing from elsewhere, and nothing that its policy forbids', () => {
  const loads = /<(?:script|link|img|iframe|form)\b[^>]*?\b(?:src|href|action)="([^"]*)"/g
  const fetched = [...page.matchAll(loads)].map(([, url]) => url!)
  assert.deepEqual(fetched.filter((url) => !url.startsWith('data:')), [])
  assert.doesNotMatch(page, /@import|url\(\s*['"]?http/)
  assert.doesNotMatch(page, /<[^>]+\son[a-z]+=/i, 'a handler in an attribute would not run')
  assert.doesNotMatch(page, /<[^>]+\sstyle=/i, 'a style in an attribute would not hold')
})

test('the script of the page compiles', () => {
  const [, script] = /<script>([^]*?)<\/script>/.exec(page)!
  assert.doesNotThrow(() => new Script(script!))
})

test('data reaches the page as text alone', () => {
  assert.doesNotMatch(page, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/)
})

test('every element that the script asks for by its id is there', () => {
  const asked = [...page.matchAll(/byId\('([^']+)'\)/g)].map(([, id]) => id!)
  assert.ok(asked.length > 10)
  for (const id of new Set(asked)) assert.equal(page.split(` id="${id}"`).length, 2, id)
})

test('the page is small', () => {
  assert.ok(Buffer.byteLength(page) <= 124_000, `${Buffer.byteLength(page)} bytes`)
  const packed = gzipSync(page, { level: 9 }).length
  assert.ok(packed <= 39_500, `${packed} bytes with gzip`)
  const urls = [...page.matchAll(/https?:\/\/[^\s'"`<]+/g)].map(([url]) => url)
  assert.deepEqual(urls, [], 'the page names no other host')
})

test('the page is sent once to who keeps it', async (t) => {
  const server = serve(t, { agents: [echo] })
  const etag = String((await server.fetch(request('/docs'))).headers.get('etag'))
  assert.match(etag, /^W\/"[^"]+"$/)
  const asked: readonly (readonly [known: string, status: number])[] = [
    [etag, 304], [etag.slice(2), 304], [`"other", ${etag}`, 304], ['*', 304], ['"other"', 200],
  ]
  for (const [known, status] of asked) {
    const response = await server.fetch(request('/docs', undefined, { 'if-none-match': known }))
    assert.deepEqual([response.status, response.headers.get('etag')], [status, etag], known)
    assert.equal((await response.text()).length, status === 304 ? 0 : page.length)
  }
})

test('a HEAD of the page tells what a GET would bring', async (t) => {
  const { port } = await listen(t, { agents: [echo] })
  const head = 'HEAD /docs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
  const wire = await dial(t, port)
  wire.send(head)
  const text = await wire.closed()
  assert.match(text, new RegExp(`^HTTP/1.1 200 [^]*Content-Length: ${Buffer.byteLength(page)}\r\n`, 'i'))
  assert.equal(text.split('\r\n\r\n')[1], '')
})
