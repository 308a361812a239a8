/**
 * How long a process takes to its first correct answer, and what it holds then:
 * `node bench/start.js [rounds]`.
 *
 * Compares, start by start in turn, bare `node:http`, triport as a library with everything, an agent and
 * fifty tools, the same from its modules one by one (as they are before they are packed), the command with
 * its own assistant, and copies of some parts (`triport vendor --only`), each beside the library that is
 * asked the same. From the start of the process, by the clock and in CPU time, to its first answer; medians,
 * what they are above bare, and of a copy what part its CPU time is of the library's. CPU time is told where
 * /proc tells it.
 *
 * Without another's load the clock counts; on a machine that is shared the CPU time is nearer to the truth.
 */
const [, program, role, ...rest] = process.argv

if (role === 'bare') await serveBare(Number(rest[0]))
else if (role === 'library') await serveLibrary(Number(rest[0]), rest[1])
else if (role === 'parts') await serveParts(Number(rest[0]), rest[1], rest.slice(2))
else await compare(Number(role ?? 15))

async function serveBare(port) {
  const { createServer } = await import('node:http')
  createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const { id, params } = JSON.parse(Buffer.concat(chunks).toString())
      const { a, b } = params.arguments
      const content = [{ type: 'text', text: `${a} + ${b} = ${a + b}` }]
      const text = JSON.stringify({ jsonrpc: '2.0', id, result: { content } })
      response.writeHead(200, {
        'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text),
      }).end(text)
    })
  }).listen(port, '127.0.0.1')
}

async function serveLibrary(port, path) {
  const { createServer } = await import(path)
  await createServer({ agents: [assistant()], tools: tools(), protocol: 'all' }).listen(port)
}

/** A copy of some parts, in the order of their names. */
async function serveParts(port, path, names) {
  const { createServer, ...copy } = await import(path)
  const parts = names.map((name) => copy[name](name === 'skills' ? [] : {}))
  await createServer({ agents: [assistant()], tools: tools(), parts }).listen(port)
}

function assistant() {
  return { name: 'Assistant', description: 'Repeats what it hears.', run: (query) => query }
}

function tools() {
  return Array.from({ length: 50 }, (_, index) => ({
    name: index === 0 ? 'add' : `add_${index + 1}`,
    description: 'Adds two numbers.',
    inputSchema: {
      type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'],
    },
    run: ({ a, b }) => `${a} + ${b} = ${a + b}`,
  }))
}

async function compare(rounds) {
  const { execFileSync } = await import('node:child_process')
  const { mkdtempSync, rmSync } = await import('node:fs')
  const { tmpdir } = await import('node:os')
  const { join } = await import('node:path')
  const { fileURLToPath, pathToFileURL } = await import('node:url')
  const root = new URL('../', import.meta.url)
  const command = fileURLToPath(new URL('dist/cli.js', root))
  const library = (path) => (port) => [program, 'library', port, new URL(path, root).href]
  const call = (name, args) => (
    ['/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }]
  )
  const add = call('add', { a: 1, b: 2 })
  const said = '1 + 2 = 3'
  const message = { role: 'user', parts: [{ type: 'text', text: said }] }
  const folder = mkdtempSync(join(tmpdir(), 'triport-start-'))
  const copies = [
    ['mcp', ['mcp'], add],
    ['mcp,mcp-tasks,skills,apps', ['mcp', 'mcpTasks', 'skills', 'apps'], add],
    ['a2a', ['a2a'], ['/a2a', { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }]],
    ['http', ['http'], ['/', { query: said }]],
    ['openai', ['openai'], ['/v1/chat/completions', {
      model: 'assistant', messages: [{ role: 'user', content: said }],
    }]],
  ].flatMap(([only, names, asked]) => {
    execFileSync(process.execPath, [command, 'vendor', join(folder, only), '--only', only])
    const path = pathToFileURL(join(folder, only, 'index.js')).href
    const args = (port) => [program, 'parts', port, path, ...names]
    return [
      { name: `library, asked as ${only}`, args: library('dist/index.js'), asked },
      { name: `copy of ${only}`, args, asked, isCopy: true },
    ]
  })
  const cases = [
    { name: 'bare node:http', args: (port) => [program, 'bare', port], asked: add },
    { name: 'library', args: library('dist/index.js'), asked: add },
    { name: 'library, as modules', args: library('.build/lib/index.js'), asked: add },
    {
      name: 'command', asked: call('execute_assistant_task', { prompt: '1 + 2' }),
      args: (port) => [command, 'serve', '--quiet', '--protocol=all', `--port=${port}`],
    },
    ...copies,
  ]
  const starts = new Map(cases.map((one) => [one, []]))
  // The first of each only brings its files into memory.
  for (const one of cases) await start(one)
  for (let round = 0; round < rounds; round++) {
    for (const one of cases) starts.get(one).push(await start(one))
  }
  const { median } = await import('./statistics.js')
  rmSync(folder, { recursive: true })
  const [bare] = starts.values()
  let before
  console.log('| to first answer | ms | above bare | CPU ms | above bare | MB | above bare | of library |')
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|')
  for (const [{ name, isCopy }, all] of starts) {
    const cells = ['ms', 'cpuMs', 'megabytes'].flatMap((unit) => {
      const [ours, theirs] = [all, bare].map((list) => median(list.map((start) => start[unit])))
      return [ours.toFixed(1), (ours - theirs).toFixed(1)]
    })
    const cpuMs = median(all.map((start) => start.cpuMs))
    console.log(`| ${[name, ...cells, isCopy ? (cpuMs / before).toFixed(2) : '-'].join(' | ')} |`)
    before = cpuMs
  }
}

/** One process, from its start to its answer. */
async function start({ name, args, asked: [path, body] }) {
  const { spawn } = await import('node:child_process')
  const port = await freePort()
  const begunAt = performance.now()
  const child = spawn(process.execPath, args(port), { stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    const text = await ask(`http://127.0.0.1:${port}${path}`, JSON.stringify(body), () => {
      if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
    })
    const ms = performance.now() - begunAt
    if (!text.includes('1 + 2 = 3')) throw new Error(`${name} answers ${text}`)
    return { ms, ...await usedBy(child.pid) }
  } finally {
    child.kill('SIGKILL')
  }
}

/** Asks as soon as somebody listens; `check` throws where nobody will. */
async function ask(url, body, check) {
  const { request } = await import('node:http')
  const { setTimeout: pause } = await import('node:timers/promises')
  const headers = {
    'Content-Type': 'application/json', 'Accept': 'application/json, text/event-stream',
    'Content-Length': Buffer.byteLength(body),
  }
  for (;;) {
    const text = await new Promise((resolve, reject) => {
      const asked = request(url, { method: 'POST', headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => { text += chunk }).on('end', () => resolve(text))
      })
      asked.on('error', (error) => error.code === 'ECONNREFUSED' ? resolve(undefined) : reject(error))
      asked.end(body)
    })
    if (text !== undefined) return text
    check()
    await pause(1)
  }
}

/** Memory by `ps`, which also other systems than Linux have; CPU time of all threads by /proc. */
async function usedBy(pid) {
  const { execFileSync } = await import('node:child_process')
  const { existsSync, readdirSync, readFileSync } = await import('node:fs')
  const tasks = `/proc/${pid}/task`
  const cpuNs = !existsSync(tasks) ? NaN : readdirSync(tasks)
    .map((task) => Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]))
    .reduce((one, other) => one + other)
  const kilobytes = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
  return { cpuMs: cpuNs / 1e6, megabytes: kilobytes / 1024 }
}

async function freePort() {
  const { createServer } = await import('node:net')
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}
