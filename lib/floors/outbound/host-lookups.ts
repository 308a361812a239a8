/**
 * Looks up the names of hosts that clients have chosen, as the system does, within the connection that is
 * being made, so that what was checked is what is connected to.
 *
 * Such a look-up cannot be cancelled, and holds one of the few threads on which the whole process finds
 * names. So few run at one time, and one of each owner; each counts until it has ended. RFC 6761 §6.3
 * (localhost).
 */
import { Fault } from '../../kernel/define/fault.ts'
import { FairSlots } from './fair-slots.ts'
import { ipKindOf } from './ip.ts'
import type { LookupFunction } from 'node:net'
import type { SlotLimits } from './fair-slots.ts'
import type { IpKind } from './ip.ts'

/** One address of a host. */
export interface HostAddress { readonly address: string; readonly family: number }

/** For whom something is looked up or asked for, and until when. */
export interface Inquirer { readonly owner: string; readonly signal: AbortSignal }

/** Finds all addresses of a name. Rejects where there are none. */
export type Lookup = (name: string) => Promise<readonly HostAddress[]>

/** Throws where nothing may be connected to that leads there. */
export type KindCheck = (kind: IpKind) => void

/** Node has four threads, and lets look-ups use two of them. */
const LOOKUPS: SlotLimits = { max: 2, maxPerOwner: 1, maxWaiting: 1_024, maxWaitingPerOwner: 64 }
/** A name whose look-up failed after longer is left alone for its owner for so many times as long. */
const QUICK_MS = 1_000
const REST = 4
const LOOPBACK: readonly HostAddress[] = [{ address: '127.0.0.1', family: 4 }, { address: '::1', family: 6 }]

export class HostLookups {
  readonly #lookup: Lookup
  readonly #slots = new FairSlots('look-ups of names', LOOKUPS)
  /** Owners with such a name. There are few: each took a look-up of seconds, of which two run at one time. */
  readonly #resting = new Set<string>()

  constructor(lookup: Lookup) {
    this.#lookup = lookup
  }

  /** Look-ups that have not ended, wanted or not. */
  get running(): number { return this.#slots.taken }
  get waiting(): number { return this.#slots.waiting }

  /**
   * All addresses of a name, each of which `check` has seen: one that may not be connected to makes all of
   * them suspect. Rejects as the look-up and `check` do, with the reason of the inquirer's `signal` where it
   * aborts before, with `Fault('busy')` where the look-up had not begun by then or too many wait, and with
   * `Fault('timeout')` where no name server answered for the name a short while ago.
   */
  async find(
    name: string, { owner, signal }: Inquirer, check: KindCheck,
  ): Promise<readonly HostAddress[]> {
    const asked = `${owner} ${name}`
    if (this.#resting.has(asked)) throw unanswered()
    const leave = await this.#slots.enter(owner, signal)
    if (leave === undefined) throw busy()
    const began = performance.now()
    const looked = this.#lookup(name).catch((error: unknown) => {
      const tookMs = performance.now() - began
      if (tookMs > QUICK_MS) this.#rest(asked, tookMs * REST)
      throw error
    }).finally(leave)
    const found = await unlessAborted(looked, signal)
    if (found.length === 0) throw new Error('The name has no address')
    for (const { address } of found) check(ipKindOf(address) ?? 'reserved')
    return found
  }

  #rest(asked: string, ms: number): void {
    this.#resting.add(asked)
    setTimeout(() => this.#resting.delete(asked), ms).unref()
  }
}

/** For a connection that is being made: it goes to what `find` finds. What is an address is not looked up. */
export function lookupBy(find: Lookup): LookupFunction {
  return (name, { all }, callback) => {
    find(name.replace(/\.$/, '')).then((found) => {
      const [{ address, family }] = found as [HostAddress]
      if (all === true) callback(null, found.map((one) => ({ ...one })))
      else callback(null, address, family)
    }, (error: Error) => callback(error, ''))
  }
}

/** Those of all servers of this process, which share its threads. */
export const hostLookups: HostLookups = new HostLookups(async (name) => {
  if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK
  try {
    return await process.getBuiltinModule('node:dns/promises').lookup(name, { all: true })
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EAI_AGAIN' ? unanswered() : error
  }
})

/** The outcome of `work`; rejects with the reason of `signal` as soon as that aborts. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

function busy(): Fault {
  return new Fault('busy', 'Too many names of hosts are being looked up; try again later')
}

export function unanswered(): Fault {
  return new Fault('timeout', 'No name server answers for the host; try again later')
}
