/** How an endpoint says what OpenAPI lists of it, without loading it before it is read. */
import type { Components, Endpoint } from '../../kernel/http/message/exchange.ts'
import type { DocumentPart } from './openapi.ts'

/** The operations of a part by names of its own, and the components that they refer to. */
export interface DescribedOperations<Name extends string> {
  readonly operations: Readonly<Record<Name, DocumentPart>>
  readonly components: Components
}

/** Makes `describe` of an endpoint that has one method and one operation. */
export type Describer<Name extends string> = (method: string, name: Name) => NonNullable<Endpoint['describe']>

/** Of the operations that `load` loads. */
export function describer<Name extends string>(
  load: () => Promise<DescribedOperations<Name>>,
): Describer<Name> {
  return (method, name) => async () => {
    const { operations, components } = await load()
    return { operations: { [method.toLowerCase()]: operations[name] }, components }
  }
}
