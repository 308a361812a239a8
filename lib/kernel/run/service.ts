/** What all that one server serves has in common, made once by `kernel/server/service.ts`. */
import type { Adapters } from '../define/adapters.ts'
import type { Around } from '../define/around.ts'
import type { Trace } from '../define/call.ts'
import type { Catalog } from '../define/catalog.ts'
import type { KernelLimits } from '../define/limits.ts'
import type { Log } from '../define/log.ts'
import type { Sharing } from '../store/sharing.ts'
import type { Store } from '../store/store.ts'
import type { Timers } from '../util/timers.ts'
import type { OnCall } from './call-observer.ts'
import type { Workload } from './workload.ts'

/**
 * Posts to another server within a span, a child of what is active, else of `trace`. `post` gets the headers
 * that carry the span.
 */
export type Traced = <T extends { readonly status: number }>(
  to: { readonly url: string; readonly trace: Trace },
  post: (headers: Readonly<Record<string, string>>) => Promise<T>,
) => Promise<T>

export interface Service {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly catalog: Catalog
  /** What knows answers of other frameworks. */
  readonly adapters: Adapters
  readonly limits: KernelLimits
  readonly log: Log
  /** Shows the message of an unexpected error to callers. For development. */
  readonly exposeErrors: boolean
  readonly workload: Workload
  readonly timers: Timers
  readonly onCall: OnCall | undefined
  readonly around: Around | undefined
  /** Undefined without telemetry. */
  readonly traced: Traced | undefined
  /** What it was given. Undefined: what is kept is in the memory of this process, which parts bring. */
  readonly store: Store | undefined
  /** Defined where processes share the store. */
  readonly sharing: Sharing | undefined
  /** What `make` makes of this server when it is first asked for: the same for all who ask. */
  use<T extends object>(make: (service: Service) => T): T
}
