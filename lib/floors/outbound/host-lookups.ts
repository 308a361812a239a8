/**
 * Looks up the names of hosts that clients have chosen: in the machine's list of hosts, then at its name
 * servers, then by the system's own look-up.
 *
 * An answer may never come. The system's look-up cannot be cancelled and holds one of the few threads on
 * which the whole process finds names: it comes last, one at a time, and never for a name for which the name
 * servers were silent. All else ends when its last waiter leaves, and counts until it has ended. RFC 6761
 * §6.3 (localhost).
 */
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { Fault } from '../../kernel/define/fault.ts'
import { FairSlots } from './fair-slots.ts'
import type { SlotLimits } from './fair-slots.ts'
import type { HostAddress } from './host.ts'

/** For whom a name is looked up, and until when. */
export interface Inquirer { readonly owner: string; readonly signal: AbortSignal }

/** Finds all addresses of a name. Rejects where there are none, and, if it can, when `signal` aborts. */
export type Lookup = (name: string, inquirer: Inquirer) => Promise<readonly HostAddress[]>

export interface NameSources {
  /** Its list of hosts: a file. */
  readonly hosts: string
  /** Its name servers; left out, those of the system. */
  readonly servers?: readonly string[]
  readonly system: (name: string) => Promise<readonly HostAddress[]>
}

/** Look-ups on their way and waiting, in all and for one owner. */
const LOOKUPS: SlotLimits = { max: 32, maxPerOwner: 8, maxWaiting: 1_024, maxWaitingPerOwner: 64 }
/** Node has four threads, and lets look-ups use two of them: one stays free for the rest of the process. */
const SYSTEM: SlotLimits = { max: 1, maxPerOwner: 1 }
/** How long a name server is waited for, first, and how often it is asked. */
const SERVERS = { timeout: 2_000, tries: 2 }
const LOOPBACK: readonly HostAddress[] = [{ address: '127.0.0.1', family: 4 }, { address: '::1', family: 6 }]

/** One look-up, for all requests of one owner for the same name meanwhile. */
interface Inquiry {
  readonly found: Promise<readonly HostAddress[]>
  readonly ending: AbortController
  readonly waiting: Set<object>
  hasBegun: boolean
}

export class HostLookups {
  readonly #lookup: Lookup
  readonly #slots: FairSlots
  readonly #inquiries = new Map<string, Inquiry>()

  /** `name` is that of its slots. */
  constructor(name: string, lookup: Lookup) {
    this.#lookup = lookup
    this.#slots = new FairSlots(name, LOOKUPS)
  }

  /** Look-ups that have not ended, wanted or not. */
  get running(): number { return this.#slots.taken }
  get waiting(): number { return this.#slots.waiting }

  /**
   * All addresses of a name. Rejects as the look-up does, with the reason of `signal` where it aborts before,
   * and with `Fault('busy')` where the look-up had not begun by then or too many wait.
   */
  async find(name: string, { owner, signal }: Inquirer): Promise<readonly HostAddress[]> {
    const key = `${name}/${owner}`
    const inquiry = this.#inquiries.get(key) ?? this.#begin(key, name, owner)
    const waiter = {}
    inquiry.waiting.add(waiter)
    try {
      return await unlessAborted(inquiry.found, signal)
    } catch (error) {
      throw inquiry.hasBegun ? error : busy()
    } finally {
      inquiry.waiting.delete(waiter)
      if (inquiry.waiting.size === 0) {
        this.#forget(key, inquiry)
        inquiry.ending.abort()
      }
    }
  }

  #begin(key: string, name: string, owner: string): Inquiry {
    const ending = new AbortController()
    const { signal } = ending
    const run = async (): Promise<readonly HostAddress[]> => {
      const leave = await this.#slots.enter(owner, signal)
      if (leave === undefined) throw busy()
      inquiry.hasBegun = true
      try {
        return await this.#lookup(name, { owner, signal })
      } finally {
        leave()
        this.#forget(key, inquiry)
      }
    }
    const found = Promise.resolve().then(run)
    const inquiry: Inquiry = { found, ending, waiting: new Set(), hasBegun: false }
    this.#inquiries.set(key, inquiry)
    return inquiry
  }

  #forget(key: string, inquiry: Inquiry): void {
    if (this.#inquiries.get(key) === inquiry) this.#inquiries.delete(key)
  }
}

export function lookupIn({ hosts, servers, system }: NameSources): Lookup {
  const slots = new FairSlots('look-ups by the system', SYSTEM)
  return async (name, { owner, signal }) => {
    const listed = await listedIn(hosts, name)
    if (listed.length > 0) return listed
    if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK
    const served = await servedBy(servers, name, signal)
    if (served.length > 0) return served
    const leave = await slots.enter(owner, signal)
    if (leave === undefined) throw signal.reason
    return unlessAborted(system(name).finally(leave), signal)
  }
}

export const lookupHost: Lookup = lookupIn({
  hosts: process.platform === 'win32' ? `${process.env['SystemRoot']}\\System32\\drivers\\etc\\hosts`
    : '/etc/hosts',
  system: (name) => process.getBuiltinModule('node:dns/promises').lookup(name, { all: true }),
})

/** The addresses of a name in a list of hosts; none where there is no list. */
async function listedIn(file: string, name: string): Promise<readonly HostAddress[]> {
  const list = await readFile(file, 'utf8').catch(() => '')
  return list.toLowerCase().includes(name) ? list.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = address.includes('%') ? 0 : isIP(address)
    return family !== 0 && names.some((one) => one.toLowerCase() === name) ? [{ address, family }] : []
  }) : []
}

/** The addresses that name servers know of a name. Rejects with `Fault('timeout')` where none answers. */
async function servedBy(
  servers: readonly string[] | undefined, name: string, signal: AbortSignal,
): Promise<readonly HostAddress[]> {
  signal.throwIfAborted()
  const resolver = new (process.getBuiltinModule('node:dns/promises').Resolver)(SERVERS)
  if (servers !== undefined) resolver.setServers(servers)
  const cancel = (): void => resolver.cancel()
  signal.addEventListener('abort', cancel)
  try {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const found = answers.flatMap((answer, nth) => answer.status === 'rejected' ? []
      : answer.value.map((address) => ({ address, family: nth === 0 ? 4 : 6 })))
    const isSilent = answers.some((one) => one.status === 'rejected' && isSilence(one.reason, name))
    if (found.length === 0 && isSilent) throw unanswered()
    return found
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** Whether no server answered. SERVFAIL means so too, but not for a name without a dot. */
function isSilence({ code }: { readonly code?: unknown }, name: string): boolean {
  return code === 'ETIMEOUT' || code === 'ECANCELLED' || (code === 'ESERVFAIL' && name.includes('.'))
}

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
