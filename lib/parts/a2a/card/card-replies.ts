/**
 * Cards as replies. The public card has the members of every dialect at once, in which each client finds its
 * own, or those of one version; it is made once per address, then sent as the same bytes with its `ETag`. The
 * extended card, what authenticated callers may know besides, is made for each request, as it may differ for
 * each caller. Clients of A2A 0.2 get it at a path of its own, which they make of the card's `url`, and
 * errors there as problem documents.
 * Spec: A2A 1.0 §3.1.11, §8.4, §8.6 and §13.3; A2A 0.3 §7.10, A2A 0.2 §7.9; RFC 9110 §13.1, RFC 9111.
 */
import { createHash } from 'node:crypto'
import { Fault, publicMessage } from '../../../kernel/define/fault.ts'
import { shownFault } from '../../../kernel/run/shown-fault.ts'
import { BoundedMap } from '../../../kernel/util/bounded-map.ts'
import { withDeadline } from '../../../kernel/util/clock.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import { problemReply } from '../../../kernel/wire/problem.ts'
import { encodeCard } from '../codec/cards.ts'
import { plain } from '../codec/plain.ts'
import { versionTextOf } from '../model/dialect.ts'
import { A2aFault, numbersOf } from '../model/faults.ts'
import { checkExtendedCard } from '../model/options.ts'
import { rootOf } from '../model/tool-agent.ts'
import { composeCard, extendCard, hasExtendedCard } from './card.ts'
import type { Agent, Group } from '../../../kernel/define/agent.ts'
import type { Principal } from '../../../kernel/define/principal.ts'
import type { Exchange, Reply } from '../../../kernel/http/message/exchange.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { Dialect } from '../model/dialect.ts'
import type { Card, JsonMembers } from '../model/model.ts'
import type { A2aOptions, A2aServerOptions, A2aSetup } from '../model/options.ts'
import type { Signer } from '../model/signature.ts'

/** Answers with the card of an agent, which is reached at the root or, by its id, below `/agents/`. */
export type Cards = (exchange: Exchange, agent: Agent | Group) => Reply

/** A key of `versions`. */
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

/** Whose members a card has. */
const versions = { 'hybrid': ['0.3', '1.0'], '0.3': ['0.3'], '1.0': ['1.0'] } as const

export function createCards(service: Service, options: A2aOptions, signer?: Signer): Cards {
  const cards = new BoundedMap<MadeCard>(MAX_CARDS)
  let changedAt = wholeSeconds()
  service.catalog.onChange(({ kind }) => {
    if (kind !== 'agent' && kind !== 'group' && kind !== 'tool') return
    cards.clear()
    changedAt = wholeSeconds()
  })
  return (exchange, agent) => {
    const { baseUrl, baseUrlIsTrusted, params } = exchange
    const mode = modeFor(versionTextOf(exchange), options.card)
    // A key may be made when the server listens.
    const id = params.get('agent') ?? ''
    const key = `${mode} ${id} ${baseUrl} ${options.takesKeys()} ${baseUrlIsTrusted}`
    let made = cards.get(key)
    if (made === undefined) {
      const card = cardFor(service, options, agent, exchange)
      made = makeCard(documentOf(card, mode, signer), changedAt, baseUrlIsTrusted)
      cards.set(key, made)
    }
    return isCurrent(exchange, made.etag, changedAt) ? made.unchanged : made.whole
  }
}

function makeCard(members: JsonMembers, changedAt: number, baseUrlIsTrusted: boolean): MadeCard {
  const body = Buffer.from(formatJson(members))
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
  const members = encodeCard(card, ...versions[mode])
  return mode === NEWEST && signer !== undefined ? { ...members, signatures: [signer(members)] } : members
}

/** A request that may be for an extended card. */
export interface CardRequest {
  /** What all requests of its server share. */
  readonly context: A2aSetup
  readonly agent: Agent | Group
  readonly dialect: Dialect
  readonly exchange: Exchange
}

// What one caller may know is no other's.
const headers: readonly string[] = Object.freeze(['Cache-Control', 'private, no-store'])

/** The extended card of an agent, for the caller. Rejects with a `Fault`. */
export async function extendedCard(
  { context: { service, options }, agent, dialect, exchange }: CardRequest,
): Promise<Card> {
  const { principal } = exchange.origin
  const given = options.extendedCard
  if (!hasExtendedCard(service, options, agent)) {
    throw new A2aFault(dialect.undeclaredCard ?? 'UNSUPPORTED_OPERATION', 'There is no extended card here')
  }
  const late = (): Fault => new Fault('timeout', 'What this caller may see could not be found out in time')
  const more: unknown = typeof given !== 'function' ? agent === rootOf(service) ? given ?? {} : {}
    : await withDeadline(Promise.resolve(given(principal, agent)), service.limits.authTimeoutMs, late)
  if (more === undefined || more === null) {
    const sentence = 'There is no extended card for this caller'
    throw new A2aFault('EXTENDED_AGENT_CARD_NOT_CONFIGURED', sentence)
  }
  checkExtendedCard('The result of a2a.extendedCard', more)
  return extendCard(cardFor(service, options, agent, exchange, principal), more)
}

/** The same, signed where there is a key. */
export async function signedExtendedCard(request: CardRequest): Promise<Card> {
  const { signer } = request.context
  const card = await extendedCard(request)
  return signer === undefined ? card : { ...card, signatures: [signer(encodeCard(card, NEWEST))] }
}

function cardFor(
  service: Service, options: A2aOptions, agent: Agent | Group, { baseUrl, params }: Exchange,
  principal?: Principal,
): Card {
  const isRoot = !params.has('agent')
  const url = isRoot ? baseUrl : `${baseUrl}/agents/${agent.id}`
  return composeCard(service, options, agent, url, isRoot, principal)
}

/** Answers a client of A2A 0.2. Never rejects. */
export async function oldExtendedCard(
  context: A2aSetup, exchange: Exchange, agent: Agent | Group,
): Promise<Reply> {
  const { service, options, signer } = context
  try {
    const card = await extendedCard({ context, agent, exchange, dialect: plain })
    const document = documentOf(card, modeFor(versionTextOf(exchange), options.card), signer)
    return { status: 200, type: JSON_TYPE, headers, body: formatJson(document) }
  } catch (thrown) {
    const { requestId } = exchange.origin
    const fault = shownFault(service, thrown, requestId, 'An extended card could not be made')
    const detail = publicMessage(fault, requestId, service.exposeErrors)
    const status = fault.kind === 'unsupported' ? 404 : numbersOf(fault).httpStatus
    return problemReply({ status, detail, requestId, headers })
  }
}
