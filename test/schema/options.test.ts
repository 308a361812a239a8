import assert from 'node:assert/strict'
import test from 'node:test'
import { compile } from '../../lib/schema/compile.ts'
import { rejectUnknown } from '../../lib/schema/options.ts'

const known = ['formats', 'defaults', 'schemas', 'maxErrors', 'maxSteps', 'id', 'run']

const rows: readonly (readonly [name: string, remedy: string])[] = [
  ['fromats', `did you mean 'formats'?`],
  ['format', `did you mean 'formats'?`],
  ['formatss', `did you mean 'formats'?`],
  ['FORMATS', `did you mean 'formats'?`],
  ['maxerrors', `did you mean 'maxErrors'?`],
  ['max_errors', `did you mean 'maxErrors'?`],
  ['maxStep', `did you mean 'maxSteps'?`],
  ['mxaSetps', `did you mean 'maxSteps'?`],
  ['rnu', `did you mean 'run'?`],
  ['timeout', `known are 'formats', 'defaults', 'schemas', 'maxErrors', 'maxSteps', 'id', 'run'`],
  ['x', `known are 'formats', 'defaults', 'schemas', 'maxErrors', 'maxSteps', 'id', 'run'`],
  ['', `known are 'formats', 'defaults', 'schemas', 'maxErrors', 'maxSteps', 'id', 'run'`],
  ['constructor', `known are 'formats', 'defaults', 'schemas', 'maxErrors', 'maxSteps', 'id', 'run'`],
]

test('a name that is not known is told with the nearest one, or with all of them', () => {
  for (const [name, remedy] of rows) {
    const message = `It has no option '${name}'; ${remedy}`
    const given = { [name]: undefined }
    assert.throws(() => rejectUnknown('It has no option', given, known), { name: 'TypeError', message })
  }
  assert.throws(() => rejectUnknown('It has no option', JSON.parse('{"__proto__":1}'), known), TypeError)
  rejectUnknown('It has no option', { formats: 1, run: undefined }, known)
  rejectUnknown('It has no option', {}, [])
})

test('what is said of a name that is not known is short', () => {
  const names = Array.from({ length: 500 }, (_, at) => `option${at}`)
  for (const name of ['x'.repeat(1_000_000), '漢'.repeat(5000)]) {
    assert.throws(() => rejectUnknown('It has no option', { [name]: 1 }, names), (error: Error) =>
      Buffer.byteLength(error.message) < 600)
  }
})

test('compile takes only options that it has, of the type that they have', () => {
  const table: readonly (readonly [options: object, message: string])[] = [
    [{ fromats: true }, `compile has no option 'fromats'; did you mean 'formats'?`],
    [{ formats: 'yes' }, 'compile has formats "yes"; write true or false'],
    [{ defaults: 1 }, 'compile has defaults 1; write true or false'],
    [{ maxErrors: 0 }, 'compile has maxErrors 0; write a number above zero, or Infinity for no bound'],
    [{ maxSteps: '9' }, 'compile has maxSteps "9"; write a number above zero, or Infinity for no bound'],
    [{ maxDepth: NaN }, 'compile has maxDepth NaN; write a number above zero, or Infinity for no bound'],
    [{ maxErrors: null }, 'compile has maxErrors null; write a number above zero, or Infinity for no bound'],
  ]
  for (const [options, message] of table) {
    assert.throws(() => compile(true, options), { name: 'TypeError', message })
  }
  assert.ok(compile(true, { formats: undefined, maxErrors: undefined, schemas: undefined })(1).valid)
})
