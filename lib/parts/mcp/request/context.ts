/** What all MCP requests of one server share: its service, its sessions, its tools, and texts of lists. */
import { sharedOf } from '../../../floors/shared/shared-of.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { SessionMigration } from '../session/session-migration.ts'
import { Notifications } from '../session/notifications.ts'
import { ReplayBudget } from '../../../floors/kept-streams/replay-budget.ts'
import { META } from '../protocol/revisions.ts'
import { Sessions } from '../session/session.ts'
import { pick } from '../protocol/shape.ts'
import { toolTable } from '../protocol/tools.ts'
import { BoundedMap } from '../../../kernel/util/bounded-map.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { Kernel } from '../../../kernel/server/part.ts'
import type { Seal } from '../../../kernel/wire/seal.ts'
import type { McpLimits, McpSetup } from '../options.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { ToolTable } from '../protocol/tools.ts'

/** What is made once for a revision, until the catalog changes. */
interface Made {
  /** In every result of newer revisions: the server's `_meta`, and how the JSON text begins. */
  readonly meta: Readonly<Record<string, unknown>>
  readonly head: string
  /** JSON texts of the result of `initialize`, for clients with streams and without. */
  greeting?: string
  streamless?: string
}

/** Characters of all kept texts: each set of scopes has texts of its own, in each revision. */
const MAX_TEXTS = 16 * 1024 * 1024

export class McpContext {
  readonly service: Service
  readonly options: McpSetup
  readonly limits: McpLimits
  readonly seal: Seal
  readonly replay: ReplayBudget
  readonly sessions: Sessions
  readonly notifications: Notifications
  /** Sessions beyond this process; undefined where no other process can know of them. */
  readonly migration: SessionMigration | undefined
  /** JSON texts of lists; emptied when the catalog changes. */
  readonly texts: BoundedMap<string> = new BoundedMap(MAX_TEXTS, ({ length }) => length)
  readonly #made = new Map<Revision, Made>()
  /** Only written here. */
  tools: ToolTable
  /** Whether the log has it that a client names an older revision in the header than in the body. */
  saysOlderHeader = false

  constructor(service: Service & Pick<Kernel, 'seal'>, options: McpSetup) {
    this.service = service
    this.options = options
    const { limits } = options
    const maxCallsPerSession = Math.min(limits.maxCallsPerSession, service.limits.maxCalls)
    this.limits = { ...limits, maxCallsPerSession }
    this.seal = service.seal
    this.replay = new ReplayBudget(limits.maxReplayBytes)
    this.sessions = new Sessions(this.limits, this.replay, sharedOf(service)?.cluster.id)
    this.tools = toolTable(service)
    service.catalog.onCheck(() => { toolTable(service) })
    service.catalog.onChange(() => {
      this.tools = toolTable(service)
      this.texts.clear()
      this.#made.clear()
    })
    this.notifications = new Notifications(service.catalog, this.sessions)
    const isKnown = sharedOf(service) !== undefined || !service.seal.isOwn
    this.migration = isKnown
      ? new SessionMigration(service, service.seal, this.sessions, this.notifications) : undefined
  }

  /** Ends what only waits, and lets calls go on to their end. May be called again. */
  closeIdle(): void {
    this.notifications.close()
    for (const session of this.sessions.all()) {
      session.standalone?.finishIdle()
      if (session.workload.running === 0 && session.running.size === 0) this.sessions.close(session)
    }
  }

  /** Ends calls and what waits for them, each with an answer. */
  cancel(): void {
    this.notifications.close()
    this.sessions.cancelAll(new Fault('cancelled', 'The server is closing down'))
  }

  /** Ends everything; nothing is answered any more. */
  close(): void {
    this.notifications.close()
    this.sessions.closeAll()
  }

  madeFor(revision: Revision): Made {
    let made = this.#made.get(revision)
    if (made === undefined) {
      const meta = { [`${META}serverInfo`]: pick('implementation', this.implementation, revision) }
      const head = `${formatJson({ resultType: 'complete', _meta: meta }).slice(0, -1)},`
      this.#made.set(revision, made = { meta, head })
    }
    return made
  }

  /** The server with all the members that any revision has. */
  get implementation(): Readonly<Record<string, unknown>> {
    const { name, version, description } = this.service
    const { title, icons, websiteUrl } = this.options
    return { name, version, title, description: description || undefined, icons, websiteUrl }
  }
}
