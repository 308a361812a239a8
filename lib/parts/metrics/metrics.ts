/**
 * `GET /metrics` for Prometheus: counters of requests and calls, the status of the server, and figures of the
 * process. A server without it counts nothing. Spec: the Prometheus text exposition format, 0.0.4.
 */
import { createHistogram, performance } from 'node:perf_hooks'
import { requestChannel } from '../../kernel/http/server/observer.ts'
import { problemReply } from '../../kernel/wire/problem.ts'
import type { Description, Endpoint } from '../../kernel/http/message/exchange.ts'
import type { Observer } from '../../kernel/http/server/observer.ts'
import type { CallInfo } from '../../kernel/run/call-observer.ts'
import type { Kernel } from '../../kernel/server/part.ts'
import type { Gauge } from '../../kernel/util/gauge.ts'

/** What every scrape has of the server. */
export type MetricsFacts = Pick<Kernel, 'name' | 'version' | 'gauges'>

/** Others are counted as one: clients make them up. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Enough for the routes of a server with all protocols and some tenants, and for many tools. */
const MAX_SERIES = 2_000
/** Each has a line for every bucket. */
const MAX_HISTOGRAMS = 300

const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const DURATION_BUCKETS = Object.freeze([
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
])

interface FamilyFacts {
  /** `[a-zA-Z_:][a-zA-Z0-9_:]*`; that of a counter ends in `_total`. */
  readonly name: string
  readonly help: string
}

/** One figure: the values of its labels are in the order of the family's label names. */
interface Sample { readonly labels: readonly string[]; readonly value: number }

/** One for each set of label values, at most `max`; further ones count as one whose labels are `other`. */
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

/** The counters of one server. */
export class Metrics {
  readonly #requests = new CounterFamily({
    name: 'triport_http_requests_total',
    help: 'Requests that are over. Status 0: the client left before there was an answer.',
  }, ['method', 'route', 'status'], MAX_SERIES)

  readonly #requestSeconds = new HistogramFamily({
    name: 'triport_http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer; for a stream, to its end.',
  }, ['method', 'route'], DURATION_BUCKETS, MAX_HISTOGRAMS)

  readonly #calls = new CounterFamily({
    name: 'triport_calls_total',
    help: 'Calls of agents, groups, tools, resources and prompts that are over, by what came of them.',
  }, ['kind', 'name', 'protocol', 'outcome'], MAX_SERIES)

  readonly #callSeconds = new HistogramFamily({
    name: 'triport_call_duration_seconds',
    help: 'From the beginning of a call to its end or its cancellation.',
  }, ['kind', 'name'], DURATION_BUCKETS, MAX_HISTOGRAMS)

  /** Measures from the first scrape on. */
  #delay: LoopDelay | undefined

  countCall({ kind, name, protocol, outcome, durationMs }: CallInfo): void {
    this.#calls.add([kind, name, protocol, outcome])
    this.#callSeconds.observe([kind, name], durationMs / 1_000)
  }

  /** Counts each request, then passes it to `next`, where that listens. */
  countRequests(next: Observer): Observer {
    return {
      isAlwaysWanted: true,
      onDone: (request, status, bytes, durationMs) => {
        const method = METHODS.has(request.method) ? request.method : 'other'
        const route = request.endpoint?.path ?? 'none'
        this.#requests.add([method, route, String(status)])
        this.#requestSeconds.observe([method, route], durationMs / 1_000)
        if (next.isAlwaysWanted || requestChannel.hasSubscribers) {
          next.onDone(request, status, bytes, durationMs)
        }
      },
    }
  }

  endpoint(facts: MetricsFacts): Endpoint {
    return {
      path: '/metrics',
      methods: ['GET'],
      always: true,
      refuse: problemReply,
      describe,
      handle: () => ({
        status: 200,
        type: EXPOSITION_TYPE,
        headers: ['Cache-Control', 'no-store'],
        body: this.#format(facts),
      }),
    }
  }

  close(): void {
    this.#delay?.close()
    this.#delay = undefined
  }

  #format({ name, version, gauges }: MetricsFacts): string {
    return [
      formatSamples({ name: 'triport_info', help: 'The server. Always 1.' }, 'gauge',
        ['name', 'version'], [{ labels: [name, version], value: 1 }]),
      this.#requests.format(),
      this.#requestSeconds.format(),
      this.#calls.format(),
      this.#callSeconds.format(),
      figures('gauge', gauges()),
      processText(),
      (this.#delay ??= new LoopDelay()).format(),
    ].join('')
  }
}

