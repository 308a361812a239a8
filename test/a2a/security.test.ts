import assert from 'node:assert/strict'
import test from 'node:test'
import { securityOf } from '../../lib/a2a/card/card.ts'

const apiKey = { kind: 'apiKey', location: 'header', name: 'X-API-Key' }
const bearer = { kind: 'http', scheme: 'bearer', bearerFormat: undefined }
const auth = {
  resource: 'https://a.example/mcp', verify: () => null, scopes: ['read'],
  authorizationServers: ['https://login.example.com', 'https://b.example/tenant/7'],
}
const oauth = {
  kind: 'oauth2', flows: {}, metadataUrl: 'https://login.example.com/.well-known/oauth-authorization-server',
}
const oauth2 = {
  kind: 'oauth2', flows: {}, metadataUrl: 'https://b.example/.well-known/oauth-authorization-server/tenant/7',
}

test('a scheme is named exactly where it lets a caller in, and any one is enough', () => {
  const rows = [
    [false, undefined, {}, []],
    [true, undefined, { apiKey, bearer }, [{ apiKey: [] }, { bearer: [] }]],
    [false, auth, { oauth, 'oauth-2': oauth2 }, [{ oauth: ['read'] }, { 'oauth-2': ['read'] }]],
    [true, { ...auth, scopes: [], authorizationServers: ['https://login.example.com/'] },
      { apiKey, bearer, oauth },
      [{ apiKey: [] }, { bearer: [] }, { oauth: [] }]],
  ] as const
  for (const [isKeyed, given, schemes, ways] of rows) {
    const found = securityOf({ auth: given, takesKeys: () => isKeyed })
    assert.deepEqual(Object.fromEntries(found.schemes), schemes)
    assert.deepEqual(found.security.map((way) => Object.fromEntries(way)), ways)
  }
})
