/**
 * The author's function around each call of an author's code. What it gets of a result, it may return, keep,
 * and return another time: in this process as it is, or as JSON.
 */
import { mistake } from './fault.ts'
import type { MaybePromise } from '../util/thenable.ts'
import type { Call } from './call.ts'

/** A call as `around` gets it. */
export interface AroundCall {
  readonly kind: 'agent' | 'group' | 'tool' | 'resource' | 'resource-template' | 'prompt' | 'completion'
  readonly name: string
  /**
   * The text that an agent or a group gets; the checked arguments of a tool or a prompt; of a resource
   * `{ uri }`, of a template `{ uri, variables }`; of a completion `{ argument, value, arguments }`.
   */
  readonly input: unknown
  readonly call: Call
}

/**
 * Runs around each call of an agent, a group, a tool, a resource, a prompt or a completion, after its checks.
 * `next()` runs the call, and resolves to its whole result when the last piece of it has been read. What is
 * returned is the result, and what is thrown the fault of the call.
 */
export type Around = (called: AroundCall, next: () => Promise<unknown>) => unknown

/** What the server has defined itself: no code of an author's. */
const own = new WeakSet<object>()

/** Marks a definition of the server itself, and returns it. */
export function ownDefinition<T extends object>(thing: T): T {
  own.add(thing)
  return thing
}

/** What is to run around a call of this thing. */
export function aroundOf(around: Around | undefined, thing: object): Around | undefined {
  return around === undefined || own.has(thing) ? undefined : around
}

/**
 * Runs `work` within `around`. `show` makes of a result what `around` gets; `normal` makes a result of what
 * it returns, where that is another.
 */
export async function runAround<T extends object>(
  around: Around, called: AroundCall, work: () => MaybePromise<T>,
  normal: (output: unknown) => MaybePromise<T>, show: (result: T) => unknown = (result) => result,
): Promise<T> {
  const made = new Map<unknown, T>()
  let isBegun = false
  const run = async (): Promise<unknown> => {
    if (isBegun) throw mistake('around called next() a second time; call it once, and keep its result')
    isBegun = true
    const result = await work()
    const shown = show(result)
    made.set(shown, result)
    return shown
  }
  const output = await around(Object.freeze({ ...called }), () => {
    const running = run()
    // Whether it is awaited is the author's matter; it must not end the process.
    running.catch(() => {})
    return running
  })
  const same = made.get(output)
  if (same !== undefined) return same
  if (output !== undefined) return normal(output)
  throw mistake(`around returned undefined for the ${called.kind} '${called.name}'; write return next()`)
}
