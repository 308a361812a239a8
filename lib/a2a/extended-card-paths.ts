/**
 * The paths at which the extended card is got by `GET`: that of HTTP+JSON (A2A 1.0), and the one that clients
 * of 0.2 make of the card's `url`. What differs is how the card, and an error, is spelled.
 * Spec: A2A 1.0 §11.3.4; A2A 0.2 §7.9.
 */
import { asFault, sentence } from '../core/fault.ts'
import { JSON_TYPE } from '../wire/media.ts'
import { problemReply } from '../wire/problem.ts'
import { documentOf, modeFor } from './card-document.ts'
import { extendedCard } from './extended-card.ts'
import { plain } from './plain.ts'
import { v1 } from './v1.ts'
import { encodeV1Card } from './v1-card.ts'
import { encodeHttpFault, encodeHttpRefusal } from './v1-errors.ts'
import type { Fault, FaultKind } from '../core/fault.ts'
import type { MaybePromise } from '../core/store.ts'
import type { Refusal, Reply } from '../http/exchange.ts'
import type { Dialect } from './dialect.ts'
import type { CardAsked } from './extended-card.ts'
import type { Card, JsonMembers } from './model.ts'
import type { A2aServerOptions } from './options.ts'
import type { HttpError } from './v1-errors.ts'

/** One of the paths. */
export interface ExtendedCardPath {
  readonly path: string
  answer(asked: Omit<CardAsked, 'dialect'>): MaybePromise<Reply>
  refuse(refusal: Refusal): Reply
}

interface Spelling {
  readonly dialect: Dialect
  encode(card: Card, asked: CardAsked): JsonMembers
  encodeFault(fault: Fault, said: string, requestId: string): Reply
}

// What one caller may know is no other's.
const headers: readonly string[] = Object.freeze(['Cache-Control', 'private, no-store'])

/** Statuses of the old path, where what is not there is not found. */
const statuses: ReadonlyMap<FaultKind, number> = new Map([
  ['unsupported', 404], ['not-found', 404], ['unauthenticated', 401], ['forbidden', 403], ['busy', 503],
  ['cancelled', 503], ['timeout', 504],
])

const newest: ExtendedCardPath = {
  path: '/extendedAgentCard',
  answer: answering({
    dialect: v1,
    encode: encodeV1Card,
    encodeFault: (fault, said) => errorReply(encodeHttpFault(fault, said)),
  }),
  refuse: ({ status, detail, headers }) => errorReply(encodeHttpRefusal(status, detail), headers),
}

const oldest: ExtendedCardPath = {
  path: '/agent/authenticatedExtendedCard',
  answer: answering({
    dialect: plain,
    encode(card, { options, exchange }) {
      return documentOf(card, modeFor(exchange.head.a2aVersion, options.card), undefined)
    },
    encodeFault({ kind }, detail, requestId) {
      return problemReply({ status: statuses.get(kind) ?? 500, detail, requestId, headers })
    },
  }),
  refuse: problemReply,
}

/** Those of a server: the old one only where there is something to find. */
export function extendedCardPaths({ extendedCard }: A2aServerOptions): readonly ExtendedCardPath[] {
  return extendedCard === undefined ? [newest] : [newest, oldest]
}

function answering({ dialect, encode, encodeFault }: Spelling): ExtendedCardPath['answer'] {
  return ({ service, options, who, exchange }) => {
    const asked: CardAsked = { service, options, who, exchange, dialect }
    const done = (card: Card): Reply => {
      return { status: 200, type: JSON_TYPE, headers, body: JSON.stringify(encode(card, asked)) }
    }
    const failed = (thrown: unknown): Reply => {
      const { requestId } = exchange.origin
      const fault = asFault(thrown)
      if (fault !== thrown) {
        service.log('error', 'An extended card could not be made', { request: requestId, cause: thrown })
      }
      return encodeFault(fault, sentence(fault, requestId, service.exposeErrors), requestId)
    }
    try {
      const card = extendedCard(asked)
      return card instanceof Promise ? card.then(done).catch(failed) : done(card)
    } catch (error) {
      return failed(error)
    }
  }
}

function errorReply({ status, body }: HttpError, more: readonly string[] = headers): Reply {
  return { status, type: JSON_TYPE, headers: more, body: JSON.stringify(body) }
}
