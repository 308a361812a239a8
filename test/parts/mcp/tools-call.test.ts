/** What becomes of a call of a tool: a result that a model reads, or an error of the protocol. */
import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import { Fault } from '../../../lib/index.ts'
import { allRevisions, answerOf, begin, modern, said, serveMcp } from './client.ts'
import type { FaultKind } from '../../../lib/index.ts'
import type { Json } from '../../fixtures/events.ts'

/** What a model can read of each kind, and what it can not. */
const kinds: readonly (readonly [kind: FaultKind, isResult: boolean])[] = [
  ['invalid', true], ['not-found', true], ['conflict', true], ['unsupported', true], ['too-large', true],
  ['timeout', true], ['failed', true], ['upstream', true], ['internal', true],
  ['unauthenticated', false], ['forbidden', false], ['busy', false],
]

const server = serveMcp({ after }, {
  tools: [
    {
      name: 'fail', inputSchema: { type: 'object', properties: { kind: {}, late: {} } },
      run({ kind, late }: Json) {
        const fault = new Fault(kind, `It is ${kind}`, { shelf: 3 })
        if (late === true) return Promise.reject(fault)
        throw fault
      },
    },
    { name: 'huge', run: () => ({ n: 1n }) },
  ],
})

/** The answer to a call, in a session or without. */
async function answer(revision: string, params: Json): Promise<Json> {
  if (revision === '2026-07-28') return answerOf(await modern(server, 'tools/call', params))
  return (await begin(server, revision)).ask('tools/call', params)
}

test('whatever a tool throws that a model can mend is a result with its sentence', async () => {
  for (const revision of allRevisions) {
    for (const [kind, isResult] of kinds) {
      for (const late of [false, true]) {
        const what = `${revision} ${kind} ${late}`
        const { result, error } = await answer(revision, { name: 'fail', arguments: { kind, late } })
        assert.equal(result?.isError, isResult ? true : undefined, what)
        assert.equal(error === undefined, isResult, what)
        if (!isResult) continue
        if (kind === 'internal') assert.doesNotMatch(said(result), /It is|shelf/, what)
        else assert.match(said(result), RegExp(`^It is ${kind}$`), what)
      }
    }
  }
})

test('what JSON cannot say is the failure of the tool', async () => {
  for (const revision of allRevisions) {
    const { result } = await answer(revision, { name: 'huge', arguments: {} })
    assert.equal(result.isError, true, revision)
    assert.match(said(result), /^Internal error/, revision)
  }
})

test('a call that names no tool, or has no object as arguments, is an error of the protocol', async () => {
  for (const revision of allRevisions) {
    for (const [params, detail] of [
      [{ name: 'none' }, 'Unknown tool: none'],
      [{ name: 'toString' }, 'Unknown tool: toString'],
      [{ name: 'fail', arguments: [] }, 'params.arguments must be an object'],
    ] as const) {
      const { error } = await answer(revision, params)
      assert.deepEqual([error.code, error.data.detail], [-32602, detail], revision)
    }
  }
})
