/**
 * What the OpenAPI description says of the paths that every server has, as constants.
 * Spec: OpenAPI 3.1.1 §4.8.
 */
import { jsonBody, schemaReference } from '../../wire/openapi.ts'
import { problems } from './openapi-operations.ts'
import type { DocumentPart } from '../../wire/openapi.ts'

const text: DocumentPart = { type: 'string' }

/** An operation of the server itself, that needs nothing. */
export function serviceOperation(
  summary: string, response: DocumentPart, more: Readonly<Record<number, unknown>> = {},
): DocumentPart {
  return { tags: ['Service'], summary, responses: { 200: response, ...more, ...problems() } }
}

/** `GET` of what there is. */
export const welcomeOperation: DocumentPart = serviceOperation(
  'Welcome', jsonBody('What there is', schemaReference('Welcome')),
  { 303: { description: 'A browser is sent to the page', headers: { Location: { schema: text } } } },
)

/** `GET` of whether the server is up. */
export const healthOperation: DocumentPart = {
  ...serviceOperation('Whether the server is up', jsonBody('It is', schemaReference('Health'))),
  parameters: [{
    name: 'verbose', in: 'query', allowEmptyValue: true, schema: text,
    description: 'Tells how the store is that is shared with others, too.',
  }],
}

/** `GET` of whether it takes work. */
export const readyOperation: DocumentPart = serviceOperation(
  'Whether the server takes work', jsonBody('It does', schemaReference('Ready')),
  problems({ 503: 'It is closing down' }),
)

/** `GET` of the page. */
export const docsOperation: DocumentPart = serviceOperation(
  'Interactive documentation', { description: 'A page', content: { 'text/html': { schema: text } } },
  { 304: { description: 'The client has it already' } },
)

/** `GET` of the description. */
export const openapiOperation: DocumentPart = serviceOperation(
  'This description', jsonBody('OpenAPI 3.1', { type: 'object' }),
)
