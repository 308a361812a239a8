/**
 * JSON Schemas of authors within an OpenAPI document, whose root is another one than a schema's own: what a
 * schema refers to by `#/…` is led to where it stands now.
 * Spec: OpenAPI 3.1.1 §4.8.24, JSON Schema 2020-12 core §8.2.
 */
import { isRecord } from '../../define/content.ts'
import { schemaReference } from '../../wire/openapi.ts'
import type { DocumentPart } from '../../wire/openapi.ts'

/** The dialect that a schema in an OpenAPI document has anyway. */
const USUAL_DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** What may be part of the name of a component. */
const NAME = /^[\w.-]+$/

/** Members that hold values, in which nothing is a reference. */
const values: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'example', 'examples'])

/** Members that hold schemas by names of the author's. */
const maps: ReadonlySet<string> = new Set([
  'properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies',
])

/**
 * A schema as it is written at its place: itself where it refers to nothing of its own, else a reference to
 * the component of that name, which is put into `components`, and what it has in `$defs` beside it: those who
 * generate clients know components, and many take `$defs` for a member of the value.
 */
export function placed(
  schema: DocumentPart, name: string, components: Record<string, unknown>,
): DocumentPart {
  const { $schema, ...rest } = schema
  const written = $schema === undefined || $schema === USUAL_DIALECT ? rest : schema
  const place = schemaReference(name)
  const parts = isRecord(written['$defs']) ? Object.keys(written['$defs']) : []
  const free = parts.filter((part) => NAME.test(part) && !Object.hasOwn(components, `${name}.${part}`))
  const moved = moveIn(written, { root: String(place['$ref']), parts: new Set(free) })
  if (moved === written || !isRecord(moved)) return written
  const { $defs, ...own } = moved
  const kept = Object.entries(Object($defs)).filter(([part, schema]) => {
    if (!free.includes(part)) return true
    components[`${name}.${part}`] = schema
    return false
  })
  components[name] = kept.length === 0 ? own : { ...own, $defs: Object.fromEntries(kept) }
  return place
}

/** Where the references of a schema are led: its root, and the names in `$defs` that stand beside that. */
interface Place { readonly root: string; readonly parts: ReadonlySet<string> }

/** A schema whose own references are led to its place; the same object where it has none. */
function moveIn(schema: unknown, place: Place): unknown {
  if (Array.isArray(schema)) {
    const moved = schema.map((one) => moveIn(one, place))
    return moved.every((one, index) => one === schema[index]) ? schema : moved
  }
  // What has an identity of its own is the root of its references, wherever it stands.
  if (!isRecord(schema) || typeof schema['$id'] === 'string') return schema
  return moveMembers(schema, (name, member) => {
    if (name === '$ref') return typeof member === 'string' ? movedReference(member, place) : member
    if (values.has(name)) return member
    if (!maps.has(name) || !isRecord(member)) return moveIn(member, place)
    return moveMembers(member, (_name, inner) => moveIn(inner, place))
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
function movedReference(given: string, { root, parts }: Place): string {
  const [, part = '', rest = ''] = /^#\/\$defs\/([^/]+)(.*)$/.exec(given) ?? []
  if (parts.has(part)) return `${root}.${part}${rest}`
  return given === '#' || given.startsWith('#/') ? root + given.slice(1) : given
}
