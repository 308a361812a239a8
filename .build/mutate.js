/**
 * `node .build/mutate.js http/access/keys [--most 40] [--seed 1] [--lines 12,40] [--tests 25] [--jobs 3]
 * [--fresh]` changes what files of lib/ do, one guard at a time, and says which changes no test finds: a
 * condition that is always or never true or the other way round, a comparison that counts its bound in or out,
 * `&&` for `||`, an `await` that is gone, a call that is not made, a bound that is infinite. `--lines` changes
 * only these, and `--tests` is how many files are tried with each change: those of the room first, then the
 * quick ones.
 *
 * Works on what tsc emits into .test/, so nothing else may use that folder meanwhile. Which tests run a place
 * is known by one run of each with V8's coverage, kept in .test/covered.json; a file of tests that is another
 * since then runs once more, and so do those that ran a file that is. `--fresh` runs all. A change that no test
 * comes to counts as not found.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'

const COVERED = '.test/covered.json'
const LEASES = resolve('.test/test/fixtures/leases.js')
/** A file of tests that takes so much longer than it took with coverage hangs, which finds the change. */
const PATIENCE = { times: 4, ms: 20_000 }
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']
const OTHER = {
  '===': '!==', '!==': '===', '<': '<=', '<=': '<', '>': '>=', '>=': '>', '&&': '||', '||': '&&',
}
/** A call that is a statement on one line. */
const CALL = /^( +)(?:await )?(?!return|throw|if|for|while|super|yield)[\w.#?[\]]+\([^\n]*\);$/gm
/** What is no code, each at its place. */
const BLANKED = new RegExp([
  String.raw`\/\/[^\n]*`,
  String.raw`\/\*[^]*?\*\/`,
  String.raw`'(?:\\[^]|[^'\\\n])*'`,
  String.raw`"(?:\\[^]|[^"\\\n])*"`,
  String.raw`(?<=[=(,:;!&|?[{}\n]\s*|return )\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*`,
  '`(?:\\\\[^]|[^`\\\\])*`',
].join('|'), 'g')

/** What ends the processes that run: a loop that a change made endless would go on without this command. */
const running = new Set()
process.once('exit', () => { for (const kill of running) kill() })

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    most: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: '1' },
    lines: { type: 'string' },
    tests: { type: 'string', default: '25' },
    jobs: { type: 'string', default: String(availableParallelism() + 1) },
    fresh: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help || positionals.length === 0) {
  const [, header] = /\/\*\*\n([^]*?)\n \*\//.exec(readFileSync(process.argv[1], 'utf8'))
  process.stdout.write(`${header.replaceAll(/^ \* ?/gm, '')}\n`)
  process.exit(positionals.length === 0 && !values.help ? 2 : 0)
}

compile()
const paths = filesOf(positionals)
const isKnown = existsSync(COVERED) && !values.fresh
const covered = await measure(isKnown ? JSON.parse(readFileSync(COVERED, 'utf8')) : {})
const scores = []
for (const path of paths) scores.push(await mutate(path))
for (const { path, found, all } of scores) {
  const percent = all === 0 ? '' : `, ${Math.round(100 * found / all)} %`
  process.stdout.write(`${path}: ${found} of ${all} found${percent}\n`)
}

function compile() {
  // What a file that is gone left there would be tried too.
  for (const folder of ['.test/lib', '.test/test']) rmSync(folder, { recursive: true, force: true })
  const { status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'test', '--noCheck'], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
  cpSync('LICENSE', '.test/LICENSE')
  for (const path of ['parts/docs/docs.html', 'cli/templates']) {
    if (existsSync(`lib/${path}`)) cpSync(`lib/${path}`, `.test/lib/${path}`, { recursive: true })
  }
  copyGuide('.test/lib/guide')
}

