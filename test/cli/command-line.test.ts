import assert from 'node:assert/strict'
import test from 'node:test'
import { formatFlags, namesLike, parseCommandLine, UsageError } from '../../lib/cli/command-line.ts'
import type { CommandLine, Flag } from '../../lib/cli/command-line.ts'

const flags = [
  { name: 'port', value: 'N', variable: 'PORT', meaning: 'where it listens', fallback: '8000' },
  { name: 'path', value: 'PATH', meaning: 'a path' },
  { name: 'key', value: 'KEY', meaning: 'a key', isSecret: true },
  { name: 'protocol', value: 'LIST', meaning: 'which protocols', fallback: 'http' },
  { name: 'watch', meaning: 'starts again' },
  { name: 'help', short: 'h', meaning: 'prints this' },
] as const satisfies readonly Flag[]

type Name = typeof flags[number]['name']

function parse(args: string, environment: NodeJS.ProcessEnv = {}): CommandLine<Name> {
  return parseCommandLine<Name>(args === '' ? [] : args.split(' '), flags, environment)
}

const lines: readonly (readonly [args: string, words: readonly string[], flags: readonly string[]])[] = [
  ['', [], []],
  ['serve a.js', ['serve', 'a.js'], []],
  ['serve a.js --port 80', ['serve', 'a.js'], ['--port=80']],
  ['--port=80 serve --watch a.js', ['serve', 'a.js'], ['--port=80', '--watch']],
  ['--path=', [], ['--path=']],
  ['--path=-x', [], ['--path=-x']],
  ['--path=a=b', [], ['--path=a=b']],
  ['--protocol http --protocol mcp,a2a', [], ['--protocol=http,mcp,a2a']],
  ['--watch --watch', [], ['--watch']],
  ['-h', [], ['--help']],
  ['-- --port', ['--port'], []],
]

test('a command line is words and flags, in any order', () => {
  for (const [args, words, given] of lines) {
    const line = parse(args)
    assert.deepEqual(line.words, words, args)
    assert.deepEqual(line.format([]), given, args)
    assert.deepEqual(parse(given.join(' ')).format([]), given, args)
  }
})

test('some flags can be left out of what is written again', () => {
  assert.deepEqual(parse('--port 1 --watch --path x').format(['watch', 'port']), ['--path=x'])
})

test('a variable stands in for a flag that is left out, where it is not empty', () => {
  const given = (args: string, environment: NodeJS.ProcessEnv): unknown => (
    parse(args, environment).value('port')
  )
  assert.equal(given('--port 1', { PORT: '2' }), '1')
  assert.equal(given('', { PORT: '2' }), '2')
  assert.equal(given('', { PORT: '' }), undefined)
  assert.equal(given('', {}), undefined)
  assert.equal(parse('', { PATH: 'x' }).value('path'), undefined)
  assert.equal(parse('', { PORT: '2' }).has('port'), false)
})

const mistakes: readonly (readonly [args: string, sentence: string])[] = [
  ['--port 1 --port=2', `--port is given twice, "1" and "2"; it takes one value, so leave one out`],
  ['--path /a --path /a', `--path is given twice, "/a" and "/a"; it takes one value, so leave one out`],
  ['--key one --key two', '--key is given twice; it takes one value, so leave one out'],
  ['--prot 1', `Unknown option '--prot'; did you mean --port or --protocol?`],
  ['--potr=1', `Unknown option '--potr'; did you mean --port?`],
  ['--PORT 1', `Unknown option '--PORT'; did you mean --port?`],
  ['--wach', `Unknown option '--wach'; did you mean --watch?`],
  ['--p 1', `Unknown option '--p'; did you mean --port, --path or --protocol?`],
  ['-x', `Unknown option '-x'; triport --help lists them`],
  ['--__proto__', `Unknown option '--__proto__'; triport --help lists them`],
  ['--colour', `Unknown option '--colour'; triport --help lists them`],
  ['--port', '--port needs a value: --port N'],
  ['--port --watch', '--port needs a value: --port N; where it begins with a dash, write --port=--watch'],
  ['--key -secret', '--key needs a value: --key KEY; where it begins with a dash, write --key=…'],
  ['serve ', 'An argument is empty; write it, or leave it out'],
  ['--protocol ', '--protocol is empty; write it, or leave it out'],
  ['--protocol ,', '--protocol is empty; write it, or leave it out'],
  ['--watch=yes', '--watch takes no value; leave "yes" out'],
]

test('a mistake is reported in one sentence, with the name that was meant', () => {
  for (const [args, sentence] of mistakes) {
    const isSaid = (error: unknown): boolean => error instanceof UsageError && error.message === sentence
    assert.throws(() => parse(args), isSaid, args)
  }
})

test('what is meant differs in two letters at most, or goes on', () => {
  const names = ['resource', 'resources', 'agent', 'agents', 'tools']
  const rows: readonly (readonly [word: string, meant: readonly string[]])[] = [
    ['agnet', ['agent']], ['tool', ['tools']], ['tolso', ['tools']], ['tulsa', []],
    ['res', ['resource', 'resources']],
    ['', []], ['--', []], ['x'.repeat(100_000), []],
  ]
  for (const [word, meant] of rows) assert.deepEqual(namesLike(word, names), meant, word.slice(0, 20))
  assert.deepEqual(namesLike('foo', ['tool']), [], 'half of it is wrong')
})

test('help is a line for each flag', () => {
  assert.equal(formatFlags(flags), [
    '  --port N         where it listens  (8000; or PORT)',
    '  --path PATH      a path',
    '  --key KEY        a key',
    '  --protocol LIST  which protocols  (http)',
    '  --watch          starts again',
    '  --help, -h       prints this',
    '',
  ].join('\n'))
})
