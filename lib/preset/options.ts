/**
 * The options of `createServer`, `launch` and `serveStdio`: those of the kernel and of all parts in one
 * object, their checks, and what a mistaken one may have meant.
 */
import { a2aChecks, requireCallers } from '../parts/a2a/model/options.ts'
import { agentChecks, groupChecks } from '../kernel/define/agent.ts'
import { isRecord } from '../kernel/define/content.ts'
import { offered } from '../kernel/define/normalize-definitions.ts'
import { promptChecks } from '../kernel/define/prompt.ts'
import { resourceChecks, templateChecks } from '../kernel/define/resource.ts'
import { toolChecks } from '../kernel/define/tool.ts'
import {
  checkValues, isPlain, mustBe, mustBeOptions, mustBeSwitch, rejectMore, rejectUnknown, show,
} from '../kernel/define/validate.ts'
import { checkSettings, kernelChecks } from '../kernel/server/options.ts'
import { isThing, listenRemedies } from '../kernel/server/requirements.ts'
import { mcpChecks } from '../parts/mcp/options.ts'
import { checkSkills } from '../parts/skills/skill.ts'
import { checkTelemetry } from '../parts/telemetry/part.ts'
import { defaults } from './limits.ts'
import type { A2aServerOptions } from '../parts/a2a/model/options.ts'
import type { OpenTelemetry } from '../parts/telemetry/telemetry.ts'
import type { Checks, MemberCheck } from '../kernel/define/validate.ts'
import type { KernelSettings } from '../kernel/server/options.ts'
import type { KnownOptions } from '../kernel/server/requirements.ts'
import type { SkillsInput } from '../parts/skills/skill.ts'
import type { McpOptions } from '../parts/mcp/options.ts'
import type { Limits } from './limits.ts'

/** What `createServer` takes, besides every limit of `Limits`. `T`: the types of the tools' schemas. */
export interface ServerOptions<T extends readonly unknown[] = readonly unknown[]>
  extends KernelSettings<T>, Partial<Limits> {
  /** How a model should use this server (MCP). The same as `mcp.instructions`. */
  readonly instructions?: string | undefined
  /**
   * Instructions for models, in folders with a `SKILL.md` each (MCP): the folder that holds them, or a list
   * of folders and definitions. Read when the server is made; a path begins at the working directory.
   */
  readonly skills?: SkillsInput | undefined
  /** Left out: `http`, or `mcp` where only tools are given. */
  readonly protocol?: ProtocolChoice | undefined
  /** A further path for queries: `/ask`. */
  readonly path?: string | undefined
  /**
   * The object of `@opentelemetry/api`, `import * as api from '@opentelemetry/api'`: then each call of an
   * author's code is a span, and is measured, as the semantic conventions say. Left out: nothing is.
   */
  readonly openTelemetry?: OpenTelemetry | undefined
  /**
   * Serves `GET /metrics` for Prometheus: requests, calls and `status()`. It needs the key, where there is
   * one. Left out: false, and nothing is counted.
   */
  readonly metrics?: boolean | undefined
  readonly mcp?: McpOptions | undefined
  readonly a2a?: A2aServerOptions | undefined
}

const isString = (value: unknown): boolean => typeof value === 'string'

const string = mustBe(isString, 'write a string')

/** `true`: anything, or checked by its user. */
const checks: Checks<Omit<ServerOptions, keyof KernelSettings | keyof Limits>> = {
  instructions: string, protocol: true, path: true, metrics: mustBeSwitch,
  skills: checkSkills,
  openTelemetry: checkTelemetry,
  mcp: optionsOf(`write an object, as in { instructions: 'Ask first.' }`, mcpChecks),
  a2a: optionsOf(`write an object, as in { card: '1.0' }`, a2aChecks),
}

/** The check of the options of one protocol, which are no part. */
function optionsOf(remedy: string, ofProtocol: Readonly<Record<string, MemberCheck | true>>): MemberCheck {
  const check = mustBeOptions(remedy, ofProtocol)
  return (owner, value, member) => {
    if (isRecord(value) && typeof value['open'] === 'function') {
      throw new TypeError(`${member} is a part; write its options, as in ${member}: {}, or make the server `
        + `with the createServer of 'triport/kernel', which takes parts`)
    }
    check(owner, value, member)
  }
}

/** Those of the kernel, its limits aside. */
export function settingsOf(options: ServerOptions): KernelSettings {
  return Object.fromEntries(Object.entries(options).filter(([name]) => (
    !Object.hasOwn(checks, name) && !Object.hasOwn(defaults, name)
  )))
}

/** The names of all options of `createServer`, the limits last. */
export const serverOptions: readonly string[] = [
  ...Object.keys(kernelChecks), ...Object.keys(checks), ...Object.keys(defaults),
]

/** A protocol that a server can serve. */
export type ProtocolName = 'http' | 'mcp' | 'a2a'

/** Which protocols are served. */
export type ProtocolChoice = ProtocolName | 'all' | readonly ProtocolName[]

/** All protocols. */
export const protocolNames: readonly ProtocolName[] = ['http', 'mcp', 'a2a']

