/**
 * The plain dialect: `message/send` with parts that are told by their members, answered by a message.
 * Params in, a neutral message out; a neutral message in, JSON text out.
 *
 * It has no tasks, no streams and no `kind`. Which requests are plain is `speaks`; what is wrong with
 * one that is, the decoder says.
 */
import { randomUUID } from 'node:crypto'
import { isRecord, text } from '../core/content.ts'
import { Fault } from '../core/fault.ts'
import { rpcError } from '../wire/jsonrpc.ts'
import { JSON_TYPE } from '../wire/media.ts'
import { a2aErrors, codeOf, faultFor, reasonOf } from './faults.ts'
import { nameOf } from './parts.ts'
import type { Content } from '../core/content.ts'
import type { RpcError } from '../wire/jsonrpc.ts'
import type { Dialect, OperationCodec } from './dialect.ts'
import type { Card, JsonMembers, Message, SendRequest, SendResult } from './model.ts'

/** What a file is whose media type nobody told. RFC 9110 §8.3. */
const ANY_BYTES = 'application/octet-stream'

const send: OperationCodec<SendRequest, SendResult> = {
  method: 'message/send',
  decodeRequest: decodeSend,
  encodeRequest: notYet,
  encodeResult: encodeReply,
  decodeResult: notYet,
}

/** The row of the table. */
export const plain: Dialect = {
  name: 'plain',
  operations: { send },
  hasTasks: false,
  speaks: isPlain,
  encodeFault,
  decodeFault: ({ code, message, data }) => faultFor(code, message, data),
  encodePush: notYet,
  pushType: JSON_TYPE,
  pushesTasks: false,
  encodeCard,
  decodeCard: notYet,
}

function notYet(): never {
  throw new Fault('unsupported', 'Not in this dialect')
}

/** The error for a fault. What an author attached to it stands beside the sentence, never in its place. */
function encodeFault(fault: Fault, said: string): RpcError {
  // A defect shows nothing of itself.
  const shown = fault.kind === 'internal' ? undefined : fault.detail
  const more = isRecord(shown) ? shown : shown === undefined ? undefined : { data: shown }
  const error = rpcError(codeOf(fault), said, more && { ...more, detail: said })
  const reason = reasonOf(fault)
  return reason === undefined ? error : { ...error, message: a2aErrors[reason].message }
}

/** Whether neither the message nor any of its parts has the `kind` that marks A2A 0.2 and 0.3. */
function isPlain(params: unknown): boolean {
  if (!isRecord(params) || !isRecord(params['message'])) return true
  const { kind, parts } = params['message']
  if (isGiven(kind)) return false
  return !Array.isArray(parts) || !parts.some((part) => isRecord(part) && isGiven(part['kind']))
}

/** Reads the params of `message/send`. Throws `Fault('invalid')` that names a member and what it must be. */
export function decodeSend(params: unknown, maxNameBytes: number): SendRequest {
  if (!isRecord(params)) throw wrong('params', params === undefined ? 'is missing' : 'must be an object')
  const { message, metadata } = params
  if (!isRecord(message)) throw wrong('params.message', 'must be an object with "role" and "parts"')
  const { role, parts, contextId } = message
  if (role !== 'user') throw wrong('params.message.role', 'must be "user"')
  if (!Array.isArray(parts) || parts.length === 0) {
    throw wrong('params.message.parts', 'must be a list of at least one part')
  }
  if (isGiven(contextId) && !isContextId(contextId, maxNameBytes)) {
    throw wrong('params.message.contextId', `must be a string of at most ${maxNameBytes} bytes`)
  }
  if (isGiven(metadata) && !isRecord(metadata)) throw wrong('params.metadata', 'must be an object')
  const given = isRecord(metadata) ? metadata : undefined
  const said: Message = {
    id: randomUUID(), role, parts: parts.map(decodePart), metadata: undefined, taskId: undefined,
    contextId: typeof contextId === 'string' && contextId !== '' ? contextId : undefined,
    extensions: undefined, referenceTaskIds: undefined,
  }
  return {
    tenant: undefined, message: said, outputModes: undefined, historyLength: undefined, isBlocking: true,
    push: undefined, metadata: given,
  }
}

