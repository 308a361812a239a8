/**
 * Reads what is kept. A value that cannot be read counts as absent: it is damaged, or another version of this
 * library has written it. It must cost its owner no more than itself.
 */
import { isRecord } from '../../kernel/define/content.ts'
import type { Log } from '../../kernel/define/log.ts'
import type { Entry } from '../../kernel/store/store.ts'

/** Whether a value has the form of something. */
export type FormCheck = (value: unknown) => boolean

/** How often a log gets a line about one collection, at most. */
const LOG_EVERY_MS = 60_000

const warnedAt = new WeakMap<Log, Map<string, number>>()

/**
 * What an entry holds, as `decode` makes it of its JSON. Undefined where there is no entry, where its value
 * is no JSON, and where `decode` returns undefined; the last two are logged.
 */
export function readStored<T>(
  collection: string, entry: Entry | undefined, decode: (value: unknown) => T | undefined,
  log: Log | undefined,
): T | undefined {
  if (entry === undefined) return undefined
  let record: T | undefined
  try {
    record = decode(JSON.parse(entry.value))
  } catch {
    // It is logged below, without what the parser quotes of it.
  }
  if (record === undefined) warnOfUnreadable(collection, entry, log)
  return record
}

/** Logs that an entry cannot be read, at most once a minute for each collection. */
export function warnOfUnreadable(
  collection: string, { version }: Pick<Entry, 'version'>, log: Log | undefined,
): void {
  if (log === undefined) return
  const times = warnedAt.get(log) ?? new Map<string, number>()
  warnedAt.set(log, times)
  const now = performance.now()
  if (now - (times.get(collection) ?? -Infinity) < LOG_EVERY_MS) return
  times.set(collection, now)
  log('warning', 'A kept value cannot be read and counts as absent: it is damaged, or of another version; '
    + 'it goes when it is written again, is deleted, or expires', { collection, version })
}

/** For `readStored`: the value itself, where it is one of these. */
export function decoded<T>(isOne: (value: unknown) => value is T): (value: unknown) => T | undefined {
  return (value) => isOne(value) ? value : undefined
}

export const isText = (value: unknown): value is string => typeof value === 'string'

export const isAnything: FormCheck = () => true

export function optional(check: FormCheck): FormCheck {
  return (value) => value === undefined || check(value)
}

export function among(...values: readonly unknown[]): FormCheck {
  return (value) => values.includes(value)
}

export function manyOf<T>(check: (value: unknown) => value is T): (value: unknown) => value is readonly T[] {
  return (value) => Array.isArray(value) && value.every(check)
}

/** Checks every member that the type has. Others may be there too. */
export function recordOf<T extends object>(
  members: { readonly [name in keyof T]-?: FormCheck },
): (value: unknown) => value is T {
  const checks = Object.entries<FormCheck>(members)
  return (value): value is T => isRecord(value) && checks.every(([name, check]) => check(value[name]))
}
