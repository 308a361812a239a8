import assert from 'node:assert/strict'
import test from 'node:test'
import { serviceOf } from '../../fixtures/house.ts'
import type { Logged } from '../../fixtures/house.ts'

function linesOf(logged: readonly Logged[]): readonly string[] {
  return logged.map(([level, message]) => `${level} ${message}`)
}

test('a tool without a description is told once, when it is served', () => {
  const run = (): string => ''
  const tools = [{ name: 'one', run }, { name: 'two', description: 'Two.', run }]
  const { service, logged } = serviceOf({ tools })
  service.catalog.add({ name: 'three', inputSchema: { type: 'object' }, run })
  service.catalog.remove('tool', 'three')
  const why = 'so models cannot tell what it is for; write description: \'Finds documents.\''
  assert.deepEqual(linesOf(logged), [
    `warning The tool 'one' has no description, ${why}`,
    `warning The tool 'three' has no description, ${why}`,
  ])
})
