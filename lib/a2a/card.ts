/**
 * The agent card: who is served, where, and what it can do, as every dialect's clients read it.
 *
 * A card is made once for each base URL it is asked at and then sent as the same bytes. The members are
 * the dialects'; what is here is what they are made of, and how caches are told about it.
 * Spec: A2A 0.3 §5.5; RFC 9110 §13.1, RFC 9111.
 */
import { createHash } from 'node:crypto'
import { JSON_TYPE } from '../wire/media.ts'
import { dialects } from './dialects.ts'
import type { Agent, Group, Skill } from '../core/agent.ts'
import type { Service } from '../core/service.ts'
import type { Exchange, Reply } from '../http/exchange.ts'
import type { Card, SecurityScheme } from './model.ts'
import type { A2aOptions } from './options.ts'

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
const TEXT: readonly string[] = Object.freeze(['text/plain'])
/** The two ways to send a key. */
const keySchemes: ReadonlyMap<string, SecurityScheme> = new Map<string, SecurityScheme>([
  ['apiKey', { kind: 'apiKey', location: 'header', name: 'X-API-Key' }],
  ['bearer', { kind: 'http', scheme: 'bearer', bearerFormat: undefined }],
])
const keySecurity = [new Map([['apiKey', []]]), new Map([['bearer', []]])]
const noSchemes: ReadonlyMap<string, SecurityScheme> = new Map()
const chat: Skill = { id: 'chat', name: 'Chat', description: 'General conversation', tags: ['chat'] }

/** Makes the cards of one server. */
export function createCards(service: Service, { takesKeys: isKeyed }: A2aOptions): Cards {
  const cards = new Map<string, MadeCard>()
  let changedAt = wholeSeconds()
  service.catalog.onChange(({ kind }) => {
    if (kind !== 'agent' && kind !== 'group') return
    cards.clear()
    changedAt = wholeSeconds()
  })

  function cardOf({ baseUrl, baseUrlIsTrusted }: Exchange, who: Agent | Group, at: string): MadeCard {
    const keyed = isKeyed()
    const key = `${at} ${baseUrl} ${keyed} ${baseUrlIsTrusted}`
    let card = cards.get(key)
    if (card === undefined) {
      const [oldest] = cards.keys()
      if (oldest !== undefined && cards.size >= MAX_CARDS) cards.delete(oldest)
      card = makeCard(cardFor(service, who, `${baseUrl}${at}/a2a`, keyed), changedAt, baseUrlIsTrusted)
      cards.set(key, card)
    }
    return card
  }

  return (exchange, who, at) => {
    const card = cardOf(exchange, who, at)
    return isKnown(exchange, card.etag, changedAt) ? card.unchanged : card.whole
  }
}

function cardFor(service: Service, who: Agent | Group, url: string, isKeyed: boolean): Card {
  const isRoot = who === service.catalog.root
  return {
    name: who.name,
    description: who.description || (isRoot && service.description) || who.name,
    version: who.version ?? service.version,
    interfaces: [{ url, binding: 'JSONRPC', version: '0.3', tenant: undefined }],
    provider: undefined,
    documentationUrl: undefined,
    iconUrl: undefined,
    streams: true,
    pushes: false,
    hasExtendedCard: false,
    extensions: [],
    inputModes: who.kind === 'agent' && who.inputModes !== undefined ? who.inputModes : TEXT,
    outputModes: who.kind === 'agent' && who.outputModes !== undefined ? who.outputModes : TEXT,
    skills: skillsOf(who),
    schemes: isKeyed ? keySchemes : noSchemes,
    security: isKeyed ? keySecurity : [],
  }
}

/** An agent's own, or conversation; of a group, its agents are the skills. */
function skillsOf(who: Agent | Group): readonly Skill[] {
  if (who.kind === 'group') {
    return who.agents.map(({ id, name, description }) => {
      return { id, name, description: description || name, tags: [id] }
    })
  }
  if (who.skills === undefined || who.skills.length === 0) return [chat]
  // Tags are a must from A2A 0.2 on, and an author may leave them out.
  return who.skills.map((skill) => ({ ...skill, tags: skill.tags ?? [skill.id] }))
}

function makeCard(card: Card, changedAt: number, baseUrlIsTrusted: boolean): MadeCard {
  let members: Readonly<Record<string, unknown>> = {}
  for (const dialect of dialects) members = { ...members, ...dialect.encodeCard(card) }
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
