/** The resource or template that a URI names, and the scopes that reading it needs. */
import { allowed, hasScopes } from '../define/principal.ts'
import { isName } from '../wire/bounded.ts'
import type { Catalog } from '../define/catalog.ts'
import type { Principal } from '../define/principal.ts'
import type { Resource, ResourceTemplate, Variables } from '../define/resource.ts'

export interface LocatedResource {
  readonly thing: Resource | ResourceTemplate
  readonly variables: Variables
  /** Of everything that the URI fits: a wider template does not bypass a narrower one's scopes. */
  readonly scopes: readonly string[]
}

const noVariables: Variables = Object.freeze(Object.create(null))

/** The fixed resources that the caller may read. */
export function readableResources(catalog: Catalog, principal: Principal): readonly Resource[] {
  // Templates have scopes that a resource needs whose URI fits them.
  const { resources, templates } = catalog
  if (templates.every(({ scopes }) => scopes.length === 0)) return allowed(principal, resources)
  return resources.filter(({ uri }) => hasScopes(principal, locateResource(catalog, uri)?.scopes ?? []))
}

/** Finds the resource or template of a URI, in any spelling; one that is too long has none. */
export function locateResource(catalog: Catalog, uri: string): LocatedResource | undefined {
  if (!isName(uri)) return undefined
  const fixed = catalog.resource(uri)
  let found: LocatedResource | undefined = fixed === undefined ? undefined
    : { thing: fixed, variables: noVariables, scopes: fixed.scopes }
  for (const template of catalog.templates) {
    const variables = template.matcher.match(uri)
    if (variables === undefined) continue
    if (found === undefined) found = { thing: template, variables, scopes: template.scopes }
    else if (template.scopes.length > 0) found = { ...found, scopes: [...found.scopes, ...template.scopes] }
  }
  return found
}
