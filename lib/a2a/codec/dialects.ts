/**
 * The table of dialects, and how a request picks its row: by its method, then by the shape of its params. All
 * dialects share one `POST /a2a`.
 */
import { plain } from './plain.ts'
import { v03 } from './v03.ts'
import { v1 } from './v1.ts'
import type { Dialect, DialectName, Version } from '../model/dialect.ts'
import type { OperationName } from '../model/model.ts'

/** Every dialect, in the order in which they are tried. */
export const dialects: readonly Dialect[] = [plain, v03, v1]

/** What a method is in one dialect. */
export interface Row { readonly dialect: Dialect; readonly operation: OperationName }

const rows = rowsOf(dialects)

/** Every method that some dialect has. */
export const methodNames: readonly string[] = [...rows.keys()]

/**
 * The dialect and operation of a request; undefined where no dialect of that version has it in that shape.
 */
export function rowOf(method: string, params: unknown, version: Version = undefined): Row | undefined {
  const candidates = rows.get(method)
  if (candidates === undefined) return undefined
  for (const row of candidates) {
    if (version !== undefined && row.dialect.version !== version) continue
    if (row.dialect.matches(params)) return row
  }
  return undefined
}

/** Whether some dialect is of that version. */
export function isSupported(version: string): boolean {
  return dialects.some((dialect) => dialect.version === version)
}

/** In which dialect a client of that version reads an error whose method is of no help. */
export function dialectFor(version: Version): Dialect {
  return dialects.find((dialect) => dialect.version === version) ?? dialects[0]!
}

/** The dialect of that name, which a task keeps. */
export function dialectNamed(name: DialectName): Dialect {
  return dialects.find((one) => one.name === name)!
}

function rowsOf(all: readonly Dialect[]): ReadonlyMap<string, readonly Row[]> {
  const byMethod = new Map<string, Row[]>()
  for (const dialect of all) {
    for (const [operation, codec] of Object.entries(dialect.operations)) {
      const row = { dialect, operation: operation as OperationName }
      const known = byMethod.get(codec.method)
      if (known === undefined) byMethod.set(codec.method, [row])
      else known.push(row)
    }
  }
  return byMethod
}
