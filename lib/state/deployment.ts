/**
 * A shared store as one deployment sees it: the processes that have a secret, or the option `deployment`, in
 * common. Its id is put before every collection and topic, so deployments that share a store do not meet.
 *
 * The id is a digest of the first secret that was used. It stays when secrets are replaced: one entry, common
 * to all deployments, maps a digest of each secret that was ever used to the id of its deployment. It is read
 * with the first use of the store and does not expire.
 */
import { hkdfSync } from 'node:crypto'
import { Fault } from '../define/fault.ts'
import { startDeadline } from '../util/clock.ts'
import { SYSTEM_OWNER } from './store.ts'
import type { MaybePromise } from '../util/thenable.ts'
import type { Entry, Keep, Store, StoreKey } from './store.ts'

/** Lines, each with the digest of a secret and the id of its deployment. */
const IDS: StoreKey = { collection: 'deployments', owner: SYSTEM_OWNER, key: 'ids' }
const LINE = /^([0-9a-f]{24}) ([0-9a-f]{24})$/gm
const ID_BYTES = 12
const MAX_TRIES = 100

export class DeploymentStore implements Store {
  readonly isShared = true
  readonly #store: Store
  readonly #timeoutMs: number
  readonly #secrets: readonly string[]
  /** What is put before collections and topics; undefined until the id is known. */
  #space: string | undefined
  #entering: Promise<string> | undefined

  /**
   * `secret`: one or several, as a seal takes them. `name`: used instead of them. `timeoutMs`: how long one
   * look-up of the id is waited for before another is begun.
   */
  constructor(store: Store, secret: string | readonly string[], name: string | undefined, timeoutMs: number) {
    this.#store = store
    this.#timeoutMs = timeoutMs
    this.#secrets = name === undefined ? [secret].flat() : []
    this.#space = name === undefined ? undefined : spaceOf(digestOf('name', name))
  }

  read(key: StoreKey): MaybePromise<Entry | undefined> {
    return this.#within((space) => this.#store.read(placed(space, key)))
  }

  write(
    key: StoreKey, value: string, keepMs: number, expected: number | 'any',
  ): MaybePromise<number | undefined> {
    return this.#within((space) => this.#store.write(placed(space, key), value, keepMs, expected))
  }

  remove(key: StoreKey, expected: number | 'any'): MaybePromise<boolean> {
    return this.#within((space) => this.#store.remove(placed(space, key), expected))
  }

  list(collection: string, owner: string, limit: number, before?: number): MaybePromise<readonly Entry[]> {
    return this.#within((space) => this.#store.list(space + collection, owner, limit, before))
  }

  publish(topic: string, text: string, keep?: Keep): MaybePromise<void> {
    return this.#within((space) => this.#store.publish(space + topic, text, keep))
  }

  follow(
    topic: string, from: 'kept' | 'now', listener: (text: string) => void, onLost?: () => void,
  ): MaybePromise<() => void> {
    return this.#within((space) => this.#store.follow(space + topic, from, listener, onLost))
  }

  close(): MaybePromise<void> { return this.#store.close?.() }

  /** Writes the id again where the store may have lost it. Rejects as the store does. */
  async confirm(): Promise<void> {
    if (this.#space !== undefined && this.#secrets.length > 0) await this.#find(this.#space.slice(0, -1))
  }

  /** What is asked before the id is known keeps its order. */
  #within<T>(work: (space: string) => MaybePromise<T>): MaybePromise<T> {
    return this.#space === undefined ? this.#enter().then(() => this.#within(work)) : work(this.#space)
  }

  #enter(): Promise<string> {
    if (this.#entering !== undefined) return this.#entering
    const entering = this.#find()
    const forget = (): void => {
      if (this.#entering === entering) this.#entering = undefined
    }
    // An answer that never comes must not block all later calls.
    const stop = startDeadline(this.#timeoutMs, forget)
    entering.then((id) => {
      stop()
      this.#space ??= spaceOf(id)
    }, () => {
      stop()
      forget()
    })
    return this.#entering = entering
  }

  /** The id that is written for the first of the secrets that has one; then it is written for all. */
  async #find(current?: string): Promise<string> {
    const digests = this.#secrets.map((secret) => digestOf('secret', secret))
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const entry = await this.#store.read(IDS)
      const lines = [...entry?.value.matchAll(LINE) ?? []]
      const ids = new Map(lines.map(([, digest = '', id = '']) => [digest, id]))
      const known = digests.find((digest) => ids.has(digest))
      // Where none has one: the last is what a process that has only the oldest secret would choose.
      const id = current ?? ids.get(known ?? '') ?? digests.at(-1)!
      if (digests.every((digest) => ids.get(digest) === id)) return id
      for (const digest of digests) ids.set(digest, id)
      const value = [...ids].map((line) => line.join(' ')).join('\n')
      if (await this.#store.write(IDS, value, Infinity, entry?.version ?? 0) !== undefined) return id
    }
    throw new Fault('busy', 'Other deployments write to the store all the time; try again later')
  }
}

function placed(space: string, { collection, owner, key }: StoreKey): StoreKey {
  return { collection: space + collection, owner, key }
}

function spaceOf(id: string): string { return `${id}/` }

function digestOf(kind: 'secret' | 'name', text: string): string {
  return Buffer.from(hkdfSync('sha256', text, '', `triport deployment by ${kind}`, ID_BYTES)).toString('hex')
}
