/**
 * The load: every connection is kept busy until so many answers have come, and every answer is looked at.
 */
import assert from 'node:assert/strict'

/** Every so many answers one is read whole. */
export const SAMPLE = 64

/** No slice of the slowest server takes so long. */
const STALLED_MS = 120_000

/** By how many bytes right answers may differ: counts in ids; and by what part, where there are chunks. */
const SLACK_BYTES = 64
const SLACK_PART = 0.15

/**
 * Sends `count` requests, connection `at` its `requests[at]`. Resolves to the seconds that it took; rejects
 * at the first answer that `look` throws at.
 */
export function load(connections, requests, count, look, sample = SAMPLE) {
  return unlessStalled((resolve, reject) => {
    const begun = performance.now()
    let sent = 0
    let got = 0
    connections.slice(0, count).forEach((connection, at) => {
      let isSample = false
      const next = () => {
        isSample = sent++ % sample === 0
        connection.ask(requests[at], isSample, onAnswer, reject)
      }
      const onAnswer = () => {
        try {
          look(connection, isSample)
        } catch (error) {
          return reject(error)
        }
        if (++got === count) resolve((performance.now() - begun) / 1000)
        else if (sent < count) next()
      }
      next()
    })
  })
}

/** A promise that is rejected when it takes so long that an answer must be missing. */
export function unlessStalled(run) {
  let timer
  const promise = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new Error('Some answers do not come')), STALLED_MS)
    run(resolve, reject)
  })
  return promise.finally(() => clearTimeout(timer))
}

/**
 * A look at the answers of one case from one server: each must have the status and, but for what ids take,
 * the length of those before; what is read whole must be right.
 */
export function judge(one, server) {
  return (connection, isWhole) => {
    const { references } = server
    if (isWhole) {
      const answer = connection.answer()
      try {
        assert.equal(answer.status, one.status ?? 200)
        one.check(answer)
      } catch (error) {
        const shown = `${answer.head}\n\n${answer.body.slice(0, 400)}`
        throw new Error(`${server.name} answers ${one.name} wrongly: ${error.message}\n${shown}`)
      }
      if (!references.has(one.name)) {
        references.set(one.name, { status: connection.status, length: connection.length })
      }
      return
    }
    const { status, length } = references.get(one.name)
    const slack = connection.isChunked ? Math.max(SLACK_BYTES, length * SLACK_PART) : SLACK_BYTES
    if (connection.status === status && Math.abs(connection.length - length) <= slack) return
    throw new Error(
      `${server.name} answers ${one.name} with status ${connection.status} and ${connection.length} bytes, `
      + `at other times with ${status} and ${length}`,
    )
  }
}
