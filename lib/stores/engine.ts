/** What the stores on an engine of their own have in common: its texts, how it fails, and trying again. */
import { Fault } from '../kernel/define/fault.ts'
import { mustBe } from '../kernel/define/validate.ts'
import type { MemberCheck } from '../kernel/define/validate.ts'

/** The check of `maxValueBytes`. */
export const mustBeValueBytes: MemberCheck = mustBe(
  (value) => Number.isSafeInteger(value) && Number(value) > 0, 'write a whole number above zero', RangeError,
)

/** An owner or a key as a column of text takes it, which cannot hold NUL. */
export function encodeNul(text: string): string {
  return text.replace(/[\0\\]/g, (one) => one === '\0' ? '\\0' : '\\\\')
}

export function decodeNul(text: string): string {
  return text.replace(/\\(.)/g, (_, one) => one === '0' ? '\0' : '\\')
}

/** What a client fails with is for the log, as the cause. */
export function unreachable(cause: unknown): Fault {
  return new Fault('busy', 'The store cannot be reached; try again later', undefined, { cause })
}

/** Does something with a client. Rejects with `Fault('busy')`, whatever that fails with. */
export async function reach<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw unreachable(cause)
  }
}

const RETRY_MS = 100

/** Does something that fails again until it succeeds. Undefined where it is over before. */
export async function retry<T>(work: () => Promise<T>, isOver: () => boolean): Promise<T | undefined> {
  while (!isOver()) {
    try {
      return await work()
    } catch {
      await new Promise<void>((resolve) => { setTimeout(resolve, RETRY_MS).unref() })
    }
  }
  return undefined
}

/** Makes something when it is first needed; what could not be made is made again. */
export function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    if (made !== undefined) return made
    const making = made = make()
    making.catch(() => { made = undefined })
    return making
  }
}

/** Whether a client has these methods: packages differ in their classes, and not in those. */
export function has(client: unknown, ...methods: readonly string[]): client is object {
  const isObject = (typeof client === 'object' || typeof client === 'function') && client !== null
  return isObject && methods.every((method) => typeof Reflect.get(client, method) === 'function')
}

/** The SQLSTATE of an error. */
export function stateOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
