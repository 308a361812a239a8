/**
 * Whether the bare server does the same work: its answer to a case must be triport's, head and body and the
 * chunks that the body comes in, apart from ids and times.
 */
import assert from 'node:assert/strict'
import { answerOf } from './slice.js'

/** Throws where two servers answer a case differently. */
export async function compare(one, triport, bare) {
  if (one.slice !== undefined) return
  const [ours, theirs] = [linesOf(await answerOf(triport, one)), linesOf(await answerOf(bare, one))]
  const at = ours.findIndex((line, number) => line !== theirs[number])
  if (at < 0 && ours.length === theirs.length) return
  throw new Error(`The bare server does not answer ${one.name} as triport does. Line ${at + 1} of triport:\n`
    + `${ours[at]}\nand of the bare server:\n${theirs[at]}`)
}

/** What two answers of the same kind have in common, line by line. */
function linesOf({ head, body, chunks }) {
  const [, length] = /^Content-Length: (\d+)$/m.exec(head) ?? []
  if (length !== undefined) assert.equal(Number(length), Buffer.byteLength(body))
  const lines = head.split('\r\n').map((line) => mask(line
    .replace(/^(Content-Length|Date): .*/, '$1')
    .replace(/^(Mcp-Session-Id): [\w-]{32}$/, '$1')))
  for (const chunk of chunks) lines.push('a chunk:', ...mask(chunk).split('\n'))
  return lines
}

/**
 * Takes out UUIDs, with dashes or without, also with the place of a part behind it, ids of requests (ten
 * hexadecimal digits, a count), and times.
 */
function mask(text) {
  return text
    .replace(/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g, 'UUID')
    .replace(/_[\da-f]{32}(?:[\da-f]{2})?\b/g, '_UUID')
    .replace(/"(created|created_at|completed_at)":\d{10}\b/g, '"$1":TIME')
    .replace(/\b[\da-f]{10}-[\da-z]+\b/g, 'REQUEST')
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"')
}
