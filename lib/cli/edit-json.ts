/**
 * Changes one member of a JSON file that may have comments and trailing commas: a text in, the text with the
 * member out. Everything else stays as it is written.
 */
import { isDeepStrictEqual } from 'node:util'

/** A value in a text: where it is, and what. */
interface Span {
  readonly start: number
  readonly end: number
  readonly value: unknown
  /** Those of an object, in order. */
  readonly members: readonly Member[]
}

interface Member { readonly name: string; readonly at: number; readonly span: Span }

/** A string, a number, or a word. */
const SCALAR = /"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y
/** White space and comments. */
const BLANK = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y

/**
 * The text with `value` at `outer.name`; the same text where it is there already. Throws an `Error` where the
 * text is no JSON object, or holds something else in the place of `outer`.
 */
export function setMember(text: string, [outer, name]: readonly [string, string], value: unknown): string {
  const bom = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  const body = text.slice(bom.length)
  if (body.trim() === '') return `${bom}${JSON.stringify({ [outer]: { [name]: value } }, null, 2)}\n`
  const root = parse(body)
  const style = styleOf(body, root)
  const list = lastNamed(root, outer)
  const old = list === undefined ? undefined : lastNamed(list.span, name)
  if (list !== undefined && !isObject(body, list.span)) throw new Error(`'${outer}' is no object`)
  if (isDeepStrictEqual(old?.span.value, value)) return text
  const edited = list === undefined ? insert(body, root, outer, { [name]: value }, 0, style)
    : old === undefined ? insert(body, list.span, name, value, 1, style)
    : body.slice(0, old.span.start) + format(value, 2, style) + body.slice(old.span.end)
  const inner = lastNamed(lastNamed(parse(edited), outer)?.span ?? root, name)
  if (!isDeepStrictEqual(inner?.span.value, value)) throw new Error(`'${outer}' is written in an unusual way`)
  return bom + edited
}

interface Style { readonly unit: string; readonly eol: string }

function styleOf(text: string, { members }: Span): Style {
  const [, unit = '  '] = /\n([ \t]+)$/.exec(text.slice(0, members[0]?.at ?? 0)) ?? []
  return { unit, eol: text.includes('\r\n') ? '\r\n' : '\n' }
}

function format(value: unknown, depth: number, { unit, eol }: Style): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', eol + unit.repeat(depth))
}

/** The text with one more member, the last, in an object that is `depth` levels deep. */
function insert(
  text: string, object: Span, name: string, value: unknown, depth: number, style: Style,
): string {
  const { unit, eol } = style
  const member = `${eol}${unit.repeat(depth + 1)}${JSON.stringify(name)}: ${format(value, depth + 1, style)}`
  const last = object.members.at(-1)
  const from = last?.span.end ?? object.start + 1
  const between = text.slice(from, object.end - 1)
  const hasComma = last === undefined || text[skipBlank(text, from)] === ','
  // A comment behind the last member stays there.
  const head = last === undefined ? member + between.trimEnd()
    : `${hasComma ? '' : ','}${between.trimEnd()}${member}`
  return `${text.slice(0, from)}${head}${eol}${unit.repeat(depth)}${text.slice(object.end - 1)}`
}

function lastNamed({ members }: Span, name: string): Member | undefined {
  return members.findLast((member) => member.name === name)
}

function isObject(text: string, { start }: Span): boolean {
  return text[start] === '{'
}

/** Throws an `Error` for what is no JSON object, with its line. */
function parse(text: string): Span {
  const start = skipBlank(text, 0)
  if (text[start] !== '{') throw unexpected(text, start)
  const root = parseValue(text, start)
  const end = skipBlank(text, root.end)
  if (end < text.length) throw unexpected(text, end)
  return root
}

function parseValue(text: string, start: number): Span {
  if (text[start] === '{') return parseObject(text, start)
  if (text[start] === '[') return parseList(text, start)
  const [scalar] = matchAt(SCALAR, text, start)
  if (scalar === undefined) throw unexpected(text, start)
  return { start, end: start + scalar.length, value: valueOf(scalar, text, start), members: [] }
}

function parseObject(text: string, start: number): Span {
  const members: Member[] = []
  let at = skipBlank(text, start + 1)
  while (text[at] !== '}') {
    const key = parseValue(text, at)
    if (typeof key.value !== 'string') throw unexpected(text, at)
    const colon = skipBlank(text, key.end)
    if (text[colon] !== ':') throw unexpected(text, colon)
    const span = parseValue(text, skipBlank(text, colon + 1))
    members.push({ name: key.value, at, span })
    at = skipComma(text, span.end, '}')
  }
  // A member may be called __proto__.
  const value = Object.fromEntries(members.map(({ name, span }) => [name, span.value]))
  return { start, end: at + 1, value, members }
}

function parseList(text: string, start: number): Span {
  const values: unknown[] = []
  let at = skipBlank(text, start + 1)
  while (text[at] !== ']') {
    const item = parseValue(text, at)
    values.push(item.value)
    at = skipComma(text, item.end, ']')
  }
  return { start, end: at + 1, value: values, members: [] }
}

/** Where the next member is, or the closing bracket. */
function skipComma(text: string, from: number, close: string): number {
  const at = skipBlank(text, from)
  if (text[at] === ',') return skipBlank(text, at + 1)
  if (text[at] !== close) throw unexpected(text, at)
  return at
}

function skipBlank(text: string, from: number): number {
  return from + (matchAt(BLANK, text, from)[0]?.length ?? 0)
}

function matchAt(pattern: RegExp, text: string, at: number): readonly (string | undefined)[] {
  pattern.lastIndex = at
  return pattern.exec(text) ?? []
}

function valueOf(scalar: string, text: string, at: number): unknown {
  try {
    return JSON.parse(scalar)
  } catch {
    throw unexpected(text, at)
  }
}

function unexpected(text: string, at: number): Error {
  const line = text.slice(0, at).split('\n').length
  const what = at >= text.length ? 'the end' : `'${text.slice(at, at + 20).split(/\s/)[0]}'`
  return new Error(`line ${line} is no JSON at ${what}`)
}
