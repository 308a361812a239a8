/**
 * A reply that stays the same for long: packed once, when the first client comes that takes gzip.
 * Spec: RFC 9110 §12.5.3.
 */
import type { Exchange, Reply } from '../../http/message/exchange.ts'

/** A reply in both forms. Its headers must name `Accept-Encoding` in `Vary`. */
export class PackedReply {
  readonly #whole: Reply
  readonly #body: string
  #packed: Reply | undefined

  constructor(reply: Omit<Reply, 'body'>, body: string) {
    this.#whole = { ...reply, body }
    this.#body = body
  }

  /** The form that a client takes. */
  for(exchange: Exchange): Reply {
    if (!takesGzip(exchange.header('accept-encoding'))) return this.#whole
    return this.#packed ??= {
      ...this.#whole,
      headers: [...this.#whole.headers ?? [], 'Content-Encoding', 'gzip'],
      // Loaded here: most servers are never asked for it.
      body: process.getBuiltinModule('node:zlib').gzipSync(this.#body, { level: 9 }),
    }
  }
}

/** Whether `Accept-Encoding` names gzip, and not as what is refused. */
function takesGzip(accepted: string | undefined): boolean {
  return accepted !== undefined && /(?:^|,)\s*gzip\s*(?!;\s*q=0(?:\.0*)?\s*(?:,|$))(?:;|,|$)/i.test(accepted)
}
