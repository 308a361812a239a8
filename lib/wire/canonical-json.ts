/**
 * The one text of a JSON value that everybody who signs or compares it makes: members in the order of their
 * names' UTF-16 code units, no blanks, numbers and strings as ECMAScript writes them.
 * Spec: RFC 8785.
 */

/**
 * The canonical text. Members that are undefined are left out, as JSON leaves them out. Throws `TypeError`
 * for what JSON cannot say, and for text with half of a surrogate pair.
 */
export function formatCanonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return formatString(value)
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(formatCanonicalJson).join(',')}]`
  if (typeof value !== 'object') throw new TypeError(`JSON has no ${typeof value} such as this one`)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  // Comparing strings compares their code units.
  members.sort(([one], [other]) => one < other ? -1 : 1)
  const texts = members.map(([name, member]) => `${formatString(name)}:${formatCanonicalJson(member)}`)
  return `{${texts.join(',')}}`
}

function formatString(text: string): string {
  if (!/\p{Cs}/u.test(text)) return JSON.stringify(text)
  throw new TypeError('A text with half of a surrogate pair has no canonical form')
}
