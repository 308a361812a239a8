import assert from 'node:assert/strict'
import test from 'node:test'
import * as library from '../lib/index.ts'
import { echo } from './fixtures/client.ts'
import type { ServerOptions, TriportServer } from '../lib/index.ts'

/** What is public, as a program without types sees it. */
type Loose = (...given: readonly unknown[]) => unknown
type Name = 'createServer' | 'launch' | 'serveStdio' | 'defineAgent' | 'defineGroup' | 'defineTool'
  | 'definePrompt' | 'defineResource' | 'defineResourceTemplate' | 'add' | 'listen' | 'close'

const { createServer, defineTool, launch } = library
const quiet = { port: 0, quiet: true, signals: false, log: false } as const
const tool = { name: 'now', description: 'Tells the time.', inputSchema: { type: 'object' }, run: () => 1 }

const more: readonly (readonly [call: (verbs: Record<Name, Loose>) => unknown, sentence: RegExp])[] = [
  [({ createServer }) => createServer({ agents: [echo] }, { apiKey: 'k' }),
    new RegExp('^createServer takes one argument, and not also an object; '
      + 'write createServer\\(\\{ agents: \\[agent\\], name')],
  [({ createServer }) => createServer({ agents: [echo] }, 'mcp'),
    /^createServer takes one .*, and not also "mcp";/],
  [({ createServer }) => createServer({ agents: [echo] }, 8000),
    /^createServer has no option 'port'; write server\.listen\(port, host\)$/],
  [({ launch }) => launch(echo, quiet, { apiKey: 'k' }),
    /^launch takes two arguments, and not also an object; write launch\(\[one, two\], options\)$/],
  [({ launch }) => launch(echo, echo),
    /^launch takes several things as a list; write launch\(\[one, two\], op/],
  [({ launch }) => launch(echo, () => ''),
    /^launch takes several things as a list; write launch\(\[one, two\]/],
  [({ serveStdio }) => serveStdio(echo, {}, () => ''),
    /^serveStdio takes two arguments, and not also a function/],
  [({ defineAgent }) => defineAgent(() => '', { name: 'Helper' }),
    /^defineAgent takes one argument, and not also an object; write defineAgent\(\{ name: 'Helper', run: /],
  [({ defineGroup }) => defineGroup('Desk', [echo]),
    /^defineGroup takes one .*, and not also an array; write define/],
  [({ defineTool }) => defineTool(tool, () => 1),
    /^defineTool takes one .*, and not also a function; write defineT/],
  [({ defineResource }) => defineResource('a:b', {}),
    /^defineResource takes one argument, and not also an object/],
  [({ defineResourceTemplate }) => defineResourceTemplate('a:{b}', {}),
    /^defineResourceTemplate takes one argument/],
  [({ definePrompt }) => definePrompt('praise', {}),
    /^definePrompt takes one argument, and not also an object; /],
  [({ add }) => add(tool, { name: 'b' }), /^catalog\.add takes one argument, and not also an obj/],
  [({ listen }) => listen(0, () => {}),
    /^server\.listen returns a promise and calls no function; write await server\.listen\(port, host\)$/],
  [({ listen }) => listen(() => {}), /^server\.listen returns a promise and calls no function; /],
  [({ listen }) => listen(0, '127.0.0.1', () => {}), /^server\.listen returns a promise and calls no func/],
  [({ launch }) => launch(echo, quiet, 1), /^launch takes two arguments, and not also 1;/],
  [({ listen }) => listen(0, '127.0.0.1', 511),
    /^server\.listen takes two arguments, and not also 511; write await server\.listen\(port, host\)$/],
  [({ listen }) => listen(0, '127.0.0.1', {}),
    /^server\.listen takes two arguments, and not also an object;/],
  [({ close }) => close(() => {}),
    /^server\.close returns a promise and calls no function; write await server\.close\(\)$/],
]

test('an argument that would be ignored is refused, with what to write instead', async (t) => {
  const server = createServer({ agents: [echo], log: false })
  t.after(() => server.close())
  const { listen, close, catalog } = server
  const verbs = { ...library, listen, close, add: catalog.add.bind(catalog) }
  for (const [call, sentence] of more) {
    await assert.rejects(async () => call(verbs as never), (error: Error) => {
      assert.match(error.message, sentence)
      return error instanceof TypeError
    })
  }
  const launched = await launch(echo, quiet)
  const misused = async (): Promise<unknown> => (launched.close as Loose)(() => {})
  await assert.rejects(misused, /^TypeError: close returns a promise and /)
  await launched.close()
})

test('what a list and a listener give besides is passed over', async () => {
  assert.equal([tool].map(defineTool)[0]?.name, 'now')
  const [server] = [{ agents: [echo] }].map(createServer as (options: ServerOptions) => TriportServer)
  await (server!.close as Loose)('SIGTERM', 15)
  await assert.rejects(server!.listen(0), /This server is closed/)
})
