/**
 * Method and path to an endpoint, with or without a final slash. Paths without names are one look-up in a
 * map; others are tried one after the other, in their given order.
 */
import { percentDecoded } from '../../wire/uri.ts'
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
  /** Matches the path; its groups are the values of `names`. */
  readonly expression: RegExp
  readonly names: readonly string[]
  readonly methods: ReadonlyMap<string, Endpoint>
}

const noParams: ReadonlyMap<string, string> = new Map()
const unknown: Match = { endpoint: undefined, neighbor: undefined, allowed: [], params: noParams }

/** Finds what answers at a path of the host. */
export type Routing = (method: string, path: string) => Match

/** `mountPath`: of most endpoints. Throws `TypeError` where two endpoints share a path and a method. */
export function createRouter(endpoints: readonly Endpoint[], mountPath = ''): Routing {
  const all = new Map<string, Map<string, Endpoint>>()
  const taken = new Set<string>()
  for (const endpoint of endpoints) {
    const { path: own, methods, outsideMount = false } = endpoint
    const path = outsideMount ? own : mountPath + own
    const known = all.get(path) ?? new Map<string, Endpoint>()
    all.set(path, known)
    const served = methods.includes('GET') && !methods.includes('HEAD') ? [...methods, 'HEAD'] : methods
    for (const method of served) {
      // `/tasks/{id}` and `/tasks/{agent}` are one path.
      const place = `${method} ${withoutSlash(shapeOf(path))}`
      if (taken.has(place)) {
        throw new TypeError(`Two routes meet at ${method} ${own}; change 'path' or an agent's id`)
      }
      taken.add(place)
      known.set(method, endpoint)
    }
  }
  // Made when the first path comes that is none of the fixed ones.
  let patterns: readonly Pattern[] | undefined
  // The answers of fixed paths are made once; '' is any other method.
  const answers = new Map<string, ReadonlyMap<string, Match>>()
  for (const [path, methods] of all) {
    if (path.includes('{')) continue
    const allowed = [...methods.keys()]
    const [neighbor] = methods.values()
    const answer = (endpoint?: Endpoint): Match => ({ endpoint, neighbor, allowed, params: noParams })
    const known = [...methods].map(([method, endpoint]) => [method, answer(endpoint)] as const)
    const byMethod = new Map([...known, ['', answer()]])
    answers.set(path, byMethod).set(withoutSlash(path), byMethod)
  }

  const absences = endpoints.flatMap((neighbor) => {
    const { refusesBelow: below } = neighbor
    return below === undefined ? [] : { below: mountPath + below, answer: { ...unknown, neighbor } }
  })

  const lookUp: Routing = (method, path) => {
    const known = answers.get(path)
    if (known !== undefined) return known.get(method) ?? known.get('')!
    patterns ??= patternsOf(all)
    return patterns.length === 0 ? unknown : matchPattern(patterns, method, path)
  }
  return (method, path) => {
    const match = lookUp(method, path)
    if (match !== unknown) return match
    // A final slash makes no other path. It is not redirected: many clients would send a POST again as a GET.
    const shorter = withoutSlash(path)
    const other = shorter === path ? unknown : lookUp(method, shorter)
    if (other !== unknown) return other
    return absences.find(({ below }) => path.startsWith(below))?.answer ?? unknown
  }
}

function patternsOf(all: ReadonlyMap<string, Pattern['methods']>): readonly Pattern[] {
  const named = [...all].filter(([path]) => path.includes('{'))
  const shapes = named.map(([path]) => shapeOf(path))
  return named.map(([path, methods]) => patternOf(path, methods, shapes))
}

/** A path without the slash at its end; `//` names nothing. */
export function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') && !path.endsWith('//') ? path.slice(0, -1) : path
}

function shapeOf(path: string): string {
  return path.includes('{') ? path.replace(/\{\w+\}/g, '{}') : path
}

/**
 * A `{name}` is one segment, or what stands before a fixed end of it; a `{name*}` is all that is left. A name
 * does not end as that of another path: `/tasks/{id}` must not take the verb of `/tasks/{id}:cancel`.
 */
function patternOf(path: string, methods: Pattern['methods'], shapes: readonly string[]): Pattern {
  const names: string[] = []
  let source = ''
  let from = 0
  for (const found of path.matchAll(/\{(\w+)(\*?)\}/g)) {
    const [whole, name = '', star] = found
    const before = shapeOf(path.slice(0, found.index)) + '{}'
    names.push(name)
    source += literal(path.slice(from, found.index)) + (star === '*' ? '(.*)' : '([^/]+)')
    from = found.index + whole.length
    if (star === '*' || (from < path.length && path[from] !== '/')) continue
    for (const shape of shapes) {
      const end = shape.startsWith(before) ? /^[^/]*/.exec(shape.slice(before.length))?.[0] : undefined
      if (end) source += `(?<!${literal(end)})`
    }
  }
  return { expression: new RegExp(`^${source}${literal(path.slice(from))}$`, 's'), names, methods }
}

function literal(text: string): string {
  return text.replace(/[^\w/]/g, '\\$&')
}

function matchPattern(patterns: readonly Pattern[], method: string, path: string): Match {
  const allowed = new Set<string>()
  let neighbor: Endpoint | undefined
  for (const { expression, names, methods } of patterns) {
    const values = expression.exec(path)
    if (values === null) continue
    const params = new Map(names.map((name, at) => [name, values[at + 1]!]))
    const endpoint = methods.get(method)
    if (endpoint !== undefined) return { endpoint, neighbor, allowed: [...methods.keys()], params }
    for (const [known, other] of methods) {
      neighbor ??= other
      // A browser asks before it sends what is answered with 404.
      if (method === 'OPTIONS' || other.mayName?.(params) !== false) allowed.add(known)
    }
  }
  return neighbor === undefined ? unknown
    : { endpoint: undefined, neighbor, allowed: [...allowed], params: noParams }
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
  const path = percentDecoded(raw)
  return path === undefined || /[\u0000-\u001f\u007f\\]/.test(path) ? undefined : { path, query }
}
