import assert from 'node:assert/strict'
import test from 'node:test'
import { addArtifact, artifactOf } from '../../../lib/kernel/define/artifact.ts'
import type { Artifact, ArtifactInput } from '../../../lib/kernel/define/artifact.ts'

const text = (said: string): { type: 'text'; text: string } => ({ type: 'text', text: said })

test('an artifact has an id, its own or one that nobody else has, and parts in their normal form', () => {
  const bytes = { type: 'image', data: Uint8Array.of(0), mimeType: 'image/png' } as const
  const given: ArtifactInput = {
    id: 'a', name: 'Notes', description: 'Few.', parts: ['x', bytes], append: true,
  }
  assert.deepEqual(artifactOf(given), {
    id: 'a', name: 'Notes', description: 'Few.', parts: [text('x'), { ...bytes, data: 'AA==' }],
  })
  const ids = new Set(Array.from({ length: 50 }, () => artifactOf({ parts: [] }).id))
  assert.equal(ids.size, 50)
  assert.deepEqual(Object.keys(artifactOf({ parts: [] })), ['id', 'parts'])
  const broken = { parts: [{ type: 'image' }] } as unknown as ArtifactInput
  assert.throws(() => artifactOf(broken), { kind: 'internal' })
})

test('a member of an artifact that cannot be what it is is refused, and not sent', () => {
  const wrong: readonly (readonly [more: object, message: RegExp])[] = [
    [{ id: 5 }, /^call\.artifact has id 5; write a text, as in 'report'$/], [{ id: '' }, /has id "";/],
    [{ name: {} }, /has name an object; write a string/], [{ append: 1 }, /write true or false/],
    [{ extensions: 'a' }, /has extensions "a"; write a list of strings/],
    [{ metadata: 'a' }, /has metadata "a"; write an object/],
  ]
  for (const [more, message] of wrong) {
    assert.throws(() => artifactOf({ parts: [], ...more } as never), { name: 'TypeError', message })
  }
})

const rows: readonly (readonly [what: string, given: readonly ArtifactInput[], list: readonly object[]])[] = [
  ['two ids are two', [{ id: 'a', parts: ['1'] }, { id: 'b', parts: ['2'] }],
    [{ id: 'a', parts: [text('1')] }, { id: 'b', parts: [text('2')] }]],
  ['one id is one: it is replaced in its place', [
    { id: 'a', name: 'A', parts: ['1'] }, { id: 'b', parts: ['2'] }, { id: 'a', parts: ['3'] },
  ], [{ id: 'a', parts: [text('3')] }, { id: 'b', parts: [text('2')] }]],
  ['or added to, and what is not said anew stays', [
    { id: 'a', name: 'A', description: 'old', parts: ['1'] },
    { id: 'a', description: 'new', parts: ['2'], append: true },
  ], [{ id: 'a', name: 'A', description: 'new', parts: [text('1'), text('2')] }]],
  ['what is added to nothing begins it', [
    { id: 'a', parts: ['1'], append: true },
  ], [{ id: 'a', parts: [text('1')] }]],
]

test('one id is one artifact', () => {
  for (const [what, given, expected] of rows) {
    let list: readonly Artifact[] = Object.freeze([])
    for (const input of given) {
      const before = structuredClone(list)
      const next = addArtifact(list, artifactOf(input), input.append === true)
      // Whoever holds the list of before still has it.
      assert.deepEqual(list, before, what)
      list = next
    }
    assert.deepEqual(list, expected, what)
  }
})
