/**
 * Moves JSON Schemas of authors into an OpenAPI document, whose root is another than theirs: their references
 * `#/…` are rewritten.
 * Spec: OpenAPI 3.1.1 §4.8.24, JSON Schema 2020-12 core §8.2.
 */
import { isRecord } from '../../kernel/define/content.ts'
import { schemaReference } from './openapi.ts'
import type { DocumentPart } from './openapi.ts'

/** The default of OpenAPI. */
const USUAL_DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** The name of a component. */
const NAME = /^[\w.-]+$/

/** Members that hold values, which contain no references. */
const values: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'example', 'examples'])

/** Members that hold schemas by names that the author chose. */
const maps: ReadonlySet<string> = new Set([
  'properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies',
])

/**
 * A schema as it is written where it is used: itself where it has no references of its own, else a reference
 * to the component `name`, which is put into `components`, with its `$defs` beside it: generators of clients
 * know components, and many take `$defs` for a member of the value.
 */
export function placed(
  schema: DocumentPart, name: string, components: Record<string, unknown>,
): DocumentPart {
  const { $schema, ...rest } = schema
  const written = $schema === undefined || $schema === USUAL_DIALECT ? rest : schema
  const reference = schemaReference(name)
  const parts = isRecord(written['$defs']) ? Object.keys(written['$defs']) : []
  const free = parts.filter((part) => NAME.test(part) && !Object.hasOwn(components, `${name}.${part}`))
  const target = { root: String(reference['$ref']), parts: new Set(free), isUsed: false }
  const { $defs, ...own } = moveIn(written, target) as DocumentPart
  if (!target.isUsed) return written
  const kept = Object.entries(Object($defs)).filter(([part, schema]) => {
    if (!target.parts.has(part)) return true
    components[`${name}.${part}`] = schema
    return false
  })
  components[name] = kept.length === 0 ? own : { ...own, $defs: Object.fromEntries(kept) }
  return reference
}

/** Where references lead: the new root, and the names in `$defs` that are components beside it. */
interface Target { readonly root: string; readonly parts: ReadonlySet<string>; isUsed: boolean }

/** A schema with its references rewritten. */
function moveIn(schema: unknown, target: Target): unknown {
  if (Array.isArray(schema)) return schema.map((one) => moveIn(one, target))
  // A schema with an `$id` is the root of its own references.
  if (!isRecord(schema) || typeof schema['$id'] === 'string') return schema
  return mapMembers(schema, (name, member) => {
    if (name === '$ref' && typeof member === 'string') return movedReference(member, target)
    if (name === '$ref' || values.has(name)) return member
    if (!maps.has(name) || !isRecord(member)) return moveIn(member, target)
    return mapMembers(member, (_name, inner) => moveIn(inner, target))
  })
}

function mapMembers(members: DocumentPart, move: (name: string, member: unknown) => unknown): DocumentPart {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, move(name, member)]))
}

/** `#` and `#/…` are paths in the schema; a name, `#like-this`, stays as it is. */
function movedReference(given: string, target: Target): string {
  if (given !== '#' && !given.startsWith('#/')) return given
  target.isUsed = true
  const [, part = '', rest = ''] = /^#\/\$defs\/([^/]+)(.*)$/s.exec(given) ?? []
  return target.parts.has(part) ? `${target.root}.${part}${rest}` : target.root + given.slice(1)
}
