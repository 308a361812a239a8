/**
 * References to items that a client was given: each is the item itself, as it is kept with its response. The
 * id of an item has the id of its response in it, so no index of items is kept.
 * Spec: https://platform.openai.com/docs/api-reference/responses/create, Item reference
 */
import { InnerJson } from '../../../floors/bounds/parse-json.ts'
import { isGiven, isRecord } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { nameIn } from '../../../floors/chat/members.ts'
import { readResponse } from './kept-responses.ts'
import type { JsonBounds } from '../../../floors/bounds/parse-json.ts'
import type { KernelLimits } from '../../../kernel/define/limits.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { ResponseItem } from './response-input.ts'

/** The items of a request, and how many characters of them were read of the store. */
export interface ReferredItems { readonly input: readonly ResponseItem[]; readonly readLength: number }

/** Of an item of an output, or of one as `GET …/input_items` lists it. */
const ITEM_ID = /^(?:[a-z]{2,8}_([0-9a-f]{32})[0-9a-f]{2,}|(resp_[0-9a-f]{32})_\d+)$/

/** The id of the item at `place` among those of the response `responseId`. */
export function itemId(prefix: string, responseId: string, place: number): string {
  const [, hex] = responseId.split('_')
  return `${prefix}_${hex}${place.toString(16).padStart(2, '0')}`
}

export function inputItemId(responseId: string, place: number): string {
  return `${responseId}_${place}`
}

function responseOf(id: string): string | undefined {
  const [, hex, ofInput] = ITEM_ID.exec(id) ?? []
  return hex === undefined ? ofInput : `resp_${hex}`
}

/** Some clients leave its type out. */
function isReference({ type, id, role, content }: ResponseItem): boolean {
  return type === 'item_reference' || (!isGiven(type) && isGiven(id) && !isGiven(role) && !isGiven(content))
}

/**
 * The items with what references stand for. One to an item that is there itself, of `before` or of `input`,
 * and one that comes again, says nothing. Throws, or rejects with, a `Fault`: `not-found` for one to an item
 * that the caller does not have.
 */
export function resolveReferences(
  service: Service, owner: string, input: readonly ResponseItem[], before: readonly ResponseItem[],
): MaybePromise<ReferredItems> {
  return input.some(isReference) ? resolve(service, owner, input, before) : { input, readLength: 0 }
}

async function resolve(
  service: Service, owner: string, input: readonly ResponseItem[], before: readonly ResponseItem[],
): Promise<ReferredItems> {
  const said = new Set([...before, ...input.filter((item) => !isReference(item))].map(({ id }) => id))
  /** By its id, where each stands. */
  const wanted = new Map<unknown, number>()
  for (const [index, item] of input.entries()) {
    if (!isReference(item)) continue
    const id = nameIn(item['id'], `input[${index}].id`)
    if (!said.has(id) && !wanted.has(id)) wanted.set(id, index)
  }
  const found = new FoundItems(wanted, service.limits)
  // The latest first: its response has most of the others too.
  for (const [id, index] of [...wanted].reverse()) {
    if (!found.has(id)) await found.read(service, owner, String(id))
    if (!found.has(id)) throw unknownItem(String(id), `input[${index}].id`)
  }
  const items = input.flatMap((item, index) => {
    const { id } = item
    if (!isReference(item)) return [item]
    return wanted.get(id) === index ? [found.get(id)] : []
  })
  return { input: items, readLength: found.length }
}

/** The items that are wanted. Together they hold no more than a body may. */
class FoundItems {
  /** Characters of them. */
  length = 0
  readonly #wanted: ReadonlyMap<unknown, unknown>
  readonly #items = new Map<unknown, ResponseItem>()
  readonly #maxBytes: number
  readonly #inner: InnerJson
  #readLength = 0

  constructor(
    wanted: ReadonlyMap<unknown, unknown>, limits: Pick<KernelLimits, 'maxBodyBytes' | keyof JsonBounds>,
  ) {
    this.#wanted = wanted
    this.#maxBytes = limits.maxBodyBytes
    this.#inner = new InnerJson(limits)
  }

  has(id: unknown): boolean { return this.#items.has(id) }
  get(id: unknown): ResponseItem { return this.#items.get(id)! }

  /** Takes what the response of an item has of them. Throws, or rejects with, a `Fault`. */
  async read(service: Service, owner: string, id: string): Promise<void> {
    const responseId = responseOf(id)
    if (responseId === undefined) return
    if (this.#readLength > this.#maxBytes) throw this.#tooMuch()
    const kept = await readResponse(service, owner, responseId)
    if (kept === undefined) return
    this.#readLength += kept.length
    const { response: { output }, input, items } = kept
    for (const item of Array.isArray(output) ? output.filter(isRecord) : []) this.#take(item['id'], item)
    for (const [index, item] of input.entries()) {
      this.#take(item['id'], item)
      this.#take(inputItemId(responseId, index), item)
    }
    for (const item of items) this.#take(item['id'], item)
  }

  #take(id: unknown, item: ResponseItem): void {
    if (!this.#wanted.has(id) || this.#items.has(id)) return
    const text = formatJson(item)
    this.length += text.length
    if (this.length > this.#maxBytes || !this.#inner.parse(text).ok) throw this.#tooMuch()
    this.#items.set(id, item)
  }

  #tooMuch(): Fault {
    return new Fault('too-large', `The items that are referred to hold more than ${this.#maxBytes} bytes`)
  }
}

function unknownItem(id: string, param: string): Fault {
  const why = 'Items of a response with "store": false are not kept, others as long as a conversation'
  return new Fault('not-found', `Item with id '${id.slice(0, 80)}' not found. ${why}; send the item itself`, {
    param,
  })
}
