/**
 * The server behind a real nginx, configured as the chapter `proxies` of the guide writes it: with the path
 * kept, and with the path cut. Skips itself, and says so, where there is no nginx.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { freePort, missing, root } from './start.mjs'

const program = ['/usr/sbin/nginx', 'nginx'].find((path) => spawnSync(path, ['-v']).status === 0)
const skip = missing() || (program === undefined && 'nginx is not installed')
if (skip) console.log(`proxies: skipped: ${skip}`)

const chapter = readFileSync(`${root}lib/guide/proxies.md`, 'utf8')
const locations = [...chapter.matchAll(/^```nginx\n([^]*?)^```$/gm)].map(([, text]) => text)
const commands = [...chapter.matchAll(/^npx triport (serve agent\.js .*)$/gm)]
  .map(([, text]) => text.split(' '))

const HOST = 'shop.example.com'
const KEY = 'a-key-of-the-shop'
const key = { 'x-api-key': KEY }

/** A module whose agent streams slowly and says from where it was asked, on a port of its own. */
const AGENT = `import { setTimeout as pause } from 'node:timers/promises'
export const apiKey = '${KEY}'
export const rateLimit = { perMinute: 600 }
export default { name: 'Shop', description: 'Answers.', async *run(prompt, call) {
  yield 'first '
  await pause(prompt === 'slow' ? 60_000 : 1)
  yield 'last'
} }`

/** Starts the command and nginx before it. Resolves to the address of nginx. */
async function behind(t, args, location) {
  const folder = mkdtempSync(join(tmpdir(), 'triport-nginx-'))
  const [inner, outer] = [await freePort(), await freePort()]
  writeFileSync(join(folder, 'agent.mjs'), AGENT)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
  writeFileSync(join(folder, 'nginx.conf'), `daemon off; pid ${folder}/pid; error_log stderr; events {}
http { access_log off; ${temporary}
server { listen 127.0.0.1:${outer};
${location.replace('127.0.0.1:8000', `127.0.0.1:${inner}`)} } }`)
  const written = args.map((word) => word === 'agent.js' ? join(folder, 'agent.mjs') : word)
  const server = spawn(process.execPath, [`${root}dist/cli.js`, ...written, '--port', String(inner)])
  await new Promise((resolve, reject) => {
    server.stderr.on('data', (chunk) => { if (String(chunk).includes(' at http')) resolve() })
    server.on('exit', reject)
  })
  const nginx = spawn(program, ['-c', join(folder, 'nginx.conf')], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  nginx.stderr.on('data', (chunk) => { said += chunk })
  t.after(() => {
    // Its workers would outlive a master that is killed.
    nginx.kill('SIGTERM')
    server.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  for (let tries = 0; ; tries++) {
    if (await ask(outer, '/').then(() => true, () => false)) return outer
    if (tries > 100) throw new Error(`nginx does not listen: ${said}`)
    await new Promise((resolve) => { setTimeout(resolve, 50) })
  }
}

/** What is answered to a client that knows the server by its public name; a body is posted, with the key. */
async function ask(port, path, body, headers = {}) {
  const all = {
    host: HOST, ...body && { ...key, 'content-type': 'application/json' }, ...headers,
  }
  const asked = request({
    host: '127.0.0.1', port, path, method: body === undefined ? 'GET' : 'POST', headers: all, agent: false,
  })
  asked.end(body && JSON.stringify(body))
  const [answer] = await once(asked, 'response')
  return answer
}

const rpc = (method, params) => ({ jsonrpc: '2.0', id: 1, method, params })

test('the guide has a command and a location for each way', { skip }, () => {
  assert.deepEqual([locations.length, commands.length], [2, 2])
})

for (const [at, [way, scheme]] of [['kept', 'https'], ['cut', 'http']].entries()) {
  test(`behind nginx, with the path ${way}, every protocol is found and streams`, { skip }, async (t) => {
    const port = await behind(t, commands[at], locations[at])
    const base = `${scheme}://${HOST}/agents`
    const card = JSON.parse(await text(await ask(port, '/agents/.well-known/agent.json')))
    assert.equal(card.url, `${base}/a2a`)
    const { servers } = JSON.parse(await text(await ask(port, '/agents/openapi.json', undefined, key)))
    assert.deepEqual(servers, [{ url: base }])
    assert.equal((await ask(port, '/agents/docs')).statusCode, 200)
    assert.equal((await ask(port, '/agents/tools')).statusCode, 401)
    assert.equal((await ask(port, '/agents/docs', undefined, { host: 'other.example' })).statusCode, 403)
    const accept = 'application/json, text/event-stream'
    const tools = await ask(port, '/agents/mcp', rpc('tools/list'), { accept })
    assert.match(await text(tools), /execute_shop_task/)
    const message = { messageId: '1', role: 'user', kind: 'message', parts: [{ kind: 'text', text: 'a' }] }
    const sent = await ask(port, '/agents/a2a', rpc('message/send', { message }))
    assert.match(await text(sent), /first last/)
    const stream = await ask(port, '/agents/', { query: 'slow' }, { accept: 'text/event-stream' })
    stream.setEncoding('utf8')
    let read = ''
    for await (const chunk of stream) {
      read += chunk
      if (read.includes('first')) break
    }
    assert.doesNotMatch(read, /last/)
  })
}
