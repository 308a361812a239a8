/**
 * Who is told when the catalog changes: sessions by their open stream, and those who listen. Several changes
 * of one list in one turn of the event loop are one notice.
 *
 * What a resource holds is only told to those who have its scopes. Knows no requests: a subscriber is three
 * functions, made in `listen.ts`.
 */
import { Fault } from '../../define/fault.ts'
import { locateResource } from '../../run/reading.ts'
import { formatNotification } from '../../wire/jsonrpc.ts'
import { isAtOrBelow } from '../../wire/uri.ts'
import type { Catalog, CatalogChange } from '../../define/catalog.ts'
import type { ServedKind } from '../../define/validate.ts'
import type { Sessions } from './sessions.ts'

/** Lists that clients are told of. */
export type ListName = 'tools' | 'prompts' | 'resources'

const listOf: Readonly<Record<ServedKind, ListName>> = {
  'agent': 'tools', 'group': 'tools', 'tool': 'tools', 'prompt': 'prompts',
  'resource': 'resources', 'resource-template': 'resources',
}

/** One who listens. */
export interface Subscriber {
  readonly lists: ReadonlySet<ListName>
  readonly uris: ReadonlySet<string>
  readonly scopes: readonly string[]
  tell(method: string, params: object): void
  /** Ends the subscription in its own form: nothing more will be told. */
  end(): void
}

/** Streams that one server keeps open for those who listen. */
const MAX_SUBSCRIBERS = 10_000

/** All who hear of one server's changes. */
export class Notifications {
  readonly #catalog: Catalog
  readonly #sessions: Sessions
  readonly #subscribers = new Set<Subscriber>()
  readonly #changed = new Set<ListName>()

  constructor(catalog: Catalog, sessions: Sessions) {
    this.#catalog = catalog
    this.#sessions = sessions
    catalog.onChange((change) => this.#note(change))
  }

  get count(): number { return this.#subscribers.size }

  /**
   * Adds a subscriber; the returned function takes it away again. Throws `Fault('busy')` where there are too
   * many.
   */
  add(subscriber: Subscriber): () => void {
    if (this.#subscribers.size >= MAX_SUBSCRIBERS) {
      throw new Fault('busy', 'Too many clients are listening; try again later')
    }
    const { watched } = this.#sessions
    watched.take(subscriber.uris)
    this.#subscribers.add(subscriber)
    return () => {
      if (this.#subscribers.delete(subscriber)) watched.give(subscriber.uris)
    }
  }

  /** Ends all subscriptions. */
  close(): void {
    for (const subscriber of [...this.#subscribers]) {
      subscriber.end()
      if (this.#subscribers.delete(subscriber)) this.#sessions.watched.give(subscriber.uris)
    }
  }

  /** Whatever is watched may have changed: what other processes said of it is lost. */
  everything(): void {
    for (const list of ['tools', 'prompts', 'resources'] as const) this.#noteList(list)
    const watched = new Set<string>()
    for (const { subscriptions } of this.#sessions.all) for (const uri of subscriptions) watched.add(uri)
    for (const { uris } of this.#subscribers) for (const uri of uris) watched.add(uri)
    for (const uri of watched) this.updated(uri)
  }

  #note(change: CatalogChange): void {
    if (change.change === 'updated') return this.updated(change.name)
    this.#noteList(listOf[change.kind])
  }

  #noteList(list: ListName): void {
    if (this.#changed.size === 0) setImmediate(() => this.#tell())
    this.#changed.add(list)
  }

  #tell(): void {
    const lists = [...this.#changed]
    this.#changed.clear()
    for (const list of lists) {
      const method = `notifications/${list}/list_changed`
      const message = formatNotification(method)
      for (const session of this.#sessions.all) session.outlet?.send(message)
      for (const subscriber of this.#subscribers) if (subscriber.lists.has(list)) subscriber.tell(method, {})
    }
  }

  /** Tells those who watch a resource, or what is above it, that it is another now. */
  updated(uri: string): void {
    const method = 'notifications/resources/updated'
    const message = formatNotification(method, JSON.stringify({ uri }))
    const needed = locateResource(this.#catalog, uri)?.scopes ?? []
    const mayRead = (scopes: readonly string[]): boolean => needed.every((scope) => scopes.includes(scope))
    for (const { subscriptions, scopes, outlet } of this.#sessions.all) {
      if (outlet !== undefined && isWatched(subscriptions, uri) && mayRead(scopes)) outlet.send(message)
    }
    for (const subscriber of this.#subscribers) {
      if (isWatched(subscriber.uris, uri) && mayRead(subscriber.scopes)) subscriber.tell(method, { uri })
    }
  }
}

/** The address itself, or one below it. */
function isWatched(uris: ReadonlySet<string>, uri: string): boolean {
  if (uris.size === 0) return false
  if (uris.has(uri)) return true
  for (const watched of uris) if (isAtOrBelow(uri, watched)) return true
  return false
}
