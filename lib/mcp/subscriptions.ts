/**
 * The resources whose changes one client wants to hear of, bounded in number and in bytes. Knows neither
 * sessions nor who is told.
 *
 * Spec: MCP 2025-11-25, Resources, Subscriptions.
 */
import { Fault } from '../core/fault.ts'

/** Addresses that one client may watch: how many, the bytes of one, and of all together. */
export const MAX_SUBSCRIPTIONS = 1_000
export const MAX_ADDRESS_BYTES: number = 8 * 1024
export const MAX_ADDRESSES_BYTES: number = 256 * 1024

/** One client's. */
export class Subscriptions {
  readonly #uris = new Set<string>()
  #bytes = 0
  /** What the client might do when it last subscribed. */
  scopes: readonly string[]

  constructor(scopes: readonly string[]) {
    this.scopes = scopes
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
    this.#uris.add(uri)
    this.#bytes += bytes
  }

  remove(uri: string): void {
    if (this.#uris.delete(uri)) this.#bytes -= Buffer.byteLength(uri)
  }
}
