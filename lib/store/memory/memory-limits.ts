/**
 * What a memory store may hold: its options, checked and made whole.
 */
import { MAX_VALUE_BYTES } from '../../state/store.ts'
import { rejectUnknown } from '../../schema/options.ts'
import { total } from '../../util/memory.ts'

/** What a memory store may hold. `Infinity` lifts a limit. */
export interface MemoryStoreOptions {
  /** Entries, in all. Left out: 10,000. */
  readonly maxEntries?: number | undefined
  /**
   * Bytes of all entries together, their keys and values. Left out: 256 MiB, but at most a quarter of the
   * memory that the process may have.
   */
  readonly maxBytes?: number | undefined
  /** Bytes of one value or event; over it `Fault('too-large')`. Left out: 16 MiB. */
  readonly maxValueBytes?: number | undefined
  /** Topics that are followed, or of which something is kept. Left out: 10,000. */
  readonly maxTopics?: number | undefined
  /** Events that are kept for those who follow later, in all. Left out: 100,000. */
  readonly maxEvents?: number | undefined
  /** Bytes of all kept events together. Left out: 64 MiB, within the same bound. */
  readonly maxEventsBytes?: number | undefined
  /**
   * Whether others see the same: the workers of a cluster, through the process that holds this store, or
   * several servers in one process. Then what is kept for ever is a promise to them and never makes room
   * for anything else. Left out: false.
   */
  readonly isShared?: boolean | undefined
}

/** The same, with nothing left out. */
export type MemoryLimits = {
  readonly [name in keyof MemoryStoreOptions]-?: NonNullable<MemoryStoreOptions[name]>
}

const MiB = 1024 * 1024

const defaults: MemoryLimits = {
  maxEntries: 10_000,
  maxBytes: total(256 * MiB),
  maxValueBytes: MAX_VALUE_BYTES,
  maxTopics: 10_000,
  maxEvents: 100_000,
  maxEventsBytes: total(64 * MiB),
  isShared: false,
}

/** The limits that options mean. Throws `TypeError` for an unknown one, `RangeError` for one that is none. */
export function memoryLimits(options: MemoryStoreOptions): MemoryLimits {
  rejectUnknown('memoryStore', options, Object.keys(defaults))
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (name === 'isShared') {
      if (typeof value === 'boolean') continue
      throw new TypeError(`isShared is ${String(value)}; write true or false`)
    }
    const isWhole = value === Infinity || Number.isSafeInteger(value)
    if (!isWhole || Number(value) < 1) {
      throw new RangeError(`${name} is ${String(value)}; write a whole number above zero, or Infinity`)
    }
  }
  const {
    maxEntries = defaults.maxEntries, maxBytes = defaults.maxBytes,
    maxValueBytes = defaults.maxValueBytes, maxTopics = defaults.maxTopics,
    maxEvents = defaults.maxEvents, maxEventsBytes = defaults.maxEventsBytes,
    isShared = defaults.isShared,
  } = options
  return { maxEntries, maxBytes, maxValueBytes, maxTopics, maxEvents, maxEventsBytes, isShared }
}
