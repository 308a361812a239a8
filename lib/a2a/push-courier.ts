/**
 * Brings a body to a webhook: the address is checked, its name looked up once, and what was found is
 * connected to. Knows what the operator allows, and nothing of tasks and order.
 */
import { Fault } from '../core/fault.ts'
import { PushClient } from './push.ts'
import { checkPushUrl, resolvePushHost } from './push-address.ts'
import type { PushAnswer } from './push.ts'
import type { Lookup } from './push-address.ts'
import type { KeptPushConfig } from './push-config.ts'
import type { PushSettings } from './push-options.ts'

/** All that is posted by one server. */
export class PushCourier {
  readonly #settings: PushSettings
  readonly #lookup: Lookup
  readonly #client = new PushClient()

  constructor(settings: PushSettings, lookup: Lookup) {
    this.#settings = settings
    this.#lookup = lookup
  }

  /** Rejects with `Fault('invalid')` for an address that may not be posted to, as far as is known now. */
  async check(text: string): Promise<void> {
    const url = checkPushUrl(text, this.#settings)
    try {
      await within(this.#settings.timeoutMs, resolvePushHost(url, this.#settings, this.#lookup))
    } catch (error) {
      // A name that is not found now may be found when there is something to post.
      if (error instanceof Fault) throw error
    }
  }

  /** One try. Rejects with `Fault('invalid')` where nothing may be posted to, else with why it failed. */
  async post(
    { url: text, token, authentication }: KeptPushConfig, type: string, body: string,
  ): Promise<PushAnswer> {
    const { timeoutMs } = this.#settings
    const url = checkPushUrl(text, this.#settings)
    const addresses = await within(timeoutMs, resolvePushHost(url, this.#settings, this.#lookup))
    const headers: Record<string, string> = { 'content-type': type, 'user-agent': 'triport' }
    const { schemes: [scheme] = [], credentials } = authentication ?? {}
    if (scheme !== undefined && credentials !== undefined) {
      headers['authorization'] = `${scheme} ${credentials}`
    }
    if (token !== undefined) headers['x-a2a-notification-token'] = token
    return this.#client.post({ url, addresses, headers, body, timeoutMs })
  }

  /** Breaks off what is on its way, and closes all connections. */
  close(): void {
    this.#client.close()
  }
}

function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`The name was not found within ${ms} ms`)), ms)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
