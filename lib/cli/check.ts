/**
 * `triport check`: loads a module as `serve` does, and prints what is wrong with what it defines, or weak. An
 * error is what a client, a host or the API of a model refuses; a warning is what works worse than it could.
 */
import { isAdapted } from '../kernel/define/agent.ts'
import { isRecord } from '../kernel/define/content.ts'
import { claimStdout } from '../floors/lines/claim-stdout.ts'
import { usualDialect } from '../kernel/schema/dialects.ts'
import { nearest } from '../kernel/schema/options.ts'
import { isStrings } from '../kernel/wire/json.ts'
import { print, subcommand, UsageError } from './command-line.ts'
import { loadModule, serverOf } from './load.ts'
import type { Agent, Group } from '../kernel/define/agent.ts'
import type { ToolUi } from '../kernel/define/resource.ts'
import type { Prompt } from '../kernel/define/prompt.ts'
import type { Resource, ResourceTemplate } from '../kernel/define/resource.ts'
import type { Tool } from '../kernel/define/tool.ts'
import type { CommandLine, Subcommand } from './command-line.ts'

/** One thing to mend. */
export interface Finding {
  readonly level: 'error' | 'warning'
  /** The rule's name: it stays the same, so that scripts can look for it. */
  readonly rule: string
  /** What it is about, as in `tool 'add', argument 'a'`. */
  readonly where: string
  /** What is wrong and how to mend it, in sentences. */
  readonly message: string
}

/** What is checked: all that a server serves. */
export interface ServedThings {
  readonly name: string
  readonly agents: readonly Agent[]
  readonly groups: readonly Group[]
  readonly tools: readonly Tool[]
  readonly resources: readonly Resource[]
  readonly templates: readonly ResourceTemplate[]
  readonly prompts: readonly Prompt[]
}

const flags = [
  { name: 'json', meaning: '{ module, ok, importMs, findings: [{ level, rule, where, message }] }' },
  { name: 'strict', meaning: 'warnings fail it too' },
] as const

/** What was found in one module. */
interface Report { readonly importMs: number; readonly findings: readonly Finding[] }

export const checkCommand: Subcommand = subcommand('check', `Usage: triport check module [options]

Loads what a module exports, as serve does, and prints what is wrong with it, or weak. An error is
what a client, a host or the API of a model refuses; a warning is what works worse than it could.
Nothing is served, and no handler is called.

Exit codes: 0 without an error, 1 with one (with --strict also with a warning), 2 for a wrong
command line, 13 for a module that never finishes loading.
`, flags, check)

async function check(line: CommandLine<typeof flags[number]['name']>): Promise<void> {
  const [module, ...more] = line.words
  if (module === undefined) throw new UsageError('check needs a module: triport check agent.js')
  if (more.length > 0) throw new UsageError(`check takes one module, not also ${more.join(' ')}`)
  // Before the module is imported: what that prints is no part of the report.
  const output = claimStdout()
  const { importMs, findings } = await reportOn(module)
  const failing = findings.filter(({ level }) => level === 'error' || line.has('strict'))
  const ok = failing.length === 0
  const text = line.has('json') ? `${JSON.stringify({ module, ok, importMs, findings }, null, 2)}\n`
    : format(module, importMs, findings)
  await print(text, output)
  // Even if the module still holds something open.
  process.exit(ok ? 0 : 1)
}

