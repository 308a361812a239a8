/**
 * Metrics as text: families of counters, gauges and histograms, each with its HELP and TYPE. A family has at
 * most `maxSeries` sets of label values; further ones count in a series whose labels are all `other`.
 * Spec: the Prometheus text exposition format, 0.0.4.
 */

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export const DURATION_BUCKETS: readonly number[] = Object.freeze([
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
])

export interface FamilyFacts {
  /** `[a-zA-Z_:][a-zA-Z0-9_:]*`; that of a counter ends in `_total`. */
  readonly name: string
  readonly help: string
}

/** One figure: the values of its labels are in the order of the family's label names. */
export interface Sample { readonly labels: readonly string[]; readonly value: number }

class Series<T> {
  readonly #labels: readonly string[]
  readonly #max: number
  readonly #make: () => T
  readonly #all = new Map<string, { readonly text: string; readonly state: T }>()

  constructor(labels: readonly string[], max: number, make: () => T) {
    this.#labels = labels
    this.#max = max
    this.#make = make
  }

  of(values: readonly string[]): T {
    const key = values.join('\0')
    const known = this.#all.get(key)
    if (known !== undefined) return known.state
    const others = this.#labels.map(() => 'other')
    if (this.#all.size >= this.#max && key !== others.join('\0')) return this.of(others)
    const state = this.#make()
    this.#all.set(key, { text: labelText(this.#labels, values), state })
    return state
  }

  format(line: (labels: string, state: T) => string): string {
    let all = ''
    for (const { text, state } of this.#all.values()) all += line(text, state)
    return all
  }
}

/** What only grows. */
export class CounterFamily {
  readonly #facts: FamilyFacts
  readonly #series: Series<{ count: number }>

  constructor(facts: FamilyFacts, labels: readonly string[], maxSeries: number) {
    this.#facts = facts
    this.#series = new Series(labels, maxSeries, () => ({ count: 0 }))
  }

  add(values: readonly string[]): void {
    this.#series.of(values).count += 1
  }

  format(): string {
    const { name } = this.#facts
    return head(this.#facts, 'counter') + this.#series.format((labels, { count }) => (
      `${name}${braced(labels)} ${count}\n`
    ))
  }
}

/** How values are spread: how many are at most as large as each bound, how many there are, and their sum. */
export class HistogramFamily {
  readonly #facts: FamilyFacts
  readonly #bounds: readonly number[]
  readonly #series: Series<{ readonly counts: number[]; count: number; sum: number }>

  /** `bounds` ascend. */
  constructor(facts: FamilyFacts, labels: readonly string[], bounds: readonly number[], maxSeries: number) {
    this.#facts = facts
    this.#bounds = bounds
    this.#series = new Series(labels, maxSeries, () => ({ counts: bounds.map(() => 0), count: 0, sum: 0 }))
  }

  observe(values: readonly string[], value: number): void {
    const one = this.#series.of(values)
    const at = this.#bounds.findIndex((bound) => value <= bound)
    if (at >= 0) one.counts[at]! += 1
    one.count += 1
    one.sum += value
  }

  format(): string {
    const { name } = this.#facts
    return head(this.#facts, 'histogram') + this.#series.format((labels, { counts, count, sum }) => {
      const before = labels === '' ? '' : `${labels},`
      let upTo = 0
      const buckets = this.#bounds.map((bound, at) => {
        upTo += counts[at]!
        return `${name}_bucket{${before}le="${bound}"} ${upTo}\n`
      })
      return `${buckets.join('')}${name}_bucket{${before}le="+Inf"} ${count}\n`
        + `${name}_sum${braced(labels)} ${sum}\n${name}_count${braced(labels)} ${count}\n`
    })
  }
}

/** A family whose figures are known only when they are asked for. */
export function formatSamples(
  facts: FamilyFacts, type: 'counter' | 'gauge', labels: readonly string[], samples: readonly Sample[],
): string {
  return head(facts, type) + samples.map((sample) => (
    `${facts.name}${braced(labelText(labels, sample.labels))} ${sample.value}\n`
  )).join('')
}

function head({ name, help }: FamilyFacts, type: string): string {
  const line = help.replace(/[\\\n]/g, (char) => char === '\n' ? '\\n' : '\\\\')
  return `# HELP ${name} ${line}\n# TYPE ${name} ${type}\n`
}

function braced(labels: string): string {
  return labels === '' ? '' : `{${labels}}`
}

function labelText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, at) => `${name}="${escapeLabel(values[at] ?? '')}"`).join(',')
}

function escapeLabel(value: string): string {
  return value.replace(/[\\"\n]/g, (char) => char === '\n' ? '\\n' : `\\${char}`)
}
