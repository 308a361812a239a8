/**
 * Cards as replies: each is made once for the address and the readers that it is for, then sent as the same
 * bytes, with what caches need to know.
 * Spec: A2A 1.0 §8.6; RFC 9110 §13.1, RFC 9111.
 */
import { createHash } from 'node:crypto'
import { JSON_TYPE } from '../../wire/media.ts'
import { composeCard } from './card.ts'
import { documentOf, modeFor } from './card-document.ts'
import { versionTextOf } from '../model/version.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Service } from '../../run/service.ts'
import type { Exchange, Reply } from '../../http/message/exchange.ts'
import type { JsonMembers } from '../model/model.ts'
import type { A2aOptions } from '../model/options.ts'
import type { Signer } from '../model/signature.ts'

/** Answers with the card of somebody who is reached below `at`: '' or `/agents/<id>`. */
export type Cards = (exchange: Exchange, who: Agent | Group, at: string) => Reply

interface MadeCard {
  readonly etag: string
  readonly whole: Reply
  readonly unchanged: Reply
}

/** A stranger can ask under any host name, so no more than this are kept. */
const MAX_CARDS = 256
/** Tags of an `If-None-Match` that are looked at. */
const MAX_TAGS = 64

/** Makes the cards of one server. */
export function createCards(service: Service, options: A2aOptions, signer?: Signer): Cards {
  const cards = new Map<string, MadeCard>()
  let changedAt = wholeSeconds()
  service.catalog.onChange(({ kind }) => {
    if (kind !== 'agent' && kind !== 'group' && kind !== 'tool') return
    cards.clear()
    changedAt = wholeSeconds()
  })

  function cardOf(exchange: Exchange, who: Agent | Group, at: string): MadeCard {
    const { baseUrl, baseUrlIsTrusted } = exchange
    const mode = modeFor(versionTextOf(exchange), options.card)
    // A key may be made when the server listens.
    const key = `${mode} ${at} ${baseUrl} ${options.takesKeys()} ${baseUrlIsTrusted}`
    let card = cards.get(key)
    if (card === undefined) {
      const [oldest] = cards.keys()
      if (oldest !== undefined && cards.size >= MAX_CARDS) cards.delete(oldest)
      const said = composeCard(service, options, who, baseUrl + at, at === '')
      card = makeCard(documentOf(said, mode, signer), changedAt, baseUrlIsTrusted)
      cards.set(key, card)
    }
    return card
  }

  return (exchange, who, at) => {
    const card = cardOf(exchange, who, at)
    return isKnown(exchange, card.etag, changedAt) ? card.unchanged : card.whole
  }
}

function makeCard(members: JsonMembers, changedAt: number, baseUrlIsTrusted: boolean): MadeCard {
  const body = Buffer.from(JSON.stringify(members))
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`
  // What a client sent as its host must not become what a cache tells others.
  const headers = Object.freeze([
    'ETag', etag,
    'Last-Modified', new Date(changedAt).toUTCString(),
    'Cache-Control', baseUrlIsTrusted ? 'public, max-age=300' : 'private, no-cache',
    'Vary', baseUrlIsTrusted ? 'A2A-Version' : 'Host, A2A-Version',
  ])
  return {
    etag,
    whole: { status: 200, type: JSON_TYPE, headers, body },
    unchanged: { status: 304, headers },
  }
}

/** Whether the client says that it has this card already. An `If-None-Match` settles it alone. */
function isKnown(exchange: Exchange, etag: string, changedAt: number): boolean {
  const tags = exchange.header('if-none-match')
  if (tags !== undefined) {
    const known = tags.split(',', MAX_TAGS).map((tag) => tag.trim().replace(/^W\//, ''))
    return known.includes(etag) || known.includes('*')
  }
  const since = exchange.header('if-modified-since')
  return since !== undefined && Date.parse(since) >= changedAt
}

/** Now, as exactly as an HTTP date can say it. */
function wholeSeconds(): number {
  return Math.floor(Date.now() / 1000) * 1000
}
