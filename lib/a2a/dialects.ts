/**
 * The table of dialects, and how a request picks its row: by the method's name, then by the shape of its
 * params. A dialect is a record of codecs in a file of its own; what is not in its map it does not have,
 * and what is not in the table the card does not promise.
 *
 * Knows the names of methods and nothing of what they do. All dialects share one `POST /a2a`.
 */
import { plain } from './plain.ts'
import type { Dialect } from './dialect.ts'

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
