// What the operator's own check knows of a caller reaches the handler, and nothing else.
import assert from 'node:assert/strict'
import test from 'node:test'
import { createServer, defineTool } from '../../lib/index.ts'
import { originOf, requestOf } from '../../lib/floors/tasks/task.ts'
import type { Claims, TokenInfo, TriportServer } from '../../lib/index.ts'
import type { Principal } from '../../lib/kernel/define/principal.ts'

const lines: unknown[] = []
let seen: Principal | undefined

function serverOf(claims: unknown, of: 'key' | 'token' = 'token'): TriportServer {
  const who = defineTool({
    name: 'who',
    run(_args, { principal }) {
      seen = principal
      return `${String(principal.claims?.['email'])} of ${String(principal.claims?.['tenant'])}`
    },
  })
  return createServer({
    name: 'claims', tools: [who], protocol: 'all', accessLog: true,
    log: (...line) => { lines.push(line) },
    ...of === 'key'
      ? { apiKey: () => ({ id: 'ann', scopes: [], claims: claims as Claims, role: 'admin' } as Principal) }
      : {
          auth: {
            resource: 'https://agents.example/mcp', authorizationServers: ['https://login.example'],
            verify: (): TokenInfo => ({ subject: 'ann', claims: claims as Claims }),
          },
        },
  })
}

async function ask(server: TriportServer): Promise<{ readonly status: number; readonly text: string }> {
  const response = await server.fetch(new Request('http://localhost/tools/who', {
    method: 'POST', body: '{}',
    headers: { 'content-type': 'application/json', 'authorization': 'Bearer t', 'host': 'localhost' },
  }))
  return { status: response.status, text: await response.text() }
}

const claims = { email: 'ann@example.com', tenant: 'acme', groups: ['a', 'b'], at: new Date(0) }

for (const of of ['token', 'key'] as const) {
  test(`a handler reads the claims of a ${of}, in a frozen copy, and no log has them`, async () => {
    const server = serverOf(claims, of)
    const { status, text } = await ask(server)
    assert.equal(status, 200)
    assert.equal((JSON.parse(text) as { result: unknown }).result, 'ann@example.com of acme')
    assert.deepEqual(seen?.claims, { ...claims, at: '1970-01-01T00:00:00.000Z' })
    assert.ok(Object.isFrozen(seen.claims) && Object.isFrozen(seen.claims['groups']))
    assert.ok(!('role' in seen))
    assert.ok(lines.length > 0)
    assert.ok(!JSON.stringify(lines).includes('ann@example.com'))
    await server.close()
  })
}

test('a run in another process has the claims of the request that began it', () => {
  const principal = { id: 'ann', scopes: ['read'], claims: { tenant: 'acme' } }
  const origin = {
    requestId: 'r', principal, headers: new Map<string, string>(), header: () => undefined, onDisconnect() {},
  }
  const kept = JSON.parse(JSON.stringify(requestOf(origin, undefined))) as ReturnType<typeof requestOf>
  assert.deepEqual(originOf(kept).principal, principal)
})

const cycle: Record<string, unknown> = {}
cycle['self'] = cycle

const wrong: readonly (readonly [claims: unknown, why: RegExp])[] = [
  ['ann', /^TypeError: The token has claims that are no object; return claims: \{ email, tenant \}$/],
  [null, /claims that are no object/],
  [['a'], /claims that are no object/],
  [{ toJSON: () => undefined }, /claims that are no object/],
  [cycle, /^TypeError: The token has claims that JSON cannot represent; return plain values$/],
  [{ size: 1n }, /claims that JSON cannot represent/],
  [{ all: 'é'.repeat(8_200) }, /claims of more than 16384 bytes of JSON; return only those that handlers/],
]

test('claims that cannot be kept are the verifier\'s mistake, which the log explains', async () => {
  for (const [bad, why] of wrong) {
    lines.length = 0
    const server = serverOf(bad)
    const { status, text } = await ask(server)
    assert.equal(status, 500, String(why))
    assert.ok(!text.includes('claims'))
    const causes = lines.flatMap((line) => line as unknown[])
      .map((part) => (part as { cause?: unknown } | undefined)?.cause)
    assert.ok(causes.some((cause) => why.test(String(cause))), `${why}: ${JSON.stringify(lines)}`)
    await server.close()
  }
})
