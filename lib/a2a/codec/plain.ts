/**
 * The plain dialect: `message/send` alone, answered by a message; no tasks, no streams, no `kind`.
 *
 * It has two kinds of part, told apart by their members, so a value is its JSON text and bytes are a `data:`
 * address. What a file or a text is called stands in `name`, which a plain client may pass over.
 */
import { isRecord, text } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { quote } from '../../wire/json.ts'
import { rpcError } from '../../wire/jsonrpc.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { randomUuid } from '../../wire/random.ts'
import {
  FieldFault, isUnset, needList, needObject, needText, readMembers, readName, readText, wrongField,
} from '../model/fields.ts'
import { encodeRpcFault } from './errors.ts'
import { bytesBlock, filenameOf, fileOf, linkBlock, nameOf, readBytes, textBlock } from './parts.ts'
import { formatTexts, isOfTexts } from './texts.ts'
import { encodeV03Security } from './card-codecs.ts'
import type { Content } from '../../define/content.ts'
import type { Dialect, OperationCodec } from '../model/dialect.ts'
import type { Card, JsonMembers, Message, SendRequest, SendResult } from '../model/model.ts'
import type { FileBlock } from './parts.ts'

/** What a file is whose media type nobody told. RFC 9110 §8.3. */
const ANY_BYTES = 'application/octet-stream'

/** How the one operation is spelled. */
export const plainSend: OperationCodec<SendRequest, SendResult> = {
  method: 'message/send',
  decodeRequest,
  encodeResult,
  formatResult,
}

function decodeRequest(value: unknown, maxNameBytes: number): SendRequest {
  const params = needObject(value, 'params')
  const said = params['message']
  if (!isRecord(said)) throw wrongField('params', 'message', 'must be an object with "role" and "parts"')
  const message = decodeMessage(said, 'user', 'params.message', maxNameBytes)
  const metadata = readMembers(params['metadata'], 'params', 'metadata')
  return {
    tenant: undefined, message, outputModes: undefined, historyLength: undefined, isBlocking: true,
    push: undefined, metadata,
  }
}

function encodeResult(result: SendResult): JsonMembers {
  if (result.what === 'message') return { message: encodeMessage(result.message) }
  throw new Fault('unsupported', 'The plain dialect has no tasks; answer with a message')
}

function formatResult(result: SendResult): string | undefined {
  if (result.what !== 'message' || !isOfTexts(result)) return undefined
  const { id, role, parts, contextId } = result.message
  const context = contextId === undefined ? '' : `,"contextId":${quote(contextId)}`
  const texts = formatTexts(parts, '{"type":"text","text":')
  return `{"message":{"role":"${role}","parts":${texts},"messageId":${quote(id)}${context}}}`
}

function decodeMessage(said: JsonMembers, role: Message['role'], at: string, maxNameBytes: number): Message {
  if (said['role'] !== role) throw wrongField(at, 'role', `must be "${role}"`)
  return {
    // Of a question without an id nobody asks for one.
    id: readName(said['messageId'], at, 'messageId', maxNameBytes) ?? (role === 'user' ? '' : randomUuid()),
    role,
    parts: needList(said['parts'], at, 'parts', decodePart),
    contextId: readName(said['contextId'], at, 'contextId', maxNameBytes),
    metadata: readMembers(said['metadata'], at, 'metadata'),
    taskId: undefined, extensions: undefined, referenceTaskIds: undefined,
  }
}

function encodeMessage({ id, role, parts, contextId, metadata }: Message): JsonMembers {
  // Parts must not be empty, and a client reads parts[0].text without looking.
  const shown = parts.length === 0 ? [encodePart(text(''))] : parts.map(encodePart)
  return { role, parts: shown, messageId: id, contextId, ...metadata !== undefined && { metadata } }
}

