import assert from 'node:assert/strict'
import test from 'node:test'
import {
  checkExtensions, extensionHeaders, requestedExtensions,
} from '../../../lib/parts/a2a/tasks/request.ts'
import { A2aFault } from '../../../lib/parts/a2a/model/faults.ts'
import type { CardExtension } from '../../../lib/parts/a2a/model/model.ts'
import type { A2aRequest } from '../../../lib/parts/a2a/tasks/request.ts'

/** A visit with these headers at a door that offers these extensions. */
function visit(headers: Record<string, string>, extensions?: readonly CardExtension[]): A2aRequest {
  const exchange = { header: (name: string) => headers[name] }
  const options = { extensions, takesKeys: () => false }
  return { exchange, context: { options } } as unknown as A2aRequest
}

const uris = Array.from({ length: 70 }, (_, index) => `urn:${index}`)
const long = `urn:${'x'.repeat(5_000)}`

const rows: readonly (readonly [headers: Record<string, string>, uris: readonly string[]])[] = [
  [{}, []],
  [{ 'a2a-extensions': '' }, []],
  [{ 'a2a-extensions': ' , ,' }, []],
  [{ 'a2a-extensions': 'urn:a, urn:b ,urn:a' }, ['urn:a', 'urn:b']],
  [{ 'x-a2a-extensions': 'urn:a' }, ['urn:a']],
  [{ 'a2a-extensions': 'urn:a', 'x-a2a-extensions': 'urn:b,urn:a' }, ['urn:a', 'urn:b']],
  [{ 'a2a-extensions': uris.join(',') }, uris.slice(0, 64)],
  [{ 'a2a-extensions': `urn:a,${long},${long}y` }, ['urn:a', long]],
  [{ 'a2a-extensions': 'x'.repeat(9_000) }, []],
]

test('both headers tell what a request asks for, within bounds', () => {
  for (const [headers, uris] of rows) assert.deepEqual(requestedExtensions(visit(headers).exchange), uris)
})

const offered: readonly CardExtension[] = [
  { uri: 'urn:a', required: true }, { uri: 'urn:b' }, { uri: 'urn:c', required: true },
  { uri: 'urn:d', required: false },
]

test('who does not know a required extension is refused by its name', () => {
  const wrong = [
    ['', 'urn:a'], ['urn:c', 'urn:a'], ['urn:a,urn:b', 'urn:c'], ['URN:A,urn:c', 'urn:a'],
  ] as const
  for (const [list, missing] of wrong) {
    assert.throws(() => checkExtensions(visit({ 'a2a-extensions': list }, offered)), (error: unknown) => {
      assert(error instanceof A2aFault)
      assert.equal(error.reason, 'EXTENSION_SUPPORT_REQUIRED')
      assert(error.message.endsWith(`the extension ${missing}; list it in the header A2A-Extensions`))
      return true
    })
  }
})

test('who knows all required ones may come in, under either header', () => {
  checkExtensions(visit({}))
  checkExtensions(visit({}, [{ uri: 'urn:b' }]))
  checkExtensions(visit({ 'a2a-extensions': 'urn:c,urn:a' }, offered))
  checkExtensions(visit({ 'a2a-extensions': 'urn:c', 'x-a2a-extensions': 'urn:x, urn:a' }, offered))
})

test('the answer names what is asked for and offered, in the header that asked', () => {
  assert.deepEqual(extensionHeaders(visit({ 'a2a-extensions': 'urn:a' })), [])
  assert.deepEqual(extensionHeaders(visit({ 'a2a-extensions': 'urn:a' }, [])), [])
  assert.deepEqual(extensionHeaders(visit({}, offered)), [])
  assert.deepEqual(extensionHeaders(visit({ 'a2a-extensions': 'urn:x' }, offered)), [])
  assert.deepEqual(extensionHeaders(visit({ 'a2a-extensions': 'urn:x,urn:b,urn:a,urn:b' }, offered)),
    ['A2A-Extensions', 'urn:b, urn:a'])
  const both = { 'a2a-extensions': 'urn:a', 'x-a2a-extensions': 'urn:b' }
  assert.deepEqual(extensionHeaders(visit(both, offered)),
    ['A2A-Extensions', 'urn:a', 'X-A2A-Extensions', 'urn:b'])
})
