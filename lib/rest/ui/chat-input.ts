/**
 * Decodes what the AI SDK's chat sends: its messages, each with its parts. Throws `Fault('invalid')` for the
 * first thing that is wrong.
 * Spec: AI SDK 5 to 7, UIMessage and ChatTransport.
 */
import { isRecord, linesOf, text } from '../../define/content.ts'
import { CONVERSATION_ID } from '../../state/conversation-page.ts'
import { decodeBase64 } from '../../wire/base64.ts'
import { isName } from '../../wire/bounded.ts'
import { clientToolsIn, resultMessage } from '../openai/chat-tools.ts'
import { nameIn, wrongBody, wrongParam } from '../openai/openai-errors.ts'
import type { ChatMessage } from '../../define/chat.ts'
import type { ClientToolResult } from '../../define/client-tool.ts'
import type { Content } from '../../define/content.ts'
import type { AgentInput } from '../reply/run-stream.ts'

export interface ChatInput extends AgentInput {
  /** Whether the answer goes on with a message that the chat has. */
  readonly isContinued: boolean
}

const roles: ReadonlyMap<unknown, ChatMessage['role']> = new Map([
  ['user', 'user'], ['assistant', 'assistant'], ['system', 'system'],
])

export function decodeChatInput(body: unknown): ChatInput {
  if (!isRecord(body) || !Array.isArray(body['messages'])) {
    throw wrongBody('must be a JSON object with "messages", each with "role" and "parts"')
  }
  const { id, messages, tools, trigger: _trigger, messageId: _messageId, ...metadata } = body
  const all: readonly unknown[] = Array.isArray(messages) ? messages : []
  const last = all.findLastIndex((one) => isRecord(one) && one['role'] === 'user')
  if (last < 0) throw wrongParam('messages', 'needs a message of the role user')
  const history: ChatMessage[] = []
  const clientToolResults: ClientToolResult[] = []
  for (let index = 0; index < all.length; index++) {
    const at = `messages[${index}]`
    const message = all[index]
    const { role: name, parts } = isRecord(message) ? message : {}
    const role = roles.get(name)
    if (role === undefined) throw wrongParam(`${at}.role`, 'must be user, assistant or system')
    if (!Array.isArray(parts)) throw wrongParam(`${at}.parts`, 'must be a list')
    if (index === last) continue
    const results = parts.flatMap((part) => resultIn(part, at))
    for (const { isOurs, ...result } of results) if (index > last && !isOurs) clientToolResults.push(result)
    const content = linesOf(parts.flatMap(textIn))
    if (content !== '') history.push({ role, content })
    if (index < last) history.push(...results.map(resultMessage))
  }
  const { parts } = all[last] as { readonly parts: readonly unknown[] }
  const message = parts.flatMap((part, index) => blockOf(part, `messages[${last}].parts[${index}]`) ?? [])
  const chatId = typeof id === 'string' && CONVERSATION_ID.test(id) ? id : undefined
  return {
    protocol: 'http', sessionId: chatId, conversationId: chatId, isNamed: chatId !== undefined,
    isContinued: last < all.length - 1,
    prompt: linesOf(message),
    message, history, metadata, clientTools: clientToolsIn(tools), clientToolResults,
  }
}

function textIn(part: unknown): readonly Content[] {
  const { type, text: written } = isRecord(part) ? part : {}
  return type === 'text' && typeof written === 'string' ? [text(written)] : []
}

/** The result of a tool; `isOurs`: the agent has called it itself. */
function resultIn(part: unknown, at: string): readonly (ClientToolResult & { readonly isOurs: boolean })[] {
  const { type, toolName, toolCallId: id, state, input, output, errorText, providerExecuted } = (
    isRecord(part) ? part : {}
  )
  if (typeof type !== 'string' || typeof id !== 'string') return []
  const name = type === 'dynamic-tool' ? toolName : /^tool-(.+)$/s.exec(type)?.[1]
  if (typeof name !== 'string') return []
  if (state !== 'output-available' && state !== 'output-error') return []
  const value = state === 'output-error' ? errorText : output
  const result = typeof value === 'string' ? value : JSON.stringify(value) ?? ''
  for (const one of [id, name]) nameIn(one, `A tool of ${at}.parts`)
  return [{ id, name, args: isRecord(input) ? input : {}, result, isOurs: providerExecuted === true }]
}

/** Undefined for what is for the front end alone. */
function blockOf(part: unknown, at: string): Content | undefined {
  const { type, text: written, mediaType, url, filename } = isRecord(part) ? part : {}
  if (type === 'text') {
    if (typeof written !== 'string') throw wrongParam(`${at}.text`, 'must be a string')
    return text(written)
  }
  if (type !== 'file') return undefined
  if (typeof url !== 'string' || !isName(mediaType)) {
    throw wrongParam(at, 'must be a file with "url" and "mediaType"')
  }
  const name = nameIn(filename || 'file', `${at}.filename`)
  if (!url.startsWith('data:')) {
    return { type: 'resource_link', uri: nameIn(url, `${at}.url`), name, mimeType: mediaType }
  }
  const data = url.slice(url.indexOf(',') + 1)
  if (!/^data:[^,]*;base64,/.test(url.slice(0, 256)) || decodeBase64(data) === undefined) {
    throw wrongParam(`${at}.url`, 'must be an address, or a data URI with base64')
  }
  if (mediaType.startsWith('image/')) return { type: 'image', data, mimeType: mediaType }
  if (mediaType.startsWith('audio/')) return { type: 'audio', data, mimeType: mediaType }
  const uri = `attachment:${encodeURIComponent(Buffer.from(name).toString())}`
  return { type: 'resource', resource: { uri, mimeType: mediaType, blob: data } }
}
