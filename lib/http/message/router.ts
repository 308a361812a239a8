/**
 * Method and path to an endpoint. Paths without names are one look-up in a map; others are compared segment
 * by segment, in their given order.
 */
import type { Endpoint } from './exchange.ts'

export interface Match {
  readonly endpoint: Endpoint | undefined
  /**
   * Another method's endpoint at this path, or the one that refuses for everything below: its form is used
   * for refusals.
   */
  readonly neighbor: Endpoint | undefined
  /** For `Allow`; empty where the path is unknown. */
  readonly allowed: readonly string[]
  readonly params: ReadonlyMap<string, string>
}

interface Pattern {
  readonly path: string
  readonly shape: string
  segments: readonly Segment[]
  readonly methods: Map<string, Endpoint>
}

/**
 * A fixed segment, or a name with a fixed end. One without an end does not match the end of another path's
 * name there: `/tasks/{id}` must not take the verb of `/tasks/{id}:cancel`. The last may be `{name*}`: all
 * that is left.
 */
type Segment =
  | { readonly fixed: string }
  | { readonly name: string; readonly end: string; readonly others: readonly string[] }
  | { readonly rest: string }

const noParams: ReadonlyMap<string, string> = new Map()
const unknown: Match = { endpoint: undefined, neighbor: undefined, allowed: [], params: noParams }

type Look = (method: string, path: string) => Match

export interface RouteTable {
  /** Below the mount path. */
  match(method: string, path: string): Match
  /** Beside the mount path; nothing where there is none. */
  matchOutside(method: string, path: string): Match
}

/** Makes the table. Throws `TypeError` where two endpoints share a path and a method. */
export function createRouteTable(endpoints: readonly Endpoint[], mountPath = ''): RouteTable {
  const isOutside = ({ outsideMount = false }: Endpoint): boolean => outsideMount && mountPath !== ''
  return {
    match: lookIn(endpoints.filter((endpoint) => !isOutside(endpoint))),
    matchOutside: lookIn(endpoints.filter(isOutside)),
  }
}

function lookIn(endpoints: readonly Endpoint[]): Look {
  const fixed = new Map<string, Map<string, Endpoint>>()
  const patterns: Pattern[] = []
  for (const endpoint of endpoints) {
    const { path, methods } = endpoint
    const served = methods.includes('GET') && !methods.includes('HEAD') ? [...methods, 'HEAD'] : methods
    const known = path.includes('{') ? patternFor(patterns, path).methods : methodsAt(fixed, path)
    // `/tasks/{id}` and `/tasks/{agent}` are one path.
    const shape = shapeOf(path)
    const rivals = patterns.filter((other) => other.shape === shape && other.path !== path)
    for (const method of served) {
      if (known.has(method) || rivals.some((rival) => rival.methods.has(method))) throw meeting(method, path)
      known.set(method, endpoint)
    }
  }
  const ends = endsIn(patterns)
  for (const pattern of patterns) pattern.segments = segmentsOf(pattern, ends)
  // The answers of fixed paths are made once.
  const answers = new Map<string, Map<string, Match>>()
  const others = new Map<string, Match>()
  for (const [path, methods] of fixed) {
    const allowed = [...methods.keys()]
    const [neighbor] = methods.values()
    const answer = (endpoint?: Endpoint): Match => ({ endpoint, neighbor, allowed, params: noParams })
    answers.set(path, new Map([...methods].map(([method, endpoint]) => [method, answer(endpoint)])))
    others.set(path, answer())
  }

  const absences = endpoints.flatMap((neighbor) => {
    const { refusesBelow: below } = neighbor
    return below === undefined ? [] : { below, answer: { ...unknown, neighbor } }
  })

  return (method, path) => {
    const known = answers.get(path)
    if (known !== undefined) return known.get(method) ?? others.get(path)!
    const match = patterns.length === 0 ? unknown : matchPattern(patterns, method, path)
    if (match !== unknown) return match
    return absences.find(({ below }) => path.startsWith(below))?.answer ?? unknown
  }
}

function methodsAt(fixed: Map<string, Map<string, Endpoint>>, path: string): Map<string, Endpoint> {
  let methods = fixed.get(path)
  if (methods === undefined) fixed.set(path, methods = new Map())
  return methods
}

function patternFor(patterns: Pattern[], path: string): Pattern {
  let pattern = patterns.find((known) => known.path === path)
  if (pattern === undefined) {
    patterns.push(pattern = { path, shape: shapeOf(path), segments: [], methods: new Map() })
  }
  return pattern
}

