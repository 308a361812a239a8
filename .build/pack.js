/**
 * Many modules in, few files out, because a start pays for each file that it opens. Knows modules as tsc
 * emits them of this house, and refuses with a sentence what would not mean the same in one file.
 *
 * The modules stand one behind the other, in the order in which they would have run. What others import keeps
 * the one name that it has in the whole house; what is private to a module gets another name where that one
 * is taken. What only a dynamic `import()` or a later entry needs goes into a file of its own. Files that are
 * read as text are put in as text.
 */
import { posix } from 'node:path'
import { isMadeAnew, madeAtOnce, madeWhenRun, namesIn, renamed, textOf, tokensOf } from './tokens.js'

const { dirname, join, relative } = posix

/** The file that holds what the first entry needs, or another entry and what is imported later. */
export const MAIN = 'triport.js'
/**
 * The file that holds what several files need that are imported later, and no entry does; and what would be a
 * file of its own, but is small.
 */
const LATER = 'later.js'
/** The same of what the first entry never comes to: where a command cannot run, programs do not load it. */
const LATER_OF_OTHERS = 'later-of-command.js'
const SMALL_LENGTH = 4_500
/**
 * The object in the main file that has what files take of it that are loaded later. Were these exports, V8 would
 * go through all of them for each name of a global thing in each function that it compiles.
 */
const MEMBERS = '$main'

const TARGET = String.raw`'(?<target>[^']+)'`
const IMPORT = new RegExp(
  String.raw`^import (?:(?<whole>\w+)|\* as (?<space>\w+)|\{(?<names>[^}]*)\}) from ${TARGET};\n`, 'gm',
)
const DECLARED = /^export (?=(?:async )?(?:function\*?|class|const) (?<name>[\w$]+))/gm
const LISTED = /^export \{(?<names>[^}]*)\}(?: from '(?<target>[^']+)')?;\n?/gm
/** What tsc puts around a path that is known only later, for '.js' in the place of '.ts'; ours are URLs. */
const ENDED = /^var __rewriteRelativeImportExtension = [^]*?^};\n|__rewriteRelativeImportExtension(?=\()/gm
const DYNAMIC = /\bimport\('(?<target>\.[^']+)'\)/g
const READ = new RegExp(
  String.raw`(?:process\.getBuiltinModule\('node:fs'\)\.)?`
  + String.raw`readFileSync\(new URL\(${TARGET}, import\.meta\.url\), 'utf8'\)`, 'g',
)

/**
 * The text of each file by its path. `read` gives the text behind a path; the first of `entries` is what
 * programs import. With `isOpen` every module can be imported by its own path as well, for tests. `running` are
 * functions of the main file that a start runs.
 */
export function pack(read, entries, { isOpen = false, running = new Set() } = {}) {
  const modules = load(read, entries)
  const files = share(modules, entries)
  const places = { ...link(modules, files, entries), running }
  const packed = new Map([...files].map(([file, own]) => [file, formatFile(file, own, places, isOpen)]))
  if (isOpen) {
    for (const { path, exports } of modules.values()) {
      if (!packed.has(path)) packed.set(path, formatWay(path, exports, places))
    }
  }
  return packed
}

/** All modules by their paths, each behind those that it imports. */
function load(read, entries) {
  const modules = new Map()
  const open = []
  const visit = (path) => {
    if (open.includes(path)) {
      const circle = [...open.slice(open.indexOf(path)), path]
      throw new Error(`${circle.join(' imports ')}: a circle has no order in which it could run`)
    }
    if (modules.has(path)) return
    open.push(path)
    const module = parse(path, read)
    for (const { path: target } of module.imports) if (target !== undefined) visit(target)
    open.pop()
    modules.set(path, module)
  }
  for (const path of entries) visit(path)
  for (const { later } of modules.values()) for (const path of later) visit(path)
  return modules
}