function decodePart(value: unknown, at: string): Content {
  const kind = isRecord(value) ? kindOf(value) : undefined
  if (!isRecord(value) || kind === undefined) {
    throw new FieldFault(at, 'must be { "type": "text", "text" } or { "type": "file", "uri", "mimeType" }')
  }
  const name = readText(value['name'], at, 'name')
  if (kind === 'text') return textBlock(needText(value['text'], at, 'text'), undefined, name, undefined)
  const { uri, mimeType } = value
  if (typeof uri !== 'string' || uri === '') throw wrongField(at, 'uri', 'must be a non-empty string')
  const type = readText(mimeType, at, 'mimeType')
  return decodeBytes(uri, type, name, at) ?? linkBlock(uri, type, name, undefined)
}

/** What a part is: as its `type` says, else by which of the two members it has. */
function kindOf({ type, text: said, uri }: JsonMembers): 'text' | 'file' | undefined {
  if (!isUnset(type)) return type === 'text' || type === 'file' ? type : undefined
  if (isUnset(said) === isUnset(uri)) return undefined
  return isUnset(said) ? 'file' : 'text'
}

/** The bytes that an address holds in itself. Undefined where it holds none, or spells them as text. */
function decodeBytes(
  uri: string, mimeType: string | undefined, name: string | undefined, at: string,
): Content | undefined {
  const comma = uri.indexOf(',')
  if (comma === -1 || !/^data:/i.test(uri)) return undefined
  const head = uri.slice('data:'.length, comma)
  if (!/;base64$/i.test(head)) return undefined
  const [mediaType = ''] = head.split(';', 1)
  const bytes = readBytes(uri.slice(comma + 1), at, 'uri')
  return bytesBlock(bytes, mimeType ?? (mediaType || undefined), name, undefined)
}

function encodePart(block: Content): JsonMembers {
  switch (block.type) {
    case 'text': return encodeText(block.text, filenameOf(block))
    case 'data': return encodeText(JSON.stringify(block.data), filenameOf(block))
    default: return encodeFile(block)
  }
}

function encodeText(said: string, name: string | undefined): JsonMembers {
  return name === undefined ? { type: 'text', text: said } : { type: 'text', text: said, name }
}

function encodeFile(block: FileBlock): JsonMembers {
  const file = fileOf(block)
  const { name, text: said } = file
  const mimeType = file.mediaType ?? (said === undefined ? ANY_BYTES : 'text/plain')
  const uri = file.uri ?? (said === undefined ? `data:${mimeType};base64,${file.bytes}`
    : `data:${mimeType};charset=utf-8;base64,${Buffer.from(said).toString('base64')}`)
  // What its address says need not be said again.
  const isSaid = name === undefined || (block.type === 'resource_link' && name === nameOf(uri))
  return isSaid ? { type: 'file', uri, mimeType } : { type: 'file', uri, mimeType, name }
}

/** The row of the table. */
export const plain: Dialect = {
  name: 'plain',
  version: '0.3',
  operations: { send: plainSend },
  hasTasks: false,
  streamsErrors: false,
  speaks: isPlain,
  encodeFault: encodeRpcFault,
  encodeError: rpcError,
  encodePush,
  pushType: JSON_TYPE,
  pushesTasks: false,
  encodeCard,
}

/** Whether neither the message nor any of its parts has the `kind` that marks A2A 0.2 and 0.3. */
function isPlain(params: unknown): boolean {
  if (!isRecord(params) || !isRecord(params['message'])) return true
  const { kind, parts } = params['message']
  if (!isUnset(kind)) return false
  return !Array.isArray(parts) || !parts.some((part) => isRecord(part) && !isUnset(part['kind']))
}

function encodePush(): never {
  throw new Fault('unsupported', 'The plain dialect has no tasks, and so no events to post')
}

/** The media types and the ways to be let in are what clients of any age may look for. */
function encodeCard(card: Card): JsonMembers {
  const { name, description, interfaces, version, streams, pushes, inputModes, outputModes, skills } = card
  return {
    name,
    description,
    url: interfaces[0]!.url,
    version,
    capabilities: { streaming: streams, pushNotifications: pushes, stateTransitionHistory: false },
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    skills,
    ...encodeV03Security(card),
  }
}
