/**
 * Makes operations and schemas of OpenAPI from short descriptions. Contains no operation itself.
 * Spec: OpenAPI 3.1.1 §4.8.
 */
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import { EVENT_STREAM } from '../../kernel/wire/sse.ts'

/** A piece of an OpenAPI document. */
export type DocumentPart = Readonly<Record<string, unknown>>

/** A schema, or the name of one among the components. */
export type SchemaLike = DocumentPart | string

/** What a status means, for those that a reader should know of. */
export type Meanings = Readonly<Record<number, string>>

export const TEXT: DocumentPart = { type: 'string' }

/** `name!:Type[]` */
const MEMBER = /^([^!:]+)(!?)(?::(\w+)(\[\])?)?$/
const types: ReadonlyMap<string, DocumentPart> = new Map<string, DocumentPart>([
  ...['string', 'integer', 'boolean', 'object'].map((type) => [type, { type }] as const),
  ['count', { type: 'integer', minimum: 0 }], ['any', {}],
])

export function schemaReference(name: string): DocumentPart {
  return { $ref: `#/components/schemas/${name}` }
}

function schemaOf(schema: SchemaLike): DocumentPart {
  return typeof schema === 'string' ? schemaReference(schema) : schema
}

/**
 * The schema of an object from its members in one line: `id! size:integer tags:string[] owner:Person`. With
 * `!` a member is required; without a type it is a string, with `any` it may be anything; any other type is a
 * component. `own` has the schemas that cannot be written so.
 */
export function objectOf(members: string, own: DocumentPart = {}): DocumentPart {
  const properties: Record<string, unknown> = {}
  const required: string[] = []
  for (const member of members.split(' ')) {
    const [, name = '', mark, type = 'string', list] = MEMBER.exec(member) ?? []
    const schema = types.get(type) ?? schemaReference(type)
    properties[name] = own[name] ?? (list === undefined ? schema : listOf(schema))
    if (mark === '!') required.push(name)
  }
  return { type: 'object', properties, required }
}

/** The same without a list of what is required. */
export function optionsOf(members: string, own?: DocumentPart): DocumentPart {
  const { type, properties } = objectOf(members, own)
  return { type, properties }
}

export function listOf(items: SchemaLike): DocumentPart {
  return { type: 'array', items: schemaOf(items) }
}

export function described(schema: SchemaLike, description: string): DocumentPart {
  return { ...schemaOf(schema), description }
}

export function headerParameter(name: string, schema: DocumentPart, description: string): DocumentPart {
  return { name, in: 'header', schema, description }
}

/** A body of one media type. */
export function body(
  description: string, schema: SchemaLike | undefined, type: string = JSON_TYPE,
): DocumentPart {
  return { description, content: { [type]: { schema: schema === undefined ? undefined : schemaOf(schema) } } }
}

/** The content of a reply that is one JSON document, or events where the client prefers those. */
export function jsonOrEvents(schema: SchemaLike, events: string): DocumentPart {
  return { [JSON_TYPE]: { schema: schemaOf(schema) }, [EVENT_STREAM]: { schema: described(TEXT, events) } }
}

export function requestBody(schema: SchemaLike, example?: unknown, required?: boolean): DocumentPart {
  return { required, content: { [JSON_TYPE]: { schema: schemaOf(schema), example } } }
}

/** Refusals and failures, all of them the response `form`: those with a meaning, and every other. */
export function failures(form: string, meanings: Meanings = {}): DocumentPart {
  const $ref = `#/components/responses/${form}`
  const known = Object.entries(meanings).map(([status, description]) => [status, { $ref, description }])
  return { ...Object.fromEntries(known), default: { $ref } }
}

/** One operation. `more`: its description, parameters, body, and its id where it has one of its own. */
export function operation(
  tag: string, summary: string, responses: DocumentPart, more: DocumentPart = {},
): DocumentPart {
  const { operationId, ...rest } = more
  return { tags: [tag], ...operationId !== undefined && { operationId }, summary, ...rest, responses }
}

/** One that answers with a document. `form` is that of its failures. */
export function documentOperation(
  tag: string, summary: string, description: string, schema: SchemaLike, form = 'Problem',
  meanings?: Meanings, more?: DocumentPart,
): DocumentPart {
  return operation(tag, summary, { 200: body(description, schema), ...failures(form, meanings) }, more)
}

/** An operation of the server itself, that needs nothing. */
export function serviceOperation(
  summary: string, response: DocumentPart, more: Readonly<Record<number, unknown>> = {},
): DocumentPart {
  return operation('Service', summary, { 200: response, ...more, ...failures('Problem') })
}
