/** The messages of one conversation, within their bounds in number and in bytes: lists that never change. */
import type { Limits } from './limits.ts'

/** One message of a conversation. */
export interface ChatMessage { readonly role: 'user' | 'assistant' | 'system'; readonly content: string }

/** Messages, the oldest first, and how many bytes they count for. */
export interface Chat { readonly messages: readonly ChatMessage[]; readonly bytes: number }

export const noChat: Chat = Object.freeze({ messages: Object.freeze([]), bytes: 0 })

/** A conversation with more messages; beyond its own limits the oldest are left out. */
export function append({ messages, bytes }: Chat, more: readonly ChatMessage[], limits: Limits): Chat {
  const { conversationMessages, conversationBytes } = limits
  const all = messages.length === 0 ? more : [...messages, ...more]
  let total = bytes
  for (const message of more) total += sizeOf(message)
  let drop = Math.max(0, all.length - conversationMessages)
  for (let at = 0; at < drop; at++) total -= sizeOf(all[at]!)
  while (total > conversationBytes) total -= sizeOf(all[drop++]!)
  return { messages: drop === 0 ? all : all.slice(drop), bytes: total }
}

export function sizeOf(message: ChatMessage): number {
  return Buffer.byteLength(message.content) + message.role.length
}
