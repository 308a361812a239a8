/**
 * What was measured, as a table to read, as Markdown, and as JSON.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { rounded, spread } from './statistics.js'

/**
 * One case: ratios, bare by triport, of CPU time per request and, the other way round, of requests per
 * second: 1 is as fast as bare, 0.5 is twice its cost. Peers are told in the same way.
 */
export function summary({ name, title, aim }, slices) {
  const [[, ours], [, bare], ...others] = slices
  return {
    name, title, aim,
    ...ratios(ours, bare),
    bareMicros: rounded(spread(bare.map(({ micros }) => micros)).median),
    peers: Object.fromEntries(others
      .filter(([, theirs]) => theirs.length > 0)
      .map(([peer, theirs]) => [peer, ratios(theirs, bare)])),
  }
}

function ratios(slices, bare) {
  return {
    cpu: shortened(spread(slices.map(({ micros }, round) => bare[round].micros / micros))),
    throughput: shortened(spread(slices.map(({ perSecond }, round) => perSecond / bare[round].perSecond))),
    micros: rounded(spread(slices.map(({ micros }) => micros)).median),
    perSecond: rounded(spread(slices.map(({ perSecond }) => perSecond)).median),
  }
}

/** The cases for whoever waits at the terminal. */
export function textOfCases(rows) {
  const lines = rows.map(({ name, aim, cpu, throughput, micros, bareMicros, peers }) => [
    name, cpu.median.toFixed(2), `${cpu.low.toFixed(2)}-${cpu.high.toFixed(2)}`, aim?.toFixed(2) ?? '',
    throughput.median.toFixed(2), String(micros), String(bareMicros),
    ...Object.keys(peers).length > 0 ? [bestOf(peers)] : [],
  ])
  lines.unshift(['case', 'cpu', 'middle half', 'aim', 'throughput', 'triport us', 'bare us'])
  return aligned(lines)
}

/** What units cost: beside the kernel, and with it. */
const sizeHead = [
  '', 'lines beside the kernel', 'files', 'kB', 'gzipped', 'lines in all', 'files', 'kB', 'gzipped',
]

/** Sizes for whoever waits at the terminal. */
export function textOfSizes(rows) {
  return aligned([sizeHead, ...rows.map(cellsOfSize)])
}

/** The table of sizes in results.md. */
export function markdownOfSizes(rows) {
  return tableOf(sizeHead, rows.map(cellsOfSize))
}

function cellsOfSize({ name, beside, whole }) {
  return [name, ...[beside, whole].flatMap((size) => (
    size === undefined ? ['-', '-', '-', '-']
      : [size.lines, size.files, kilobytes(size.plain), kilobytes(size.gzipped)].map(String)
  ))]
}

function kilobytes(bytes) {
  return Math.round(bytes / 1000)
}

/** The figures for whoever waits at the terminal. */
export function textOfFigures(rows) {
  const lines = rows.map(({ title, triport, bare, aim }) => (
    [title, String(triport), String(bare), String(aim ?? '')]
  ))
  return aligned([['', 'triport', 'bare', 'aim'], ...lines])
}

function aligned(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const pad = (cell, column) => column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column] ?? 0)
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n')
}

/** The tables of results.md. */
export function markdown(rows, figures) {
  const cases = rows.map(({ title, cpu, throughput, peers }) => [
    title, `${cpu.median.toFixed(2)} (${cpu.low.toFixed(2)} to ${cpu.high.toFixed(2)})`,
    throughput.median.toFixed(2), bestOf(peers),
  ])
  const others = figures.map(({ title, triport, bare, peers: theirs = {} }) => {
    const [best] = Object.entries(theirs).toSorted(([, one], [, other]) => one - other)
    return [title, String(triport), String(bare), best === undefined ? '-' : `${best[0]} ${best[1]}`]
  })
  const head = ['work', 'CPU, bare ÷ triport (middle half of the rounds)', 'throughput', 'best peer']
  return [
    ...rows.length > 0 ? [tableOf(head, cases)] : [],
    ...figures.length > 0 ? [tableOf(['', 'triport', 'bare', 'best peer'], others)] : [],
  ].join('\n')
}

/** Puts tables between the two marks of a file, or where it has none, makes a file of them. */
export function writeTables(file, tables, mark = 'bench') {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const marked = new RegExp(`(?<=^<!-- ${mark} -->\\n)[\\s\\S]*(?=^<!-- /${mark} -->$)`, 'm')
  writeFileSync(file, marked.test(before) ? before.replace(marked, () => tables) : tables)
}

function tableOf(head, lines) {
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}

function bestOf(peers) {
  const [best] = Object.entries(peers).toSorted(([, one], [, other]) => other.cpu.median - one.cpu.median)
  return best === undefined ? '-' : `${best[0]} ${best[1].cpu.median.toFixed(2)}`
}

function shortened({ median, low, high }) {
  return { median: rounded(median), low: rounded(low), high: rounded(high) }
}
