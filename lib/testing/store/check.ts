/**
 * Checks whether an object is a store: tries every rule of the interface on it and reports which it keeps.
 * Needs no test framework.
 */
import { randomUUID } from 'node:crypto'
import { timer } from '../../kernel/util/clock.ts'
import { MAX_VALUE_BYTES } from '../../kernel/store/store.ts'
import { checkOptionsOf, mustBe } from '../../kernel/define/validate.ts'
import { mustBeValueBytes } from '../../stores/engine.ts'
import type { Checks } from '../../kernel/define/validate.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Store } from '../../kernel/store/store.ts'
import type { StoreRules, Trial } from './trial.ts'

interface CheckOptions {
  /** The largest value that the store takes, in bytes. Left out: 16 MiB. */
  readonly maxValueBytes?: number | undefined
  /** How long one rule may take, in milliseconds. Left out: 30,000; `Infinity`: as long as it takes. */
  readonly timeoutMs?: number | undefined
  /** Tries these rules alone, one at least, by their sentences in a report. Left out: all. */
  readonly only?: readonly string[] | undefined
}

/** What came of it: each rule in one of the two lists. */
export interface StoreReport {
  readonly passed: readonly string[]
  readonly failed: readonly { readonly rule: string; readonly why: string }[]
}

/**
 * Tries every rule of `Store` on what `make` makes. Where that is shared, `make` is called again for each
 * further connection to the same state, and each rule tried across two. Other data in the store is left
 * alone; what is written expires within a minute, about 20 MiB at most. What was made is closed.
 *
 * Rejects where `make` fails, with `TypeError` for an option or a rule that there is not, and for what is no
 * store at all; with `RangeError` for a number that cannot be meant.
 */
export async function checkStore(
  make: () => MaybePromise<Store>, options: CheckOptions = {},
): Promise<StoreReport> {
  const { maxValueBytes, timeoutMs, only } = settingsOf(make, options)
  // Loaded here: no server needs them.
  const [{ Trial }, { entryRules }, { topicRules }] = await Promise.all([
    import('./trial.ts'), import('./entry-rules.ts'), import('./topic-rules.ts'),
  ])
  const rules = { ...entryRules, ...topicRules }
  const missing = only?.find((name) => !Object.hasOwn(rules, name))
  if (missing !== undefined) {
    throw new TypeError(`There is no rule '${missing}'; write it as it stands in a report`)
  }
  const made: Store[] = []
  const connect = async (): Promise<Store> => {
    const store = await make()
    if (Object(store) !== store) {
      throw new TypeError('What checkStore was given to call has returned no store; '
        + 'write () => sqliteStore(file)')
    }
    made.push(store)
    return store
  }
  const passed: string[] = []
  const failed: { rule: string; why: string }[] = []
  try {
    const one = await connect()
    const other = one.isShared ? await connect() : one
    for (const [rule, check] of Object.entries(rules)) {
      if (only?.includes(rule) === false) continue
      const trial = new Trial(one, other, `check-${randomUUID()}`, maxValueBytes, connect)
      const why = await tried(trial, check, timeoutMs)
      if (why === undefined) passed.push(rule)
      else failed.push({ rule, why })
    }
  } finally {
    // Whether a store closes well is a rule of its own.
    await Promise.allSettled(made.map(async (store) => store.close?.()))
  }
  return { passed, failed }
}

/** The options with nothing left out but `only`. Throws for those that cannot be meant. */
const checks: Checks<CheckOptions> = {
  maxValueBytes: mustBeValueBytes,
  timeoutMs: mustBe((value) => typeof value === 'number' && value > 0,
    'write milliseconds above zero, or Infinity', RangeError),
  // Where nothing is tried, nothing would have failed.
  only: mustBe((value) => Array.isArray(value) && value.length > 0,
    'write a list of rules, as they stand in a report'),
}

function settingsOf(make: unknown, options: CheckOptions): CheckOptions & {
  readonly maxValueBytes: number; readonly timeoutMs: number
} {
  if (typeof make !== 'function') {
    throw new TypeError('checkStore takes a function that makes a store, as in '
      + 'checkStore(() => sqliteStore(file))')
  }
  checkOptionsOf('checkStore', options, checks)
  const { maxValueBytes = MAX_VALUE_BYTES, timeoutMs = 30_000, only } = options
  return { maxValueBytes, timeoutMs, only }
}

async function tried(
  trial: Trial, check: StoreRules[string], timeoutMs: number,
): Promise<string | undefined> {
  let running: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    running = timer(timeoutMs, () => {
      trial.isOver = true
      resolve(`Nothing within ${timeoutMs} ms, waiting for ${trial.waitingFor}`)
    })
  })
  const checked = check(trial).finally(() => trial.leaveAll())
    .then(() => undefined, (error: unknown) => String(error))
  try {
    return await Promise.race([checked, late])
  } finally {
    clearTimeout(running)
  }
}
