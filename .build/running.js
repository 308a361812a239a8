/** Which functions a server runs from its start to its first answer, by their names in the main file. */
import { Session } from 'node:inspector/promises'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MAIN } from './pack.js'

export async function running(folder) {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const server = await start(pathToFileURL(resolve(folder, 'index.js')).href)
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  await server.close()
  const text = readFileSync(resolve(folder, MAIN), 'utf8')
  const { functions } = result.find(({ url }) => url.endsWith(`/${MAIN}`))
  return new Set(functions.map(({ functionName, ranges: [range] }) => ({ functionName, ...range }))
    .filter(({ count, startOffset }) => count > 0 && /^(?:async )?function/.test(text.slice(startOffset)))
    .map(({ functionName }) => functionName))
}

/** What bench/start.js measures. */
async function start(url) {
  const { createServer } = await import(url)
  const tool = {
    name: 'add', description: 'Adds two numbers.',
    inputSchema: {
      type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'],
    },
    run: ({ a, b }) => `${a} + ${b} = ${a + b}`,
  }
  const agent = { name: 'Assistant', description: 'Repeats what it hears.', run: (query) => query }
  const server = createServer({ agents: [agent], tools: [tool], protocol: 'all' })
  const { url: base } = await server.listen(0)
  const params = { name: 'add', arguments: { a: 1, b: 2 } }
  const answer = await fetch(`${base}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Accept': 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const text = await answer.text()
  if (!text.includes('1 + 2 = 3')) throw new Error(`The packed server answers ${text}`)
  return server
}
