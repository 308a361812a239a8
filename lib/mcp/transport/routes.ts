/**
 * The MCP door: its paths, and what they say about themselves.
 */
import { JSON_TYPE } from '../../wire/media.ts'
import { challenge, metadataEndpoints } from '../protocol/authorization.ts'
import { McpContext } from '../request/context.ts'
import { refuseHttp } from '../protocol/replies.ts'
import { get, post, remove } from './streamable-http.ts'
import { followLegacySse, openLegacySse, postMessage } from './http-sse.ts'
import { HandOver, hearResumes } from './resume.ts'
import { lendTaskQuestions } from '../tasks/task-augmentation.ts'
import { mcpRunner } from '../methods/tools-call.ts'
import type { Service } from '../../run/service.ts'
import type { Endpoint, MethodOperations } from '../../http/message/exchange.ts'
import type { Seal } from '../../wire/seal.ts'
import type { McpSetup } from '../request/context.ts'
import type { SessionMigration } from '../session/session-migration.ts'

/** A door: where it answers, and how what goes on for ever is ended. */
export interface McpDoor {
  readonly endpoints: readonly Endpoint[]
  /** What it holds now. */
  status(): { readonly sessions: number; readonly subscribers: number; readonly replayBytes: number }
  /** Ends what only waits; may be called again. */
  closeIdle(): void
  /** Ends everything. Resolves when what was not read is left to other processes; never rejects. */
  close(): Promise<void>
}

const accepts = [JSON_TYPE]

/** What OpenAPI says, of what the file about that has. */
function said(
  operations: (all: typeof import('../protocol/openapi-operations.ts')) => MethodOperations,
): NonNullable<Endpoint['describe']> {
  return async () => {
    const all = await import('../protocol/openapi-operations.ts')
    return { operations: operations(all), components: all.mcpComponents }
  }
}

/** Opens the door. Throws `TypeError` where two tools would have one name. */
export function mcpRoutes(service: Service, options: McpSetup, seal: Seal): McpDoor {
  const mcp = new McpContext(service, options, seal)
  followLegacySse(mcp)
  hearResumes(mcp)
  lendTaskQuestions(mcp)
  service.shared?.recovery.register('mcp', mcpRunner(mcp))
  const handOver = new HandOver(mcp)
  const adopting: SessionMigration['adopting'] = (handle) => mcp.elsewhere?.adopting(handle) ?? handle
  const endpoints: readonly Endpoint[] = [
    {
      path: '/mcp', methods: ['POST'], accepts, refuse: refuseHttp,
      describe: said(({ callOperation: post }) => ({ post })),
      handle: adopting(post.bind(undefined, mcp)),
    },
    {
      path: '/mcp', methods: ['GET'], refuse: refuseHttp,
      describe: said(({ streamOperation: get }) => ({ get })),
      handle: adopting(get.bind(undefined, mcp)),
    },
    {
      path: '/mcp', methods: ['DELETE'], refuse: refuseHttp,
      describe: said(({ endOperation }) => ({ delete: endOperation })),
      handle: adopting(remove.bind(undefined, mcp)),
    },
    {
      path: '/sse', methods: ['GET'], refuse: refuseHttp,
      describe: said(({ pairOperation: get }) => ({ get })),
      handle: openLegacySse.bind(undefined, mcp),
    },
    ...['/messages/', '/messages'].map((path): Endpoint => ({
      path, methods: ['POST'], accepts, refuse: refuseHttp,
      describe: said(({ postOperation: post }) => ({ post })),
      handle: postMessage.bind(undefined, mcp),
    })),
  ]
  const { auth } = options
  const guarded = auth === undefined ? endpoints : [
    ...endpoints.map((endpoint): Endpoint => ({
      ...endpoint,
      challenge: (isGiven) => (
        challenge(mcp.service.name, auth, isGiven ? 'invalid_token' : undefined, auth.scopes)
      ),
    })),
    ...metadataEndpoints(auth),
  ]
  return {
    endpoints: guarded,
    status: () => ({
      sessions: mcp.sessions.count, subscribers: mcp.notifications.count, replayBytes: mcp.replay.held,
    }),
    closeIdle() {
      handOver.take()
      mcp.closeIdle()
    },
    async close() {
      mcp.cancel()
      // What was cancelled is answered before the streams end that carry the answers.
      await new Promise((resolve) => { setImmediate(resolve) })
      handOver.take()
      mcp.close()
      await handOver.done()
    },
  }
}
