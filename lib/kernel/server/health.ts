/** Paths for operators: whether the server is up, and whether it takes work. A kernel in, endpoints out. */
import { formatJson } from '../wire/json.ts'
import { JSON_TYPE } from '../wire/media.ts'
import { problemReply } from '../wire/problem.ts'
import type { Endpoint, Reply } from '../http/message/exchange.ts'
import type { Service } from '../run/service.ts'
import type { Kernel } from './part.ts'

/** The fixed paths that a server answers at, below where it is mounted. */
export function fixedPaths(kernel: Kernel, basePath: string): readonly string[] {
  const fixed = kernel.endpoints().filter(({ path, isOffered }) => (
    !path.includes('{') && isOffered?.() !== false
  ))
  return [...new Set(fixed.map(({ path, outsideMount }) => outsideMount === true ? path : basePath + path))]
}

/** Whether the store that several processes share answers; undefined where none is shared. */
export function storeState({ sharing }: Service): 'reached' | 'away' | undefined {
  return sharing && (sharing.store.isUnavailable ? 'away' : 'reached')
}

export function healthEndpoints(kernel: Kernel): readonly Endpoint[] {
  const { name, version, catalog } = kernel
  // Made at the first request, when all endpoints are known, and kept until something else is served.
  let health: { readonly basePath: string; readonly reply: Reply } | undefined
  catalog.onChange(() => { health = undefined })

  const healthy: Endpoint['handle'] = ({ basePath, query }) => {
    const made = (more: object): Reply => (
      json({ status: 'ok', endpoints: fixedPaths(kernel, basePath), name, version, ...more })
    )
    if (query !== '' && new URLSearchParams(query).has('verbose')) return made({ store: storeState(kernel) })
    if (health?.basePath !== basePath) health = { basePath, reply: made({}) }
    return health.reply
  }
  const ready: Endpoint['handle'] = ({ origin: { requestId } }) => {
    // Without its store a process still serves most; if it reported not ready, all others would too.
    if (!kernel.isDraining()) return json({ status: 'ready', store: storeState(kernel) })
    const headers = ['Retry-After', '1']
    return problemReply({ status: 503, detail: 'The server is closing down', requestId, headers })
  }
  const at = (path: string, handle: Endpoint['handle']): Endpoint => (
    { path, methods: ['GET'], open: 'probe', always: true, refuse: problemReply, handle }
  )
  return [at('/health', healthy), at('/healthz', healthy), at('/ready', ready)]
}

function json(value: object): Reply {
  return { status: 200, type: JSON_TYPE, body: formatJson(value) }
}
