/**
 * Many modules in, few files out, because a start pays for each file that it opens. Knows modules as tsc
 * emits them of this house, and refuses with a sentence what would not mean the same in a function.
 *
 * What a start may need stands in one file a room, and of parts in one for MCP and one for all others. What
 * only an `import()` comes to stands in a file for each unit: the kernel, a floor, a part, a store. What a
 * file looks like is in `lib/cli/packed.ts`. Files that are read as text are put in as text.
 */
import { posix } from 'node:path'
import { formatFiles, importLater, packedModule, pathFrom, patternOf } from './lib/cli/packed.js'

const { dirname, join } = posix

const TARGET = String.raw`'(?<target>[^']+)'`
const IMPORT = new RegExp(
  String.raw`^import (?:(?<whole>\w+)|\* as (?<space>\w+)|\{(?<names>[^}]*)\}) from ${TARGET};\n`, 'gm',
)
const DECLARED = /^export (?=(?:async )?(?:function\*?|class|const) (?<name>[\w$]+))/gm
const LISTED = /^export \{(?<names>[^}]*)\}(?: from '(?<target>[^']+)')?;\n?/gm
/** What tsc puts around a path that is known only later, for '.js' in the place of '.ts'; ours are URLs. */
const ENDED = /^var __rewriteRelativeImportExtension = [^]*?^};\n|__rewriteRelativeImportExtension(?=\()/gm
const FUNCTION = /^(?:async )?function\*? ?([\w$]+)\(.*\{\n[^]*?^\}$/gm
const DYNAMIC = /\bimport\('(?<target>\.[^']+)'\)/g
const READ = new RegExp(String.raw`readFileSync\(new URL\(${TARGET}, import\.meta\.url\), 'utf8'\)`, 'g')

/** What Node has loaded before a program begins: nothing is won by loading it later. */
const PRESENT = new Set('async_hooks buffer events fs path timers url util util/types'.split(' '))

/**
 * The text of each file by its path. `read` gives the text behind a path. `entries` has, of each file that
 * programs import, the modules whose names it exports, with these names; undefined: all. With `isOpen` every
 * module can be imported by its own path as well, for tests. `placeOf` gives the file of a module by its
 * path, and by whether it is early. `running` are the functions that a start runs, by the ids of modules.
 */
export function pack(read, entries, { isOpen = false, placeOf = fileAt, running = new Map() } = {}) {
  const named = Object.values(entries).flatMap((sources) => Object.keys(sources))
  const parsed = load(read, named)
  const later = new Set([...parsed.values()].flatMap((module) => module.later))
  const made = [...parsed.values()].filter((module) => isMade(module) || later.has(module.path))
  const early = new Set()
  for (const path of named) reach(path, parsed, early)
  const fileOf = new Map(made.map(({ id, path }) => [id, placeOf(path, early.has(path))]))
  const atHome = made.filter(({ id, path }) => isOpen && fileOf.get(id) === path).map(({ path }) => path)
  const all = { ...Object.fromEntries(atHome.map((path) => [path, { [path]: undefined }])), ...entries }
  const packed = formatFiles({
    fileOf, isOpen,
    modules: new Map(made.map((one) => [one.id, format(one, parsed, later.has(one.path), running)])),
    names: new Map(Object.entries(all).map(([file, sources]) => [file, namesOf(sources, parsed)])),
    bangs: new Map(made.filter(({ bang }) => bang !== '').map(({ id, bang }) => [fileOf.get(id), bang])),
  })
  if (isOpen) {
    for (const module of parsed.values()) {
      if (!packed.has(module.path)) packed.set(module.path, formatWay(module, fileOf))
    }
  }
  return packed
}

/** The file of a module. */
function fileAt(path, isEarly) {
  const [room, name = '', ...below] = path.split('/')
  if (name === '') return path
  if (room === 'cli' || room === 'adapters' && below.length === 0 && name !== 'frameworks.js') return path
  const isOfUnits = ['floors', 'parts', 'stores', 'agents'].includes(room)
  const unit = isOfUnits ? `${room}/${name.replace(/\.js$/, '')}` : room
  if (!isEarly) return `${unit}.later.js`
  return unit === 'parts/mcp' || room === 'agents' ? `${unit}.js` : `${room}.js`
}

function reach(path, modules, reached) {
  if (reached.has(path)) return
  reached.add(path)
  for (const target of modules.get(path).needs) reach(target, modules, reached)
}

/** All modules by their paths, each behind those that it imports. */
function load(read, entries) {
  const modules = new Map()
  const open = []
  const visit = (path) => {
    if (open.includes(path)) throw circle(path, open)
    if (modules.has(path)) return
    open.push(path)
    const module = parse(path, read)
    for (const target of module.needs) visit(target)
    open.pop()
    modules.set(path, module)
  }
  for (const path of entries) visit(path)
  for (const { later } of modules.values()) for (const path of later) visit(path)
  nameAll(modules)
  return modules
}

/** Gives each module its id: as much of the end of its path as no other has, and no code calls something. */
function nameAll(modules) {
  const words = [...modules.values()].flatMap(({ code }) => [...new Set(code.match(/\$\w+/g))])
  const ends = new Map([...modules.keys()].map((path) => [path, endsOf(path)]))
  const counts = new Map()
  for (const id of [...words, ...[...ends.values()].flat()]) counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const module of modules.values()) {
    const all = ends.get(module.path)
    module.id = all.find((id) => counts.get(id) === 1) ?? all.at(-1)
  }
}

