/**
 * A shared store as one deployment sees it: the processes that have a secret, or the option `deployment`, in
 * common. Its id is put before every collection and topic, so deployments that share a store do not meet.
 *
 * The id is a digest of the first secret that was used. It stays when secrets are replaced: one entry, common
 * to all deployments, maps a digest of each secret that was ever used to the id of its deployment. It is read
 * with the first use of the store and does not expire.
 */
import { hkdfSync } from 'node:crypto'
import { Fault } from '../../kernel/define/fault.ts'
import { startDeadline } from '../../kernel/util/clock.ts'
import { SYSTEM_OWNER } from '../../kernel/store/store.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Store, StoreKey } from '../../kernel/store/store.ts'

/** Lines, each with the digest of a secret and the id of its deployment. */
const IDS: StoreKey = { collection: 'deployments', owner: SYSTEM_OWNER, key: 'ids' }
const LINE = /^([0-9a-f]{24}) ([0-9a-f]{24})$/gm
const ID_BYTES = 12
const MAX_TRIES = 100

/** A store in the space of one deployment. */
export interface DeploymentStore extends Store {
  /** Writes the id again where the store may have lost it. Rejects as the store does. */
  confirm(): Promise<void>
}

/**
 * `secret`: one or several, as a seal takes them. `name`: used instead of them. `timeoutMs`: how long one
 * look-up of the id is waited for before another is begun.
 */
export function deploymentStore(
  store: Store, secret: string | readonly string[], name: string | undefined, timeoutMs: number,
): DeploymentStore {
  const digests = name === undefined ? [secret].flat().map((one) => digestOf('secret', one)) : []
  /** What is put before collections and topics; undefined until the id is known. */
  let space = name === undefined ? undefined : spaceOf(digestOf('name', name))
  let entering: Promise<string> | undefined
  return {
    isShared: true,
    read: (key) => within((space) => store.read(placed(space, key))),
    write: (key, ...kept) => within((space) => store.write(placed(space, key), ...kept)),
    remove: (key, expected) => within((space) => store.remove(placed(space, key), expected)),
    list: (collection, ...page) => within((space) => store.list(space + collection, ...page)),
    publish: (topic, ...event) => within((space) => store.publish(space + topic, ...event)),
    follow: (topic, ...subscriber) => within((space) => store.follow(space + topic, ...subscriber)),
    close: () => store.close?.(),
    async confirm() {
      if (space !== undefined && digests.length > 0) await find(space.slice(0, -1))
    },
  }

  /** What is asked before the id is known keeps its order. */
  function within<T>(work: (space: string) => MaybePromise<T>): MaybePromise<T> {
    return space === undefined ? enter().then(() => within(work)) : work(space)
  }

  function enter(): Promise<string> {
    if (entering !== undefined) return entering
    const finding = find()
    const forget = (): void => {
      if (entering === finding) entering = undefined
    }
    // An answer that never comes must not block all later calls.
    const stop = startDeadline(timeoutMs, forget)
    finding.then((id) => {
      stop()
      space ??= spaceOf(id)
    }, () => {
      stop()
      forget()
    })
    return entering = finding
  }

  /** The id that is written for the first of the secrets that has one; then it is written for all. */
  async function find(current?: string): Promise<string> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const entry = await store.read(IDS)
      const lines = [...entry?.value.matchAll(LINE) ?? []]
      const ids = new Map(lines.map(([, digest = '', id = '']) => [digest, id]))
      const known = digests.find((digest) => ids.has(digest))
      // Where none has one: the last is what a process that has only the oldest secret would choose.
      const id = current ?? ids.get(known ?? '') ?? digests.at(-1)!
      if (digests.every((digest) => ids.get(digest) === id)) return id
      for (const digest of digests) ids.set(digest, id)
      const value = [...ids].map((line) => line.join(' ')).join('\n')
      if (await store.write(IDS, value, Infinity, entry?.version ?? 0) !== undefined) return id
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
