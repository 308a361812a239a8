/** What the OpenAPI description lists of the server itself. */
import { body, failures, objectOf, serviceOperation, TEXT } from '../../floors/openapi/openapi.ts'
import type { DocumentPart } from '../../floors/openapi/openapi.ts'
import type { DescribedOperations } from '../../floors/openapi/describer.ts'

const store: DocumentPart = {
  enum: ['reached', 'away'], description: 'Of the store that is shared with other processes.',
}

const schemas: DocumentPart = {
  Welcome: objectOf('message! endpoints!:string[] docs! query'),
  Health: objectOf('status! endpoints!:string[] name! version! store', { status: { const: 'ok' }, store }),
  Ready: objectOf('status! store', { status: { const: 'ready' }, store }),
}

type OperationName = 'welcome' | 'health' | 'ready' | 'docs' | 'openapi' | 'llms'

const operations: Readonly<Record<OperationName, DocumentPart>> = {
  welcome: serviceOperation('Welcome', body('What there is', 'Welcome'), {
    303: { description: 'A browser is sent to the page', headers: { Location: { schema: TEXT } } },
  }),
  health: {
    ...serviceOperation('Whether the server is up', body('It is', 'Health')),
    parameters: [{
      name: 'verbose', in: 'query', allowEmptyValue: true, schema: TEXT,
      description: 'Tells how the store is that is shared with others, too.',
    }],
  },
  ready: serviceOperation('Whether the server takes work', body('It does', 'Ready'),
    failures('Problem', { 503: 'It is closing down' })),
  docs: serviceOperation('Interactive documentation', body('A page', TEXT, 'text/html'),
    { 304: { description: 'The client has it already' } }),
  llms: serviceOperation('What is here, for models', body('Markdown', TEXT, 'text/plain')),
  openapi: serviceOperation('This description', body('OpenAPI 3.1', { type: 'object' })),
}

export const serviceOperations: DescribedOperations<OperationName> = { operations, components: { schemas } }
