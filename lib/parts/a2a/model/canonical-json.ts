/** JSON in its canonical form, which signatures are made of. RFC 8785. */
import { formatJson } from '../../../kernel/wire/json.ts'

/**
 * The canonical text of RFC 8785: members in the order of their names' UTF-16 code units, no blanks. Members
 * that are undefined are left out. Throws `TypeError` for what JSON cannot represent, and for text with half
 * of a surrogate pair.
 */
export function formatCanonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return formatString(value)
  if (typeof value === 'number' && Number.isFinite(value)) return formatJson(value)
  if (Array.isArray(value)) return `[${value.map(formatCanonicalJson).join(',')}]`
  if (typeof value !== 'object') throw new TypeError(`JSON has no ${typeof value} such as this one`)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  // Comparing strings compares their code units.
  members.sort(([one], [other]) => one < other ? -1 : 1)
  const texts = members.map(([name, member]) => `${formatString(name)}:${formatCanonicalJson(member)}`)
  return `{${texts.join(',')}}`
}

function formatString(text: string): string {
  if (!/\p{Cs}/u.test(text)) return formatJson(text)
  throw new TypeError('A text with half of a surrogate pair has no canonical form')
}
