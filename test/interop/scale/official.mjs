/**
 * Every kind of official client through the balancer without memory: of MCP in TypeScript, both versions and
 * all revisions, with the pair of 2024 whose POSTs come to other processes than its stream; of A2A; and that
 * of MCP in Python, where one is installed (`MCP_PYTHON` names its interpreter).
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { missing } from '../start.mjs'
import { startBalancer } from './balancer.mjs'
import { acts, connects, noClients } from './clients.mjs'
import { engines, startFleet } from './deployment.mjs'
import { until } from './servers.mjs'

const noAgents = missing('@a2a-js/sdk', 'a2a-sdk-0.3')
const python = process.env.MCP_PYTHON ?? 'python3'
const noPython = (() => {
  try {
    const program = 'from mcp.client.streamable_http import streamable_http_client'
    execFileSync(python, ['-c', program], { stdio: 'ignore' })
    return false
  } catch {
    return `${python} has no package mcp of version 2`
  }
})()
for (const reason of [noAgents, noPython]) if (reason) console.log(`official: skipped in part: ${reason}`)

/** Revisions before questions to the client. */
const unasking = new Set(['v1 2025-03-26', 'v1 2024-11-05'])

/** A fleet and its balancer, until the test is over. */
async function deployed(t, engine) {
  const fleet = await startFleet(engine)
  const balancer = await startBalancer(fleet.ports)
  t.after(async () => {
    balancer.close()
    await fleet.close()
  })
  return balancer.url
}

/** Clients of A2A: what a task of each says, and how it stands. */
const agents = {
  async '1.3.0'(url) {
    const { ClientFactory } = await import('@a2a-js/sdk/client')
    const { Task, SendMessageRequest } = await import('@a2a-js/sdk')
    const client = await new ClientFactory().createFromUrl(url)
    return {
      async begin(text) {
        const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
        const configuration = { returnImmediately: true }
        return (await client.sendMessage(SendMessageRequest.fromJSON({ message, configuration }))).id
      },
      async read(id) {
        const { status, artifacts = [] } = Task.toJSON(await client.getTask({ id, tenant: '' }))
        return [status.state.replace('TASK_STATE_', '').toLowerCase(), artifacts[0]?.parts[0].text]
      },
      cancel: (id) => client.cancelTask({ id, tenant: '' }),
    }
  },
  async '0.3.14'(url) {
    const { ClientFactory } = await import('a2a-sdk-0.3/client')
    const client = await new ClientFactory().createFromUrl(url)
    return {
      async begin(text) {
        const parts = [{ kind: 'text', text }]
        const message = { kind: 'message', messageId: randomUUID(), role: 'user', parts }
        return (await client.sendMessage({ message, configuration: { blocking: false } })).id
      },
      async read(id) {
        const { status, artifacts = [] } = await client.getTask({ id })
        return [status.state, artifacts[0]?.parts[0].text]
      },
      cancel: (id) => client.cancelTask({ id }),
    }
  },
}

for (const engine of engines) {
  test(`every kind of official client: ${engine.name}`, { skip: engine.skip }, async (t) => {
    const url = await deployed(t, engine)
    for (const [kind, connect] of Object.entries(connects)) {
      await t.test(kind, { skip: noClients, timeout: 120_000 }, async () => {
        const one = await connect(url, kind)
        try {
          for (let turn = 0; turn < 6; turn++) for (const [what, act] of acts.entries()) {
            if (what === 2 && unasking.has(kind)) continue
            assert.ok(await act(one, kind, turn, { timeout: 30_000 }), `turn ${turn}, act ${what}`)
          }
        } finally {
          await one.client.close()
        }
      })
    }
    for (const [version, connect] of Object.entries(agents)) {
      await t.test(`A2A ${version}`, { skip: noAgents, timeout: 120_000 }, async () => {
        const client = await connect(url)
        for (let turn = 0; turn < 6; turn++) {
          const id = await client.begin('work x 100')
          await until('its end', async () => (await client.read(id))[0] === 'completed')
          assert.equal((await client.read(id))[1], 'done x')
          const other = await client.begin('work x 60000')
          await client.cancel(other)
          assert.equal((await client.read(other))[0], 'canceled')
        }
      })
    }
    await t.test('Python', { skip: noPython, timeout: 120_000 }, async () => {
      const program = fileURLToPath(new URL('official.py', import.meta.url))
      const { stdout } = await promisify(execFile)(python, [program, `${url}/mcp`])
      assert.equal(stdout.trim(), '40')
    })
  })
}
