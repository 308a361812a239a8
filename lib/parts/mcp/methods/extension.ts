/**
 * What an extension adds to an MCP server, and how: a part adds it while it is opened, and MCP, which knows
 * none of them, has those that are there when all parts are open.
 */
import { isPromised } from '../../../kernel/util/thenable.ts'
import type { Tool } from '../../../kernel/define/tool.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { Later } from '../../../kernel/util/later.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { McpContext } from '../request/context.ts'
import type { ToolsView } from '../request/lists.ts'
import type { McpRequest } from '../request/request.ts'
import type { Revision } from '../protocol/revisions.ts'

/** A result, its JSON text, or nothing where the method answers by itself. */
export type McpResult = MaybePromise<object | string | undefined>

/** A method that clients call. */
export interface McpMethod {
  readonly run: (request: McpRequest) => McpResult
  /** The member of the params that the Mcp-Name header repeats. */
  readonly namedBy?: string
  /**
   * Whether the server has what it is about, so that what is advertised and what works agree. Left out: yes.
   * Clients ask for the lists of every server, and take an unknown method for a broken one: these are empty.
   */
  readonly isOffered?: () => boolean
  /** It answers with a stream only. */
  readonly isStream?: boolean
}

/** A method of an extension. */
export interface ExtensionMethod extends McpMethod {
  /** Whether a revision has it. Left out: each that is extensible. */
  readonly isIn?: (revision: Revision) => boolean
}

/** Calls of tools that an extension runs in a way of its own. */
export interface ToolCallRunner {
  /** Whether it runs any in a revision. Left out: in each. */
  isIn?(revision: Revision): boolean
  /** Whether it runs this one. Throws a `Fault` where the tool cannot be called so. */
  takes(request: McpRequest, tool: Tool): boolean
  run(request: McpRequest, tool: Tool, args: Readonly<Record<string, unknown>>): McpResult
}

/** What a subscription follows besides lists and resources. */
export interface Followed {
  /** The member of `notifications` that names it, and what of that the client is notified of. */
  readonly member: string
  readonly ids: readonly string[]
  /** Notifies until the returned function is called. */
  follow(notify: (method: string, params: object) => void): () => void
}

export type Follow = (
  request: McpRequest, notifications: Readonly<Record<string, unknown>>,
) => MaybePromise<Followed | undefined>

/** An extension on one server. */
export interface OpenExtension {
  readonly methods?: Readonly<Record<string, ExtensionMethod>>
  readonly calls?: ToolCallRunner
  readonly tools?: ToolsView
  /** Capabilities by name; a client gets those that its revision has. */
  capabilities?(): Readonly<Record<string, object | undefined>>
  /** What stands in `capabilities.extensions` for clients of a revision, by name. */
  settings?(revision: Revision): Readonly<Record<string, object | undefined>>
  /** What the `notifications` of `subscriptions/listen` want of it. Throws or rejects with a `Fault`. */
  readonly follow?: Follow
  /** Goes on with what other processes have left that share the store. Called over HTTP alone. */
  takeOver?(): void | Promise<void>
}

/** Called when the server is made. Throws `TypeError` for what could not be served. */
export type McpExtension = (mcp: McpContext) => OpenExtension

/** The extensions of one server. */
class McpExtensions {
  readonly #added = new Map<string, McpExtension>()
  #isComplete = false

  /** Adds that of a part. Throws `TypeError` when MCP is made already. */
  add(part: string, extension: McpExtension): void {
    if (this.#isComplete) {
      throw new TypeError(`'${part}' extends MCP, which is made already; add it where the part is opened`)
    }
    this.#added.set(part, extension)
  }

  has(part: string): boolean { return this.#added.has(part) }

  /** Opens all of them, in the order of their names: clients see the same in whatever order parts stand. */
  open(mcp: McpContext): readonly OpenExtension[] {
    this.#isComplete = true
    return [...this.#added].toSorted(([one], [other]) => one < other ? -1 : 1).map(([, open]) => open(mcp))
  }
}

function makeExtensions(): McpExtensions {
  return new McpExtensions()
}

/** Those of a server, with MCP and without. */
export function mcpExtensionsOf(service: Service): McpExtensions {
  return service.use(makeExtensions)
}

/** A method of a module that is loaded when one of its methods is first called. */
export function lateMethod<T>(
  module: Later<T>, method: (module: T) => McpMethod['run'],
): McpMethod['run'] {
  return (request) => {
    const loading = module.load()
    if (loading === undefined) return method(module.loaded)(request)
    return loading.then(() => {
      const result = method(module.loaded)(request)
      if (isPromised(result)) request.wait()
      return result
    })
  }
}