/** A module: what it imports and exports, what it imports later, and its text without all that. */
function parse(path, read) {
  const at = (target) => join(dirname(path), target)
  const [, bang = '', text] = /^(#!.*\n)?([^]*)$/.exec(read(path))
  const imports = []
  const add = (target, names, space) => {
    imports.push({ target, names, space, path: target.startsWith('.') ? at(target) : undefined })
  }
  const exports = new Map()
  const rest = text.replace(ENDED, '').replace(IMPORT, (...found) => {
    const { whole, space, names, target } = found.at(-1)
    add(target, whole === undefined ? pairs(names) : [['default', whole]], space)
    return ''
  }).replace(DECLARED, (...found) => {
    exports.set(found.at(-1).name, { name: found.at(-1).name })
    return ''
  }).replace(LISTED, (...found) => {
    const { names, target } = found.at(-1)
    if (target !== undefined) add(target, [])
    for (const [name, as] of pairs(names)) exports.set(as, { name, path: target && at(target) })
    return ''
  }).replace(READ, (...found) => ascii(JSON.stringify(read(at(found.at(-1).target)))))
  const odd = /^(?:import(?!\()|export|await|for await)\b.*/m.exec(rest)
  if (odd !== null) throw new Error(`${path} says '${odd[0]}', which cannot stand among others`)
  const later = [...rest.matchAll(DYNAMIC)].map(({ groups }) => at(groups.target))
  const tokens = tokensOf(ascii(rest.trim())).map(madeWhenRun)
  const builtins = [...builtinsIn(imports)]
  const isPlain = ([as]) => !isMadeAnew(as, tokens)
  const atOnce = builtins.filter((one) => !isPlain(one))
  const code = renamed(tokens, new Map(builtins.filter(isPlain)))
  return { path, bang, imports, exports, later, names: namesIn(tokens), atOnce, code }
}

/** What of Node a module names, each by what it is called in the file: it is loaded when it is first used. */
function builtinsIn(imports) {
  return new Map(imports.filter(({ path }) => path === undefined).flatMap(({ target, space, names }) => [
    ...space === undefined ? [] : [[space, `${idOf(target)}()`]],
    ...names.map(([name, as]) => [as, `${idOf(target)}()${name === 'default' ? '' : `.${name}`}`]),
  ]))
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

/** Which modules stand in which file, each in the order in which they run. */
function share(modules, [first, ...entries]) {
  const roots = new Map([...modules.keys()].map((path) => [path, new Set()]))
  const reach = (path, root) => {
    if (roots.get(path).has(root)) return
    roots.get(path).add(root)
    for (const { path: target } of modules.get(path).imports) if (target !== undefined) reach(target, root)
  }
  const later = [...modules.values()].flatMap((module) => module.later)
  for (const root of [first, ...entries, ...later]) reach(root, root)
  const ofFirst = reachedFrom(first, modules)
  const lateFile = (path) => ofFirst.has(path) ? LATER : LATER_OF_OTHERS
  const fileOf = new Map([...modules.keys()].map((path) => {
    const [root, ...others] = roots.get(path)
    const isLate = ![first, ...entries].some((entry) => roots.get(path).has(entry))
    return [path, others.length === 0 && (root !== first || path === first) ? root
      : isLate ? lateFile(path) : MAIN]
  }))
  const isAlone = (root) => fileOf.get(root) === root && root !== first && !entries.includes(root)
  for (const root of later.filter(isAlone)) {
    const own = [...modules.values()].filter(({ path }) => fileOf.get(path) === root)
    const length = own.reduce((sum, { code }) => sum + textOf(code).length, 0)
    if (length < SMALL_LENGTH) for (const { path } of own) fileOf.set(path, lateFile(path))
  }
  const files = new Map([MAIN, first, ...entries].map((file) => [file, []]))
  for (const [path, module] of modules) {
    const file = fileOf.get(path)
    files.set(file, [...files.get(file) ?? [], module])
  }
  return files
}

/** All that a module comes to, at once or later. */
function reachedFrom(path, modules, reached = new Set()) {
  if (reached.has(path)) return reached
  reached.add(path)
  const { imports, later } = modules.get(path)
  for (const target of [...imports.map((one) => one.path), ...later]) {
    if (target !== undefined) reachedFrom(target, modules, reached)
  }
  return reached
}

/**
 * Where everything stands: the file of each module, what stands outside of its module, and what files take of
 * each other.
 */
function link(modules, files, entries) {
  const fileOf = new Map([...files].flatMap(([file, own]) => own.map(({ path }) => [path, file])))
  const outside = new Map()
  const taken = new Map([...files.keys()].map((file) => [file, new Map()]))
  const exported = new Map([...files.keys()].map((file) => [file, new Set()]))
  const members = new Set()
  /** Makes `name` stand outside of the module that it is defined in, for the use of a file. */
  const take = (name, path, file) => {
    const other = outside.get(name) ?? path
    const fail = (what) => { throw new Error(`${name} ${what}`) }
    if (other !== path) fail(`is exported by ${other} and by ${path}; one must be renamed`)
    if (name in globalThis) fail(`of ${path} would hide what is always there; rename it`)
    outside.set(name, path)
    const from = fileOf.get(path)
    if (from === file) return
    if (from === MAIN && !entries.includes(file)) {
      exported.get(MAIN).add(MEMBERS)
      members.add(name)
    } else exported.get(from).add(name)
    taken.get(file).set(from, (taken.get(file).get(from) ?? new Set()).add(name))
  }
  for (const { path, imports } of modules.values()) {
    for (const one of imports.filter((one) => one.path !== undefined)) {
      if (one.space !== undefined) take(idOf(one.path), one.path, fileOf.get(path))
      for (const pair of one.names) {
        const origin = originOf(modules, one.path, pair[0], path)
        pair[0] = origin.name
        take(origin.name, origin.path, fileOf.get(path))
      }
    }
  }
  for (const root of [...entries, ...[...modules.values()].flatMap(({ later }) => later)]) {
    const file = files.has(root) ? root : fileOf.get(root)
    for (const name of modules.get(root).exports.keys()) {
      const origin = originOf(modules, root, name, root)
      if (origin.name !== name) throw new Error(`${root} exports ${origin.name} by another name, ${name}`)
      take(name, origin.path, file)
      exported.get(file).add(name)
    }
  }
  return { entries, fileOf, outside, taken, exported, members }
}

/** Where a name comes from that a module may only pass on. */
function originOf(modules, path, name, by) {
  const found = modules.get(path).exports.get(name)
  if (found === undefined) throw new Error(`${by} takes ${name} of ${path}, which does not export it`)
  return found.path === undefined ? { path, name } : originOf(modules, found.path, found.name, path)
}

/** What a module is called as a whole. */
function idOf(path) {
  return `$${path.replace(/\.js$/, '').replace(/\W/g, '_')}`
}

function pathFrom(file, target) {
  const path = relative(dirname(file), target)
  return path.startsWith('.') ? path : `./${path}`
}

function formatFile(file, own, places, isOpen) {
  const { entries, taken, exported, members } = places
  const imports = own.flatMap((module) => module.imports)
  const builtins = new Set(imports.flatMap(({ path, target }) => path === undefined ? target : []))
  const ids = isOpen ? own.filter(isMade).map(({ path }) => idOf(path)) : []
  const names = new Set([...exported.get(file), ...ids])
  const used = new Set()
  return [
    own.at(-1)?.bang,
    // To import one would load it at once, make an ES module of it, and load all that it loads on demand.
    ...[...builtins].map((target) => {
      const id = idOf(target)
      return `let ${id}$;\nconst ${id} = () => ${id}$ ??= process.getBuiltinModule('${target}');\n`
    }),
    ...[...taken.get(file)].map(([from, names]) => {
      const list = `{ ${[...names].join(', ')} }`
      const target = pathFrom(file, from)
      if (from !== MAIN || entries.includes(file)) return `import ${list} from '${target}';\n`
      return `import { ${MEMBERS} } from '${target}';\nconst ${list} = ${MEMBERS};\n`
    }),
    ...own.map((module) => formatModule(module, file, places, used, isOpen)),
    names.has(MEMBERS) ? `const ${MEMBERS} = { ${[...members].toSorted().join(', ')} };\n` : '',
    names.size > 0 ? `export { ${[...names].toSorted().join(', ')} };\n` : '',
  ].join('')
}

/** Whether a module does more than to pass on what others export. */
function isMade({ exports, code }) {
  return code.length > 0 || [...exports.values()].some(({ path }) => path === undefined)
}

/**
 * A module among the others of a file, whose private names are in `used`. `isWhole`: what it exports is asked
 * for as a whole.
 */
function formatModule(module, file, { outside, fileOf, running }, used, isWhole) {
  const { path, imports, exports, names, atOnce, code } = module
  if (!isMade(module)) return ''
  const words = new Map()
  const take = (name) => {
    let free = name
    const isTaken = () => used.has(free) || outside.has(free) || free in globalThis
    for (let n = 2; outside.get(name) !== path && isTaken(); n++) free = `${name}$${n}`
    if (free !== name) words.set(name, free)
    used.add(free)
    return free
  }
  for (const name of names) take(name)
  const others = imports.filter((one) => one.path !== undefined).flatMap(({ path: from, space, names }) => [
    ...space === undefined ? [] : [[space, idOf(from)]],
    ...names.filter(([name, as]) => name !== as).map(([name, as]) => [as, name]),
  ])
  const own = [...exports].filter(([, { path: from }]) => from === undefined)
    .map(([as, { name }]) => [as, words.get(name) ?? name])
  const taken = [...atOnce, ...others].map(([as, word]) => `const ${take(as)}=${word};`)
  const tokens = renamed(placed(code, path, file), words)
  const lines = [
    ...taken,
    textOf(file === MAIN ? madeAtOnce(tokens, running) : tokens).replace(DYNAMIC, (...found) => (
      `import('${pathFrom(file, fileOf.get(join(dirname(path), found.at(-1).target)))}')`
    )),
    ...own.filter(([as, name]) => as !== name && outside.get(as) === path)
      .map(([as, name]) => `const ${as}=${name};`),
  ]
  if (isWhole || outside.has(idOf(path))) {
    // In the order in which a module's namespace has them, for whoever goes through it.
    const members = own.toSorted(([a], [b]) => a < b ? -1 : 1)
      .map(([as, name]) => as === name ? as : `${as}: ${name}`)
    lines.push(`const ${idOf(path)} = Object.freeze({ __proto__: null, ${members.join(', ')} });`)
  }
  return [...lines, ''].join('\n')
}

/** The code of a module that asks where it is: wherever it stands, it is told its own path. */
function placed(code, path, file) {
  if (dirname(path) === dirname(file)) return code
  const says = (at, text) => code[at]?.text === text
  const isMeta = (at) => says(at, 'import') && says(at + 1, '.') && says(at + 2, 'meta')
  const isUrl = (at) => isMeta(at) && says(at + 3, '.') && says(at + 4, 'url')
  return code.map((token, at) => {
    if (isMeta(at) && !isUrl(at)) throw new Error(`${path} asks more of import.meta than its url`)
    if (isUrl(at)) return { ...token, text: `new URL('${pathFrom(file, path)}',import` }
    return isUrl(at - 4) ? { ...token, text: 'url).href' } : token
  })
}

/** A file at the path of a module that stands elsewhere. */
function formatWay(path, exports, { fileOf }) {
  const own = [...exports].filter(([, { path: from }]) => from === undefined).map(([as]) => as)
  const passed = [...exports].filter(([, { path: from }]) => from !== undefined)
    .map(([as, { name, path: from }]) => `export { ${name} as ${as} } from '${pathFrom(path, from)}';`)
  return [
    ...own.length > 0 ? [
      `import { ${idOf(path)} as all } from '${pathFrom(path, fileOf.get(path))}';`,
      `const { ${own.map((name, at) => `${name}: _${at}`).join(', ')} } = all;`,
      `export { ${own.map((name, at) => `_${at} as ${name}`).join(', ')} };`,
    ] : [],
    ...passed, '',
  ].join('\n')
}
