/** How much a client wants a media type, by its `Accept` header. RFC 9110 §12.5.1. */
import { BoundedMap } from '../../kernel/util/bounded-map.ts'
import { splitList } from '../../kernel/wire/media.ts'

/**
 * How much an `Accept` header wants a media type, 0 to 1, by the most specific range that matches it.
 * A missing header wants everything. What follows the 64th comma is not read.
 */
export function acceptance(accept: string | undefined, type: string): number {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === '*') return 1
  if (accept.length > MAX_REMEMBERED_CHARS) return read(accept, type)
  let wanted = remembered.get(accept)
  if (wanted === undefined) remembered.set(accept, wanted = new Map())
  let quality = wanted.get(type)
  if (quality === undefined) wanted.set(type, quality = read(accept, type))
  return quality
}

// Clients send the same few values again and again.
const MAX_REMEMBERED_CHARS = 256
const remembered = new BoundedMap<Map<string, number>>(256)

function read(accept: string, type: string): number {
  const [main] = type.split('/')
  let best = -1
  let quality = 0
  for (const range of splitList(accept, ',')) {
    const [name = '', ...parameters] = splitList(range, ';')
    const wanted = name.trim().toLowerCase()
    const specific = wanted === type ? 2 : wanted === `${main}/*` ? 1 : wanted === '*/*' ? 0 : -1
    if (specific <= best) continue
    best = specific
    quality = qualityOf(parameters)
  }
  return quality
}

function qualityOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=')
    if (name.trim().toLowerCase() !== 'q') continue
    const quality = Number(value.trim())
    return quality >= 0 && quality <= 1 ? quality : 0
  }
  return 1
}
