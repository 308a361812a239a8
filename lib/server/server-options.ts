/**
 * What `createServer` takes, and the names of it all.
 */
import { defaults } from '../define/limits.ts'
import type { A2aServerOptions } from '../a2a/model/options.ts'
import type { OnCall } from '../run/call-observer.ts'
import type { Limits } from '../define/limits.ts'
import type { Members } from '../define/validate.ts'
import type { Log, Logger } from '../define/log.ts'
import type { Store } from '../state/store.ts'
import type { Offer } from '../define/normalize-definitions.ts'
import type { ApiKey, Authorization } from '../http/access/auth.ts'
import type { RequestSummary } from '../http/server/observer.ts'
import type { RateLimit } from '../http/access/rate.ts'
import type { McpOptions } from '../mcp/request/context.ts'
import type { ProtocolChoice } from './settings.ts'

/** What `createServer` takes, besides every limit of `Limits`. `T` are the types of the tools' schemas. */
export interface ServerOptions<T extends readonly unknown[] = readonly unknown[]>
  extends Offer<T>, Partial<Limits> {
  /** Left out: that of the first group, else of the first agent, else `triport`. */
  readonly name?: string | undefined
  /** Left out: `1.0.0`. */
  readonly version?: string | undefined
  /** Left out: that of the first group, else of the first agent. */
  readonly description?: string | undefined
  /** How a model should use this server; clients of MCP read it. The same as `mcp.instructions`. */
  readonly instructions?: string | undefined
  /** Left out: `http`, or `mcp` where only tools are given. */
  readonly protocol?: ProtocolChoice | undefined
  /** A key, several, or a function that knows them. Left out: nobody needs a key on a loopback address. */
  readonly apiKey?: ApiKey | undefined
  /** OAuth tokens, besides or in place of keys: the MCP door becomes an OAuth resource server (RFC 9728). */
  readonly auth?: Authorization | undefined
  /** Serves without a key on any address. */
  readonly insecure?: boolean | undefined
  /** Where clients reach this server, when that is not where it listens. */
  readonly publicUrl?: string | URL | undefined
  /**
   * How many proxies stand before this server; `true` is one. That many are believed in `X-Forwarded-Host`,
   * `X-Forwarded-Proto` and `X-Forwarded-For`, counted from the end, where each adds what it saw. Only
   * behind proxies that set all three: otherwise clients do.
   */
  readonly trustProxy?: boolean | number | undefined
  /** Prefix of every path: `/assistant`. */
  readonly mountPath?: string | undefined
  /** A further path for queries: `/ask`. */
  readonly path?: string | undefined
  /**
   * Origins of pages that may call and read, or `*`. Left out: pages of this machine may, where the server
   * is on a loopback address; elsewhere none may read.
   */
  readonly cors?: string | readonly string[] | undefined
  /**
   * Names that this server is reached by; others get 403. `*` lifts the check. Left out: those of
   * `publicUrl`, and on a loopback address its own; elsewhere any name.
   */
  readonly allowedHosts?: readonly string[] | undefined
  /**
   * Origins of pages that may call, besides those of `cors`, of `publicUrl` and of this machine, and the
   * server's own.
   */
  readonly allowedOrigins?: readonly string[] | undefined
  /**
   * How often one principal, or one address where nobody needs a key, may call. Counted in this process, or
   * with a shared store over all of them, give or take an eighth of the burst for each. Behind a proxy set
   * `trustProxy`, or all callers are one. Left out: no limit.
   */
  readonly rateLimit?: RateLimit | undefined
  /** Takes the log; `console` can. Left out: warnings and errors go to standard error. `false`: none. */
  readonly log?: Log | Logger | false | undefined
  /** Told once per call of an agent, a tool, a resource or a prompt, at its end. What it throws is logged. */
  readonly onCall?: OnCall | undefined
  /** Logs one line for each request, at level info, which standard error then shows. */
  readonly accessLog?: boolean | undefined
  /** Is told of each request when it is over. For metrics: `route` has few values, `path` has any. */
  readonly onRequest?: ((request: RequestSummary) => void) | undefined
  /**
   * Serves `GET /metrics` for Prometheus: what is counted of requests and calls, and what `status()` tells.
   * It needs the key, where one is asked for. Left out: false, and nothing is counted.
   */
  readonly metrics?: boolean | undefined
  /** Shows the messages of unexpected errors to callers. For development. */
  readonly exposeErrors?: boolean | undefined
  /** What only the MCP door needs to know. */
  readonly mcp?: McpOptions | undefined
  /** What only the A2A door needs to know. */
  readonly a2a?: A2aServerOptions | undefined
  /**
   * Seals what clients carry: states between two rounds, cursors. The first of several seals, all open. At
   * least 16 characters; replicas share it. Left out: `TRIPORT_SECRET`, in which commas join several, else
   * random for this process.
   */
  readonly secret?: string | readonly string[] | undefined
  /**
   * Keeps tasks, conversations, replies for an Idempotency-Key, webhooks, and what processes have to know of
   * each other, where it is shared (`isShared`); where it is not, webhooks and what changes in sessions. All
   * else, and everything where it is left out, is in the memory of this process, within the limits.
   */
  readonly store?: Store | undefined
  /**
   * Whose state a shared store keeps: only processes of one deployment find it. Any text; whoever has the
   * same in the same store shares the state, whatever its secret, but for what a secret seals. Left out:
   * those share it that have a secret in common, also while it is replaced.
   */
  readonly deployment?: string | undefined
}

const names: Members<Omit<ServerOptions, keyof Limits>> = {
  agents: true, groups: true, tools: true, resources: true, resourceTemplates: true, prompts: true,
  name: true, version: true, description: true, instructions: true, protocol: true, apiKey: true, auth: true,
  insecure: true,
  publicUrl: true, trustProxy: true, mountPath: true, path: true, cors: true, allowedHosts: true,
  allowedOrigins: true, rateLimit: true, log: true, onCall: true, accessLog: true, onRequest: true,
  metrics: true, exposeErrors: true, mcp: true, a2a: true, secret: true, store: true,
  deployment: true,
}

/** The names of all options of `createServer`, the limits last. */
export const serverOptions: readonly string[] = [...Object.keys(names), ...Object.keys(defaults)]
