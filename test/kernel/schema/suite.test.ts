import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import test from 'node:test'
import { compile } from '../../../lib/kernel/schema/compile.ts'
import { schemaSuite } from '../../fixtures/optional.ts'
import type { JsonSchema } from '../../../lib/kernel/schema/compile.ts'

interface Group {
  readonly description: string
  readonly schema: JsonSchema
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[]
}

const { folder: suite, absent } = schemaSuite

/** Need a dialect that is refused, or ask for what is an annotation here. */
const beyond = /(?:cross-draft|draft7\/optional\/content)\.json$/
const drafts = [
  { folder: 'draft2020-12', dialect: 'https://json-schema.org/draft/2020-12/schema' },
  { folder: 'draft7', dialect: 'http://json-schema.org/draft-07/schema#' },
]

function read<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8'))
}

const slashed = (path: string): string => path.replaceAll('\\', '/')

function filesOf(folder: string): string[] {
  return existsSync(folder)
    ? readdirSync(folder).filter((name) =>
      name.endsWith('.json') && !beyond.test(`${slashed(folder)}/${name}`))
    : []
}

/** The documents that the suite wants to be found at localhost:1234. */
function remotes(): Record<string, JsonSchema> {
  const folder = join(suite, 'remotes')
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.json'),
  )
  return Object.fromEntries(
    paths.map((path) => {
      const name = slashed(relative(folder, join(folder, path)))
      return [`http://localhost:1234/${name}`, read<JsonSchema>(join(folder, path))]
    }),
  )
}

function failuresOf(
  group: Group,
  dialect: string,
  formats: boolean,
  schemas: Record<string, JsonSchema>,
): string[] {
  const schema = typeof group.schema === 'boolean' ? group.schema : { $schema: dialect, ...group.schema }
  const validate = compile(schema, { schemas, formats })
  return group.tests
    .filter(({ data, valid }) => {
      const before = JSON.stringify(data)
      const result = validate(data)
      return (
        result.valid !== valid
        || result.valid !== (result.errors.length === 0)
        || JSON.stringify(data) !== before
      )
    })
    .map(({ description }) => `${group.description}: ${description}`)
}

test('the official suite is there', { skip: absent }, () => {
  assert.ok(filesOf(join(suite, 'tests', 'draft2020-12')).length > 40)
})

if (absent === false) {
  const schemas = remotes()
  for (const { folder, dialect } of drafts) {
    for (const part of ['', 'optional', 'optional/format']) {
      for (const file of filesOf(join(suite, 'tests', folder, part))) {
        test(`${join(folder, part, file)} of the official suite passes`, () => {
          const groups = read<readonly Group[]>(join(suite, 'tests', folder, part, file))
          assert.deepEqual(
            groups.flatMap((group) => failuresOf(group, dialect, part !== '', schemas)),
            [],
          )
        })
      }
    }
  }
}
