/** Changes one table of a TOML file: a text in, the text with the table out. */
import { tomlTable } from '../floors/hosts/mcp-hosts.ts'

/**
 * The text with the table `outer.name`; the same text where it is there already. `name` is a bare key. Throws
 * an `Error` where the server stands there in another form than as a table.
 */
export function setTable(
  text: string, [outer, name]: readonly [string, string], entry: Readonly<Record<string, unknown>>,
): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const table = tomlTable(`${outer}.${name}`, entry).replaceAll('\n', eol)
  const lines = text.split(/(?<=\n)/)
  const key = `(?:${name}|"${name}"|'${name}')`
  const own = new RegExp(`^\\s*\\[\\s*${outer}\\s*\\.\\s*${key}\\s*\\]`)
  const inner = new RegExp(`^\\s*\\[\\s*${outer}\\s*\\.\\s*${key}\\s*\\.`)
  const dotted = new RegExp(`^\\s*${outer}\\s*\\.\\s*${key}\\s*[.=]`)
  if (lines.some((line) => dotted.test(line)) || isInline(lines, outer, key)) {
    throw new Error(`'${outer}' has '${name}' in a form of its own; take that out first`)
  }
  const start = lines.findIndex((line) => own.test(line))
  if (start === -1) {
    const isHeadless = lines.some((line) => inner.test(line))
    if (isHeadless) throw new Error(`'${outer}.${name}' has tables, and none of its own; take them out first`)
    const gap = text === '' || text.endsWith(eol + eol) ? '' : text.endsWith(eol) ? eol : eol + eol
    return text + gap + table
  }
  const length = lines.slice(start + 1).findIndex((line) => /^\s*\[/.test(line) && !inner.test(line))
  const end = length === -1 ? lines.length : start + 1 + length
  // What is behind the last value belongs to the next table.
  const last = lines.slice(0, end).findLastIndex((line) => /^\s*[^\s#]/.test(line)) + 1
  const before = lines.slice(0, start).join('')
  const after = lines.slice(last).join('')
  return lines.slice(start, last).join('') === table ? text : before + table + after
}

/** Whether the table of all servers has the server as a value. */
function isInline(lines: readonly string[], outer: string, key: string): boolean {
  const start = lines.findIndex((line) => new RegExp(`^\\s*\\[\\s*${outer}\\s*\\]`).test(line))
  if (start === -1) return false
  const length = lines.slice(start + 1).findIndex((line) => /^\s*\[/.test(line))
  const own = lines.slice(start + 1, length === -1 ? undefined : start + 1 + length)
  return own.some((line) => new RegExp(`^\\s*${key}\\s*[.=]`).test(line))
}
