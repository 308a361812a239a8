/**
 * Notifications of a changed catalog: to sessions with an open stream, and to subscribers. Several changes of
 * one list in one iteration of the event loop are one notification; those of a resource go only to clients
 * with its scopes.
 */
import { locateResource } from '../../../kernel/run/located-resource.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { formatNotification } from '../../../floors/jsonrpc/jsonrpc.ts'
import { isAtOrBelow, normalAddress } from '../../../kernel/wire/uri.ts'
import { PlainLease } from '../../../kernel/util/quota.ts'
import { watch } from './session.ts'
import type { Catalog } from '../../../kernel/define/catalog.ts'
import type { ServedKind } from '../../../kernel/define/validate.ts'
import type { Sessions } from './session.ts'

export type ListName = 'tools' | 'prompts' | 'resources'

const listOf: Readonly<Record<ServedKind, ListName>> = {
  'agent': 'tools', 'group': 'tools', 'tool': 'tools', 'prompt': 'prompts',
  'resource': 'resources', 'resource-template': 'resources',
}

export interface Subscriber {
  readonly lists: ReadonlySet<ListName>
  readonly owner: string
  readonly uris: ReadonlySet<string>
  /** What it follows besides, by itself; counted like addresses. */
  readonly followed: readonly string[]
  readonly scopes: readonly string[]
  notify(method: string, params: object): void
  /** Ends the subscription in its own form. */
  end(): void
}

export class Notifications {
  readonly #catalog: Catalog
  readonly #sessions: Sessions
  /** Each with the lease of its addresses. */
  readonly #subscribers = new Map<Subscriber, PlainLease>()
  readonly #changed = new Set<ListName>()

  constructor(catalog: Catalog, sessions: Sessions) {
    this.#catalog = catalog
    this.#sessions = sessions
    catalog.onChange(({ change, name, kind }) => (
      change === 'updated' ? this.updated(name) : this.#noteList(listOf[kind])
    ))
  }

  get count(): number { return this.#subscribers.size }

  /** Adds a subscriber; the returned function removes it. Throws `Fault('busy')` where there is no room. */
  add(subscriber: Subscriber): () => void {
    const lease = new PlainLease(subscriber.owner)
    watch(this.#sessions.watched, lease, [...subscriber.uris, ...subscriber.followed])
    this.#subscribers.set(subscriber, lease)
    return () => this.#remove(subscriber)
  }

  #remove(subscriber: Subscriber): void {
    this.#subscribers.get(subscriber)?.close()
    this.#subscribers.delete(subscriber)
  }

  close(): void {
    for (const subscriber of [...this.#subscribers.keys()]) {
      subscriber.end()
      this.#remove(subscriber)
    }
  }

  /** Everything may have changed: messages of other processes were lost. */
  everything(): void {
    for (const list of ['tools', 'prompts', 'resources'] as const) this.#noteList(list)
    const watched = new Set<string>()
    for (const { subscriptions } of this.#sessions.all()) for (const uri of subscriptions) watched.add(uri)
    for (const { uris } of this.#subscribers.keys()) for (const uri of uris) watched.add(uri)
    for (const uri of watched) this.updated(uri)
  }

  #noteList(list: ListName): void {
    if (this.#changed.size === 0) setImmediate(() => this.#notifyLists())
    this.#changed.add(list)
  }

  #notifyLists(): void {
    const lists = [...this.#changed]
    this.#changed.clear()
    for (const list of lists) {
      const method = `notifications/${list}/list_changed`
      const message = formatNotification(method)
      for (const session of this.#sessions.all()) session.outlet?.send(message)
      for (const subscriber of this.#subscribers.keys()) {
        if (subscriber.lists.has(list)) subscriber.notify(method, {})
      }
    }
  }

  /** Notifies those who watch a resource, or one above it, that its content has changed. */
  updated(uri: string): void {
    const method = 'notifications/resources/updated'
    const message = formatNotification(method, formatJson({ uri }))
    const needed = locateResource(this.#catalog, uri)?.scopes ?? []
    const normal = normalAddress(uri)
    const mayRead = (scopes: readonly string[]): boolean => needed.every((scope) => scopes.includes(scope))
    for (const { subscriptions, scopes, outlet } of this.#sessions.all()) {
      if (outlet === undefined || !isWatched(subscriptions, normal)) continue
      const { reader } = outlet
      if (!mayRead(reader?.principal.scopes ?? scopes)) continue
      for (const scope of needed) reader?.needed?.add(scope)
      outlet.send(message)
    }
    for (const { uris, scopes, notify } of this.#subscribers.keys()) {
      if (isWatched(uris, normal) && mayRead(scopes)) notify(method, { uri })
    }
  }
}

/** Whether one of the addresses, all in their normal form, is this one, or one above it. */
function isWatched(uris: ReadonlySet<string>, uri: string): boolean {
  if (uris.size === 0) return false
  if (uris.has(uri)) return true
  for (const watched of uris) if (isAtOrBelow(uri, watched)) return true
  return false
}
