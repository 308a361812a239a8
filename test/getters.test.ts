/**
 * An object that is written with a getter of its own has a shape of its own in the engine, and that shape
 * keeps the getter and all that it sees until the next full collection: 2 kB of each request, where one is
 * made for each. So getters are in classes; the others are made once, or where there is no other way.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'

const allowed: readonly (readonly [file: string, getter: string, why: string])[] = [
  ['floors/shared/guarded-store.ts', 'isUnavailable', 'one a server'],
  ['floors/lines/line-server.ts', 'isEnding', 'one a client on standard input'],
  ['floors/lines/line-server.ts', 'running', 'one a client on standard input'],
  ['floors/memory/memory-store.ts', 'size', 'one a store'],
  ['kernel/server/server.ts', 'generatedKey', 'one a server'],
  ['parts/a2a/transport/routes.ts', 'status', 'one a server'],
  ['parts/mcp/methods/other-methods.ts', 'scopes', 'one a subscription, which is a stream'],
  ['parts/mcp/protocol/client.ts', 'extensions', 'only of a client with long settings of extensions'],
  ['parts/mcp/protocol/client.ts', 'extensions', 'the same, as authors see it'],
]

test('an object is not written with a getter, but where a reason is given', () => {
  const found = readdirSync('lib', { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/')).filter((path) => path.endsWith('.ts'))
    .flatMap((path) => [...readFileSync(join('lib', path), 'utf8').matchAll(/(?<!\w )\bget (\w+)\(\) \{/g)]
      .map(([, name]) => `${path} ${name}`))
  assert.deepEqual(found.toSorted(), allowed.map(([file, name]) => `${file} ${name}`).toSorted())
})
