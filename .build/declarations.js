/**
 * Many declarations in, one file out: what index.d.ts names, what that is made of, and so on. Everything else
 * no program can reach, and it is left out. Knows declarations as tsc emits them of this house, and refuses
 * with a sentence what would not mean the same in one file.
 *
 * Each declaration keeps its name and its doc comment, and can be imported where index.d.ts names it: as a type
 * alone where it says `export type`, although it may be a class. Modules stand in the order in which they are
 * reached, and what is of one module in the order that it has there.
 */
import { posix } from 'node:path'
import { tokensOf } from './tokens.js'

const { dirname, join } = posix

/** Before a line that begins a comment or a statement: others are indented, or close what was opened. */
const BEGIN = /\n(?=[^\s})\]])/
const COMMENT = /^\/\*\*[^]*\*\/$/
const LIST = /^(?<verb>import|export) (?<type>type )?\{(?<names>[^}]*)\}(?: from '(?<target>[^']+)')?;$/
const WHOLE = /^import (?:type )?(?<all>\* as )?(?<name>[\w$]+) from '(?<target>[^']+)';$/
const FORM = String.raw`interface|type|declare (?:const(?! enum)|function|(?:abstract )?class)`
const DECLARED = new RegExp(String.raw`^(?:export )?(?=(?:${FORM}) (?<name>[\w$]+))`)
const IN_PLACE = /\bimport\("\./

/** The text of the one file. `read` gives the text behind a path; that of index.d.ts is `entry`. */
export function prune(read, entry) {
  const modules = new Map()
  const moduleAt = (path) => {
    if (!modules.has(path)) modules.set(path, parse(path, read(path)))
    return modules.get(path)
  }
  const { header, exports, types } = moduleAt(entry)
  /** Where each name of the file is declared: the path of a module, or what a package is called. */
  const origins = new Map()
  const open = exports.map((name) => [entry, name])
  for (const [path, name] of open) {
    const { declared, links } = moduleAt(path)
    const { name: real = name, from = path } = links.get(name) ?? {}
    if (real !== name) throw new Error(`${path} says ${name} for ${real} of ${from}; here it has one name`)
    if (from !== path && from.endsWith('.d.ts')) {
      open.push([from, name])
      continue
    }
    const other = origins.get(name)
    if (other === from) continue
    if (other !== undefined) throw new Error(`${name} is declared by ${other} and by ${from}; rename one`)
    origins.set(name, from)
    if (from !== path) continue
    if (!declared.has(name)) throw new Error(`${path} is asked for ${name}, which it does not declare`)
    const uses = declared.get(name).flatMap((statement) => [...statement.uses])
    for (const use of uses) if (declared.has(use) || links.has(use)) open.push([path, use])
  }
  return format(header, { exports, types }, modules, origins)
}

/**
 * A module: its first comment, the names that it exports, those of them that it exports as types, its statements
 * by the name that they declare, and what else it has a name for, by that name.
 */
function parse(path, text) {
  const module = { header: '', exports: [], types: new Set(), declared: new Map(), links: new Map() }
  const { exports, types, declared, links } = module
  const at = (target) => (
    target.startsWith('.') ? join(dirname(path), target).replace(/\.[jt]s$/, '.d.ts') : target
  )
  let comment = ''
  for (const [index, part] of text.trim().split(BEGIN).entries()) {
    const name = DECLARED.exec(part)?.groups.name
    const list = LIST.exec(part)?.groups
    const whole = WHOLE.exec(part)?.groups
    if (index === 1 && name === undefined) module.header = comment
    if (COMMENT.test(part)) {
      comment = `${part}\n`
      continue
    }
    if (IN_PLACE.test(part)) throw new Error(`${path} takes a type in place in '${firstOf(part)}'; import it`)
    if (name !== undefined) {
      const code = part.replace(DECLARED, '')
      const statement = { comment, code, uses: usesIn(tokensOf(code)) }
      declared.set(name, [...declared.get(name) ?? [], statement])
      if (code !== part) exports.push(name)
    } else if (list !== undefined) {
      const from = list.target === undefined ? path : at(list.target)
      for (const [real, as = real] of pairs(list.names)) {
        if (list.verb === 'export') exports.push(as)
        if (list.verb === 'export' && list.type !== undefined) types.add(as)
        if (from !== path || real !== as) links.set(as, { name: real, from })
      }
    } else if (whole !== undefined) {
      links.set(whole.name, { name: whole.all === undefined ? 'default' : '*', from: at(whole.target) })
    } else throw new Error(`${path} says '${firstOf(part)}', which cannot stand among others`)
    comment = ''
  }
  const twice = [...links.keys()].find((name) => declared.has(name))
  if (twice !== undefined) throw new Error(`${path} declares ${twice}, and has another; rename one`)
  return module
}

function firstOf(part) {
  return part.split('\n', 1)[0]
}

/** The names of a list, each as it is before an `as`, and behind it where there is one. */
function pairs(names) {
  const all = names.split(',').map((name) => name.trim()).filter((name) => name !== '')
  return all.map((name) => name.replace(/^type /, '').split(' as '))
}

/** The names in a declaration that may be those of others: not what its members and parameters are called. */
function usesIn(tokens) {
  const words = tokens.map(({ text }) => text)
  const isUse = ({ kind, isMember }, at) => {
    const [before, , after, second] = words.slice(at - 1, at + 3)
    const isBeforeType = after === ':' || (after === '?' && second === ':')
    const isCalled = ['{', ';', 'get', 'set', 'static'].includes(before)
      || (isBeforeType && ['(', ',', '[', '...', 'readonly'].includes(before))
    return kind === 'name' && !isMember && !isCalled
  }
  return new Set(words.filter((_, at) => at > 0 && isUse(tokens[at], at)))
}

/** What is reached, and first what it takes of packages. */
function format(header, { exports, types }, modules, origins) {
  const packages = new Map()
  for (const [name, from] of origins) {
    if (!modules.has(from)) packages.set(from, [...packages.get(from) ?? [], name])
  }
  const onlyTypes = []
  const parts = [...packages].map(([from, names]) => `import type { ${names.join(', ')} } from '${from}';\n`)
  for (const [path, { declared, links }] of modules) {
    for (const [name, statements] of declared) {
      if (origins.get(name) !== path) continue
      parts.push('\n')
      for (const { comment, code, uses } of statements) {
        const odd = [...uses].find((use) => origins.has(use) && !declared.has(use) && !links.has(use))
        if (odd !== undefined) {
          throw new Error(`${odd} in ${path} is another than that of ${origins.get(odd)}; rename one`)
        }
        const isTypeOfValue = types.has(name) && code.startsWith('declare ')
        if (isTypeOfValue) onlyTypes.push(name)
        parts.push(comment, exports.includes(name) && !isTypeOfValue ? 'export ' : '', code, '\n')
      }
    }
  }
  // Where nothing is listed as exported, everything is.
  const list = onlyTypes.length === 0 ? '{}' : `type { ${onlyTypes.join(', ')} }`
  return `${header}${parts.join('')}\nexport ${list};\n`
}
