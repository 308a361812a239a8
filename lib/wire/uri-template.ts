/**
 * URI templates: a template's text in, and out come its variables and the two directions, variables to a
 * URI (`uri-expand.ts`) and a URI back to variables (`uri-match.ts`).
 *
 * Matching uses no regular expression that goes back: its time is at most the length of the template times
 * the length of the URI, whoever wrote the URI. Knows nothing of schemes and of `..`.
 * Spec: RFC 6570, all four levels.
 */
import { encodeReserved, expand } from './uri-expand.ts'
import { createMatch } from './uri-match.ts'
import { WHOLE } from './uri-parts.ts'
import type { Expression, Operator, Part, TemplateValues, Variable } from './uri-parts.ts'

/** A template, parsed. */
export interface UriTemplate {
  readonly template: string
  /** The names of the variables, each once, in the template's order. */
  readonly variables: readonly string[]
  /** The URI for these variables. Throws `TypeError` where a prefix (`{name:3}`) is to be cut of a list. */
  expand(variables: TemplateValues): string
  /**
   * The variables of a URI, percent-decoded, in an object without a prototype; undefined where the URI is
   * not of this form, or longer than 8,192 characters. `{name*}` is a list, every other variable a string.
   *
   * A simple `{id}` is at least one character and holds no `/`, `?` or `#`, escaped or not; `{+path}` holds
   * everything.
   * Expressions that begin with a character of their own (`{/seg*}`, `{.ext}`, `{?q}` and so on) may be
   * missing, and their variables then too; named ones come in any order, unknown ones and two values for
   * one match not at all. Where several readings are possible, a value takes as much as it can, from left
   * to right; but as little as it can where an expression that may be missing comes next.
   */
  match(uri: string): Readonly<Record<string, string | readonly string[]>> | undefined
}

const simple: Operator = {
  sign: '', first: '', separator: ',', isNamed: false, ifEmpty: '', isReserved: false, stops: '/?#',
}
const reserved: Operator = { ...simple, sign: '+', isReserved: true, stops: '' }
const query: Operator = {
  ...simple, sign: '?', first: '?', separator: '&', isNamed: true, ifEmpty: '=', stops: '&#',
}

const operators: ReadonlyMap<string, Operator> = new Map([
  reserved,
  { ...reserved, sign: '#', first: '#' },
  { ...simple, sign: '.', first: '.', separator: '.' },
  { ...simple, sign: '/', first: '/', separator: '/' },
  { ...simple, sign: ';', first: ';', separator: ';', isNamed: true, stops: ';/?#' },
  query,
  { ...query, sign: '&', first: '&' },
].map((operator) => [operator.sign, operator]))

/** Parses a template. Throws `TypeError` with a sentence: what is wrong, and at which character. */
export function parseTemplate(template: string): UriTemplate {
  const parts = partsOf(template)
  const variables = parts.flatMap((part) => typeof part === 'string' ? [] : part.variables)
  return Object.freeze<UriTemplate>({
    template,
    variables: Object.freeze([...new Set(variables.map(({ name }) => name))]),
    expand: (values) => parts.map((part) => typeof part === 'string' ? part : expand(part, values)).join(''),
    match: createMatch(parts),
  })
}

function partsOf(template: string): readonly Part[] {
  const parts: Part[] = []
  for (let at = 0; at < template.length;) {
    const open = template.indexOf('{', at)
    const end = open < 0 ? template.length : open
    if (end > at) parts.push(literalOf(template, at, end))
    if (open < 0) break
    const close = template.indexOf('}', open)
    if (close < 0) throw broken(template, open, `the expression is not closed; write '}' behind it`)
    parts.push(expressionOf(template, open + 1, close))
    at = close + 1
  }
  return parts
}

function literalOf(template: string, from: number, to: number): string {
  const literal = template.slice(from, to)
  const at = literal.search(/%(?![0-9A-Fa-f]{2})|[\x00-\x20"<>\\^`|}\x7f]/)
  if (at < 0) return encodeReserved(literal)
  throw broken(template, from + at, `'${literal[at]}' cannot stand in a URI; write it percent-encoded`)
}

/** A name, and a prefix or a star. RFC 6570 §2.3, §2.4. */
const VARIABLE = /^((?:\w|%[0-9A-Fa-f]{2})+(?:\.(?:\w|%[0-9A-Fa-f]{2})+)*)(?::([1-9]\d{0,3})|(\*))?$/

function expressionOf(template: string, from: number, to: number): Expression {
  const sign = template[from]!
  if ('=,!@|'.includes(sign)) {
    throw broken(template, from, `'${sign}' is no operator; write one of + # . / ; ? & or none`)
  }
  const operator = operators.get(sign) ?? simple
  const variables: Variable[] = []
  let at = from + operator.sign.length
  for (const text of template.slice(at, to).split(',')) {
    const found = VARIABLE.exec(text)
    if (found === null) {
      throw broken(template, at, `'${text}' is no variable; write a name of letters, digits and _, `
        + `perhaps with ':3' or '*' behind it`)
    }
    const [, name = '', max = WHOLE, star] = found
    variables.push({ name, max: Number(max), isExploded: star !== undefined })
    at += text.length + 1
  }
  return { operator, variables }
}

function broken(template: string, at: number, why: string): TypeError {
  return new TypeError(`The URI template '${template}' is broken at character ${at + 1}: ${why}`)
}
