/**
 * The resources whose changes one client wants to hear of, bounded in number and in bytes. Knows neither
 * sessions nor who is told.
 *
 * Spec: MCP 2025-11-25, Resources, Subscriptions.
 */
import { Fault } from '../../define/fault.ts'
import { total } from '../../util/memory.ts'

/** Addresses that one client may watch: how many, the bytes of one, and of all together. */
export const MAX_SUBSCRIPTIONS = 1_000
export const MAX_ADDRESS_BYTES: number = 8 * 1024
export const MAX_ADDRESSES_BYTES: number = 256 * 1024

/** What all clients of one server may watch together, in bytes. */
const MAX_WATCHED_BYTES = total(64 * 1024 * 1024)
/** An address besides its text. */
const ENTRY_BYTES = 64

/** The memory that all watched addresses of one server share. */
export class WatchedBytes {
  #held = 0

  /** Bytes that are held now. */
  get held(): number { return this.#held }

  /** Takes room for addresses. Throws `Fault('busy')` where there is not enough for all of them. */
  take(uris: Iterable<string>): void {
    const bytes = bytesOf(uris)
    if (this.#held + bytes > MAX_WATCHED_BYTES) {
      throw new Fault('busy', 'The clients of this server watch too many resources; try again later')
    }
    this.#held += bytes
  }

  give(uris: Iterable<string>): void {
    this.#held -= bytesOf(uris)
  }
}

function bytesOf(uris: Iterable<string>): number {
  let bytes = 0
  for (const uri of uris) bytes += ENTRY_BYTES + Buffer.byteLength(uri)
  return bytes
}

/** One client's. */
export class Subscriptions {
  readonly #uris = new Set<string>()
  readonly #watched: WatchedBytes
  #bytes = 0
  /** What the client might do when it last subscribed. */
  scopes: readonly string[]

  constructor(scopes: readonly string[], watched: WatchedBytes) {
    this.scopes = scopes
    this.#watched = watched
  }

  get uris(): ReadonlySet<string> { return this.#uris }

  /** Adds an address. Throws `Fault('too-large')` or `Fault('busy')` where there is no room for it. */
  add(uri: string): void {
    if (this.#uris.has(uri)) return
    const bytes = Buffer.byteLength(uri)
    if (bytes > MAX_ADDRESS_BYTES) {
      throw new Fault('too-large', `An address may have ${MAX_ADDRESS_BYTES} bytes`)
    }
    if (this.#uris.size >= MAX_SUBSCRIPTIONS || this.#bytes + bytes > MAX_ADDRESSES_BYTES) {
      throw new Fault('busy', `A session may have ${MAX_SUBSCRIPTIONS} subscriptions of `
        + `${MAX_ADDRESSES_BYTES} bytes together; unsubscribe from one`)
    }
    this.#watched.take([uri])
    this.#uris.add(uri)
    this.#bytes += bytes
  }

  remove(uri: string): void {
    if (!this.#uris.delete(uri)) return
    this.#bytes -= Buffer.byteLength(uri)
    this.#watched.give([uri])
  }

  /** Removes all of them. */
  clear(): void {
    this.#watched.give(this.#uris)
    this.#uris.clear()
    this.#bytes = 0
  }
}
