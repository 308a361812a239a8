/**
 * JSON Schemas of authors within an OpenAPI document, whose root is another one than a schema's own: what a
 * schema refers to by `#/…` is led to where it stands now.
 * Spec: OpenAPI 3.1.1 §4.8.24, JSON Schema 2020-12 core §8.2.
 */
import { isRecord } from '../core/content.ts'
import { schemaReference } from './openapi-operations.ts'
import type { DocumentPart } from './openapi-operations.ts'

/** The dialect that a schema in an OpenAPI document has anyway. */
const USUAL_DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** Members that hold values, in which nothing is a reference. */
const values: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'example', 'examples'])

/** Members that hold schemas by names of the author's. */
const maps: ReadonlySet<string> = new Set([
  'properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies',
])

/**
 * A schema as it is written at its place: itself where it refers to nothing of its own, else a reference to
 * the component of that name, which is put into `components`.
 */
export function placed(schema: DocumentPart, name: string, components: Record<string, unknown>): object {
  const { $schema, ...rest } = schema
  const written = $schema === undefined || $schema === USUAL_DIALECT ? rest : schema
  const place = schemaReference(name)
  const moved = moveIn(written, String(place['$ref']))
  if (moved === written) return written
  components[name] = moved
  return place
}

/** A schema whose own references begin at `root`; the same object where it has none. */
function moveIn(schema: unknown, root: string): unknown {
  if (Array.isArray(schema)) {
    const moved = schema.map((one) => moveIn(one, root))
    return moved.every((one, index) => one === schema[index]) ? schema : moved
  }
  // What has an identity of its own is the root of its references, wherever it stands.
  if (!isRecord(schema) || typeof schema['$id'] === 'string') return schema
  return moveMembers(schema, (name, member) => {
    if (name === '$ref') return typeof member === 'string' ? movedReference(member, root) : member
    if (values.has(name)) return member
    if (!maps.has(name) || !isRecord(member)) return moveIn(member, root)
    return moveMembers(member, (_name, inner) => moveIn(inner, root))
  })
}

function moveMembers(
  members: DocumentPart, move: (name: string, member: unknown) => unknown,
): DocumentPart {
  const entries = Object.entries(members)
  const moved = entries.map(([name, member]): [string, unknown] => [name, move(name, member)])
  return moved.every(([, member], index) => member === entries[index]![1]) ? members
    : Object.fromEntries(moved)
}

/** `#` and `#/…` are places in the schema; a name, `#like-this`, is the same in every place. */
function movedReference(given: string, root: string): string {
  return given === '#' || given.startsWith('#/') ? root + given.slice(1) : given
}
