/**
 * `x-mcp-header`: arguments of a tool that a client repeats as `Mcp-Param-*` headers, so that proxies can
 * route by them. Checked when a tool is served, and on each call against the body.
 *
 * Spec: MCP 2026-07-28, Transports, Custom Headers from Tool Parameters.
 */
import { isRecord } from '../../define/content.ts'
import { decodeHeaderValue } from '../../wire/base64.ts'
import type { Tool } from '../../define/tool.ts'
import type { Exchange } from '../../http/message/exchange.ts'

/** One argument with a header: where it is, and what the header is called. */
interface ParamHeader { readonly path: readonly string[]; readonly header: string; readonly type: string }

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const types: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean'])
const known = new WeakMap<Tool, readonly ParamHeader[]>()

/** The headers of a tool. Throws `TypeError` where an annotation is one that clients would refuse. */
export function headersFor(tool: Tool): readonly ParamHeader[] {
  let headers = known.get(tool)
  if (headers === undefined) {
    const found: ParamHeader[] = []
    collect(found, tool, tool.input.json, [], true)
    headers = found
    const names = headers.map(({ header }) => header.toLowerCase())
    const twin = names.find((name, index) => names.indexOf(name) !== index)
    if (twin !== undefined) {
      throw mistake(tool, `two arguments have the header '${twin}'; give each a name of its own`)
    }
    known.set(tool, headers)
  }
  return headers
}

/**
 * Walks the schema and adds what it finds. Only `properties` lead to arguments that a client can find without
 * validating.
 */
function collect(
  found: ParamHeader[], tool: Tool, schema: unknown, path: readonly string[], isReachable: boolean,
): void {
  if (Array.isArray(schema)) for (const item of schema) collect(found, tool, item, path, false)
  if (!isRecord(schema)) return
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'x-mcp-header') {
      found.push(checked(tool, schema, path, isReachable, value))
    } else if (keyword === 'properties' && isRecord(value)) {
      for (const [name, member] of Object.entries(value)) {
        collect(found, tool, member, [...path, name], isReachable)
      }
    } else if (typeof value === 'object' && !literals.has(keyword)) {
      collect(found, tool, value, path, false)
    }
  }
}

/** Keywords whose values are data, not schemas. */
const literals: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required'])

function checked(
  tool: Tool, schema: Readonly<Record<string, unknown>>, path: readonly string[], isReachable: boolean,
  value: unknown,
): ParamHeader {
  const where = `'${path.join('.')}'`
  if (typeof value !== 'string' || !TOKEN.test(value)) {
    throw mistake(tool, `x-mcp-header of ${where} must be a header token, as in 'Region'`)
  }
  if (!isReachable || path.length === 0) {
    throw mistake(tool, `x-mcp-header of ${where} must be on a property that properties alone lead to`)
  }
  if (!types.has(schema['type'])) {
    throw mistake(tool, `${where} has x-mcp-header, so its type must be string, integer or boolean`)
  }
  return { path, header: `Mcp-Param-${value}`, type: String(schema['type']) }
}

function mistake(tool: Tool, why: string): TypeError {
  return new TypeError(`The tool '${tool.name}': ${why}`)
}

/** The first header of a call that does not say what the body says. */
export function paramFault(tool: Tool | undefined, args: unknown, exchange: Exchange): string | undefined {
  if (tool === undefined) return undefined
  for (const { path, header, type } of headersFor(tool)) {
    if (!agrees(valueAt(args, path), exchange.header(header.toLowerCase()), type)) return header
  }
  return undefined
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args
  for (const name of path) value = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
  return value
}

function agrees(value: unknown, header: string | undefined, type: string): boolean {
  if (value === undefined || value === null) return header === undefined
  const said = header === undefined ? undefined : decodeHeaderValue(header)
  if (said === undefined) return false
  // An integer may be spelled in several ways; what is no number at all is the schema's to find.
  if (type === 'integer' && typeof value === 'number') {
    return /^-?\d+(?:\.0+)?$/.test(said) && Number(said) === value && Number.isSafeInteger(Number(said))
  }
  return said === (typeof value === 'string' ? value : String(value))
}
