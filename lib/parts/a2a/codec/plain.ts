/**
 * The plain dialect: `message/send` alone, answered by a message; no tasks, no streams, no `kind`. It has two
 * kinds of part, known by their members, so a value is its JSON text and bytes are a `data:` address. The
 * name of a file or a text is in `name`, which a plain client may ignore.
 */
import { isRecord } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { unseen } from '../../../kernel/define/validate.ts'
import { formatJson, quote } from '../../../kernel/wire/json.ts'
import { rpcError } from '../../../floors/jsonrpc/jsonrpc.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import {
  FieldFault, isUnset, needList, needObject, needText, readMembers, readName, wrongField,
} from '../model/fields.ts'
import { encodePlainCard } from './card-codecs.ts'
import { encodeRpcFault } from './errors.ts'
import {
  addressBlock, filenameOf, fileOf, inlineOf, nameOf, readBytes, strangeIn, textBlock,
} from './parts.ts'
import { formatTexts, isOfTexts } from './texts.ts'
import type { Content } from '../../../kernel/define/content.ts'
import type { Dialect } from '../model/dialect.ts'
import type { JsonMembers, SendRequest, SendResult } from '../model/model.ts'
import type { FileBlock } from './parts.ts'

/** The media type of a file that has none. RFC 9110 §8.3. */
const ANY_BYTES = 'application/octet-stream'

const partMembers: ReadonlySet<unknown> = new Set(['text', 'uri'])

export const plain: Dialect = {
  name: 'plain',
  version: '0.3',
  operations: { send: { method: 'message/send', decodeRequest, encodeResult, formatResult } },
  hasTasks: false,
  streamsErrors: false,
  encodeFault: encodeRpcFault,
  encodeError: rpcError,
  encodePush,
  pushType: JSON_TYPE,
  pushesTasks: false,
  encodeCard: encodePlainCard,
}

/** Whether neither the message nor any of its parts has the `kind` that marks A2A 0.2 and 0.3. */
export function isPlainParams(params: unknown): boolean {
  if (!isRecord(params) || !isRecord(params['message'])) return true
  const { kind, parts } = params['message']
  if (!isUnset(kind)) return false
  return !Array.isArray(parts) || !parts.some((part) => isRecord(part) && !isUnset(part['kind']))
}

function encodePush(): never {
  throw new Fault('unsupported', 'The plain dialect has no tasks, and so no events to post')
}

function decodeRequest(value: unknown, maxNameBytes: number): SendRequest {
  const params = needObject(value, 'params')
  const { message } = params
  if (!isRecord(message)) throw wrongField('params', 'message', 'must be an object with "role" and "parts"')
  const at = 'params.message'
  if (message['role'] !== 'user') throw wrongField(at, 'role', 'must be "user"')
  return {
    tenant: undefined, outputModes: undefined, historyLength: undefined, isBlocking: true, push: undefined,
    message: {
      // No operation of this dialect needs the id of a message.
      id: readName(message['messageId'], at, 'messageId', maxNameBytes) ?? '',
      role: 'user',
      parts: needList(message['parts'], at, 'parts', decodePart),
      contextId: readName(message['contextId'], at, 'contextId', maxNameBytes),
      metadata: readMembers(message['metadata'], at, 'metadata'),
      taskId: undefined, extensions: undefined, referenceTaskIds: undefined,
    },
    metadata: readMembers(params['metadata'], 'params', 'metadata'),
  }
}

function decodePart(value: unknown, at: string): Content {
  const kind = isRecord(value) ? kindOf(value) : undefined
  if (!isRecord(value) || kind === undefined) {
    const known = '{ "type": "text", "text" } or { "type": "file", "uri", "mimeType" }'
    const strange = isRecord(value) ? strangeIn(value, partMembers) : value
    throw new FieldFault(at, `must be ${known}${unseen(strange)}`)
  }
  const name = readName(value['name'], at, 'name')
  if (kind === 'text') return textBlock(needText(value['text'], at, 'text'), undefined, name, undefined)
  const { uri, mimeType } = value
  if (typeof uri !== 'string' || uri === '') throw wrongField(at, 'uri', 'must be a non-empty string')
  const type = readName(mimeType, at, 'mimeType')
  const held = inlineOf(uri)
  if (held !== undefined) readBytes(held.data, at, 'uri')
  return addressBlock(uri, type, name, undefined)
}

/** The `type` of a part; without one, which of the two members it has. */
function kindOf({ type, text, uri }: JsonMembers): 'text' | 'file' | undefined {
  if (!isUnset(type)) return type === 'text' || type === 'file' ? type : undefined
  if (isUnset(text) === isUnset(uri)) return undefined
  return isUnset(text) ? 'file' : 'text'
}

function encodeResult(result: SendResult): JsonMembers {
  if (result.what === 'task') {
    throw new Fault('unsupported', 'The plain dialect has no tasks; answer with a message')
  }
  const { id, role, parts, contextId, metadata } = result.message
  // Parts must not be empty, and a client reads parts[0].text without looking.
  const shown = parts.length === 0 ? [{ type: 'text', text: '' }] : parts.map(encodePart)
  const message = { role, parts: shown, messageId: id, contextId }
  return { message: metadata === undefined ? message : { ...message, metadata } }
}

function formatResult(result: SendResult): string | undefined {
  if (result.what !== 'message' || !isOfTexts(result)) return undefined
  const { id, role, parts, contextId } = result.message
  const context = contextId === undefined ? '' : `,"contextId":${quote(contextId)}`
  const texts = formatTexts(parts, '{"type":"text","text":')
  return `{"message":{"role":"${role}","parts":${texts},"messageId":${quote(id)}${context}}}`
}

function encodePart(block: Content): JsonMembers {
  if (block.type !== 'text' && block.type !== 'data') return encodeFile(block)
  const text = block.type === 'text' ? block.text : formatJson(block.data)
  const name = filenameOf(block)
  return name === undefined ? { type: 'text', text } : { type: 'text', text, name }
}

function encodeFile(block: FileBlock): JsonMembers {
  const file = fileOf(block)
  const { name, text } = file
  const mimeType = file.mediaType ?? (text === undefined ? ANY_BYTES : 'text/plain')
  const uri = file.uri ?? (text === undefined ? `data:${mimeType};base64,${file.bytes}`
    : `data:${mimeType};charset=utf-8;base64,${Buffer.from(text).toString('base64')}`)
  // A name that is the end of the address is left out.
  const isKnown = name === undefined || (block.type === 'resource_link' && name === nameOf(uri))
  return isKnown ? { type: 'file', uri, mimeType } : { type: 'file', uri, mimeType, name }
}
