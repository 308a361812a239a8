/** Reads schemas of effect, which keep a syntax tree: version 3, and version 4. */
import { about, escaped, hasOwnFlags, rawOf, together } from './library-part.ts'
import { itemsIn } from '../shared/shape.ts'
import type { JsonObject } from '../../kernel/schema/rule.ts'
import type { Side } from '../../kernel/schema/standard.ts'
import type { LibraryPart, Raw } from './library-part.ts'

const words: ReadonlySet<string> = new Set([
  'any', 'unknown', 'never', 'undefined', 'void', 'string', 'number', 'boolean', 'null', 'bigint', 'symbol',
])

/** What version 3 calls `StringKeyword`, version 4 calls `String`. */
function wordOfTag(tag: unknown): string | undefined {
  const word = String(tag).replace(/^Unique|Keyword$/g, '').toLowerCase()
  return words.has(word) ? word : undefined
}

/** A node of the tree. */
export function readEffect(node: Raw, side: Side): LibraryPart | undefined {
  const { _tag: tag, encoding } = node
  if (typeof tag !== 'string') return undefined
  const isOptional = isOmissible(node, side)
  const from = side === 'input' ? rawOf(itemsIn(encoding).at(-1))['to'] : undefined
  if (from === undefined) return { ...readNode(node, tag), isOptional }
  return { type: 'pipe', from, to: { ...node, encoding: undefined }, more: descriptionOf(node), isOptional }
}

function readNode(node: Raw, tag: string): LibraryPart {
  const written = annotation(node, 'JSONSchema')
  const word = wordOfTag(tag)
  const kind = word ?? (tag === 'Arrays' ? 'array' : 'object')
  const more = together(...itemsIn(node['checks']).map((check) => keywordsOfCheck(check, kind)),
    written !== undefined ? withoutFlagged(about(written), patternIn(node)) : {}, descriptionOf(node))
  switch (tag) {
    case 'Declaration': return { ...declared(node, written), more }
    case 'Refinement': return { type: 'wrapped', inner: node['from'], isNarrowed: true, more }
    case 'Member': return { type: 'wrapped', inner: node['type'], more }
    case 'Transformation': return { type: 'pipe', from: node['from'], to: node['to'], more }
    case 'Suspend': return { type: 'lazy', inner: node['thunk'] ?? node['f'], more }
    case 'Literal': return { type: 'enum', choices: [node['literal']], more }
    case 'Enum': case 'Enums':
      return { type: 'enum', choices: itemsIn(node['enums']).map((pair) => itemsIn(pair)[1]), more }
    case 'TemplateLiteral': return { type: 'string', more: { pattern: `^${templateOf(node)}$`, ...more } }
    case 'Union': return { ...unionOf(itemsIn(node['types'])), more }
    case 'Arrays': case 'TupleType': return tupleOf(node, more)
    case 'Objects': case 'TypeLiteral': return objectOf(node, more)
    case 'ObjectKeyword': return { type: 'any', more: { type: ['object', 'array'], ...more } }
    default: return { type: word ?? tag, more, isNarrowed: itemsIn(node['checks']).length > 0 }
  }
}

const symbols = 'effect/annotation/'

/** What version 3 keeps under a symbol, and version 4 under a name. */
function annotation(node: Raw, name: string): unknown {
  return Reflect.get(rawOf(node['annotations']), Symbol.for(symbols + name))
}

function descriptionOf(node: Raw): JsonObject {
  const last = rawOf(itemsIn(node['checks']).at(-1))
  const { title, description, examples } = { ...rawOf(node['annotations']), ...rawOf(last['annotations']) }
  const own = annotation(node, 'Description')
  // Its words for what has no description of its own.
  const isPlain = wordOfTag(node['_tag']) !== undefined && /^an? \w+$/.test(String(own))
  return about({ title, examples, description: description ?? (isPlain ? undefined : own) })
}

function keywordsOfCheck(check: unknown, type: string): JsonObject {
  const { annotations, checks } = rawOf(check)
  const { toJsonSchema } = rawOf(annotations)
  if (typeof toJsonSchema !== 'function') {
    return together(...itemsIn(checks).map((one) => keywordsOfCheck(one, type)))
  }
  const given: unknown = toJsonSchema({ type, schemas: [] })
  // Effect counts halves of characters, and writes how few characters these can be.
  const payload = rawOf(rawOf(rawOf(annotations)['representation'])['payload'])
  const { minLength } = payload
  return {
    ...withoutFlagged(rawOf(Array.isArray(given) ? given[0] : given), payload),
    ...type === 'string' && minLength !== undefined && { minLength },
  }
}