async function describe(): Promise<Description> {
  const { serviceOperation } = await import('../../floors/openapi/openapi.ts')
  const get = serviceOperation('What the server counts, and what it does and holds now, for Prometheus', {
    description: 'The text exposition format, version 0.0.4',
    content: { 'text/plain': { schema: { type: 'string' } } },
  })
  return { operations: { get } }
}

function figures(type: 'counter' | 'gauge', all: readonly Gauge[]): string {
  return all.map(([name, help, value, label]) => {
    const samples: readonly Sample[] = typeof value === 'number' ? [{ labels: [], value }]
      : Object.entries(value).map(([key, each]) => ({ labels: [key], value: each }))
    return formatSamples({ name, help }, type, label === undefined ? [] : [label], samples)
  }).join('')
}

/** Figures of the process, under the names that dashboards know. */
function processText(): string {
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const { active, idle } = performance.eventLoopUtilization()
  const resources = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) resources.set(type, (resources.get(type) ?? 0) + 1)
  return figures('counter', [
    ['process_cpu_seconds_total', 'CPU time of the process.', (user + system) / 1e6],
    ['nodejs_eventloop_active_seconds_total', 'How long the event loop was busy.', active / 1_000],
    ['nodejs_eventloop_idle_seconds_total', 'How long the event loop waited.', idle / 1_000],
  ]) + figures('gauge', [
    ['process_start_time_seconds', 'When the process began, in Unix time.', performance.timeOrigin / 1_000],
    ['process_resident_memory_bytes', 'Memory of the process.', rss],
    ['nodejs_heap_size_used_bytes', 'JavaScript memory in use.', heapUsed],
    ['nodejs_heap_size_total_bytes', 'JavaScript memory that is set aside.', heapTotal],
    ['nodejs_external_memory_bytes', 'Memory of buffers, outside of the heap.', external],
  ]) + formatSamples({
    name: 'nodejs_active_resources', help: 'What keeps the event loop alive, by its type.',
  }, 'gauge', ['type'], [...resources].map(([type, value]) => ({ labels: [type], value })))
}

const PERIOD_MS = 20
const NANOSECONDS = 1e9
const LATE = 'How late the event loop was since the scrape before'

/**
 * How late timers run. Node's own monitor forgets with each reset when it looked last, so it misses a loop
 * that blocks right after a reset.
 */
class LoopDelay {
  readonly #delays = createHistogram()
  readonly #timer = setInterval(() => { this.#look() }, PERIOD_MS).unref()
  #lookedAt = performance.now()

  /** The figures since the call before; all are 0 where there was no look. */
  format(): string {
    const delays = this.#delays
    const seconds = (nanoseconds: number): number => delays.count === 0 ? 0 : nanoseconds / NANOSECONDS
    const text = figures('gauge', [
      ['nodejs_eventloop_lag_mean_seconds', `${LATE}: on average.`, seconds(delays.mean)],
      ['nodejs_eventloop_lag_p50_seconds', `${LATE}: half of the time.`, seconds(delays.percentile(50))],
      ['nodejs_eventloop_lag_p99_seconds', `${LATE}: 99 of 100 times.`, seconds(delays.percentile(99))],
      ['nodejs_eventloop_lag_max_seconds', `${LATE}: at most.`, seconds(delays.max)],
    ])
    delays.reset()
    return text
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = performance.now()
    const lateMs = now - this.#lookedAt - PERIOD_MS
    this.#lookedAt = now
    // A histogram begins at 1.
    this.#delays.record(Math.max(1, Math.round(lateMs * 1e6)))
  }
}
