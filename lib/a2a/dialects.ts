/**
 * The table of dialects, and how a request picks its row: by the method's name, then by the shape of its
 * params. A dialect is a record of codecs in a file of its own; what is not in its map it does not have,
 * and what is not in the table the card does not promise.
 *
 * Knows the names of methods and nothing of what they do. All dialects share one `POST /a2a`.
 */
import { plain } from './plain.ts'
import type { Agent, Group } from '../core/agent.ts'
import type { Fault } from '../core/fault.ts'
import type { Service } from '../core/service.ts'
import type { Exchange } from '../http/exchange.ts'
import type { RpcError } from '../wire/jsonrpc.ts'
import type { Profile } from './card.ts'

/**
 * One method of a dialect: parsed params in, the JSON text of the result out. Whatever is wrong is thrown
 * as a `Fault`. A result that is there at once is returned without a promise.
 */
export type Method = (
  service: Service, who: Agent | Group, params: unknown, exchange: Exchange,
) => string | Promise<string>

/** One way of spelling A2A. */
export interface Dialect {
  readonly name: string
  readonly methods: ReadonlyMap<string, Method>
  /** Whether params of a method that several dialects have are in this one's shape, right or wrong. */
  speaks(params: unknown): boolean
  /** The error of an answer. `said` is the sentence that the caller may read. */
  encodeFault(fault: Fault, said: string): RpcError
  /** What this dialect's clients look for in the card. */
  encodeCard(profile: Profile): Readonly<Record<string, unknown>>
}

/** Every dialect that is spoken here, in the order in which they are tried. */
export const dialects: readonly Dialect[] = [plain]

const rows = rowsOf(dialects)

/** Every method that some dialect has. */
export const methodNames: readonly string[] = [...rows.keys()]

/** The dialect of a request. Undefined where none has the method, or none of those that have it the shape. */
export function dialectOf(method: string, params: unknown): Dialect | undefined {
  const candidates = rows.get(method)
  if (candidates === undefined) return undefined
  for (const dialect of candidates) if (dialect.speaks(params)) return dialect
  return undefined
}

function rowsOf(all: readonly Dialect[]): ReadonlyMap<string, readonly Dialect[]> {
  const byMethod = new Map<string, Dialect[]>()
  for (const dialect of all) {
    for (const method of dialect.methods.keys()) {
      const known = byMethod.get(method)
      if (known === undefined) byMethod.set(method, [dialect])
      else known.push(dialect)
    }
  }
  return byMethod
}