/** `$body`, `$server_body` and so on. */
function endsOf(path) {
  const names = path.replace(/\.js$/, '').split('/')
  return names.map((_, at) => `$${names.slice(-at - 1).join('_').replace(/\W/g, '_')}`)
}

function circle(path, open) {
  const round = [...open.slice(open.indexOf(path)), path]
  return new Error(`${round.join(' imports ')}: a circle has no order in which it could run`)
}

/** A module: what it imports and exports, what it imports later, and its text without all that. */
function parse(path, read) {
  const at = (target) => join(dirname(path), target)
  const [, bang = '', text] = /^(#!.*\n)?([^]*)$/.exec(read(path))
  const imports = []
  const exports = new Map()
  const rest = text.replace(ENDED, '').replace(IMPORT, (...found) => {
    const { whole, space, names, target } = found.at(-1)
    imports.push({ target, names: whole === undefined ? pairs(names) : [['default', whole]], space })
    return ''
  }).replace(DECLARED, (...found) => {
    exports.set(found.at(-1).name, { name: found.at(-1).name })
    return ''
  }).replace(LISTED, (...found) => {
    const { names, target } = found.at(-1)
    if (target !== undefined) imports.push({ target, names: [] })
    for (const [name, as] of pairs(names)) exports.set(as, { name, path: target && at(target) })
    return ''
  }).replace(READ, (...found) => JSON.stringify(read(at(found.at(-1).target))))
  const odd = /^(?:import(?!\()|export|await|for await)\b.*/m.exec(rest)
  if (odd !== null) throw new Error(`${path} says '${odd[0]}', which cannot stand in a function`)
  const isOwn = ({ target }) => target.startsWith('.')
  const own = imports.filter(isOwn).map((one) => ({ ...one, path: at(one.target) }))
  return {
    path, bang, exports, own, builtins: imports.filter((one) => !isOwn(one)),
    needs: new Set(own.map((one) => one.path)),
    later: [...rest.matchAll(DYNAMIC)].map(({ groups }) => at(groups.target)),
    code: ascii(tabbed(rest.trim(), path)),
  }
}

/** The names of a list, as they are before and behind an `as`. */
function pairs(names = '') {
  const all = names.split(',').map((name) => name.trim()).filter((name) => name !== '')
  return all.map((name) => name.split(' as ')).map(([name, as = name]) => [name, as])
}

/** V8 keeps a text with any other character in twice the memory. */
function ascii(text) {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Code with a tab for each four spaces that begin a line, but for lines of a template. */
function tabbed(code, path) {
  let isTemplate = false
  const lines = code.split('\n').map((line) => {
    const text = isTemplate ? line : line.replace(/^(?: {4})+/, (spaces) => '\t'.repeat(spaces.length / 4))
    const ticks = [...line.matchAll(/\\.|`/g)].filter(([found]) => found === '`')
    if (ticks.length % 2 === 1) isTemplate = !isTemplate
    return text
  })
  if (isTemplate) throw new Error(`${path} has a single '\`': write it as '\\x60' where it is no template`)
  return lines.join('\n')
}

/** Whether a module does more than to pass on what others export. */
function isMade({ exports, code }) {
  return code !== '' || [...exports.values()].some(({ path }) => path === undefined)
}

/** Where a name comes from that a module may only pass on. */
function originOf(modules, path, name, by) {
  const found = modules.get(path).exports.get(name)
  if (found === undefined) throw new Error(`${by} takes ${name} of ${path}, which does not export it`)
  // What a module returns has the names that it exports.
  return found.path === undefined ? { path, name } : originOf(modules, found.path, found.name, path)
}

/** The names that a file has, by the modules that they come from. */
function namesOf(sources, modules) {
  const names = new Map()
  for (const [path, wanted = [...modules.get(path).exports.keys()]] of Object.entries(sources)) {
    for (const name of wanted) {
      const origin = originOf(modules, path, name, path)
      const { id } = modules.get(origin.path)
      names.set(id, [...names.get(id) ?? [], [origin.name, name]])
    }
  }
  return names
}

/** A module as it stands in a file. `isWhole`: it is imported later, so it returns what it passes on too. */
function format({ id, path, builtins, own, exports, code }, modules, isWhole, running) {
  const lines = builtins.flatMap(formatBuiltin)
  const taken = new Map()
  const take = (from, name, as) => taken.set(from, [...taken.get(from) ?? [], [name, as]])
  for (const one of own) {
    if (one.space !== undefined) lines.push(`const ${one.space} = ${modules.get(one.path).id};`)
    for (const [name, as] of one.names) {
      const origin = originOf(modules, one.path, name, path)
      take(modules.get(origin.path).id, origin.name, as)
    }
  }
  const returned = [...exports].flatMap(([as, { name, path: from }], n) => {
    if (from === undefined) return as === name ? as : `${as}: ${name}`
    if (!isWhole) return []
    const origin = originOf(modules, path, as, path)
    take(modules.get(origin.path).id, origin.name, `$passed${n}`)
    return `${as}: $passed${n}`
  })
  return packedModule(id, path, [
    ...lines, ...[...taken].map(([from, names]) => `const ${patternOf(names)} = ${from};`),
    madeAtOnce(code, running.get(id)).replace(DYNAMIC, (...found) => (
      importLater(modules.get(join(dirname(path), found.at(-1).target)).id)
    )),
  ].join('\n'), returned.toSorted())
}

/**
 * Code in which functions that a start runs come first, in brackets: so V8 compiles them as it reads them,
 * and reads them once.
 */
function madeAtOnce(code, names = new Set()) {
  const first = []
  const rest = code.replace(FUNCTION, (text, name) => {
    if (!names.has(name) || text.split('`').length % 2 === 0) return text
    first.push(`const ${name} = (${text});`)
    return ''
  })
  return [...first, rest].join('\n')
}

/**
 * What a module takes of Node: functions of what Node loads on demand load it when they are called. To import
 * one would load it at once, make an ES module of it, and load all that it loads on demand.
 */
function formatBuiltin({ target, names, space }, n) {
  const all = `process.getBuiltinModule('${target}')`
  if (space !== undefined) return [`const ${space} = ${all};`]
  const isLate = ([name]) => !PRESENT.has(target.replace('node:', '')) && isFunction(target, name)
  const [now, late] = [names.filter((one) => !isLate(one)), names.filter(isLate)]
  const [[first, as] = []] = now
  return [
    ...now.length === 0 ? [] : [`const ${first === 'default' ? as : patternOf(now)} = ${all};`],
    ...late.length === 0 ? [] : [`let $${n};`],
    ...late.map(([name, as]) => `const ${as} = (...args) => ($${n} ??= ${all}).${name}(...args);`),
  ]
}

function isFunction(target, name) {
  return typeof process.getBuiltinModule(target)[name] === 'function' && /^[a-z]/.test(name)
}

/** A file at the path of a module that stands elsewhere. */
function formatWay({ id, path, exports }, fileOf) {
  const own = [...exports].filter(([, { path: from }]) => from === undefined).map(([as]) => as)
  const passed = [...exports].filter(([, { path: from }]) => from !== undefined)
    .map(([as, { name, path: from }]) => `export { ${name} as ${as} } from '${pathFrom(path, from)}';`)
  return [
    ...own.length > 0 ? [
      `import { $ } from '${pathFrom(path, fileOf.get(id))}';`,
      `const { ${own.map((name, n) => `${name}: _${n}`).join(', ')} } = $.${id};`,
      `export { ${own.map((name, n) => `_${n} as ${name}`).join(', ')} };`,
    ] : [],
    ...passed, '',
  ].join('\n')
}
