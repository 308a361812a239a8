/**
 * Decodes what the AI SDK's chat sends: its messages, each with its parts. Throws `Fault('invalid')` for the
 * first thing that is wrong, but for earlier messages: no user can mend those.
 * Spec: AI SDK 5 to 7, UIMessage and ChatTransport.
 */
import { givenMembers, isRecord, text } from '../../kernel/define/content.ts'
import { CONVERSATION_ID } from '../../floors/conversations/conversation-page.ts'
import { unseen } from '../../kernel/define/validate.ts'
import { isName } from '../../kernel/wire/bounded.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { clientToolsIn } from '../../floors/chat/client-tools.ts'
import { readDataUrl } from '../../floors/chat/data-url.ts'
import { nameIn, wrongBody, wrongMember } from '../../floors/chat/members.ts'
import { resultMessage } from '../../floors/chat/tool-exchange.ts'
import { attachmentOf, linesOf } from '../../floors/conversations/message.ts'
import type { ClientToolResult } from '../../kernel/define/client-tool.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { AgentInput } from '../../floors/chat/messages.ts'
import type { PassedOver } from '../../floors/chat/passed-over.ts'
import type { ChatMessage } from '../../kernel/define/call.ts'

export interface ChatInput extends AgentInput {
  /** Whether the answer goes on with a message that the chat has. */
  readonly isContinued: boolean
}

const roles: ReadonlyMap<unknown, ChatMessage['role']> = new Map([
  ['user', 'user'], ['assistant', 'assistant'], ['system', 'system'],
])

/** Types of parts that a front end shows or keeps, and that are no part of what its user says. */
const unsaid: ReadonlySet<unknown> = new Set([
  'custom', 'dynamic-tool', 'reasoning', 'reasoning-file', 'step-start', 'steering-message',
])
/** The same, each with a name behind it. */
const NAMED_UNSAID = /^(?:data|tool|source)-/

export function decodeChatInput(body: unknown, passed: PassedOver): ChatInput {
  if (!isRecord(body) || !Array.isArray(body['messages'])) {
    throw wrongBody('must be a JSON object with "messages", each with "role" and "parts"')
  }
  const { id, messages, tools, trigger: _trigger, messageId: _messageId, ...more } = body
  const all: readonly unknown[] = Array.isArray(messages) ? messages : []
  const last = all.findLastIndex((one) => isRecord(one) && one['role'] === 'user')
  if (all.length === 0) throw wrongMember('messages', 'is empty; it needs a message, as one of the role user')
  const history: ChatMessage[] = []
  const results = new Map<string, ClientToolResult>()
  for (let index = 0; index < all.length; index++) {
    if (index === last) continue
    const at = `messages[${index}]`
    const { role: name, parts } = isRecord(all[index]) ? membersIn(all[index]) : {}
    const role = roles.get(name)
    if (role === undefined || parts === undefined) {
      passed.add(at, role === undefined ? 'has no role that is known' : 'has no parts')
      continue
    }
    let said: Content[] = []
    for (const [place, part] of parts.entries()) {
      said.push(...textIn(part))
      const called = resultIn(part, `${at}.parts[${place}]`, passed)
      if (called === undefined) continue
      const { isOurs, ...result } = called
      if (index > last) {
        if (!isOurs) results.set(result.id, result)
      } else {
        history.push(...messageOf(role, said), resultMessage(result))
        said = []
      }
    }
    history.push(...messageOf(role, said))
  }
  // Without a user message the agent begins.
  const { parts } = last < 0 ? { parts: [] } : membersIn(all[last])
  if (parts === undefined) throw wrongMember(`messages[${last}].parts`, 'must be a list')
  const message: Content[] = []
  parts.forEach((part, index) => {
    const block = blockOf(part, `messages[${last}].parts[${index}]`)
    if (block !== undefined) message.push(block)
  })
  const chatId = typeof id === 'string' && CONVERSATION_ID.test(id) ? id : undefined
  return {
    protocol: 'http', sessionId: chatId, conversationId: chatId, isNamed: chatId !== undefined,
    isContinued: all.slice(last + 1).some((one) => isRecord(one) && one['role'] === 'assistant'),
    prompt: linesOf(message),
    message, history, metadata: givenMembers(more),
    clientTools: clientToolsIn(toolList(tools)),
    clientToolResults: results.size === 0 ? [] : [...results.values()],
  }
}

