/**
 * What the names of webhooks stand for, as the machine finds it: its own list of hosts, then its name
 * servers, then whatever else it may ask.
 *
 * A client names who is asked, so an answer may never come. The system's own look-up cannot be cancelled and
 * holds one of the few threads on which the whole process finds names: it comes last, one at a time, and
 * never for a name for which the name servers were silent. All else ends when nobody waits for it any more,
 * and counts until it has ended. RFC 6761 §6.3 (localhost).
 */
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { Fault } from '../../define/fault.ts'
import { PushSlots } from './push-slots.ts'
import type { HostAddress } from '../model/push-address.ts'
import type { SlotLimits } from './push-slots.ts'

/** For whom a name is looked up, and until when. */
export interface Inquirer { readonly owner: string; readonly signal: AbortSignal }

/** Finds all addresses of a name. Rejects where there are none; as soon as `signal` aborts, if it can. */
export type Lookup = (name: string, inquirer: Inquirer) => Promise<readonly HostAddress[]>

/** Where a machine finds names. */
export interface NameSources {
  /** Its list of hosts: a file. */
  readonly hosts: string
  /** Its name servers; left out, those of the system. */
  readonly servers?: readonly string[]
  /** The system's own look-up. */
  readonly system: (name: string) => Promise<readonly HostAddress[]>
}

/** Look-ups on their way and waiting, in all and for one owner. */
const LOOKUPS: SlotLimits = { max: 32, maxPerOwner: 8, maxWaiting: 1_024, maxWaitingPerOwner: 64 }
/** Node has four threads, and lets look-ups have two of them: one is left to everybody else. */
const SYSTEM: SlotLimits = { max: 1, maxPerOwner: 1 }
/** How long a name server is waited for, first, and how often it is asked. */
const SERVERS = { timeout: 2_000, tries: 2 }
const LOOPBACK: readonly HostAddress[] = [{ address: '127.0.0.1', family: 4 }, { address: '::1', family: 6 }]

/** One look-up, for all of one owner who ask for the same name meanwhile. */
interface Inquiry {
  readonly found: Promise<readonly HostAddress[]>
  readonly ending: AbortController
  readonly waiting: Set<object>
  hasBegun: boolean
}

/** The look-ups of one server. */
export class PushLookups {
  readonly #lookup: Lookup
  readonly #slots = new PushSlots('look-ups of webhooks', LOOKUPS)
  readonly #inquiries = new Map<string, Inquiry>()

  constructor(lookup: Lookup) {
    this.#lookup = lookup
  }

  /** Look-ups that have begun and have not ended yet, whether or not anybody waits for them. */
  get running(): number { return this.#slots.taken }
  /** Those that wait for their turn. */
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

  /** Whoever asks from now on begins anew. */
  #forget(key: string, inquiry: Inquiry): void {
    if (this.#inquiries.get(key) === inquiry) this.#inquiries.delete(key)
  }
}

/** Finds names in these sources, in their order. */
export function lookupIn({ hosts, servers, system }: NameSources): Lookup {
  const slots = new PushSlots('look-ups of webhooks by the system', SYSTEM)
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

/** As this machine finds names. */
export const lookupHost: Lookup = lookupIn({
  hosts: process.platform === 'win32' ? `${process.env['SystemRoot']}\\System32\\drivers\\etc\\hosts`
    : '/etc/hosts',
  system: (name) => process.getBuiltinModule('node:dns/promises').lookup(name, { all: true }),
})

/** What a list of hosts says of a name; nothing where there is no list. */
async function listedIn(file: string, name: string): Promise<readonly HostAddress[]> {
  const list = await readFile(file, 'utf8').catch(() => '')
  return list.toLowerCase().includes(name) ? list.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = address.includes('%') ? 0 : isIP(address)
    return family !== 0 && names.some((one) => one.toLowerCase() === name) ? [{ address, family }] : []
  }) : []
}

/** What name servers say of a name; nothing where they know none. `Fault('timeout')` where none answers. */
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

/** Whether nobody answered: a name server says so of others. Of a word alone it knows nothing. */
function isSilence({ code }: { readonly code?: unknown }, name: string): boolean {
  return code === 'ETIMEOUT' || code === 'ECANCELLED' || (code === 'ESERVFAIL' && name.includes('.'))
}

/** What comes of it; where `signal` aborts before, rejects with its reason at once. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

function busy(): Fault {
  return new Fault('busy', 'Too many names of webhooks are being looked up; try again later')
}

/** What is said where the name servers keep silent. */
export function unanswered(): Fault {
  return new Fault('timeout', 'No name server answers for the host of the webhook; try again later')
}
