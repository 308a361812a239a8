import assert from 'node:assert/strict'
import test from 'node:test'
import { EventWriter } from '../../../lib/parts/a2a/transport/operation-call.ts'
import { dialects } from '../../../lib/parts/a2a/codec/dialects.ts'
import { formatEvent } from '../../../lib/kernel/wire/sse.ts'
import type { Dialect } from '../../../lib/parts/a2a/model/dialect.ts'
import type { StreamEvent } from '../../../lib/parts/a2a/model/model.ts'
import type { Artifact } from '../../../lib/kernel/define/artifact.ts'
import type { Content } from '../../../lib/kernel/define/content.ts'

const piece = (part: Content | string, more: Partial<Artifact> = {}, flags: object = {}): StreamEvent => ({
  what: 'artifact', taskId: 't', contextId: 'c', append: true, last: false, ...flags,
  artifact: { id: 'a', parts: [typeof part === 'string' ? { type: 'text', text: part } : part], ...more },
})

const life: readonly StreamEvent[] = [
  piece('One', {}, { append: false }),
  piece(' two'),
  piece(' "three"\n\u2028'),
  piece(' of another', { id: 'b' }),
  piece(' four'),
  piece({ type: 'text', text: 'marked', _meta: { filename: 'a.txt' } }),
  piece({ type: 'data', data: { text: 'x' } }),
  piece('named', { name: 'Story' }),
  piece('with metadata', { metadata: { a: 1 } }),
  {
    ...piece('two parts'),
    artifact: { id: 'a', parts: [{ type: 'text', text: '1' }, { type: 'text', text: '2' }] },
  } as StreamEvent,
  piece(''),
  piece('', {}, { last: true }),
  {
    what: 'status', taskId: 't', contextId: 'c', isLast: true,
    status: { state: 'completed', at: '2026-07-28T12:00:00.000Z' },
  },
]

/** What a stream of events is on the wire, and what each event alone would be. */
function written({ operations }: Dialect): readonly [together: string, alone: string] {
  const spell = (event: StreamEvent): string => operations.stream!.formatResult(event)
  let together = ''
  const sink = {
    closed: false, ready: () => Promise.resolve(), end: () => {},
    write(text: string) {
      together += text
      return true
    },
  }
  const writer = new EventWriter(sink, { encodeEvent: spell, encodeFault: () => '' })
  for (const event of life) assert.ok(writer.send(event))
  return [together, life.map((event) => formatEvent(spell(event))).join('')]
}

test('pieces of a text are spelled like every event', () => {
  for (const dialect of dialects) {
    if (dialect.operations.stream === undefined) continue
    const [together, alone] = written(dialect)
    assert.equal(together, alone, dialect.name)
  }
})

test('a stream that fails ends with an event for it', () => {
  const ends: (string | undefined)[] = []
  const sink = {
    closed: true, ready: () => Promise.resolve(), write: () => false,
    end: (text?: string) => void ends.push(text),
  }
  const writer = new EventWriter(sink, { encodeEvent: () => '', encodeFault: (thrown) => String(thrown) })
  assert.equal(writer.closed, true)
  assert.equal(writer.send(piece('x')), false)
  writer.end('why')
  writer.end()
  assert.deepEqual(ends, [formatEvent('why', 'error'), undefined])
})