async function reportOn(module: string): Promise<Report> {
  const start = performance.now()
  const since = (): number => Math.round(performance.now() - start)
  try {
    const loaded = await loadModule(module)
    const importMs = since()
    const { name, catalog } = serverOf(loaded)
    const { agents, groups, tools, resources, templates, prompts } = catalog
    const served = { name, agents, groups, tools, resources, templates, prompts }
    return { importMs, findings: findingsOf(served, importMs) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { importMs: since(), findings: [{ level: 'error', rule: 'load', where: 'the module', message }] }
  }
}

function format(module: string, importMs: number, findings: readonly Finding[]): string {
  const lines = findings.map(({ level, where, message }) => `${level.padEnd(8)} ${where}\n    ${message}\n`)
  const counted = (['error', 'warning'] as const).map((level) => {
    const count = findings.filter((one) => one.level === level).length
    return `${count === 0 ? 'no' : count} ${level}${count === 1 ? '' : 's'}`
  })
  return `${lines.join('')}${module}: ${counted.join(', ')} (imported in ${importMs} ms)\n`
}

/** The most tools that OpenAI's API takes in one request. */
const MAX_TOOLS = 128
/** The longest description that OpenAI's chat completions take. */
const MAX_DESCRIPTION = 1_024
/** Claude Code puts `mcp__<server>__` before a name, and 64 characters is the most that APIs take. */
const MAX_PREFIXED = 64
/** Levels of objects and lists in arguments that models still fill well. */
const MAX_LEVELS = 5
/** An import that takes longer makes a host wait at each start. */
const SLOW_IMPORT_MS = 1_000

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/
const ARGUMENT_NAME = /^[a-zA-Z0-9_.-]{1,64}$/
const PLACEHOLDER = /^(?:todo|tbd|fixme|xxx|description|lorem ipsum|change me)\b/i
/** Groups that look around, and references back: engines without backtracking have neither. */
const BACKTRACKING = /\(\?(?:<?[=!])|\\[1-9]|\\k</

const REMOVES: ReadonlySet<string> = new Set([
  'delete', 'remove', 'drop', 'destroy', 'erase', 'purge', 'wipe', 'truncate', 'clear', 'uninstall', 'revoke',
])
const READS: ReadonlySet<string> = new Set([
  'get', 'list', 'read', 'search', 'find', 'show', 'count', 'describe', 'lookup', 'view', 'query',
])

const KEYWORDS: readonly string[] = [...usualDialect.rules.keys()]

type Add = (level: Finding['level'], rule: string, where: string, message: string) => void

/** All findings, in the order in which things are served. `importMs`: how long the import took. */
export function findingsOf(served: ServedThings, importMs: number): readonly Finding[] {
  const findings: Finding[] = []
  const add: Add = (level, rule, where, message) => { findings.push({ level, rule, where, message }) }
  if (importMs > SLOW_IMPORT_MS) {
    add('warning', 'slow-import', 'the module', `Its import takes ${Math.round(importMs)} ms, and a host `
      + `waits for it at each start. Import what is heavy when it is first used, with 'await import()'.`)
  }
  if (served.name === 'triport') {
    add('warning', 'server-name', 'the server', `It has no name of its own, so hosts show 'triport'. Write `
      + `export const name = 'Shop'.`)
  }
  checkTools(served, add)
  for (const one of [...served.agents, ...served.groups]) checkRunnable(one, served.name, add)
  for (const { name, title, description, arguments: given } of served.prompts) {
    const where = `prompt '${name}'`
    checkText(where, name, description, add)
    if (title === undefined) add('warning', 'title', where, titleless(name))
    for (const argument of given ?? []) {
      if (isBlank(argument.description)) undescribed(`${where}, argument '${argument.name}'`, add)
    }
  }
  for (const { name, description, ...one } of [...served.resources, ...served.templates]) {
    // The pages of tools are for hosts, and the files of a skill are named where they are used.
    if ('uri' in one && /^(?:ui|skill):/.test(one.uri) && description === undefined) continue
    checkText(`resource '${'uri' in one ? one.uri : one.uriTemplate}'`, name, description, add)
  }
  return findings
}

function checkTools({ name: server, tools }: ServedThings, add: Add): void {
  if (tools.length > MAX_TOOLS) {
    add('error', 'many-tools', 'the tools', `There are ${tools.length}, and OpenAI's API takes at most `
      + `${MAX_TOOLS} in one request. Serve them from several servers.`)
  }
  for (const tool of tools) checkTool(tool, server, add)
  for (const [at, { name, description }] of tools.entries()) {
    const others = tools.slice(0, at)
    const twin = others.find((other) => plain(other.name) === plain(name))
    if (twin !== undefined) {
      add('warning', 'similar-names', `tool '${name}'`, `Its name differs from '${twin.name}' in case, '-', `
        + `'.' or '_' alone: hosts that write all names in one form take them for one. Rename one of them.`)
    }
    const same = others.find((other) => other.description === description && !isBlank(description))
    if (same !== undefined) {
      add('warning', 'same-description', `tool '${name}'`, `It has the description of '${same.name}', so a `
        + 'model cannot choose between them. Write what differs.')
    }
  }
}

function checkTool(tool: Tool, server: string, add: Add): void {
  const { name, title, description, annotations } = tool
  const where = `tool '${name}'`
  if (!TOOL_NAME.test(name)) {
    const what = name.length > 64 ? `has ${name.length} characters` : `has '${/[^\w-]/.exec(name)?.[0]}'`
    add('error', 'tool-name', where, `Its name ${what}. The APIs of Claude and OpenAI refuse every request `
      + `with such a tool. Write at most 64 letters, digits, '_' and '-'.`)
  }
  if (name.length <= 64) checkLength(where, server, name, add)
  checkText(where, name, description, add)
  if (description.length > MAX_DESCRIPTION) {
    add('warning', 'long-description', where, `Its description has ${description.length} characters. `
      + `OpenAI's chat completions refuse more than ${MAX_DESCRIPTION}, and Claude Code cuts at 2048. `
      + 'Shorten it; what is about one argument belongs to that.')
  }
  if (title === undefined && annotations?.title === undefined) add('warning', 'title', where, titleless(name))
  checkAnnotations(tool, where, add)
  checkArguments(tool.input.json, where, add)
  for (const { element, origin, member } of tool.ui === undefined ? [] : blockedOrigins(tool.ui)) {
    add('warning', 'page-origin', where, `Its page has a ${element} of ${origin}, which hosts block. Write `
      + `ui: { csp: { ${member}: ['${origin}'] } }, or put what it loads into the page.`)
  }
}

function checkAnnotations({ name, annotations = {} }: Tool, where: string, add: Add): void {
  const [verb = ''] = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase().split(/[^a-z\d]+/)
  const { readOnlyHint, destructiveHint } = annotations
  if (REMOVES.has(verb)) {
    if (readOnlyHint === true || destructiveHint === false) {
      add('warning', 'annotations', where, `By its name it removes something, and its annotations deny `
        + 'that, so some hosts run it without a question. Write annotations: { destructiveHint: true }.')
    } else if (destructiveHint === undefined) {
      add('warning', 'annotations', where, `By its name it removes something, and its annotations do not `
        + 'say so. Write annotations: { destructiveHint: true }, so that every host asks its user before.')
    }
  } else if (READS.has(verb) && readOnlyHint === undefined) {
    add('warning', 'annotations', where, `By its name it only reads, and its annotations do not say so, so `
      + 'some hosts ask before each call. Write annotations: { readOnlyHint: true } if it changes nothing.')
  }
}

function checkArguments(schema: Readonly<Record<string, unknown>>, where: string, add: Add): void {
  const union = ['anyOf', 'oneOf', 'allOf'].find((keyword) => Object.hasOwn(schema, keyword))
  if (union !== undefined) {
    add('error', 'root-union', where, `Its inputSchema has ${union} at its root, and Claude's API refuses `
      + 'every request with such a tool. Put the alternatives into one argument, or make a tool of each.')
  }
  checkWords(schema, where, add)
  const properties = isRecord(schema['properties']) ? schema['properties'] : {}
  for (const [name, property] of Object.entries(properties)) {
    const argument = `${where}, argument '${name}'`
    if (!ARGUMENT_NAME.test(name)) {
      add('error', 'argument-name', argument, `Claude's API refuses every request with an argument of that `
        + `name. Write 1 to 64 letters, digits, '_', '.' and '-'.`)
    }
    if (!isRecord(property)) continue
    if (isBlank(property['description']) && property['$ref'] === undefined) undescribed(argument, add)
    checkValue(property, argument, 1, add)
  }
}

/** What a schema says to nobody: a keyword that is misspelt, and a required name that is not described. */
function checkWords(schema: Readonly<Record<string, unknown>>, where: string, add: Add): void {
  for (const word of Object.keys(schema)) {
    const meant = KEYWORDS.includes(word) ? undefined : nearest(word, KEYWORDS, word.length < 8 ? 1 : 2)
    if (meant === undefined) continue
    add('warning', 'keyword', where, `Its schema has '${word}', which is no keyword, so nobody checks it. `
      + `Did you mean '${meant}'?`)
  }
  const { required, properties, additionalProperties } = schema
  if (!isStrings(required) || !isRecord(properties) || isRecord(additionalProperties)) return
  for (const name of required.filter((one) => !Object.hasOwn(properties, one))) {
    add('warning', 'required', where, `It requires '${name}', and has no property of that name, so a model `
      + 'cannot know what to write. Describe it in properties, or take it out of required.')
  }
}

/** What APIs refuse within the schema of an argument, at any depth. */
function checkValue(schema: unknown, where: string, level: number, add: Add): void {
  if (!isRecord(schema)) return
  checkWords(schema, where, add)
  const { type, pattern, items } = schema
  const isList = type === 'array' || (isStrings(type) && type.includes('array'))
  if (isList && items === undefined) {
    add('error', 'array-items', where, `It is an array without items, and OpenAI's API refuses every `
      + `request with such a tool. Write what is in it, as in items: { type: 'string' }.`)
  }
  if (typeof pattern === 'string' && BACKTRACKING.test(pattern)) {
    add('warning', 'pattern', where, `Its pattern looks around or refers back, which no client `
      + 'in Go or Rust can check. Say it in the description instead, and check it in run.')
  }
  if (level === MAX_LEVELS + 1) {
    add('warning', 'depth', where, `It is more than ${MAX_LEVELS} levels deep; models fill such arguments `
      + 'badly. Make it flatter, or take an identifier instead.')
  }
  if (level > MAX_LEVELS) return
  const inner = isRecord(schema['properties']) ? schema['properties'] : {}
  for (const [name, one] of Object.entries(inner)) checkValue(one, `${where}.${name}`, level + 1, add)
  if (isRecord(items)) checkValue(items, `${where}[]`, level + 1, add)
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    const branches: unknown = schema[keyword]
    if (Array.isArray(branches)) for (const branch of branches) checkValue(branch, where, level, add)
  }
}

/** Whether a name is short enough with that of its server. */
function checkLength(where: string, server: string, name: string, add: Add): void {
  const prefixed = `mcp__${server.replace(/[^\w-]/g, '_')}__${name}`
  if (prefixed.length <= MAX_PREFIXED) return
  add('warning', 'long-name', where, `Hosts put the server's name before that of a tool, and '${prefixed}' `
    + `has ${prefixed.length} characters, more than the 64 that APIs take. Shorten one of both names.`)
}

function checkRunnable(runnable: Agent | Group, server: string, add: Add): void {
  const { kind, id, name, description } = runnable
  const where = `${kind} '${name}'`
  const plainId = id.replaceAll('-', '_')
  checkLength(where, server, `execute_${plainId}_${kind === 'agent' ? 'task' : 'workflow'}`, add)
  if (!isBlank(description)) return checkText(where, name, description, add)
  const written = isAdapted(runnable) ? `adapt(agent, { name: 'Helper', description: '…' })`
    : `export default { name: 'Helper', description: '…', run }`
  add('warning', 'description', where, 'It has no description, so neither its A2A card nor its tool for '
    + `models says what it is for. Write ${written}.`)
}

/** A description by which a model can decide. */
function checkText(where: string, name: string, description: string | undefined, add: Add): void {
  const text = description?.trim() ?? ''
  const why = text === '' ? 'It has no description'
    : PLACEHOLDER.test(text) ? `Its description is '${text.slice(0, 40)}'`
    : plain(text.replaceAll(' ', '_')) === plain(name) ? 'Its description only repeats its name'
    // A sentence takes fewer characters in other scripts.
    : text.length < (/^[\0-\x7f]*$/.test(text) ? 10 : 4) ? `Its description is only '${text}'` : undefined
  if (why === undefined) return
  add('warning', 'description', where, `${why}, so a model cannot know when to use it. Write in a sentence `
    + 'what it does, and when to use it.')
}

function undescribed(where: string, add: Add): void {
  add('warning', 'argument-description', where, 'It has no description. Write what belongs there, with its '
    + 'unit or an example.')
}

function titleless(name: string): string {
  return `It has no title, so hosts show '${name}' to people. Write title: '…'.`
}

function isBlank(description: unknown): boolean {
  return typeof description !== 'string' || description.trim() === ''
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[.-]/g, '_').replace(/(?<!_)_+$/, '')
}

