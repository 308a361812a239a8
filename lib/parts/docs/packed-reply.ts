/** Documents that are large, and stay the same for long. */
import type { Exchange, Reply } from '../../kernel/http/message/exchange.ts'

/**
 * A reply that stays the same for long: packed once, when the first client comes that accepts gzip. Its
 * headers must name `Accept-Encoding` in `Vary`.
 * Spec: RFC 9110 §12.5.3.
 */
export class PackedReply {
  readonly #whole: Reply
  readonly #body: string
  #packed: Reply | undefined

  constructor(reply: Omit<Reply, 'body'>, body: string) {
    this.#whole = { ...reply, body }
    this.#body = body
  }

  for(exchange: Exchange): Reply {
    if (!acceptsGzip(exchange.header('accept-encoding'))) return this.#whole
    return this.#packed ??= {
      ...this.#whole,
      headers: [...this.#whole.headers ?? [], 'Content-Encoding', 'gzip'],
      // Loaded here: most servers never need it.
      body: process.getBuiltinModule('node:zlib').gzipSync(this.#body, { level: 9 }),
    }
  }
}

/** Whether `Accept-Encoding` names gzip without refusing it. */
function acceptsGzip(accepted: string | undefined): boolean {
  return accepted !== undefined && /(?:^|,)\s*gzip\s*(?!;\s*q=0(?:\.0*)?\s*(?:,|$))(?:;|,|$)/i.test(accepted)
}