/** Some clients write their tools by name (assistant-ui), and a schema as the AI SDK calls it. */
function toolList(tools: unknown): unknown {
  const list = !isRecord(tools) ? tools : Object.entries(tools).map(([name, tool]) => (
    isRecord(tool) ? { ...tool, name } : tool
  ))
  if (!Array.isArray(list)) return list
  return list.map((tool: unknown) => isRecord(tool) ? { parameters: tool['inputSchema'], ...tool } : tool)
}

/** The parts of a message; those of before AI SDK 5 are a text. */
function membersIn(
  message: unknown,
): { readonly role?: unknown; readonly parts?: readonly unknown[] | undefined } {
  const { role, parts, content } = message as Readonly<Record<string, unknown>>
  if (Array.isArray(parts)) return { role, parts }
  return { role, parts: typeof content === 'string' ? [text(content)] : undefined }
}

/** None where nothing was said. */
function messageOf(role: ChatMessage['role'], said: readonly Content[]): readonly ChatMessage[] {
  const content = linesOf(said)
  return content === '' ? [] : [{ role, content }]
}

function textIn(part: unknown): readonly Content[] {
  const { type, text: written } = isRecord(part) ? part : {}
  return type === 'text' && typeof written === 'string' ? [text(written)] : []
}

/** The result of a tool; `isOurs`: the agent has called it itself. Undefined: it is none that can be read. */
function resultIn(
  part: unknown, at: string, passed: PassedOver,
): ClientToolResult & { readonly isOurs: boolean } | undefined {
  const { type, toolName, toolCallId: id, state, input, output, errorText, providerExecuted } = (
    isRecord(part) ? part : {}
  )
  const isTool = type === 'dynamic-tool' || (typeof type === 'string' && type.startsWith('tool-'))
  if (!isTool || (state !== 'output-available' && state !== 'output-error')) return undefined
  const name = type === 'dynamic-tool' ? toolName : type.slice('tool-'.length)
  if (typeof id !== 'string' || id === '' || typeof name !== 'string' || name === '') {
    return void passed.add(at, 'is a tool without an id or a name')
  }
  nameIn(id, `${at}.toolCallId`)
  nameIn(name, `${at}.${type === 'dynamic-tool' ? 'toolName' : 'type'}`)
  const value = state === 'output-error' ? errorText : output
  const result = typeof value === 'string' ? value : formatJson(value) ?? ''
  return { id, name, args: isRecord(input) ? input : {}, result, isOurs: providerExecuted === true }
}

/** Undefined for what is for the front end alone. */
function blockOf(part: unknown, at: string): Content | undefined {
  const { type, text: written, mediaType, url, filename } = isRecord(part) ? part : {}
  if (type === 'text') {
    if (typeof written !== 'string') throw wrongMember(`${at}.text`, 'must be a string')
    return text(written)
  }
  if (unsaid.has(type) || (typeof type === 'string' && NAMED_UNSAID.test(type))) return undefined
  if (type !== 'file') throw wrongMember(`${at}.type`, `must be text or file${unseen(type)}`)
  if (typeof url !== 'string' || !isName(mediaType)) {
    throw wrongMember(at, 'must be a file with "url" and "mediaType"')
  }
  const name = nameIn(filename || 'file', `${at}.filename`)
  const held = readDataUrl(url)
  if (held === undefined) {
    return { type: 'resource_link', uri: nameIn(url, `${at}.url`), name, mimeType: mediaType }
  }
  if (!held.data) throw wrongMember(`${at}.url`, 'must be an address, or a data URI with base64')
  // The AI SDK takes half a type, too: `image`, `image/*`.
  const isHalf = !mediaType.includes('/') || mediaType.endsWith('/*')
  return attachmentOf(held.data, isHalf ? held.mimeType ?? mediaType : mediaType, name)
}