/** Files below .test/lib whose path, from some folder on, begins with one of these words. */
function filesOf(words) {
  return readdirSync('.test/lib', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js') && words.some((word) => `/${path}`.includes(`/${word}`))).toSorted()
}

function testFiles() {
  return readdirSync('.test/test', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.js') && !path.endsWith('.slow.test.js')).toSorted()
}

/** Of each file of tests how long it takes, and of each file of lib/ the ranges that it runs. */
async function measure(known) {
  const texts = new Map(paths.map((path) => [path, digest(`.test/lib/${path}`)]))
  const isOld = (file) => known[file]?.digest !== digest(`.test/test/${file}`)
    || paths.some((path) => known[file].ranges[path] !== undefined && known[file].digests[path] !== texts.get(path))
  await inParallel(testFiles().filter(isOld), async (file) => {
    const folder = mkdtempSync(join(tmpdir(), 'covered-'))
    const began = performance.now()
    const code = await run(file, 600_000, { NODE_V8_COVERAGE: folder })
    const ms = performance.now() - began
    const ranges = code === 0 ? rangesIn(folder) : {}
    if (code !== 0) process.stderr.write(`${file} fails as it is, and is left out\n`)
    const digests = Object.fromEntries(Object.keys(ranges).map((path) => [path, digest(`.test/lib/${path}`)]))
    known[file] = { ms, digest: digest(`.test/test/${file}`), digests, ranges }
    rmSync(folder, { recursive: true })
  })
  writeFileSync(COVERED, JSON.stringify(known))
  return known
}

function digest(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16)
}

function rangesIn(folder) {
  const ranges = {}
  const root = `file://${resolve('.test/lib')}/`
  for (const name of readdirSync(folder)) {
    let report
    try {
      report = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    } catch {
      // A process that was killed as it wrote.
      continue
    }
    for (const { url, functions } of report.result) {
      if (!url.startsWith(root) || url.includes('?')) continue
      const list = functions.flatMap((one) => one.ranges)
        .map(({ startOffset, endOffset, count }) => [startOffset, endOffset, count > 0 ? 1 : 0])
      const path = url.slice(root.length)
      ranges[path] = [...(ranges[path] ?? []), list]
    }
  }
  return ranges
}

function isIn(room, file) {
  return Number(file.startsWith(`${room}/`))
}

/** Whether one of the processes of a file of tests ran the place: its smallest range says so. */
function runs(lists, at) {
  return lists.some((list) => {
    let best
    for (const range of list) {
      const isSmaller = best === undefined || range[1] - range[0] <= best[1] - best[0]
      if (isSmaller && range[0] <= at && at < range[1]) best = range
    }
    return best?.[2] === 1
  })
}

async function mutate(path) {
  const file = `.test/lib/${path}`
  const text = readFileSync(file, 'utf8')
  const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')))
  const lineOf = (at) => {
    const before = text.slice(0, at).split('\n')
    return map.findEntry(before.length - 1, before.at(-1).length).originalLine + 1
  }
  const lines = values.lines?.split(',').map(Number)
  const wanted = changesOf(text).filter(({ at }) => lines === undefined || lines.includes(lineOf(at)))
  const changes = some(wanted, Number(values.most), Number(values.seed))
  const room = path.split('/').slice(0, 2).join('/')
  const restore = () => writeFileSync(file, text)
  const leave = () => {
    restore()
    process.exit(130)
  }
  for (const signal of SIGNALS) process.once(signal, leave)
  let found = 0
  try {
    for (const { at, end, by, what } of changes) {
      const tests = Object.entries(covered).filter(([, { ranges }]) => runs(ranges[path] ?? [], at))
        .toSorted(([one, a], [other, b]) => isIn(room, other) - isIn(room, one) || a.ms - b.ms)
        .slice(0, Number(values.tests))
      writeFileSync(file, text.slice(0, at) + by + text.slice(end))
      if (await fails(tests)) found++
      else {
        const where = `lib/${path.replace(/js$/, 'ts')}:${lineOf(at)}`
        const why = tests.length === 0 ? ' (no test comes here)' : ''
        process.stdout.write(`${where} ${what}${why}: ${lineAt(text, at).trim().slice(0, 140)}\n`)
      }
    }
  } finally {
    restore()
    for (const signal of SIGNALS) process.off(signal, leave)
  }
  return { path, found, all: changes.length }
}

async function fails(tests) {
  let failed = false
  await inParallel(tests, async ([file, { ms }]) => {
    if (failed) return
    if (await run(file, PATIENCE.times * ms + PATIENCE.ms, {}, () => failed) !== 0) failed = true
  })
  return failed
}

/** The exit code of a file of tests; another than 0 where it takes too long. Given up where nobody wants it. */
function run(file, ms, env, isOver = () => false) {
  return new Promise((settle) => {
    const child = spawn(process.execPath, [`--import=${LEASES}`, `.test/test/${file}`], {
      stdio: 'ignore', detached: true, env: { ...process.env, ...env },
    })
    const kill = () => {
      running.delete(kill)
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {
        // It has just ended.
      }
    }
    running.add(kill)
    const began = performance.now()
    const timer = setInterval(() => { if (isOver() || performance.now() - began > ms) kill() }, 50)
    child.on('close', (code) => {
      clearInterval(timer)
      kill()
      settle(code ?? 1)
    })
  })
}

async function inParallel(list, work) {
  const rest = list.values()
  await Promise.all(Array.from({ length: Number(values.jobs) }, async () => {
    for (const one of rest) await work(one)
  }))
}

/** As many of a list, drawn by a seed, in their order. */
function some(list, most, seed) {
  if (list.length <= most) return list
  let state = seed
  const draw = () => (state = (state * 1103515245 + 12345) % 2147483648)
  return list.map((one) => [draw(), one]).toSorted(([a], [b]) => a - b).slice(0, most)
    .map(([, one]) => one).toSorted((a, b) => a.at - b.at)
}

function changesOf(text) {
  const code = masked(text)
  const changes = []
  const add = (at, end, by, what) => changes.push({ at, end, by, what })
  for (const { index, 0: head } of code.matchAll(/\b(?:if|while) \(/g)) {
    const from = index + head.length
    const to = closing(code, from)
    const condition = text.slice(from, to)
    add(from, to, `!(${condition})`, 'negated')
    add(from, to, `((${condition}), false)`, 'never')
    if (head.startsWith('if')) add(from, to, `((${condition}), true)`, 'always')
  }
  for (const { index, 0: sign } of code.matchAll(/(?<= )(?:===|!==|<=|>=|<|>|&&|\|\|)(?= )/g)) {
    const other = OTHER[sign]
    // A mix of `??` with these is no JavaScript.
    if ((sign === '&&' || sign === '||') && /\?\?/.test(lineAt(code, index))) continue
    add(index, index + sign.length, other, `${sign} is ${other}`)
  }
  for (const { index } of code.matchAll(/ \? (?!\.)/g)) {
    add(index, index + 3, ' && false ? ', 'the second branch')
  }
  for (const { index } of code.matchAll(/\bawait (?=[\w(])/g)) add(index, index + 6, '', 'no await')
  for (const { index, 0: call, 1: indent } of code.matchAll(CALL)) {
    add(index + indent.length, index + call.length, ';', 'not called')
  }
  for (const { index, 0: whole } of code.matchAll(/^const [A-Z][A-Z\d_]+ = [\d_*. ]+;$/gm)) {
    const from = index + whole.indexOf('= ') + 2
    add(from, index + whole.length - 1, 'Infinity', 'no bound')
  }
  return changes.toSorted((a, b) => a.at - b.at)
}

function lineAt(code, at) {
  return code.slice(code.lastIndexOf('\n', at) + 1, code.indexOf('\n', at))
}

/** Where the parenthesis closes that was opened before `from`. */
function closing(code, from) {
  let depth = 1
  let at = from
  for (; depth > 0; at++) {
    if (code[at] === '(') depth++
    else if (code[at] === ')') depth--
  }
  return at - 1
}

/** The text with comments, strings and patterns blanked, each place where it was. */
function masked(text) {
  return text.replace(BLANKED, (found) => found.replace(/[^\n]/g, '~'))
}
