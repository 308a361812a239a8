/** Reads data URLs, by which clients attach files to a message. Spec: RFC 2397. */
import { base64 } from '../../kernel/define/content.ts'
import { percentDecoded } from '../../kernel/wire/uri.ts'

export interface DataUrl {
  /** Undefined where the URL has none. */
  readonly mimeType: string | undefined
  /** Base64; undefined where what it holds cannot be read. */
  readonly data: string | undefined
}

/** Characters of what stands before the data, at most. */
const MAX_HEAD = 1_024

/** What a data URL holds; undefined for any other address. */
export function readDataUrl(url: string): DataUrl | undefined {
  if (!/^data:/i.test(url)) return undefined
  const end = url.slice(0, MAX_HEAD).indexOf(',')
  if (end < 0) return { mimeType: undefined, data: undefined }
  const [type = '', ...parameters] = url.slice('data:'.length, end).split(';')
  const written = percentDecoded(url.slice(end + 1))
  const isBase64 = parameters.at(-1)?.trim().toLowerCase() === 'base64'
  return {
    mimeType: type.trim().toLowerCase() || undefined,
    data: written && (isBase64 ? base64(written) : Buffer.from(written).toString('base64')),
  }
}
