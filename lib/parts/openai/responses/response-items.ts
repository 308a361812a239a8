/**
 * The items of a response as they come, and the events that say so: text and reasoning in pieces, calls
 * whole. Made again of the same pieces they are the same, with their ids.
 * Spec: https://platform.openai.com/docs/api-reference/responses-streaming
 */
import { isRecord } from '../../../kernel/define/content.ts'
import { formatJson, quote } from '../../../kernel/wire/json.ts'
import { itemId } from './item-references.ts'
import {
  callItem, messageItem, reasoningItem, reasoningPart, refusalPart, summaryPart, textPart,
} from './response-object.ts'
import type { ResponseItem } from './response-input.ts'
import type { NamespacedCall } from './response-object.ts'

/** Takes an event: its type, its further members as JSON, and the brace. False: its reader is behind. */
export type SendEvent = (type: string, rest: string) => boolean

interface Growing { readonly id: string; text: string }

export class ResponseItems {
  /** Those that are done. */
  readonly output: ResponseItem[] = []
  /** Gets the events. Undefined: nobody reads them. */
  send: SendEvent | undefined
  readonly #responseId: string
  #message: Growing | undefined
  #reasoning: Growing | undefined
  /** Reasoning that comes while a message is written, which follows it. */
  #laterReasoning = ''

  constructor(responseId: string, send?: SendEvent) {
    this.#responseId = responseId
    this.send = send
  }

  get hasMessage(): boolean { return this.#message !== undefined }

  /** Those that are done, and what is there of the one that is not. */
  get soFar(): readonly ResponseItem[] {
    const [message, reasoning] = [this.#message, this.#reasoning]
    if (message !== undefined) {
      return [...this.output, messageItem(message.id, [textPart(message.text)], 'incomplete')]
    }
    if (reasoning === undefined) return this.output
    return [...this.output, reasoningItem(reasoning.id, reasoning.text, 'incomplete')]
  }

  /** A piece of the message. False: the reader is behind. */
  say(delta: string): boolean {
    if (delta === '') return true
    const message = this.#message ?? this.#openMessage()
    message.text += delta
    if (this.send === undefined) return true
    return this.send('response.output_text.delta', `"output_index":${this.output.length},`
      + `"item_id":"${message.id}","content_index":0,"delta":${quote(delta)},"logprobs":[]}`)
  }

  reason(delta: string): void {
    if (this.#message === undefined) this.#reason(delta)
    else this.#laterReasoning += delta
  }

  refuse(refusal: string): void {
    const { id } = this.#openMessage(refusalPart(''))
    this.#event('response.refusal.delta', { item_id: id, content_index: 0, delta: refusal })
    this.#event('response.refusal.done', { item_id: id, content_index: 0, refusal })
    this.#doneMessage(id, refusalPart(refusal))
  }

  /** Ends what is open, and adds the calls. */
  end(calls: readonly NamespacedCall[]): void {
    this.#closeMessage()
    for (const call of calls) this.#call(call)
    this.#closeReasoning()
  }

  /** What is left of the items as they are at the end, behind what has come of them in pieces. */
  finish(items: readonly ResponseItem[]): void {
    // It is among them.
    this.#laterReasoning = ''
    for (const item of items.slice(this.output.length)) {
      const { type, call_id: id, name, namespace, arguments: written } = item
      const [text, refusal] = ['text', 'refusal'].map((member) => firstText(item, member))
      if (type === 'reasoning') {
        this.#reason(text!.slice(this.#reasoning?.text.length ?? 0))
        this.#closeReasoning()
      } else if (type === 'function_call') {
        const args = JSON.parse(String(written)) as NamespacedCall['args']
        const place = typeof namespace === 'string' ? { namespace } : {}
        this.#call({ id: String(id), name: String(name), args, ...place })
      } else if (refusal !== '') {
        this.refuse(refusal!)
      } else {
        this.say(text!.slice(this.#message?.text.length ?? 0))
        this.#closeMessage()
      }
    }
  }

  #openMessage(part = textPart('')): Growing {
    this.#closeReasoning()
    const message = { id: this.#newId('msg'), text: '' }
    this.#message = message
    this.#event('response.output_item.added', { item: messageItem(message.id, [], 'in_progress') })
    this.#event('response.content_part.added', { item_id: message.id, content_index: 0, part })
    return message
  }

  #closeMessage(): void {
    if (this.#message === undefined) return
    const { id, text } = this.#message
    this.#event('response.output_text.done', { item_id: id, content_index: 0, text, logprobs: [] })
    this.#doneMessage(id, textPart(text))
  }

  #doneMessage(id: string, part: ResponseItem): void {
    this.#message = undefined
    this.#event('response.content_part.done', { item_id: id, content_index: 0, part })
    this.#done(messageItem(id, [part], 'completed'))
  }

  #call(call: NamespacedCall): void {
    this.#closeReasoning()
    const id = this.#newId('fc')
    const written = formatJson(call.args)
    const members = { item_id: id, name: call.name }
    this.#event('response.output_item.added', { item: callItem(id, call, '', false) })
    this.#event('response.function_call_arguments.delta', { item_id: id, delta: written })
    this.#event('response.function_call_arguments.done', { ...members, arguments: written })
    this.#done(callItem(id, call, written, true))
  }

  /** As a summary, which every client reads. The text comes whole: clients that read both would show both. */
  #reason(delta: string): void {
    if (delta === '') return
    const item = this.#reasoning ?? this.#openReasoning()
    item.text += delta
    this.#event('response.reasoning_summary_text.delta', { item_id: item.id, summary_index: 0, delta })
  }

  #openReasoning(): Growing {
    const item = { id: this.#newId('rs'), text: '' }
    const { id: item_id } = item
    this.#reasoning = item
    this.#event('response.output_item.added', { item: reasoningItem(item_id, undefined, 'in_progress') })
    this.#event('response.content_part.added', { item_id, content_index: 0, part: reasoningPart('') })
    const begun = { item_id, summary_index: 0, part: summaryPart('') }
    this.#event('response.reasoning_summary_part.added', begun)
    return item
  }

  #closeReasoning(): void {
    this.#reason(this.#laterReasoning)
    this.#laterReasoning = ''
    if (this.#reasoning === undefined) return
    const { id: item_id, text } = this.#reasoning
    this.#reasoning = undefined
    this.#event('response.reasoning_text.done', { item_id, content_index: 0, text })
    this.#event('response.content_part.done', { item_id, content_index: 0, part: reasoningPart(text) })
    const place = { item_id, summary_index: 0 }
    this.#event('response.reasoning_summary_text.done', { ...place, text })
    this.#event('response.reasoning_summary_part.done', { ...place, part: summaryPart(text) })
    this.#done(reasoningItem(item_id, text, 'completed'))
  }

  #done(item: ResponseItem): void {
    this.#event('response.output_item.done', { item })
    this.output.push(item)
  }

  #newId(prefix: string): string { return itemId(prefix, this.#responseId, this.output.length) }

  /** An event of the item that comes next. */
  #event(type: string, members: object): void {
    this.send?.(type, `"output_index":${this.output.length},${formatJson(members).slice(1)}`)
  }
}

/** A text in the first part of an item; '' where there is none. */
function firstText({ summary, content }: ResponseItem, member: string): string {
  const [part]: readonly unknown[] = [summary ?? content].flat()
  const text = isRecord(part) ? part[member] : undefined
  return typeof text === 'string' ? text : ''
}
