/**
 * The path at which clients of A2A 0.2 get the extended card: they make it of the card's `url`, and know no
 * JSON-RPC method for it. What is wrong is said as a problem document.
 * Spec: A2A 0.2 §7.9.
 */
import { asFault, publicMessage } from '../../define/fault.ts'
import { isThenable } from '../../util/thenable.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { problemReply } from '../../wire/problem.ts'
import { documentOf, modeFor } from './card-document.ts'
import { extendedCard } from './extended-card.ts'
import { plain } from '../codec/plain.ts'
import { versionTextOf } from '../model/version.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { FaultKind } from '../../define/fault.ts'
import type { Reply } from '../../http/message/exchange.ts'
import type { CardAsked } from './extended-card.ts'
import type { Card } from '../model/model.ts'

// What one caller may know is no other's.
const headers: readonly string[] = Object.freeze(['Cache-Control', 'private, no-store'])

/** What is not there is not found. */
const statuses: ReadonlyMap<FaultKind, number> = new Map([
  ['unsupported', 404], ['not-found', 404], ['unauthenticated', 401], ['forbidden', 403], ['busy', 503],
  ['cancelled', 503], ['timeout', 504],
])

/** Answers with the card of somebody, for the caller. */
export function oldExtendedCard(asked: Omit<CardAsked, 'dialect'>): MaybePromise<Reply> {
  const { service, options, signer, exchange } = asked
  const done = (card: Card): Reply => {
    const document = documentOf(card, modeFor(versionTextOf(exchange), options.card), signer)
    return { status: 200, type: JSON_TYPE, headers, body: JSON.stringify(document) }
  }
  const failed = (thrown: unknown): Reply => {
    const { requestId } = exchange.origin
    const fault = asFault(thrown)
    if (fault !== thrown) {
      service.log('error', 'An extended card could not be made', { request: requestId, cause: thrown })
    }
    const detail = publicMessage(fault, requestId, service.exposeErrors)
    return problemReply({ status: statuses.get(fault.kind) ?? 500, detail, requestId, headers })
  }
  try {
    const card = extendedCard({ ...asked, dialect: plain })
    return isThenable(card) ? card.then(done).catch(failed) : done(card)
  } catch (error) {
    return failed(error)
  }
}
