import assert from 'node:assert/strict'
import test from 'node:test'
import {
  FieldFault, needList, needMembers, needName, needObject, needText, readBoolean, readChoice, readInteger,
  readMembers, readName, readNames, readTimestamp, wrongField,
} from '../../../lib/parts/a2a/model/fields.ts'

type Read = (value: unknown) => unknown

const choices = new Map<unknown, string>([
  ['ROLE_USER', 'user'], [1, 'user'], ['ROLE_AGENT', 'agent'], [2, 'agent'],
])
const reads = {
  members: (value: unknown) => readMembers(value, 'params', 'it'),
  name: (value: unknown) => readName(value, 'params', 'it', 8),
  names: (value: unknown) => readNames(value, 'params', 'it', 8),
  boolean: (value: unknown) => readBoolean(value, 'params', 'it'),
  integer: (value: unknown) => readInteger(value, 'params', 'it', 0, 100),
  choice: (value: unknown) => readChoice(value, 'params', 'it', choices),
  timestamp: (value: unknown) => readTimestamp(value, 'params', 'it'),
  object: (value: unknown) => needObject(value, 'params.it'),
  text: (value: unknown) => needText(value, 'params', 'it'),
  id: (value: unknown) => needName(value, 'params', 'it', 8),
  items: (value: unknown) => needList(value, 'params', 'it', needObject),
} satisfies Record<string, Read>

test('what is set is read as it is', () => {
  const rows: readonly (readonly [kind: keyof typeof reads, value: unknown])[] = [
    ['members', {}], ['members', { a: null }], ['name', '12345678'], ['name', 'äöüß'], ['names', ['a']],
    ['boolean', false], ['boolean', true], ['integer', 0], ['integer', 100], ['object', {}], ['text', ''],
    ['text', 'a'], ['id', 'a'], ['items', [{}]], ['items', [{}, { a: 1 }]],
  ]
  for (const [kind, value] of rows) {
    assert.deepEqual(reads[kind](value), value, `${kind} ${JSON.stringify(value)}`)
  }
})

test('null and an empty text are members that are not set', () => {
  const optional = [
    'members', 'name', 'names', 'boolean', 'integer', 'choice', 'timestamp',
  ] as const
  for (const kind of optional) {
    assert.equal(reads[kind](undefined), undefined, kind)
    assert.equal(reads[kind](null), undefined, kind)
  }
  for (const kind of ['name', 'timestamp'] as const) assert.equal(reads[kind](''), undefined, kind)
  assert.equal(reads.names([]), undefined)
})

test('integers may be decimal texts, and choices may be written in several ways', () => {
  assert.equal(reads.integer('10'), 10)
  assert.equal(reads.integer('007'), 7)
  for (const zero of [-0, '-0', '0']) assert.ok(Object.is(reads.integer(zero), 0))
  for (const hundred of [1e2, '1e2', '1E+2', '100.0', '1000e-1']) assert.equal(reads.integer(hundred), 100)
  assert.equal(reads.choice('ROLE_AGENT'), 'agent')
  assert.equal(reads.choice(1), 'user')
})

test('a moment is read at any offset, and said in UTC with milliseconds', () => {
  const rows: readonly (readonly [value: string, moment: string])[] = [
    ['2026-07-28T12:00:00Z', '2026-07-28T12:00:00.000Z'],
    ['2026-07-28t12:00:00z', '2026-07-28T12:00:00.000Z'],
    ['2026-07-28T12:00:00.123456789Z', '2026-07-28T12:00:00.123Z'],
    ['2026-07-28T00:30:00.5+02:00', '2026-07-27T22:30:00.500Z'],
    ['2026-12-31T23:59:59-08:00', '2027-01-01T07:59:59.000Z'],
    ['2028-02-29T00:00:00-00:00', '2028-02-29T00:00:00.000Z'],
  ]
  for (const [value, moment] of rows) assert.equal(reads.timestamp(value), moment, value)
})

