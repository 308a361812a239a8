/**
 * Cards as replies: a card has the members of every dialect at once, in which each client finds its own, or
 * those of one version. It is made once per address, then sent as the same bytes with its `ETag`.
 * Spec: A2A 1.0 §8.4, §8.6; RFC 9110 §13.1, RFC 9111.
 */
import { createHash } from 'node:crypto'
import { isRecord } from '../../define/content.ts'
import { BoundedMap } from '../../util/bounded-map.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { dialects } from '../codec/dialects.ts'
import { versionTextOf } from '../model/dialect.ts'
import { composeCard } from './card.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Exchange, Reply } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { Card, JsonMembers } from '../model/model.ts'
import type { A2aOptions, A2aServerOptions } from '../model/options.ts'
import type { Signer } from '../model/signature.ts'

/** Answers with the card of an agent that is reached below `at`: '' or `/agents/<id>`. */
export type Cards = (exchange: Exchange, agent: Agent | Group, at: string) => Reply

/** Whose members a card has. */
export type CardMode = NonNullable<A2aServerOptions['card']>

interface MadeCard {
  readonly etag: string
  readonly whole: Reply
  readonly unchanged: Reply
}

/** A stranger can ask under any host name, so no more than this are kept. */
const MAX_CARDS = 256
/** Tags of an `If-None-Match` that are looked at. */
const MAX_TAGS = 64
const NEWEST = '1.0'

export function createCards(service: Service, options: A2aOptions, signer?: Signer): Cards {
  const cards = new BoundedMap<MadeCard>(MAX_CARDS)
  let changedAt = wholeSeconds()
  service.catalog.onChange(({ kind }) => {
    if (kind !== 'agent' && kind !== 'group' && kind !== 'tool') return
    cards.clear()
    changedAt = wholeSeconds()
  })
  return (exchange, agent, at) => {
    const { baseUrl, baseUrlIsTrusted } = exchange
    const mode = modeFor(versionTextOf(exchange), options.card)
    // A key may be made when the server listens.
    const key = `${mode} ${at} ${baseUrl} ${options.takesKeys()} ${baseUrlIsTrusted}`
    let made = cards.get(key)
    if (made === undefined) {
      const card = composeCard(service, options, agent, baseUrl + at, at === '')
      made = makeCard(documentOf(card, mode, signer), changedAt, baseUrlIsTrusted)
      cards.set(key, made)
    }
    return isCurrent(exchange, made.etag, changedAt) ? made.unchanged : made.whole
  }
}

function makeCard(members: JsonMembers, changedAt: number, baseUrlIsTrusted: boolean): MadeCard {
  const body = Buffer.from(JSON.stringify(members))
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`
  // What a client sent as its host must not become what a cache gives others.
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

/** Whether the client has this card already. With `If-None-Match` the other header is ignored. */
function isCurrent(exchange: Exchange, etag: string, changedAt: number): boolean {
  const tags = exchange.header('if-none-match')
  if (tags !== undefined) {
    const known = tags.split(',', MAX_TAGS).map((tag) => tag.trim().replace(/^W\//, ''))
    return known.includes(etag) || known.includes('*')
  }
  const since = exchange.header('if-modified-since')
  return since !== undefined && Date.parse(since) >= changedAt
}

/** Now, as exactly as an HTTP date can be. */
function wholeSeconds(): number {
  return Math.floor(Date.now() / 1000) * 1000
}

/** The mode for a client that names a version (`A2A-Version`). `mode` is the operator's. */
export function modeFor(version: string | undefined, mode: CardMode = 'hybrid'): CardMode {
  return mode === 'hybrid' && version !== undefined && /^\s*1(?:\.\d+)*\s*$/.test(version) ? NEWEST : mode
}

/** The members of a card. Only one of 1.0 alone is signed: a signature covers no member of older versions. */
export function documentOf(card: Card, mode: CardMode, signer: Signer | undefined): JsonMembers {
  const chosen = mode === 'hybrid' ? dialects
    : dialects.filter(({ name }) => (name === NEWEST) === (mode === NEWEST))
  const members = chosen.map((dialect) => dialect.encodeCard(card)).reduce(joined, {})
  return mode === NEWEST && signer !== undefined ? { ...members, signatures: [signer(members)] } : members
}

/** Both together, objects of one name within them too. */
function joined(one: JsonMembers, other: JsonMembers): JsonMembers {
  const members = new Map(Object.entries(one))
  for (const [name, value] of Object.entries(other)) {
    if (value === undefined) continue
    const known = members.get(name)
    members.set(name, isRecord(known) && isRecord(value) ? joined(known, value) : value)
  }
  return Object.fromEntries(members)
}
