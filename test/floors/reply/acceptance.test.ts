import assert from 'node:assert/strict'
import test from 'node:test'
import { acceptance } from '../../../lib/floors/reply/acceptance.ts'

const accepts: readonly (readonly [accept: string | undefined, type: string, quality: number])[] = [
  [undefined, 'text/html', 1],
  ['', 'text/html', 1],
  ['*/*', 'text/html', 1],
  ['text/html', 'text/html', 1],
  ['*', 'text/html', 1],
  ['a/b;x="c, text/html;q=0", text/html;q=0.4', 'text/html', 0.4],
  ['text/html;x="a;q=0";q=0.7', 'text/html', 0.7],
  ['TEXT/HTML', 'text/html', 1],
  ['application/json', 'text/html', 0],
  ['text/*;q=0.5', 'text/html', 0.5],
  ['text/html;q=0.2, text/*;q=0.9', 'text/html', 0.2],
  ['*/*;q=0.1, text/*;q=0.9', 'text/html', 0.9],
  ['text/html; level=1; q=0.3', 'text/html', 0.3],
  ['text/html;q=0', 'text/html', 0],
  ['text/html;q=2', 'text/html', 0],
  ['text/html;q=many', 'text/html', 0],
  ['text/html,application/xhtml+xml,*/*;q=0.8', 'application/json', 0.8],
  [',,', 'text/html', 0],
  [`${','.repeat(63)}text/html`, 'text/html', 1],
  [`${','.repeat(64)}text/html`, 'text/html', 0],
  [`${','.repeat(15_000)}text/html`, 'text/html', 0],
  [`text/html${';'.repeat(62)};q=0.5`, 'text/html', 0.5],
  [`text/html${';'.repeat(15_000)};q=0.5`, 'text/html', 1],
]

test('the most specific range of an Accept header decides', () => {
  for (const [accept, type, quality] of accepts) assert.equal(acceptance(accept, type), quality, accept)
})

test('what is wanted stays right however many headers are invented', () => {
  for (let at = 0; at < 1_000; at++) {
    assert.equal(acceptance(`x/y;a=${at}, text/html;q=0.5`, 'text/html'), 0.5)
    assert.equal(acceptance('text/html', 'text/html'), 1)
  }
})