function decodePart(part: unknown, index: number): Content {
  const kind = isRecord(part) ? kindOf(part) : undefined
  if (!isRecord(part) || kind === undefined) {
    throw wrongPart(index, '', 'must be { "type": "text", "text" } or { "type": "file", "uri", "mimeType" }')
  }
  const { text: said, uri, mimeType } = part
  if (kind === 'text') {
    if (typeof said !== 'string') throw wrongPart(index, '.text', 'must be a string')
    return text(said)
  }
  if (typeof uri !== 'string' || uri === '') throw wrongPart(index, '.uri', 'must be a non-empty string')
  if (!isGiven(mimeType)) return { type: 'resource_link', uri, name: nameOf(uri) }
  if (typeof mimeType !== 'string') throw wrongPart(index, '.mimeType', 'must be a string')
  return { type: 'resource_link', uri, name: nameOf(uri), mimeType }
}

/** What a part is: as its `type` says, else by which of the two members it has. */
function kindOf({ type, text: said, uri }: Readonly<Record<string, unknown>>): 'text' | 'file' | undefined {
  if (isGiven(type)) return type === 'text' || type === 'file' ? type : undefined
  if (isGiven(said) === isGiven(uri)) return undefined
  return isGiven(said) ? 'text' : 'file'
}

/** Clients write null for what they leave out. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function isContextId(value: unknown, maxBytes: number): boolean {
  return typeof value === 'string' && value.length <= maxBytes && Buffer.byteLength(value) <= maxBytes
}

function wrong(member: string, demand: string): Fault {
  return new Fault('invalid', `${member} ${demand}`)
}

function wrongPart(index: number, member: string, demand: string): Fault {
  return wrong(`params.message.parts[${index}]${member}`, demand)
}

/** The result of `message/send`. */
export function encodeReply(result: SendResult): JsonMembers {
  if (result.what === 'task') throw new Fault('internal', 'Internal error')
  const { id, contextId, parts } = result.message
  // Parts must not be empty, and a client reads parts[0].text without looking.
  const shown = parts.length === 0 ? [encodePart(text(''))] : parts.map(encodePart)
  return { message: { role: 'agent', parts: shown, messageId: id, contextId } }
}

function encodePart(block: Content): JsonMembers {
  switch (block.type) {
    case 'text': return { type: 'text', text: block.text }
    case 'data': return { type: 'text', text: JSON.stringify(block.data) }
    case 'resource_link': return encodeFile(block.uri, block.mimeType)
    case 'resource': return encodeFile(block.resource.uri, block.resource.mimeType)
    default: return encodeFile(`data:${block.mimeType};base64,${block.data}`, block.mimeType)
  }
}

function encodeFile(uri: string, mimeType: string = ANY_BYTES): JsonMembers {
  return { type: 'file', uri, mimeType }
}

/** The two ways to send a key, tagged as each version of A2A tags a scheme: by `type`, and by a member. */
const schemes = {
  apiKey: {
    type: 'apiKey', in: 'header', name: 'X-API-Key',
    apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' },
  },
  bearer: { type: 'http', scheme: 'bearer', httpAuthSecurityScheme: { scheme: 'bearer' } },
}

function encodeCard(card: Card): JsonMembers {
  const { name, description, interfaces, version, streams, inputModes, outputModes, skills, security } = card
  return {
    name,
    description,
    url: interfaces[0]!.url,
    version,
    capabilities: { streaming: streams, pushNotifications: false, stateTransitionHistory: false },
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    skills,
    ...security.length > 0 && { securitySchemes: schemes, security: [{ apiKey: [] }, { bearer: [] }] },
  }
}
