/**
 * Conversations of two owners over plain HTTP, on two processes and each engine that these can share: what
 * one process wrote the other lists, reads and forgets, for its owner alone.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engines, startFleet } from './deployment.mjs'

const COUNT = 30

for (const engine of engines) {
  test(`conversations belong to their owner: ${engine.name}`, { skip: engine.skip }, async (t) => {
    const apiKey = [{ id: 'ann', key: 'ann-key' }, { id: 'bob', key: 'bob-key' }]
    const fleet = await startFleet(engine, { count: 2, settings: { apiKey } })
    t.after(() => fleet.close())
    const [one, other] = fleet.urls()
    const ask = (owner, url, path, method = 'GET', body = undefined) => fetch(url + path, {
      method, body: JSON.stringify(body),
      headers: { 'X-API-Key': `${owner}-key`, 'Content-Type': 'application/json' },
    })
    const list = async (owner, url, query) => (await ask(owner, url, `/conversations${query}`)).json()
    const ids = []
    for (let at = 0; at < COUNT; at++) {
      const answer = await ask('ann', at % 2 === 0 ? one : other, '/', 'POST', { query: 'history' })
      ids.unshift((await answer.json()).session_id)
    }
    await ask('bob', one, '/', 'POST', { query: 'history', session_id: 'chosen-by-bob' })

    const seen = []
    for (let cursor = '', at = 0; cursor !== undefined; at++) {
      const page = await list('ann', at % 2 === 0 ? other : one, `?limit=9${cursor}`)
      seen.push(...page.conversations.map(({ session_id }) => session_id))
      cursor = page.next_cursor === undefined ? undefined : `&cursor=${page.next_cursor}`
    }
    assert.deepEqual(seen, ids)
    const [first] = ids
    const { messages } = await (await ask('ann', one, `/conversations/${first}`)).json()
    assert.deepEqual(messages, await (await ask('ann', other, `/conversations/${first}`)).json()
      .then((read) => read.messages))
    assert.equal(messages[0].content, 'history')
    assert.equal((await ask('bob', other, `/conversations/${first}`, 'DELETE')).status, 404)
    assert.equal((await ask('ann', other, `/conversations/${first}`, 'DELETE')).status, 204)
    assert.equal((await ask('ann', one, `/conversations/${first}`)).status, 404)
    assert.deepEqual((await list('bob', other, '')).conversations.map(({ session_id }) => session_id),
      ['chosen-by-bob'])
  })
}