/** The element of a page that loads from an origin, and the member of `csp` that would allow it. */
interface BlockedOrigin { readonly element: string; readonly origin: string; readonly member: string }

const COMMENT = /<!--[^]*?(?:-->|$)/g
const ELEMENT = /<(script|img|audio|video|source|iframe|link)\b([^>]*)>?/gi
const ADDRESS = /\s(?:src|href)\s*=\s*["']?(https?:\/\/[^\s"'>]+)/i
/** Of links only these load something. */
const LOADS = /\srel\s*=\s*["']?(?:stylesheet|icon|modulepreload|preload)\b/i

/**
 * What the page of a tool loads, and hosts block because its `csp` does not list it: each once, in the order
 * of the page. Read from its text: what a script loads later is not seen.
 */
function blockedOrigins({ html = '', page }: ToolUi): readonly BlockedOrigin[] {
  const ui = page?._meta?.['ui']
  const csp = isRecord(ui) && isRecord(ui['csp']) ? ui['csp'] : {}
  const found = new Map<string, BlockedOrigin>()
  for (const [, name = '', attributes = ''] of html.replace(COMMENT, '').matchAll(ELEMENT)) {
    const element = name.toLowerCase()
    const [, address = ''] = ADDRESS.exec(attributes) ?? []
    if (!URL.canParse(address) || (element === 'link' && !LOADS.test(attributes))) continue
    const { origin } = new URL(address)
    const member = element === 'iframe' ? 'frameDomains' : 'resourceDomains'
    const listed = csp[member]
    if (isStrings(listed) && listed.some((one) => covers(one, origin))) continue
    found.set(`${member} ${origin}`, { element, origin, member })
  }
  return [...found.values()]
}

/** Whether an entry of `csp` allows an origin; `https://*.example.com` does all names below. */
function covers(entry: string, origin: string): boolean {
  const [scheme, rest = ''] = entry.toLowerCase().split('://')
  if (!rest.startsWith('*.')) return `${scheme}://${rest}` === origin
  return origin.startsWith(`${scheme}://`) && origin.endsWith(rest.slice(1))
}
