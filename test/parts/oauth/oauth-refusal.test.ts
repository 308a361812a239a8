import assert from 'node:assert/strict'
import test from 'node:test'
import { OauthRefusal, refuseAsOauth, refusalReply } from '../../../lib/parts/oauth/oauth-refusal.ts'

test('whatever is refused before an endpoint sees it has a code of OAuth', () => {
  const codes: readonly (readonly [status: number, code: string])[] = [
    [400, 'invalid_request'], [403, 'access_denied'], [405, 'invalid_request'], [408, 'invalid_request'],
    [413, 'invalid_request'], [415, 'invalid_request'], [429, 'temporarily_unavailable'],
    [499, 'invalid_request'], [500, 'server_error'], [501, 'server_error'], [503, 'temporarily_unavailable'],
  ]
  for (const [status, error] of codes) {
    const headers = ['Retry-After', '1']
    const reply = refuseAsOauth({ status, detail: 'Why', requestId: 'a', headers })
    assert.deepEqual(reply, {
      status, type: 'application/json', headers: ['Cache-Control', 'no-store', ...headers],
      body: JSON.stringify({ error, error_description: 'Why' }),
    })
  }
})

test('a sentence has the characters that OAuth allows, and 1,000 of them at most', () => {
  const { body } = refusalReply(new OauthRefusal('invalid_request', `"a\\b"\n\u00e9${'x'.repeat(2_000)}`))
  const { error_description: why } = JSON.parse(String(body)) as { error_description: string }
  assert.equal(why, `'a'b'??${'x'.repeat(993)}`)
})
