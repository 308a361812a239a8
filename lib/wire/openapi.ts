/**
 * The pieces that the doors write their OpenAPI descriptions with. Knows no operation of any of them.
 * Spec: OpenAPI 3.1.1 §4.8.
 */
import { JSON_TYPE } from './media.ts'
import { EVENT_STREAM } from './sse.ts'

/** A piece of an OpenAPI document. */
export type DocumentPart = Readonly<Record<string, unknown>>

/** A reference to a schema among the components. */
export function schemaReference(name: string): DocumentPart {
  return { $ref: `#/components/schemas/${name}` }
}

/** The schema of objects with these members, of which the named ones are always there. */
export function objectOf(properties: DocumentPart, ...required: readonly string[]): DocumentPart {
  return { type: 'object', properties, required }
}

/** The schema of arrays. */
export function listOf(items: DocumentPart): DocumentPart {
  return { type: 'array', items }
}

/** A schema with a sentence. */
export function described(schema: DocumentPart, description: string): DocumentPart {
  return { ...schema, description }
}

/** What a request may have in a header. */
export function headerParameter(name: string, schema: DocumentPart, description: string): DocumentPart {
  return { name, in: 'header', schema, description }
}

/** A reply of one JSON document. */
export function jsonBody(description: string, schema: DocumentPart): DocumentPart {
  return { description, content: { [JSON_TYPE]: { schema } } }
}

/** What is sent as one JSON document, or as events where the client wants those. */
export function jsonOrEvents(schema: DocumentPart, events: string): DocumentPart {
  return { [JSON_TYPE]: { schema }, [EVENT_STREAM]: { schema: described({ type: 'string' }, events) } }
}

/** Refusals and failures, all in the form of one response: what those statuses mean, and every other. */
export function failures(form: string, meanings: Readonly<Record<number, string>> = {}): DocumentPart {
  const $ref = `#/components/responses/${form}`
  const known = Object.entries(meanings).map(([status, description]) => [status, { $ref, description }])
  return { ...Object.fromEntries(known), default: { $ref } }
}
