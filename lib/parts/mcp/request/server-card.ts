/**
 * The server card, which says who this server is and how it is reached before a client connects, and the AI
 * catalog that leads to it. Both are made once for an address. Spec: SEP-2127, a draft.
 */
import { createHash } from 'node:crypto'
import { formatJson } from '../../../kernel/wire/json.ts'
import { MAX_REGISTRY_TEXT, remoteOf } from '../../../floors/hosts/mcp-registry.ts'
import { revisions } from '../protocol/revisions.ts'
import type { Exchange, Reply } from '../../../kernel/http/message/exchange.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { McpSetup } from '../options.ts'

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'
const CARD_TYPE = 'application/mcp-server-card+json'
const CATALOG_TYPE = 'application/ai-catalog+json'

/** Tags of an `If-None-Match` that are looked at. */
const MAX_TAGS = 64

/** What is given to clients that have it not yet, and to those that have. */
interface Made { readonly etag: string; readonly whole: Reply; readonly unchanged: Reply }

type Read = (exchange: Exchange) => Reply

export interface ServerCards { readonly card: Read; readonly catalog: Read }

export function serverCards({ name, version, description }: Service, options: McpSetup): ServerCards {
  const { serverCard = '', title = name, websiteUrl, icons, takesKeys } = options
  const [namespace = '', own] = serverCard.split('/')
  const publisher = namespace.split('.').reverse().join('.')
  // A key may be made when the server listens.
  const hasKeys = (): boolean => takesKeys?.() === true
  const card = (baseUrl: string): object => ({
    $schema: SCHEMA, name: serverCard, version, description: shortened(description),
    title: shortened(title), websiteUrl, icons,
    remotes: [{
      ...remoteOf(`${baseUrl}/mcp`, hasKeys()),
      supportedProtocolVersions: revisions.map((revision) => revision.name),
    }],
  })
  const catalog = (baseUrl: string): object => ({
    specVersion: '1.0',
    entries: [{
      identifier: `urn:air:${publisher}:mcp:${own}`, type: CARD_TYPE, url: `${baseUrl}/mcp/server-card`,
    }],
  })
  return { card: reader(card, CARD_TYPE, hasKeys), catalog: reader(catalog, CATALOG_TYPE, hasKeys) }
}

/** Keeps what was made for the last address: a stranger can ask under any name. */
function reader(document: (baseUrl: string) => object, type: string, hasKeys: () => boolean): Read {
  let madeFor = ''
  let kept: Made | undefined
  return (exchange) => {
    const { baseUrl, baseUrlIsTrusted } = exchange
    const key = `${baseUrl} ${baseUrlIsTrusted} ${hasKeys()}`
    if (kept === undefined || key !== madeFor) {
      madeFor = key
      kept = made(document(baseUrl), type, baseUrlIsTrusted)
    }
    return chosen(exchange, kept)
  }
}

function shortened(text: string): string {
  return text.length <= MAX_REGISTRY_TEXT ? text : `${text.slice(0, MAX_REGISTRY_TEXT - 1).trimEnd()}…`
}

function made(document: object, type: string, baseUrlIsTrusted: boolean): Made {
  const body = formatJson(document)
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`
  const headers = Object.freeze([
    'ETag', etag,
    // What a client sent as its host must not become what a cache gives others.
    'Cache-Control', baseUrlIsTrusted ? 'public, max-age=3600' : 'private, no-cache',
    ...baseUrlIsTrusted ? [] : ['Vary', 'Host'],
    'Access-Control-Allow-Methods', 'GET',
    'Access-Control-Allow-Headers', 'Content-Type, If-None-Match',
    'Access-Control-Expose-Headers', 'ETag',
  ])
  return { etag, whole: { status: 200, type, headers, body }, unchanged: { status: 304, headers } }
}

function chosen(exchange: Exchange, { etag, whole, unchanged }: Made): Reply {
  const tags = exchange.header('if-none-match')?.split(',', MAX_TAGS).map((tag) => tag.trim()) ?? []
  return tags.some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag) ? unchanged : whole
}
