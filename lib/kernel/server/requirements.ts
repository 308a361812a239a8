/** What a server is made of, as it was given: options that are known, and parts that can stand together. */
import { isRecord } from '../define/content.ts'
import { kernelDefaults } from '../define/limits.ts'
import { offered } from '../define/normalize-definitions.ts'
import {
  checkValues, isPlain, mustBe, nearest, rejectMore, rejectUnknown, requireDefinition, show,
} from '../define/validate.ts'
import { isThenable } from '../util/thenable.ts'
import { kernelChecks } from './options.ts'
import { kernelCopy } from './part.ts'
import type { Endpoint } from '../http/message/exchange.ts'
import type { Checks } from '../define/validate.ts'
import type { Service } from '../run/service.ts'
import type { KernelOptions, KernelSettings } from './options.ts'
import type { Kernel, Opened, Part } from './part.ts'

/** How options are told: what may be in them, what to write instead of others, and an example. */
export interface KnownOptions {
  readonly names: readonly string[]
  readonly remedies: ReadonlyMap<string, string>
  readonly example: string
}

/** What to write instead of the options that belong to another verb. */
export const listenRemedies: ReadonlyMap<string, string> = new Map([
  ['port', 'write server.listen(port, host)'], ['host', 'write server.listen(port, host)'],
])

/** `true`: anything, or checked by its user. */
const checks: Checks<Omit<KernelOptions, keyof KernelSettings>> = {
  parts: true, absent: true,
  adapters: mustBe((value) => isRecord(value) && typeof value['toolKind'] === 'function',
    `write frameworks, of import { frameworks } from 'triport/adapters'`),
  share: mustBe((value) => typeof value === 'function',
    `write shareStore, of import { shareStore } from 'triport/shared'`),
}

const optionNames: readonly string[] = [
  ...Object.keys(kernelChecks), ...Object.keys(kernelDefaults), ...Object.keys(checks),
]

const EXAMPLE = '{ agents: [agent], parts: [part] }'

/**
 * The options of a server, with its parts in the order in which they are opened: after those that they need.
 * `more`: what else `verb` takes; `others`: what to write instead of options of other verbs. Throws
 * `TypeError` for what are no options, or none that are known, and for parts that cannot stand together.
 */
export function requireKernelOptions(
  given: ArrayLike<unknown>, verb = 'createServer', more: readonly string[] = [],
  others: ReadonlyMap<string, string> = listenRemedies,
): KernelOptions {
  const [options] = Array.from(given)
  const parts: unknown = isRecord(options) ? options['parts'] : undefined
  const named = Array.isArray(parts) ? parts.filter(isPart) : []
  const names = [...optionNames, ...more]
  const remedies = new Map([...unknownRemedies(options, names), ...others, ...remediesOf(named)])
  requireOptions(verb, given, { names, remedies, example: EXAMPLE })
  checkValues('', options as object, checks)
  return { ...options as KernelOptions, parts: orderedParts(parts) }
}

/** Throws `TypeError` for what is `given` to `verb` and is not one object of options, all of them known. */
export function requireOptions(verb: string, given: ArrayLike<unknown>, known: KnownOptions): void {
  const { names, remedies, example } = known
  const [options, more, list] = Array.from(given)
  // `list.map(createServer)` gives the index and the list.
  if (typeof more === 'number' && list === undefined) rejectUnknown(verb, { port: more }, names, remedies)
  rejectMore(verb, given, `write ${verb}({ agents: [agent], name: 'Helper' })`)
  requireDefinition(verb, options, example)
  if (isThing(options) && !Object.keys(offered).some((list) => list in options)) {
    throw new TypeError(`${verb} takes options, and this is one thing to serve. Write ${verb}(${example})`)
  }
  rejectUnknown(verb, options, names, remedies)
}

/** Whether a value is a definition and not options. */
export function isThing(value: unknown): boolean {
  if (!isRecord(value)) return typeof value === 'function'
  return 'kind' in value || 'run' in value || 'read' in value
}

/** What to write instead of options of a part that are those of the server. */
const serverRemedies: ReadonlyMap<string, string> = new Map(optionNames.map((option) => (
  [option, `it is an option of the server; write createServer({ ${option}: … })`]
)))

/**
 * Throws `TypeError` for what are no options of a part, or none that it has, and for more than them in `all`
 * that was given. `make`: what makes the part. An object of a class may keep its state in members of its own.
 */
export function requirePartOptions(
  make: string, options: object, names: readonly string[], all: ArrayLike<unknown>,
): void {
  rejectMore(make, all, `write ${make}({ … }), and another part beside it, as in parts: [${make}(), part()]`)
  if (!isRecord(options) || isPlain(options)) rejectUnknown(make, options, names, serverRemedies)
}

/** What to write instead of an option that is none: it may be of a part that is not there. */
function unknownRemedies(options: unknown, names: readonly string[]): ReadonlyMap<string, string> {
  const others = isRecord(options) ? Object.keys(options).filter((name) => !names.includes(name)) : []
  return new Map(others.map((name) => {
    const meant = nearest(name, names)
    const near = meant === undefined ? 'if' : `did you mean '${meant}'? If`
    return [name, `${near} it is a part, or an option of one, write that in parts, as in `
      + 'parts: [part({ option: … })]']
  }))
}