/** The protocols that are wanted; where all are, those that cannot serve what there is are left out. */
export function protocolsOf(
  choice: ProtocolChoice | undefined, hasOnlyTools: boolean,
): readonly ProtocolName[] {
  const wanted: readonly string[] = choice === undefined ? [hasOnlyTools ? 'mcp' : 'http']
    : choice === 'all' ? protocolNames : [choice].flat()
  const unknown = wanted.find((one) => !protocolNames.some((known) => known === one))
  if (unknown !== undefined || wanted.length === 0) {
    const meant = ['all', ...protocolNames].find((known) => known === String(unknown).trim().toLowerCase())
    const remedy = meant === undefined ? `'http', 'mcp', 'a2a', 'all' or a list of the first three`
      : meant === 'all' && Array.isArray(choice) ? `'all' alone, without a list` : `'${meant}'`
    const given = wanted.length === 0 ? 'an empty list' : show(unknown)
    throw new TypeError(`protocol is ${given}; write ${remedy}`)
  }
  return protocolNames.filter((one) => wanted.includes(one))
}

/** The first paths that clients of each protocol use. */
const entries: Readonly<Record<ProtocolName, readonly string[]>> = {
  http: ['/', '/agents', '/tools', '/prompts', '/resources', '/skills', '/v1/chat/completions', '/v1/models'],
  mcp: ['/mcp', '/sse', '/messages'],
  a2a: [
    '/a2a', '/message:send', '/message:stream', '/.well-known/agent-card.json', '/.well-known/agent.json',
  ],
}

/** Sentences for the paths of protocols that are not served. */
export function absentPaths(served: readonly string[]): ReadonlyMap<string, string> {
  const instead = served.map((name) => name.toUpperCase()).join(' and ')
  const absent = protocolNames.filter((name) => !served.includes(name))
  return new Map(absent.flatMap((name) => entries[name].map((path) => [
    path, `${name.toUpperCase()} is not served here, but ${instead}`,
  ])))
}

const KERNEL = `it is one of the createServer of 'triport/kernel'; here protocol says what is served`

/** What to write instead of options of a protocol, which have an object of their own. */
function remediesIn(option: string, checks: object): readonly (readonly [string, string])[] {
  return Object.keys(checks).map((name) => [
    name, `it is an option of ${option}; write ${option}: { ${name}: … }`,
  ])
}

/** What to write instead of options that stand elsewhere, whatever takes them. */
const remedies: ReadonlyMap<string, string> = new Map([
  ...remediesIn('a2a', a2aChecks), ...remediesIn('mcp', mcpChecks),
  ['extensions', 'it is an option of mcp and of a2a; write mcp: { extensions: … } or '
    + 'a2a: { extensions: … }'],
  ...['parts', 'adapters', 'share', 'absent'].map((name) => [name, KERNEL] as const),
])

const LAUNCH = 'it is one of launch, which announces and ends its server'

/** The options of `createServer`, and what to write instead of those of `listen` and `launch`. */
export const serverKnown: KnownOptions = {
  names: serverOptions,
  remedies: new Map([...remedies, ...listenRemedies, ['quiet', LAUNCH], ['signals', LAUNCH]]),
  example: '{ agents: [agent] }',
}

/**
 * The same for `options`, the second argument of `verb`, whose first is what is served. Throws also for an
 * option among the definitions, or the other way round.
 */
export function requireSecondOptions(
  verb: string, given: ArrayLike<unknown>, options: unknown, known: readonly string[],
): void {
  const several = `write ${verb}([one, two], options)`
  if (isThing(options)) throw new TypeError(`${verb} takes several things as a list; ${several}`)
  rejectMore(verb, given, several, 2)
  const subject = given[0]
  if (!isRecord(options)) {
    const [name, value] = typeof options === 'number' && known.includes('port') ? ['port', options]
      : isProtocol(options) && known.includes('protocol') ? ['protocol', `'${options}'`]
      : ['name', `'Helper'`]
    throw new TypeError(`${verb} takes its options as an object, not ${show(options)}; `
      + `write ${verb}(agent, { ${name}: ${value} })`)
  }
  const lists = Object.keys(offered)
  const misplaced = Object.keys(options).find((name) => lists.includes(name))
  if (misplaced !== undefined) {
    throw new TypeError(`${verb} takes '${misplaced}' in its first argument; `
      + `write ${verb}({ ${misplaced}: [one] }, options)`)
  }
  rejectUnknown(verb, options, known.filter((name) => !lists.includes(name)), remedies)
  if (!isRecord(subject) || !isPlain(subject)) return
  const isOffer = lists.some((list) => list !== 'agents' && list in subject)
  for (const name of Object.keys(subject)) {
    if (lists.includes(name) || !known.includes(name) || (definitionMembers.has(name) && !isOffer)) continue
    throw new TypeError(`'${name}' is an option; write it in the second argument, as in `
      + `${verb}(${isOffer ? '{ tools }' : 'agent'}, { ${name}: ${valueOf(subject[name])} })`)
  }
}

const definitionMembers: ReadonlySet<string> = new Set([
  agentChecks, groupChecks, toolChecks, resourceChecks, templateChecks, promptChecks,
].flatMap((checks) => Object.keys(checks)))

function isProtocol(value: unknown): value is string {
  return ['all', ...protocolNames].some((one) => one === value)
}

/** A value as it was written, where it can be no secret. */
function valueOf(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '…'
}

/** Throws `TypeError` for an option of the wrong type, and for options that cannot stand together. */
export function checkOptions(options: Readonly<Record<string, unknown>>): void {
  checkSettings(options)
  checkValues('', options, checks)
  const { mcp, a2a, apiKey, auth } = options
  if (isRecord(mcp) && mcp['instructions'] !== undefined && options['instructions'] !== undefined) {
    throw new TypeError('The instructions stand in the options and in mcp; leave one of them out')
  }
  if (isRecord(a2a)) requireCallers(a2a, apiKey !== undefined || auth !== undefined)
}
