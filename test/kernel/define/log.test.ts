import assert from 'node:assert/strict'
import test from 'node:test'
import {
  describe, formatLine, logLevelOf, logOf, quietly, stderrLog, verboseStderrLog,
} from '../../../lib/kernel/define/log.ts'
import type { Severity } from '../../../lib/kernel/define/log.ts'

const WHEN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /

const lines: readonly (readonly [message: string, fields: Record<string, unknown>, line: string])[] = [
  ['Plain', {}, 'warning Plain'],
  ['With fields', { request: 'r-1', count: 7, none: undefined }, 'warning With fields request=r-1 count=7'],
  ['Two\nlines\r\n', {}, 'warning Two\\nlines\\r\\n'],
  ['A tab\t', { path: '/a\n2026-01-01T00:00:00Z error forged' },
    'warning A tab\\t path=/a\\n2026-01-01T00:00:00Z error forged'],
  ['Bells \u0007\u001b[31m\u0000\u007f\u0085\u009b', {},
    'warning Bells \\u0007\\u001b[31m\\u0000\\u007f\\u0085\\u009b'],
  ['Separators \u2028\u2029', {}, 'warning Separators \\u2028\\u2029'],
  ['Ünï "quoted" \\', {}, 'warning Ünï "quoted" \\'],
]

test('a line is one line, whatever a client has put into it', () => {
  for (const [message, fields, line] of lines) {
    const text = formatLine('warning', message, fields)
    assert.match(text, WHEN)
    assert.equal(text.replace(WHEN, ''), line)
  }
})

test('a cause stands below its line, indented, and cannot forge another', () => {
  const error = new Error('broken\n2026-01-01T00:00:00Z error forged')
  const rows = formatLine('error', 'It broke', { cause: error }).split('\n')
  assert.match(rows[0]!, /error It broke$/)
  for (const row of rows.slice(1)) assert.match(row, /^ {2}/)
  assert.match(rows[1]!, /^ {2}Error: broken$/)
  const thrown: readonly (readonly [cause: unknown, below: string])[] = [
    [undefined, '  thrown: undefined'], [null, '  thrown: null'], ['text', '  thrown: text'],
    [{ a: 1 }, '  thrown: {"a":1}'], [7n, '  thrown: 7'],
    [Object.assign(new Error('a'), { stack: undefined }), '  a'],
    [Object.assign(new Error('a'), { stack: 7 }), '  7'],
  ]
  for (const [cause, below] of thrown) {
    assert.equal(formatLine('error', 'It broke', { cause }).split('\n')[1], below)
  }
})

test('what is large is cut, wherever it stands in a line', () => {
  const large = 'x'.repeat(1_000_000)
  const rows = Array.from({ length: 10_000 }, () => 'x').join('\n')
  const lines = [
    formatLine('error', large), formatLine('error', 'Fields', { a: large, b: { toString: () => large } }),
    formatLine('error', 'Thrown', { cause: large }),
    formatLine('error', 'Broken', { cause: new Error(large) }),
    formatLine('error', 'Long', { cause: Object.assign(new Error('a'), { stack: rows }) }),
  ]
  for (const line of lines) assert.ok(line.length < 40_000, String(line.length))
  assert.match(lines[0]!, /x{8192}… \(991808 characters more\)$/)
  let text = ''
  const keep = (said: string): void => { text = said }
  const logger = { debug: keep, info: keep, warn: keep, error: keep }
  logOf(logger)('info', large)
  assert.ok(text.length < 10_000)
})

test('any value can be described', () => {
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  const values: readonly (readonly [value: unknown, described: string])[] = [
    ['a', 'a'], [7n, '7'], [Symbol('a'), 'Symbol(a)'], [undefined, 'undefined'], [null, 'null'], [[1], '[1]'],
    [cycle, '[object Object]'], [{ toJSON: () => undefined }, '[object Object]'], [Object.create(null), '{}'],
  ]
  for (const [value, described] of values) assert.equal(describe(value), described)
})

test('every severity has its level in the log of the server', () => {
  const levels: readonly (readonly [Severity, string])[] = [
    ['debug', 'debug'], ['info', 'info'], ['notice', 'info'], ['warning', 'warning'], ['error', 'error'],
    ['critical', 'error'], ['alert', 'error'], ['emergency', 'error'],
  ]
  for (const [severity, level] of levels) assert.equal(logLevelOf(severity), level)
})

test('standard error shows what is wrong, and for the asking what is informative', (t) => {
  const shown: string[] = []
  t.mock.method(process.stderr, 'write', (text: string) => shown.push(text.replace(WHEN, '')) > 0)
  for (const log of [stderrLog, verboseStderrLog]) {
    for (const level of ['debug', 'info', 'warning', 'error'] as const) log(level, 'a')
    shown.push('-')
  }
  t.mock.restoreAll()
  assert.deepEqual(shown, ['warning a\n', 'error a\n', '-', 'info a\n', 'warning a\n', 'error a\n', '-'])
})

test('a logger that breaks hurts nobody, now or later', async () => {
  quietly(() => { throw new Error('disk full') })('error', 'a')
  quietly(async () => { throw new Error('disk full') })('error', 'a')
  // A promise that nobody has handled would end the process here.
  await new Promise((resolve) => setImmediate(resolve))
})

test('a logger is a function, an object like console, or none', () => {
  const log = (): void => {}
  assert.equal(logOf(log), log)
  logOf(false)('error', 'a')
  logOf(console)
  for (const wrong of [undefined, null, true, 'stderr', {}, { debug: log, info: log, warn: log, error: 7 }]) {
    assert.throws(() => logOf(wrong as never), /^TypeError: log is no logger; write \(level, message, f/)
  }
})

test('what caused an error stands below it, each cause once', () => {
  const inner: Error & { cause?: unknown } = new Error('inner')
  const outer = new Error('outer', { cause: inner })
  inner.cause = outer
  const text = formatLine('error', 'failed', { cause: outer })
  assert.equal(text.match(/Error: outer/g)?.length, 1)
  assert.equal(text.match(/^ {2}caused by: Error: inner$/gm)?.length, 1)
  assert.match(formatLine('error', 'failed', { cause: new Error('a', { cause: { code: 7 } }) }),
    /^ {2}caused by: \{"code":7\}$/m)
})