/** What to write instead of options that belong to parts which are there. */
function remediesOf(parts: readonly Part[]): ReadonlyMap<string, string> {
  const remedies = new Map([['protocol', 'what is served, parts say: write parts: [part]']])
  const optionNames = new Set(parts.flatMap((part) => part.optionNames ?? []))
  for (const option of optionNames) {
    const owners = parts.filter((part) => part.optionNames?.includes(option)).map(({ name }) => name)
    const calls = owners.map((name) => `${makerOf(name)}({ ${option}: … })`)
    remedies.set(option, `it is an option of ${owners.join(' and of ')}; write ${calls.join(' or ')}`)
  }
  for (const part of parts) {
    const maker = makerOf(part.name)
    const remedy = `it is a part; write its options there: ${maker}({ … })`
    if (part.optionNames !== undefined) for (const name of [part.name, maker]) remedies.set(name, remedy)
  }
  return remedies
}

/** What makes a part of that name: `twoWords` for `two-words`. */
function makerOf(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function orderedParts(parts: unknown): readonly Part[] {
  if (isPart(parts)) throw new TypeError(`parts is one part; write a list, parts: [${makerOf(parts.name)}()]`)
  if (!Array.isArray(parts)) {
    throw new TypeError(`parts is ${show(parts)}; write a list of parts, each from the package's subpath of `
      + `its name: parts: [${typeof parts === 'string' ? makerOf(parts) : 'part'}()]`)
  }
  if (parts.length === 0) throw new TypeError('parts is empty, so nothing would be served; write [part()]')
  const byName = new Map<string, Part>()
  for (const part of parts as readonly unknown[]) {
    if (typeof part === 'function') {
      throw new TypeError(`parts has the function ${part.name}; if it makes a part, write ${part.name}()`)
    }
    if (!isPart(part)) throw new TypeError(`parts has ${show(part)}, which is no part; ${partFor(part)}`)
    const { name, copy, needs, open } = part
    if (open !== undefined && typeof open !== 'function') {
      throw new TypeError(`parts has the part '${name}' with open ${show(open)}; write a function`)
    }
    if (needs !== undefined && !Array.isArray(needs)) {
      throw new TypeError(`parts has the part '${name}' with needs ${show(needs)}; write a list of names`)
    }
    if (copy !== undefined && copy !== kernelCopy) {
      throw new TypeError(`The part '${name}' is of another copy of triport than this server; import both `
        + 'from one package or one folder')
    }
    if (byName.has(name)) throw new TypeError(`parts has '${name}' twice; leave one of them out`)
    byName.set(name, part)
  }
  const ordered = new Set<Part>()
  const add = (part: Part, around: readonly string[]): void => {
    if (ordered.has(part)) return
    const { name, needs = [] } = part
    if (around.includes(name)) {
      throw new TypeError(`The part '${name}' needs itself, by ${around.join(', ')}; take one need away`)
    }
    for (const need of needs) {
      const needed = byName.get(need)
      if (needed === undefined) throw new TypeError(`The part '${name}' needs '${need}'; add that to parts`)
      add(needed, [...around, name])
    }
    ordered.add(part)
  }
  for (const part of byName.values()) add(part, [])
  return [...ordered]
}

/** What to write instead of what is no part. */
function partFor(given: unknown): string {
  if (typeof given !== 'string') return 'write what makes one, as in parts: [part()], or { name, open }'
  if (!/^[a-z][a-z0-9-]{0,40}$/.test(given)) return 'write what makes one'
  return `write ${makerOf(given)}(), of the package's subpath of that name`
}

function isPart(value: unknown): value is Part {
  return isRecord(value) && typeof value['name'] === 'string' && value['name'] !== ''
}

/** What a part opens. Throws `TypeError` where it cannot serve, and for what no part opens. */
export function openedOf(part: Part, kernel: Kernel): Opened {
  const opened = part.open?.(kernel) ?? {}
  if (typeof opened === 'string') throw new TypeError(opened)
  if (isRecord(opened) && !isThenable(opened)) return opened
  const what = isThenable(opened) ? 'a promise' : show(opened)
  throw new TypeError(`The part '${part.name}' opens as ${what}; let its open() return { endpoints }`)
}

/**
 * Throws `TypeError` where the parts have no endpoints, and tells where none is of anything in the catalog:
 * something may be added later.
 */
export function requireServing(
  parts: readonly Part[], endpoints: readonly (readonly Endpoint[])[], { catalog, log }: Service,
): void {
  const names = parts.map(({ name }) => name).join(', ')
  if (endpoints.flat().length === 0) {
    throw new TypeError(`Nothing is served by ${names}; add a part that has endpoints`)
  }
  const ofProtocols = endpoints.filter((_, at) => parts[at]?.protocol !== undefined).flat()
  if (ofProtocols.length === 0 || ofProtocols.some(({ isOffered }) => isOffered?.() !== false)) return
  const remedy = catalog.root === undefined ? 'add agents: [agent], or a part that serves the others'
    : 'add a part that serves it'
  log('warning', `Nothing of what there is can be served by ${names}; ${remedy}`)
}
