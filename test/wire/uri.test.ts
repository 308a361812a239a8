import assert from 'node:assert/strict'
import test from 'node:test'
import { isAtOrBelow } from '../../lib/wire/uri.ts'

test('a path lies below another where a slash says so', () => {
  const rows: readonly (readonly [path: string, top: string, isThere: boolean])[] = [
    ['/team', '/team', true], ['/team/', '/team', true], ['/team/a/b', '/team', true],
    ['/team/a', '/team/', true], ['/team/', '/team/', true], ['/a', '/', true],
    ['/teams', '/team', false], ['/team', '/team/', false], ['/tea', '/team', false],
    ['/a/team', '/team', false], ['note://1/a', 'note://1', true], ['note://10', 'note://1', false],
  ]
  for (const [path, top, isThere] of rows) assert.equal(isAtOrBelow(path, top), isThere, `${path} ${top}`)
})
