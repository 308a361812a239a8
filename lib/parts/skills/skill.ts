/**
 * Skills, as a server publishes them: folders of instructions for a model. A folder or definitions in; their
 * files as resources, each with its digest, out.
 * Spec: https://modelcontextprotocol.io/seps/2640-skills-extension, https://agentskills.io/specification.
 */
import { createHash } from 'node:crypto'
import { isUint8Array } from 'node:util/types'
import { utf8Of } from '../../kernel/wire/base64.ts'
import { formatJson, isStrings } from '../../kernel/wire/json.ts'
import { normalUri } from '../../kernel/wire/uri.ts'
import { isRecord } from '../../kernel/define/content.ts'
import { defineResource } from '../../kernel/define/resource.ts'
import {
  checkMembers, must, mustBeText, rejectUnknown, requireDefinition, requireString, scopesOf, show,
} from '../../kernel/define/validate.ts'
import { uriOf } from '../../floors/skills/skill-set.ts'
import { parseFrontmatter } from './frontmatter.ts'
import { MANIFEST, readSkillFolder } from './skill-folder.ts'
import type { Resource } from '../../kernel/define/resource.ts'
import type { Checks, MemberCheck } from '../../kernel/define/validate.ts'
import type { ServedSkill, SkillFile, SkillSet } from '../../floors/skills/skill-set.ts'
import type { SkillSource } from './skill-folder.ts'

/** A skill that is written in the program: what its SKILL.md says, and the files beside it. */
export interface SkillDefinition {
  /** 1 to 64 of `a-z 0-9 -`, without a hyphen at an end and two in a row. */
  readonly name: string
  /** What it does and when to use it, for a model: at most 1,024 characters. */
  readonly description: string
  /** What to do: the Markdown below the frontmatter. */
  readonly instructions: string
  /** Its licence, or the file that has it. */
  readonly license?: string | undefined
  /** What it needs around it: at most 500 characters. */
  readonly compatibility?: string | undefined
  /** Anything more, text by name. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Further files by their paths, as in `references/forms.md`: text or bytes. */
  readonly files?: Readonly<Record<string, string | Uint8Array>> | undefined
  /** What the caller's principal must have, all of it. */
  readonly scopes?: readonly string[] | undefined
}

/** One folder of skills, or several, and definitions. A folder is a path, or a URL of `file:`. */
export type SkillsInput = string | URL | readonly (string | URL | SkillDefinition)[]

/** What every host must take (SEP-2640, Limits). */
const MAX_FILES = 512
const MAX_BYTES = 16 * 1024 * 1024
/** Of all skills together: they are held in memory. */
const MAX_ALL_BYTES = 64 * 1024 * 1024

