/**
 * Compaction: the items of a conversation as one, which a client can send instead of them. It holds what an
 * agent reads of them, packed and sealed, so nothing is kept here, and only who has it made can send it.
 * Spec: Open Responses 2026-04-24, `POST /v1/responses/compact`.
 */
import { InnerJson } from '../../../floors/bounds/parse-json.ts'
import { isRecord } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import type { JsonBounds } from '../../../floors/bounds/parse-json.ts'
import type { KernelLimits } from '../../../kernel/define/limits.ts'
import type { Seal } from '../../../kernel/wire/seal.ts'
import type { CompactionOpener, ResponseItem } from './response-input.ts'

const PURPOSE = 'compaction'

/** Most servers never need it. */
const zlib = (): typeof import('node:zlib') => process.getBuiltinModule('node:zlib')

/** The sealed items. `owner`: whose they are. */
export function sealItems(seal: Seal, owner: string, items: readonly ResponseItem[]): Promise<string> {
  const kept = items.filter(({ type }) => type !== 'reasoning').map(withoutMarks)
  return new Promise((resolve, reject) => {
    zlib().deflateRaw(formatJson(kept), (error, packed) => {
      if (error !== null) reject(error)
      else resolve(seal.seal(PURPOSE, packed.toString('base64'), Infinity, owner))
    })
  })
}

/** An item without what says nothing to an agent. */
function withoutMarks({ id: _id, status: _status, content, ...item }: ResponseItem): ResponseItem {
  if (!Array.isArray(content)) return { ...item, content }
  // What is no part is of an item without content.
  const parts = content.filter(isRecord).map(({ annotations: _, logprobs: __, ...part }) => part)
  return { ...item, content: parts }
}

/** Reads the compactions of one request. */
export class CompactionReader implements CompactionOpener {
  /** Characters that were read. */
  length = 0
  readonly #seal: Seal
  readonly #owner: string
  readonly #maxBytes: number
  readonly #inner: InnerJson

  constructor(seal: Seal, owner: string, limits: Pick<KernelLimits, 'maxBodyBytes' | keyof JsonBounds>) {
    this.#seal = seal
    this.#owner = owner
    this.#maxBytes = limits.maxBodyBytes
    this.#inner = new InnerJson(limits)
  }

  open({ encrypted_content: sealed }: ResponseItem, at: string): readonly ResponseItem[] {
    const packed = typeof sealed === 'string' ? this.#seal.open(PURPOSE, sealed, this.#owner) : undefined
    const param = `${at}.encrypted_content`
    if (typeof packed !== 'string') {
      const why = 'is not what POST /v1/responses/compact gave you here; send the whole conversation'
      throw new Fault('invalid', `${param} ${why}`, { param, code: 'invalid_encrypted_content' })
    }
    const parsed = this.#inner.parse(this.#unpack(packed))
    if (!parsed.ok) throw new Fault('too-large', `${param} cannot be read: ${parsed.why}`)
    return parsed.value as readonly ResponseItem[]
  }

  #unpack(packed: string): string {
    const maxOutputLength = this.#maxBytes - this.length
    try {
      if (maxOutputLength <= 0) throw new RangeError('Nothing is left')
      const text = zlib().inflateRawSync(Buffer.from(packed, 'base64'), { maxOutputLength }).toString()
      this.length += text.length
      return text
    } catch {
      throw new Fault('too-large', `The compactions hold more than ${this.#maxBytes} bytes together`)
    }
  }
}
