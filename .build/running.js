/** Which functions of modules a server runs from its start to its first answer. */
import { Session } from 'node:inspector/promises'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Names of functions by the ids of their modules, as they run in a folder of packed files. */
export async function running(folder) {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const root = pathToFileURL(resolve(folder)).href
  const server = await start(`${root}/index.js`)
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  await server.close()
  const names = new Map()
  for (const { url, functions } of result.filter(({ url }) => url.startsWith(root))) {
    const text = readFileSync(fileURLToPath(url), 'utf8')
    for (const { functionName, ranges: [{ count, startOffset }] } of functions) {
      if (count === 0 || !/^\n(?:async )?function/.test(text.slice(startOffset - 1, startOffset + 20))) continue
      const [, id] = /.*\nconst (\$\w+) = \(\(\) => \{\n/s.exec(text.slice(0, startOffset)) ?? []
      names.set(id, (names.get(id) ?? new Set()).add(functionName))
    }
  }
  return names
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
