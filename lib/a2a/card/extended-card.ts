/**
 * The extended card: what authenticated callers may know besides the public card. Made for each request, as
 * it may differ for each caller. Clients of A2A 0.2 get it at a path of its own, which they make of the
 * card's `url`, and errors there as problem documents.
 * Spec: A2A 1.0 §3.1.11 and §13.3; A2A 0.3 §7.10, A2A 0.2 §7.9.
 */
import { asFault, Fault, publicMessage } from '../../define/fault.ts'
import { withDeadline } from '../../util/clock.ts'
import { andThen, isThenable } from '../../util/thenable.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { problemReply } from '../../wire/problem.ts'
import { encodeV1Card } from '../codec/card-codecs.ts'
import { plain } from '../codec/plain.ts'
import { versionTextOf } from '../model/dialect.ts'
import { A2aFault, numbersOf } from '../model/faults.ts'
import { checkExtendedCard } from '../model/options.ts'
import { rootOf } from '../model/tool-agent.ts'
import { documentOf, modeFor } from './card-replies.ts'
import { composeCard, extendCard, hasExtendedCard } from './card.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Exchange, Reply } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Dialect } from '../model/dialect.ts'
import type { Card } from '../model/model.ts'
import type { A2aOptions } from '../model/options.ts'
import type { Signer } from '../model/signature.ts'

/** A request for an extended card. */
export interface CardAsked {
  readonly service: Service
  readonly options: A2aOptions
  readonly signer?: Signer | undefined
  readonly agent: Agent | Group
  readonly dialect: Dialect
  readonly exchange: Exchange
}

// What one caller may know is no other's.
const headers: readonly string[] = Object.freeze(['Cache-Control', 'private, no-store'])

/** The extended card of an agent, for the caller. Throws, or rejects with, a `Fault`. */
export function extendedCard(asked: CardAsked): MaybePromise<Card> {
  const { service, options, agent, dialect, exchange: { origin } } = asked
  const given = options.extendedCard
  if (!hasExtendedCard(service, options, agent)) {
    throw new A2aFault(dialect.undeclaredCard ?? 'UNSUPPORTED_OPERATION', 'There is no extended card here')
  }
  const more = typeof given === 'function' ? given(origin.principal, agent)
    : agent === rootOf(service) ? given ?? {} : {}
  if (!isThenable(more)) return cardOf(asked, more)
  const found = withDeadline(Promise.resolve(more), service.limits.authTimeoutMs, () => (
    new Fault('timeout', 'What this caller may see could not be found out in time')
  ))
  return found.then((more) => cardOf(asked, more))
}

/** The same, signed where there is a key. */
export function signedExtendedCard(asked: CardAsked): MaybePromise<Card> {
  const { signer } = asked
  const card = extendedCard(asked)
  if (signer === undefined) return card
  return andThen(card, (one): Card => ({ ...one, signatures: [signer(encodeV1Card(one))] }))
}

function cardOf({ service, options, agent, exchange }: CardAsked, more: unknown): Card {
  const { baseUrl, params, origin: { principal } } = exchange
  if (more === undefined || more === null) {
    const sentence = 'There is no extended card for this caller'
    throw new A2aFault('EXTENDED_AGENT_CARD_NOT_CONFIGURED', sentence)
  }
  checkExtendedCard('The result of a2a.extendedCard', more)
  const isRoot = !params.has('agent')
  const url = isRoot ? baseUrl : `${baseUrl}/agents/${agent.id}`
  return extendCard(composeCard(service, options, agent, url, isRoot, principal), more)
}

/** Answers a client of A2A 0.2. Never rejects. */
export async function oldExtendedCard(asked: Omit<CardAsked, 'dialect'>): Promise<Reply> {
  const { service, options, signer, exchange } = asked
  try {
    const card = await extendedCard({ ...asked, dialect: plain })
    const document = documentOf(card, modeFor(versionTextOf(exchange), options.card), signer)
    return { status: 200, type: JSON_TYPE, headers, body: JSON.stringify(document) }
  } catch (thrown) {
    const { requestId } = exchange.origin
    const fault = asFault(thrown)
    if (fault !== thrown) {
      service.log('error', 'An extended card could not be made', { request: requestId, cause: thrown })
    }
    const detail = publicMessage(fault, requestId, service.exposeErrors)
    const status = fault.kind === 'unsupported' ? 404 : numbersOf(fault).httpStatus
    return problemReply({ status, detail, requestId, headers })
  }
}