/** Of version 3: the expression of a check. */
function patternIn(node: Raw): Raw {
  return rawOf(rawOf(Reflect.get(rawOf(node['annotations']), Symbol.for('effect/SchemaId/Pattern')))['regex'])
}

/** What is written of an expression by its source alone, where its flags let it take more. */
function withoutFlagged({ pattern, ...more }: JsonObject, { flags }: Raw): JsonObject {
  return pattern === undefined || hasOwnFlags(flags) ? more : { ...more, pattern }
}

/** A class of values: dates, and what its author wrote a JSON Schema of. */
function declared(node: Raw, written: unknown): LibraryPart {
  const { identifier, representation, expected } = rawOf(node['annotations'])
  const made = rawOf(annotation(node, 'TypeConstructor'))['_tag']
  const name = annotation(node, 'Identifier') ?? made ?? identifier ?? rawOf(representation)['id'] ?? expected
  if (written !== undefined || name === 'effect/schema/Json') return { type: 'any' }
  const type = annotation(node, 'Surrogate')
  if (type !== undefined) return { type: 'wrapped', inner: type }
  if (dates.has(name)) return { type: 'date' }
  return { type: name === undefined ? 'Declaration' : `Declaration ${String(name)}` }
}

const dates: ReadonlySet<unknown> = new Set([
  'DateFromSelf', 'DateTimeUtcFromSelf', 'effect/schema/Date', 'effect/schema/DateTimeUtc',
])

/** Of version 4: what is left out is told by the last of what it was made of. */
function isOmissible(node: Raw, side: Side): boolean | undefined {
  const { context, encoding } = node
  const last = rawOf(itemsIn(encoding).at(-1))['to']
  if (side === 'input' && last !== undefined) return isOmissible(rawOf(last), side)
  return 'context' in node ? rawOf(context)['isOptional'] === true : undefined
}

function unionOf(types: readonly unknown[]): LibraryPart {
  const areLiterals = types.every((one) => rawOf(one)['_tag'] === 'Literal')
  return areLiterals ? { type: 'enum', choices: types.map((one) => rawOf(one)['literal']) }
    : { type: 'union', several: types }
}

function tupleOf(node: Raw, more: JsonObject): LibraryPart {
  const elements = itemsIn(node['elements']).map((element) => memberOf(element, true))
  const [rest, ...others] = itemsIn(node['rest']).map((element) => memberOf(element))
  if (others.length > 0) return { type: 'elements after a rest' }
  if (elements.length === 0 && rest !== undefined) return { type: 'array', inner: rest, more }
  return { type: 'tuple', several: elements, rest, isClosed: true, more }
}

function objectOf(node: Raw, more: JsonObject): LibraryPart {
  const members = itemsIn(node['propertySignatures']).map(rawOf)
  const odd = members.find(({ name }) => typeof name === 'symbol')
  if (odd !== undefined) return { type: 'symbol as a name' }
  const properties = Object.fromEntries(members.map((member) => [String(member['name']), memberOf(member)]))
  const [index, ...others] = itemsIn(node['indexSignatures']).map(rawOf)
  if (others.length > 0) return { type: 'several index signatures' }
  if (index !== undefined && members.length === 0) {
    return { type: 'record', key: index['parameter'], inner: index['type'], more }
  }
  return { type: 'object', properties, more, ...index !== undefined && { rest: index['type'] } }
}

/**
 * A member of an object or an item of a list, with what is said of it there: in version 4 of its type.
 * `isItem`: it is there, also where it may be undefined.
 */
function memberOf(given: unknown, isItem = false): unknown {
  const member = rawOf(given)
  const { type, isOptional, annotations } = member
  if (member['_tag'] !== undefined) return member
  const isSaid = isOptional === true || isItem
  if (!isSaid && annotation(member, 'Description') === undefined) return type
  return { _tag: 'Member', type, annotations, ...isSaid && { context: { isOptional } } }
}

/** The regular expression of a template: version 3 has spans after a head, version 4 parts. */
function templateOf(node: Raw): string {
  const { head, spans, parts, literal, types, _tag: tag } = node
  if (parts !== undefined) return itemsIn(parts).map((part) => templateOf(rawOf(part))).join('')
  if (head !== undefined) {
    const rest = itemsIn(spans).map(rawOf).map((span) => (
      templateOf(rawOf(span['type'])) + text(span['literal'])
    ))
    return text(head) + rest.join('')
  }
  if (tag === 'Literal') return text(literal)
  if (tag === 'Union') return `(?:${itemsIn(types).map((one) => templateOf(rawOf(one))).join('|')})`
  return wordOfTag(tag) === 'number' ? '[+-]?\\d*\\.?\\d+(?:[Ee][+-]?\\d+)?' : '[\\s\\S]*'
}

function text(value: unknown): string {
  return escaped(String(value))
}
