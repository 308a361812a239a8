/** A2A: both bindings, all dialects, cards, webhooks. */
import { limitsIn } from '../../kernel/define/limits.ts'
import { checkValues, knownMembers } from '../../kernel/define/validate.ts'
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { a2aLimits } from './model/limits.ts'
import { a2aChecks, requireCallers, requireTenantPaths } from './model/options.ts'
import { rootOf } from './model/tool-agent.ts'
import { a2aRoutes } from './transport/routes.ts'
import type { Opened, Part } from '../../kernel/server/part.ts'
import type { A2aLimits } from './model/limits.ts'
import type { A2aServerOptions } from './model/options.ts'

const NO_ANSWERER = 'a2a needs an agent or a tool: A2A clients send messages; add agents: [agent] or '
  + 'tools: [tool], or leave a2a() out of the parts'

/** What is left of it where it cannot serve what there is, and is only one of all protocols. */
export const notServed: Opened = {
  announce: () => ['not served: it needs an agent or a tool; use HTTP or MCP for resources and prompts'],
}

const GREETING = { message: { role: 'user', parts: [{ type: 'text', text: 'hello' }] } }

const optionNames = [...Object.keys(a2aChecks), ...Object.keys(a2aLimits.defaults)]

/** Throws `TypeError` or `RangeError` for options that cannot be meant. Nothing of a key is shown. */
export function a2a(options: A2aServerOptions & Partial<A2aLimits> = {}): Part {
  requirePartOptions('a2a', options, optionNames, arguments)
  checkValues('a2a', options, a2aChecks)
  const limits = limitsIn(a2aLimits, options, 'a2a')
  return {
    name: 'a2a',
    copy: kernelCopy,
    optionNames,
    protocol: 'a2a',
    open(kernel) {
      const { auth, isNeeded, takesKeys } = kernel.credentials
      requireCallers(options, isNeeded())
      if (rootOf(kernel) === undefined) return NO_ANSWERER
      const setup = { ...knownMembers(options, a2aChecks), auth, takesKeys }
      const { endpoints, push } = a2aRoutes(kernel, setup, limits, kernel.seal)
      return {
        endpoints,
        exposes: ['a2a-extensions', 'x-a2a-extensions'],
        announce: (url, curl) => [
          `${url}/a2a, card at ${url}/.well-known/agent.json`,
          curl('/a2a', { jsonrpc: '2.0', id: '1', method: 'message/send', params: GREETING }),
        ],
        ready: (all) => requireTenantPaths(options.tenants ?? [], all.map(({ path }) => path)),
        ...push !== undefined && webhooks(push),
      }
    },
  }
}

function webhooks(push: NonNullable<ReturnType<typeof a2aRoutes>['push']>): Opened {
  return {
    status: () => ({ webhooks: push.status }),
    gauges() {
      const { waiting, posting, lookups, bytes } = push.status
      return [
        ['triport_webhooks_waiting', 'Webhooks with undelivered events.', waiting],
        ['triport_webhook_posts', 'Posts to webhooks in progress.', posting],
        ['triport_webhook_lookups', 'Look-ups of the names of webhooks.', lookups],
        ['triport_webhook_bytes', 'What is held for webhooks.', bytes],
      ]
    },
    flush: async (withinMs) => { await push.idle(withinMs) },
    release: () => push.close(),
  }
}
