/**
 * The primary of a cluster as the place of its workers' store: their questions in, answers and events out.
 * Knows no store; what a worker that ends has followed is left.
 */
import { Fault } from '../../define/fault.ts'
import { decodeBound, decodeEnvelope, decodeKeep, encodeEnvelope } from './worker-messages.ts'
import type { Cluster, Worker } from 'node:cluster'
import type { Store } from '../../state/store.ts'
import type { Envelope, StoreFault, StoreQuestion, StoreReply } from './worker-messages.ts'

const UNREACHED = 'The store cannot be reached; try again later'

/** The ends of what one worker follows, by store and question; undefined while it is being begun. */
type Followers = Map<string, (() => void) | undefined>

/**
 * Answers the `workerStore()` of every worker that this primary of `node:cluster` has or will have, out of a
 * store that is shared: `memoryStore({ isShared: true })`, `sqliteStore(file)` or any other. Call it before
 * `cluster.fork()`. Returns the function that ends it; the store stays open.
 *
 * Throws `TypeError` for a store that is not shared.
 */
export function hostStore(store: Store): () => void {
  if (!store.isShared) {
    throw new TypeError('hostStore takes a store that others may share, as memoryStore({ isShared: true })')
  }
  const cluster = clusterModule()
  const workers = new Map<Worker, Followers>()
  const hear = (worker: Worker, message: unknown): void => {
    const envelope = decodeEnvelope<StoreQuestion>(message)
    if (envelope === undefined) return
    const followers = workers.get(worker) ?? new Map()
    workers.set(worker, followers)
    void answer(store, worker, followers, envelope)
  }
  const forget = (worker: Worker): void => {
    for (const leave of workers.get(worker)?.values() ?? []) leave?.()
    workers.delete(worker)
  }
  cluster.on('message', hear)
  cluster.on('disconnect', forget)
  return () => {
    cluster.off('message', hear)
    cluster.off('disconnect', forget)
    for (const worker of workers.keys()) forget(worker)
  }
}

/** Only a primary pays for what this module brings along. */
function clusterModule(): Cluster {
  const module: unknown = process.getBuiltinModule('node:cluster')
  if (isCluster(module)) return module
  throw new Error('hostStore needs node:cluster, which is not there')
}

function isCluster(module: unknown): module is Cluster {
  return typeof module === 'object' && module !== null && 'fork' in module
}

async function answer(
  store: Store, worker: Worker, followers: Followers, { of, id, content }: Envelope<StoreQuestion>,
): Promise<void> {
  const send = (reply: StoreReply): void => {
    // A worker that has gone wants to know nothing any more.
    if (worker.isConnected()) worker.send(encodeEnvelope({ of, id, content: reply }), () => {})
  }
  try {
    if (content.method === 'leave') {
      const name = `${of} ${content.follower}`
      followers.get(name)?.()
      followers.delete(name)
    } else if (content.method === 'follow') {
      const name = `${of} ${id}`
      followers.set(name, undefined)
      const leave = await store.follow(
        content.topic, content.from, (text) => send({ text }), () => send({ isLost: true }),
      )
      // It may have left, or gone, meanwhile.
      if (followers.has(name) && worker.isConnected()) followers.set(name, leave)
      else leave()
    }
    send({ value: await perform(store, content) })
  } catch (error) {
    send({ fault: faultOf(error) })
  }
}

/** What a store answers to a question of one answer. */
function perform(store: Store, asked: StoreQuestion): unknown {
  switch (asked.method) {
    case 'read': return store.read(asked.place)
    case 'write': return store.write(asked.place, asked.value, decodeBound(asked.keepMs), asked.expected)
    case 'remove': return store.remove(asked.place, asked.expected)
    case 'list': {
      const { collection, owner, limit, before } = asked
      return store.list(collection, owner, decodeBound(limit), before ?? undefined)
    }
    case 'publish': return store.publish(asked.topic, asked.text, decodeKeep(asked.keep))
    default: return undefined
  }
}

/** What a store refuses stays what it is. With whatever else it fails, it could not do it now. */
function faultOf(error: unknown): StoreFault {
  const isFault = error instanceof Fault
  const { kind, message } = isFault ? error : { kind: 'busy', message: UNREACHED }
  const cause = isFault ? error.cause : error
  if (cause === undefined) return { kind, message }
  return { kind, message, cause: cause instanceof Error ? cause.message : String(cause) }
}