const NAME = /^(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/
const MAX_DESCRIPTION = 1_024

const definitionChecks: Checks<SkillDefinition> = {
  name: true, description: true, instructions: mustBeText, license: mustBeText, compatibility: mustBeText,
  metadata: must((value) => isRecord(value) && isStrings(Object.values(value))
    && Object.keys(value).every((name) => /^[^"\\\p{C}]+$/u.test(name)),
  `write texts by name, as in { author: 'Shop' }, without quotes and line ends in a name`),
  files: must(isRecord, `write texts or bytes by path, as in { 'references/forms.md': '…' }`), scopes: true,
}

const EXAMPLE = `{ name: 'refunds', description: 'Refunds an order.', instructions: 'Find the order first.' }`

/** Makes what `skills` of a server names. Throws `TypeError` with a sentence for every mistake. */
export function defineSkills(given: SkillsInput): SkillSet {
  const skills: ServedSkill[] = []
  const files = new Map<string, Resource>()
  const inputs: readonly unknown[] = [given].flat()
  const known = new Set<string>()
  const empty: string[] = []
  let bytes = 0
  for (const source of sourcesOf(inputs)) {
    if (known.has(source.path)) throw new TypeError(`Two skills are at '${source.path}'; rename one of them`)
    known.add(source.path)
    for (const folder of source.emptyFolders) empty.push(`${source.path}/${folder}`)
    const frontmatter = frontmatterOf(source)
    const resources: SkillFile[] = []
    for (const [name, content] of source.files) {
      const path = `${source.path}/${name}`
      // The files of a skill within another are also the other's.
      const isNew = !files.has(path)
      if (isNew) bytes += content.length
      if (isNew || name === MANIFEST) {
        files.set(path, fileResource(path, name, content, frontmatter, source.scopes))
      }
      const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`
      resources.push({ uri: uriOf(path), digest, size: content.length })
    }
    if (bytes > MAX_ALL_BYTES) {
      throw new TypeError(`The skills have more than ${MAX_ALL_BYTES} bytes together, and they are held in `
        + 'memory; serve fewer or smaller ones')
    }
    const { path, scopes } = source
    const { name } = frontmatter
    const description = frontmatter.description.trim()
    const uri = uriOf(`${path}/${MANIFEST}`)
    skills.push({ path, uri, name, description, frontmatter, resources, scopes })
  }
  if (inputs.length > 1) requireWhole(skills, files)
  return { skills, files, folders: foldersOf([...files.keys()], empty) }
}

/** One after the other, so that not all are read before there are too many. */
function* sourcesOf(inputs: readonly unknown[]): Generator<SkillSource> {
  for (const given of inputs) {
    requireSource(given)
    if (typeof given === 'string' || given instanceof URL) {
      yield* readSkillFolder(given, MAX_FILES, MAX_BYTES)
    } else {
      yield sourceOfDefinition(given)
    }
  }
}

function requireSource(given: unknown): asserts given is string | object {
  if (typeof given === 'string' || isRecord(given)) return
  throw new TypeError(`skills is ${show(given)}; write a folder, './skills', or a list of folders and of `
    + `definitions such as ${EXAMPLE}`)
}

/** Checks the option that has them; what is in it `defineSkills` checks. */
export const checkSkills: MemberCheck = (_owner, given) => { [given].flat().forEach(requireSource) }

/** A skill lists all that lies below it, which another folder cannot add to. */
function requireWhole(skills: readonly ServedSkill[], files: SkillSet['files']): void {
  for (const { path, resources } of skills) {
    const below = [...files.keys()].filter((one) => one.startsWith(`${path}/`))
    if (below.length === resources.length) continue
    throw new TypeError(`The skill '${path}' has a skill of another folder in it; move one of them`)
  }
}

function foldersOf(files: readonly string[], empty: readonly string[]): SkillSet['folders'] {
  const folders = new Map(empty.map((folder): [string, Set<string>] => [normalUri(uriOf(folder)), new Set()]))
  for (const file of [...files, ...empty]) {
    for (let path = file, at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/')) {
      const folder = path.slice(0, at)
      const key = normalUri(uriOf(folder))
      folders.set(key, (folders.get(key) ?? new Set()).add(path))
      path = folder
    }
  }
  return folders
}

function sourceOfDefinition(given: object): SkillSource {
  requireDefinition('skills', given, EXAMPLE)
  const definition = given as SkillDefinition
  const name = requireString('A skill', 'name', definition)
  const owner = `The skill '${name}'`
  rejectUnknown(owner, given, Object.keys(definitionChecks))
  checkMembers(owner, given, definitionChecks)
  const { instructions, files = {}, scopes } = definition
  requireString(owner, 'description', definition)
  requireString(owner, 'instructions', definition)
  const members = ['name', 'description', 'license', 'compatibility', 'metadata'] as const
  const lines = members.flatMap((member) => linesOf(member, definition[member]))
  const manifest = Buffer.from(`---\n${lines.join('\n')}\n---\n\n${instructions}\n`)
  const all = new Map<string, Uint8Array>([[MANIFEST, manifest]])
  let bytes = manifest.length
  for (const [path, content] of Object.entries(files)) {
    if (!isFilePath(path) || all.has(path)) {
      throw new TypeError(`${owner} has a file ${show(path)}; write a path below its folder, as in `
        + `'references/forms.md'`)
    }
    if (typeof content !== 'string' && !isUint8Array(content)) {
      throw new TypeError(`${owner} has in its file '${path}' ${show(content)}; write a text or bytes`)
    }
    const held = Buffer.from(content)
    bytes += held.length
    all.set(path, held)
  }
  const inFile = [...all.keys()].find((path) => path.split('/').some((_part, at, parts) => (
    at > 0 && all.has(parts.slice(0, at).join('/'))
  )))
  if (inFile !== undefined) {
    throw new TypeError(`${owner} has a file '${inFile}' below another file; rename one of them`)
  }
  if (all.size > MAX_FILES || bytes > MAX_BYTES) {
    throw new TypeError(`${owner} has more than ${MAX_FILES} files or ${MAX_BYTES} bytes, which hosts may `
      + 'refuse; make it smaller')
  }
  return {
    path: name, label: `${owner}: its ${MANIFEST}`, scopes: scopesOf(owner, scopes), files: all,
    emptyFolders: [],
  }
}

/** Texts in double quotes, which JSON and YAML write alike; names too, which YAML may take for no text. */
function linesOf(
  name: string, value: string | Readonly<Record<string, string>> | undefined,
): readonly string[] {
  if (typeof value === 'string') return [`${name}: ${formatJson(value)}`]
  const lines = Object.entries(value ?? {}).map(([key, text]) => `  "${key}": ${formatJson(text)}`)
  return lines.length === 0 ? [] : [`${name}:`, ...lines]
}

function isFilePath(path: string): boolean {
  return !/[\\\u0000-\u001f\u007f]|\p{Cs}/u.test(path) && path.split('/').every((part) => !/^\.*$/.test(part))
}

type Frontmatter = Readonly<Record<string, unknown>> & { readonly name: string; readonly description: string }

/** Throws `TypeError` for a frontmatter that hosts refuse. */
function frontmatterOf({ path, label, files }: SkillSource): Frontmatter {
  const text = utf8Of(files.get(MANIFEST) ?? new Uint8Array())
  if (text === undefined) throw new TypeError(`${label} is no UTF-8; save it as UTF-8`)
  const frontmatter = parseFrontmatter(label, text)
  const { name, description, compatibility } = frontmatter
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new TypeError(`${label} has the name ${show(name)}; write 1 to 64 of a-z, 0-9 and -, without a `
      + 'hyphen at an end and two in a row')
  }
  const folder = path.slice(path.lastIndexOf('/') + 1)
  if (name !== folder) {
    throw new TypeError(`${label} has the name '${name}', and its folder is '${folder}'; give them one name`)
  }
  if (typeof description === 'string' && description.length > MAX_DESCRIPTION) {
    throw new TypeError(`${label} has a description of ${description.length} characters, and hosts take `
      + `${MAX_DESCRIPTION}; shorten it`)
  }
  if (typeof description !== 'string' || description.trim() === '') {
    throw new TypeError(`${label} has the description ${show(description)}; write 1 to ${MAX_DESCRIPTION} `
      + 'characters that say what it does and when to use it')
  }
  if (compatibility !== undefined && (typeof compatibility !== 'string' || compatibility.length > 500)) {
    throw new TypeError(`${label} has a compatibility that is no text of at most 500 characters`)
  }
  return { ...frontmatter, name, description }
}

function fileResource(
  path: string, within: string, bytes: Uint8Array, { name, description }: Frontmatter,
  scopes: readonly string[],
): Resource {
  // A zero byte is in no text.
  const text = bytes.includes(0) ? undefined : utf8Of(bytes)
  const content = text ?? bytes
  const about = within === MANIFEST ? { name, description } : { name: path.slice(path.lastIndexOf('/') + 1) }
  return defineResource({
    ...about, uri: uriOf(path), mimeType: typeOf(path, text !== undefined), size: bytes.length, scopes,
    read: () => content,
  })
}

const types: ReadonlyMap<string, string> = new Map([
  ['md', 'text/markdown'], ['txt', 'text/plain'], ['csv', 'text/csv'], ['html', 'text/html'],
  ['css', 'text/css'], ['js', 'text/javascript'], ['mjs', 'text/javascript'], ['py', 'text/x-python'],
  ['json', 'application/json'], ['yaml', 'application/yaml'], ['yml', 'application/yaml'],
  ['xml', 'application/xml'], ['sh', 'application/x-sh'], ['pdf', 'application/pdf'],
  ['svg', 'image/svg+xml'],
  ['png', 'image/png'], ['jpg', 'image/jpeg'], ['jpeg', 'image/jpeg'], ['gif', 'image/gif'],
  ['webp', 'image/webp'],
])

function typeOf(path: string, isText: boolean): string {
  const [, ending = ''] = /\.(\w+)$/.exec(path.toLowerCase()) ?? []
  return types.get(ending) ?? (isText ? 'text/plain' : 'application/octet-stream')
}
