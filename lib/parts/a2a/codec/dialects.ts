/**
 * The table of dialects, and how a request picks its row: by its method, and a message by its shape too. All
 * dialects share one `POST /a2a`.
 */
import { isPlainParams, plain } from './plain.ts'
import { v03 } from './v03.ts'
import { v1 } from './v1.ts'
import type { Dialect, DialectName, Version } from '../model/dialect.ts'
import type { OperationName } from '../model/model.ts'

/** Every dialect. */
export const dialects: readonly Dialect[] = [plain, v03, v1]

/** What a method is in one dialect. */
export interface Row { readonly dialect: Dialect; readonly operation: OperationName }

/** By method. The one that plain has is also of 0.3, which takes its place. */
const rows: ReadonlyMap<string, Row> = new Map(dialects.flatMap((dialect) => (
  Object.entries(dialect.operations).map(([operation, { method }]) => (
    [method, { dialect, operation: operation as OperationName }] as const
  ))
)))
const plainRow: Row = { dialect: plain, operation: 'send' }

/** The dialect and operation of a request; undefined where no dialect of that version has the method. */
export function rowOf(method: string, params: unknown, version: Version = undefined): Row | undefined {
  const row = rows.get(method)
  if (row === undefined || (version !== undefined && row.dialect.version !== version)) return undefined
  return method === plain.operations.send?.method && isPlainParams(params) ? plainRow : row
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