const NAMED = /^\{(\w+)\}(.*)$/
const REST = /^\{(\w+)\*\}$/

/** The ends of names at one position, by the shape of the path before it. */
type Ends = ReadonlyMap<string, ReadonlySet<string>>

function segmentsOf({ path, shape }: Pattern, ends: Ends): readonly Segment[] {
  const shapes = shape.split('/')
  return path.split('/').map((part, at) => {
    const [, rest] = REST.exec(part) ?? []
    if (rest !== undefined) return { rest }
    const [, name, end = ''] = NAMED.exec(part) ?? []
    if (name === undefined) return { fixed: part }
    const others = end === '' ? ends.get(before(shapes, at)) ?? [] : []
    return { name, end, others: [...others] }
  })
}

function endsIn(patterns: readonly Pattern[]): Ends {
  const ends = new Map<string, Set<string>>()
  for (const { shape } of patterns) {
    const shapes = shape.split('/')
    for (const [at, part] of shapes.entries()) {
      if (!part.startsWith(NAME) || part === NAME) continue
      const place = before(shapes, at)
      ends.set(place, (ends.get(place) ?? new Set()).add(part.slice(NAME.length)))
    }
  }
  return ends
}

function before(shapes: readonly string[], at: number): string {
  return shapes.slice(0, at).join('/')
}

const NAME = '{}'

function shapeOf(path: string): string {
  return path.includes('{') ? path.replace(/\{\w+\}/g, NAME) : path
}

function meeting(method: string, path: string): TypeError {
  return new TypeError(`Two routes meet at ${method} ${path}; change 'path' or an agent's id`)
}

function matchPattern(patterns: readonly Pattern[], method: string, path: string): Match {
  const given = path.split('/')
  const allowed = new Set<string>()
  let neighbor: Endpoint | undefined
  for (const { segments, methods } of patterns) {
    const params = paramsOf(segments, given)
    if (params === undefined) continue
    const endpoint = methods.get(method)
    if (endpoint !== undefined) return { endpoint, neighbor, allowed: [...methods.keys()], params }
    for (const [known, other] of methods) {
      allowed.add(known)
      neighbor ??= other
    }
  }
  return neighbor === undefined ? unknown
    : { endpoint: undefined, neighbor, allowed: [...allowed], params: noParams }
}

/** Whether a path has more segments than a pattern, whose last takes them all. */
function isOpen(segments: readonly Segment[], given: readonly string[]): boolean {
  return segments.length < given.length && 'rest' in segments[segments.length - 1]!
}

/** The values of the names; undefined where the segments do not fit. */
function paramsOf(segments: readonly Segment[], given: readonly string[]): Match['params'] | undefined {
  if (segments.length !== given.length && !isOpen(segments, given)) return undefined
  // Most candidates differ here, before anything is allocated.
  for (let at = 0; at < segments.length; at += 1) {
    const segment = segments[at]!
    if ('fixed' in segment && segment.fixed !== given[at]) return undefined
  }
  const params = new Map<string, string>()
  for (const [index, segment] of segments.entries()) {
    if ('fixed' in segment) continue
    if ('rest' in segment) {
      params.set(segment.rest, given.slice(index).join('/'))
      continue
    }
    const value = given[index]!
    if (!value.endsWith(segment.end) || value.length === segment.end.length) return undefined
    const name = value.slice(0, value.length - segment.end.length)
    if (segment.others.some((other) => name.endsWith(other))) return undefined
    params.set(segment.name, name)
  }
  return params
}

/**
 * Normalizes a request target: the path percent-decoded once, and the query. Undefined for `%2F`, `%5C`,
 * `%00`, control characters and broken escapes. `//`, `.` and `..` stay, and match nothing.
 */
export function parseTarget(target: string): { readonly path: string; readonly query: string } | undefined {
  const end = target.indexOf('?')
  const raw = end < 0 ? target : target.slice(0, end)
  const query = end < 0 ? '' : target.slice(end + 1)
  if (!raw.includes('%')) return /[\u0000-\u001f\u007f\\]/.test(raw) ? undefined : { path: raw, query }
  if (/%(?:2f|5c|00)/i.test(raw)) return undefined
  try {
    const path = decodeURIComponent(raw)
    return /[\u0000-\u001f\u007f\\]/.test(path) ? undefined : { path, query }
  } catch {
    return undefined
  }
}
