/**
 * The extended card: what callers who have proved who they are may know besides the public card. Made for
 * each request, as it may be another for each caller.
 * Spec: A2A 1.0 §3.1.11 and §13.3; A2A 0.3 §7.10, A2A 0.2 §7.9.
 */
import { Clock } from '../../util/clock.ts'
import { Fault } from '../../define/fault.ts'
import { andThen, isThenable } from '../../util/thenable.ts'
import { composeCard, extendCard, hasExtendedCard } from './card.ts'
import { A2aFault } from '../model/faults.ts'
import { checkExtendedCard } from '../model/options.ts'
import { encodeV1Card } from '../codec/v1-card.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Service } from '../../run/service.ts'
import type { Exchange } from '../../http/message/exchange.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Dialect } from '../model/dialect.ts'
import type { Card } from '../model/model.ts'
import type { A2aOptions } from '../model/options.ts'
import type { Signer } from '../model/signature.ts'

/** Who is asked for a card, by whom, and in which dialect. */
export interface CardAsked {
  readonly service: Service
  readonly options: A2aOptions
  readonly signer?: Signer | undefined
  readonly who: Agent | Group
  readonly dialect: Dialect
  readonly exchange: Exchange
}

/** The extended card of whoever is asked, for the caller. Throws, or rejects with, a `Fault`. */
export function extendedCard(asked: CardAsked): MaybePromise<Card> {
  const { service, options, who, dialect, exchange: { origin } } = asked
  const given = options.extendedCard
  if (given === undefined || !hasExtendedCard(service, options, who)) {
    throw new A2aFault(dialect.undeclaredCard ?? 'UNSUPPORTED_OPERATION', 'There is no extended card here')
  }
  const more = typeof given === 'function' ? given(origin.principal, who) : given
  if (!isThenable(more)) return cardOf(asked, more)
  return inTime(more, service.limits.authTimeoutMs).then((found) => cardOf(asked, found))
}

/** The same, signed where there is a key. */
export function signedExtendedCard(asked: CardAsked): MaybePromise<Card> {
  const { signer } = asked
  const card = extendedCard(asked)
  if (signer === undefined) return card
  const signed = (one: Card): Card => ({ ...one, signatures: [signer(encodeV1Card(one))] })
  return andThen(card, signed)
}

function cardOf({ service, options, who, exchange: { baseUrl, params } }: CardAsked, more: unknown): Card {
  if (more === undefined || more === null) {
    const sentence = 'There is no extended card for this caller'
    throw new A2aFault('EXTENDED_AGENT_CARD_NOT_CONFIGURED', sentence)
  }
  checkExtendedCard('The result of a2a.extendedCard', more)
  const isRoot = !params.has('agent')
  const url = isRoot ? baseUrl : `${baseUrl}/agents/${who.id}`
  return extendCard(composeCard(service, options, who, url, isRoot), more)
}

function inTime<T>(found: PromiseLike<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const clock = new Clock()
    clock.limit(ms, () => {
      reject(new Fault('timeout', 'What this caller may see could not be found out in time'))
    })
    Promise.resolve(found).then(resolve, reject).finally(() => clock.clear())
  })
}
