/** The messages of one conversation, within their bounds in number and in bytes. */
import type { ChatMessage } from '../../kernel/define/call.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'

/** The roles that clients write, each with what it is to an agent. */
export const chatRoles: ReadonlyMap<unknown, ChatMessage['role']> = new Map([
  ['user', 'user'], ['assistant', 'assistant'], ['system', 'system'], ['developer', 'system'],
])

/** Messages, the oldest first, and how many bytes they count for. */
export interface Chat {
  readonly messages: ChatMessage[]
  bytes: number
}

/** Adds messages to a conversation; beyond its own limits the oldest go. */
export function append(chat: Chat, more: readonly ChatMessage[], limits: KernelLimits): void {
  const { messages } = chat
  const { conversationMessages, conversationBytes } = limits
  let total = chat.bytes
  for (const message of more) {
    messages.push(message)
    total += sizeOf(message)
  }
  while (messages.length > conversationMessages || total > conversationBytes) {
    total -= sizeOf(messages.shift()!)
  }
  chat.bytes = total
}

export function sizeOf(message: ChatMessage): number {
  return Buffer.byteLength(message.content) + message.role.length
}