test('whatever is wrong is refused with the member and what it must be', () => {
  const name = 'params.it must be a string of at most 8 bytes'
  const id = 'params.it must be a non-empty string of at most 8 bytes'
  const integer = 'params.it must be an integer from 0 to 100'
  const moment = 'params.it must be a time as in 2026-07-28T12:00:00.000Z'
  const choice = 'params.it must be one of ROLE_USER, ROLE_AGENT'
  const some = 'params.it must be a list with at least one item'
  const rows: readonly (readonly [kind: keyof typeof reads, value: unknown, said: string])[] = [
    ['members', [], 'params.it must be an object'],
    ['members', 'a', 'params.it must be an object'],
    ['object', undefined, 'params.it is missing; it must be an object'],
    ['object', null, 'params.it is missing; it must be an object'],
    ['object', [], 'params.it must be an object'],
    ['text', undefined, 'params.it must be a string'],
    ['text', null, 'params.it must be a string'],
    ['name', '123456789', name], ['name', 'äöüßa', name], ['name', {}, name],
    ['id', '', id], ['id', null, id], ['id', undefined, id], ['id', '123456789', id],
    ['names', 'a', 'params.it must be a list of strings'],
    ['names', ['a', 7], 'params.it[1] must be a non-empty string of at most 8 bytes'],
    ['names', ['a', ''], 'params.it[1] must be a non-empty string of at most 8 bytes'],
    ['boolean', 'true', 'params.it must be true or false'],
    ['boolean', 0, 'params.it must be true or false'],
    ['integer', -1, integer], ['integer', 101, integer], ['integer', 1.5, integer],
    ['integer', '1.5', integer], ['integer', '', integer], ['integer', ' 1', integer],
    ['integer', '1e3', integer], ['integer', '5e-1', integer], ['integer', '1.', integer],
    ['integer', true, integer], ['integer', [1], integer],
    ['choice', 'role_user', choice], ['choice', 3, choice], ['choice', '1', choice], ['choice', [], choice],
    ['items', undefined, some], ['items', [], some], ['items', {}, some],
    ['items', [{}, 'a'], 'params.it[1] must be an object'],
    ['items', [{}, null], 'params.it[1] is missing; it must be an object'],
    ['timestamp', '-1', moment], ['timestamp', '2026', moment], ['timestamp', '2026-07-28', moment],
    ['timestamp', '2026-07-28T12:00:00', moment], ['timestamp', '2026-07-28 12:00:00Z', moment],
    ['timestamp', '2026-02-30T12:00:00Z', moment], ['timestamp', '2026-13-01T12:00:00Z', moment],
    ['timestamp', '2026-07-28T24:00:00Z', moment], ['timestamp', '2026-07-28T12:00:00+2:00', moment],
    ['timestamp', '2026-07-28T12:00:00.Z', moment], ['timestamp', '----------T12:00:00Z', moment],
    ['timestamp', '9999-12-31T23:59:59-08:00', moment], ['timestamp', '0000-01-01T00:00:00+01:00', moment],
    ['timestamp', '2026-07-28T12:00:60Z', moment], ['timestamp', 1785240000000, moment],
  ]
  for (const [kind, value, said] of rows) {
    const fault = { kind: 'invalid', message: said }
    assert.throws(() => reads[kind](value), fault, `${kind} ${JSON.stringify(value)}`)
  }
})

test('members may have the names of the definition, and those of JSON come first', () => {
  const rows: readonly (readonly [given: object, name: string, value: unknown])[] = [
    [{ taskId: 'a', metadata: { task_id: 'b' } }, 'metadata', { task_id: 'b' }],
    [{ task_id: 'a', reference_task_ids: ['b'] }, 'referenceTaskIds', ['b']],
    [{ task_id: 'a', taskId: 'b' }, 'taskId', 'b'],
    [{ task_id: 'a', taskId: null }, 'taskId', 'a'],
    [{ taskId: null, task_id: 'a' }, 'taskId', 'a'],
    [{ id: 'a', task_id: 'b' }, 'id', 'a'],
    [{ to_string: 'a' }, 'toString', Object.prototype.toString],
    [JSON.parse('{ "__proto__": { "taskId": "a" }, "task_id": "b" }') as object, 'taskId', 'b'],
  ]
  for (const [given, name, value] of rows) assert.deepEqual(needMembers(given, 'params')[name], value)
  assert.throws(() => needMembers([], 'params'), { message: 'params must be an object' })
})

test('of very many members a few are looked at for the names of the definition', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`a_${index}`, index]))
  const read = (members: object): unknown => needMembers(members, 'params').taskId
  assert.equal(read({ ...many, task_id: 'a' }), undefined)
  assert.equal(read({ task_id: 'a', ...many }), 'a')
  assert.deepEqual(Object.keys(needMembers({ task_id: 'a', ...many }, 'params')), [])
})

test('where nothing bounds an id, none is named', () => {
  const said = 'params.it must be a non-empty string'
  assert.throws(() => needName('', 'params', 'it', Infinity), { message: said })
})

test('a fault knows the path of its member', () => {
  const fault = wrongField('params.message', 'role', 'must be ROLE_USER')
  assert.ok(fault instanceof FieldFault)
  assert.equal(fault.field, 'params.message.role')
  assert.equal(fault.message, 'params.message.role must be ROLE_USER')
})

test('of two spellings of one member the first is read', () => {
  const { referenceTaskIds } = needMembers({ reference_task_ids: ['a'], reference_taskIds: ['b'] }, 'params')
  assert.deepEqual(referenceTaskIds, ['a'])
})
