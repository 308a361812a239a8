/**
 * A text of JavaScript, as tsc emits it, to its tokens and back: as few spaces as it means the same with,
 * each statement on a line of its own still, so that a stack says where. No name is changed but those that
 * are told.
 *
 * Whether a `/` begins a pattern is told by what stands before it. After a `)` or a `}` it divides: a
 * statement that begins with a pattern is nothing that anybody writes.
 */

const TOKEN = new RegExp([
  String.raw`(?<space>[ \t]+)`,
  String.raw`(?<line>\n\s*)`,
  String.raw`(?<comment>\/\/.*|\/\*[^]*?\*\/)`,
  String.raw`(?<text>'(?:\\[^]|[^'\\\n])*'|"(?:\\[^]|[^"\\\n])*")`,
  String.raw`(?<name>#?[\w$\u0080-\uffff]+)`,
  String.raw`(?<mark>\.\.\.|\+\+|--|\?\.(?!\d)|=>|[^])`,
].join('|'), 'y')
const NUMBER = /(?:0[xob][\da-f_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:e[+-]?[\d_]+)?)n?/iy
const PATTERN = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y
const TEMPLATE = /(?:\\[^]|\$(?!\{)|[^`\\$])*/y
/** Words behind which a value begins, as behind a mark. */
const BEFORE_VALUE = new Set(
  'return typeof case in of void delete instanceof new throw else do yield await extends default'.split(' '),
)

/** Marks that end a value. */
const ENDS = new Set([')', ']', '}', '++', '--'])

/** What is neither a value's end nor a word, before `at`. */
function beginsValue(last) {
  if (last === undefined) return true
  if (last.kind === 'name') return BEFORE_VALUE.has(last.text) && !last.isMember
  return last.kind === 'mark' && !ENDS.has(last.text)
}

/**
 * The tokens of a text without its spaces: `kind`, `text`, whether a line begins with it, and of a name
 * whether it stands behind a dot. Throws a sentence for what cannot be read.
 */
export function tokensOf(source) {
  const tokens = []
  /** For each template that is open, the braces that are open in it. */
  const open = []
  let at = 0
  let isFirst = false
  const add = (kind, text) => {
    const last = tokens.at(-1)
    const isMember = kind === 'name' && last?.kind === 'mark' && (last.text === '.' || last.text === '?.')
    tokens.push({ kind, text, isFirst, isMember })
    isFirst = false
    at += text.length
  }
  const match = (pattern, from = at) => {
    pattern.lastIndex = from
    return pattern.exec(source)
  }
  /** From a backtick or a closing brace to the next `${` or the end. */
  const template = () => {
    const begin = at
    const [text] = match(TEMPLATE, begin + 1)
    const end = begin + 1 + text.length
    if (source[end] === undefined) throw new Error(`A template does not end: ${source.slice(at, at + 60)}`)
    const isOver = source[end] === '`'
    if (!isOver) open.push(0)
    add('template', source.slice(begin, end + (isOver ? 1 : 2)))
  }
  while (at < source.length) {
    const character = source[at]
    if (character === '`') {
      template()
      continue
    }
    if (character === '}' && open.at(-1) === 0) {
      open.pop()
      template()
      continue
    }
    const isNumber = /\d/.test(character) || (character === '.' && /\d/.test(source[at + 1]))
    if (isNumber) {
      add('name', match(NUMBER)[0])
      continue
    }
    const { space, line, comment, text, name, mark } = match(TOKEN).groups
    if (space !== undefined) at += space.length
    else if (comment !== undefined) at += comment.length
    else if (line !== undefined) {
      at += line.length
      isFirst = true
    } else if (text !== undefined) add('text', text)
    else if (name !== undefined) add('name', name)
    else if (mark === '/' && beginsValue(tokens.at(-1))) {
      const pattern = match(PATTERN)
      if (pattern === null) throw new Error(`A pattern does not end: ${source.slice(at, at + 60)}`)
      add('pattern', pattern[0])
    } else {
      if (mark === '{' && open.length > 0) open[open.length - 1]++
      if (mark === '}' && open.length > 0) open[open.length - 1]--
      add('mark', mark)
    }
  }
  return tokens
}

const WORD = /[\w$#\u0080-\uffff]/

/** The text of tokens, with no more spaces than they need. */
export function textOf(tokens) {
  const parts = []
  let before = ''
  let last
  for (const token of tokens) {
    const { text } = token
    const next = text[0]
    if (token.isFirst) parts.push('\n')
    else if (isApart(last, before, token, next)) parts.push(' ')
    parts.push(text)
    before = text.at(-1)
    last = token
  }
  return parts.join('')
}

/** Whether two tokens would be others without a space between them. */
function isApart(last, before, token, next) {
  if (last === undefined) return false
  if (WORD.test(before) && (WORD.test(next) || (next === '.' && /^\d/.test(last.text)))) {
    return last.kind !== 'template' && last.kind !== 'text'
  }
  return (before === next && (next === '+' || next === '-' || next === '/'))
    || (last.kind === 'mark' && before === '/' && token.kind === 'pattern')
}

/** Words before the name of a member that are a part of how it is made. */
const MODIFIERS = new Set(['async', 'get', 'set', 'static', '*'])
/** Behind these, a brace opens a block. */
const BEFORE_BLOCK = new Set([undefined, ')', '=>', '{', '}', ';', 'else', 'try', 'finally', 'do', 'static'])

/**
 * The tokens with other words for some names, wherever they stand for a value: not where they are what a
 * member is called. Where they stood for both, both are said.
 */
export function renamed(tokens, words) {
  if (words.size === 0) return tokens
  /** What each bracket opened: a 'class', a 'block', or a value. */
  const open = []
  let isClass = false
  let isCase = false
  return tokens.map((token, at) => {
    const { kind, text, isMember } = token
    const before = tokens[at - 1]?.text
    if (kind === 'template') {
      if (text.startsWith('}')) open.pop()
      if (text.endsWith('${')) open.push('value')
    } else if (kind === 'mark' && ')]}'.includes(text)) open.pop()
    else if (text === '{') {
      const isBlock = BEFORE_BLOCK.has(before) || (before === ':' && isCase)
      open.push(isClass ? 'class' : isBlock ? 'block' : 'members')
      isClass = isCase = false
    } else if (kind === 'mark' && '(['.includes(text)) open.push('value')
    else if (before === ':') isCase = false
    if (kind !== 'name' || isMember) return token
    if (text === 'class') isClass = tokens[at + 1].text !== ':'
    if (open.at(-1) !== 'members' && (text === 'case' || text === 'default')) isCase = true
    const word = words.get(text)
    if (word === undefined) return token
    const where = open.at(-1)
    if ((where === 'class' || where === 'members') && isFirstOf(where, tokens, at)) {
      const after = tokens[at + 1]
      const isShort = where === 'members' && [',', '}', '='].includes(after.text)
      return isShort ? { ...token, text: `${text}:${word}` } : token
    }
    // What is called there would be what is made.
    return { ...token, text: before === 'new' && word.includes('(') ? `(${word})` : word }
  })
}

/** Whether a member begins with a token, or with the words before it. */
function isFirstOf(where, tokens, at) {
  let first = at - 1
  while (MODIFIERS.has(tokens[first].text)) first--
  const { text } = tokens[first]
  return text === '{' || (where === 'class' ? text === ';' || text === '}' : text === ',')
}

/**
 * A token, or a call that makes it where it is a pattern that names a property of characters. What has such a
 * property V8 finds out as it reads a file, also for what is never run.
 */
export function madeWhenRun(token) {
  if (token.kind !== 'pattern' || !token.text.includes('\\p{')) return token
  const end = token.text.lastIndexOf('/')
  const texts = [token.text.slice(1, end), token.text.slice(end + 1)].map((text) => JSON.stringify(text))
  return { ...token, text: `RegExp(${texts})` }
}

/**
 * The tokens with some of the outermost functions in front, each in parentheses: V8 compiles these as it reads
 * them. Others it reads once to know where they end, and again when they run.
 */
export function madeAtOnce(tokens, names) {
  const made = []
  const others = []
  let depth = 0
  let begin
  for (const [at, token] of tokens.entries()) {
    const { kind, text, isFirst } = token
    const isClosed = kind === 'template' ? text.startsWith('}') : kind === 'mark' && ')]}'.includes(text)
    if (isClosed) depth--
    const name = depth === 0 && (isFirst || at === 0) ? functionAt(tokens, at) : undefined
    if (name !== undefined && names.has(name.text)) begin = at
    if (begin === undefined) others.push(token)
    else if (depth === 0 && isClosed && text === '}') {
      made.push(...asValue(tokens.slice(begin, at + 1)))
      begin = undefined
    }
    if (kind === 'template' ? text.endsWith('${') : kind === 'mark' && '([{'.includes(text)) depth++
  }
  return [...made, ...others]
}

/** A function that is declared, as one that is given to a variable. */
function asValue(tokens) {
  const name = functionAt(tokens, 0)
  const [first, ...others] = tokens.filter((token) => token !== name)
  const mark = (text) => ({ kind: 'mark', text })
  return [
    { kind: 'name', text: 'var', isFirst: true }, name, mark('='), mark('('), { ...first, isFirst: false },
    ...others, mark(')'), mark(';'),
  ]
}

/** The name of the function that a token begins. */
function functionAt(tokens, at) {
  const { text } = tokens[at]
  if (text === 'async') return functionAt(tokens, at + 1)
  if (text !== 'function') return undefined
  return tokens[at + 1].text === '*' ? tokens[at + 2] : tokens[at + 1]
}

/** The names that a text makes at its outermost level. */
export function namesIn(tokens) {
  const names = new Set()
  let depth = 0
  let isMaking = false
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind === 'template' ? text.startsWith('}') : kind === 'mark' && ')]}'.includes(text)) depth--
    if (depth === 0) {
      if (text === 'const' || text === 'let') isMaking = true
      else if (text === ';') isMaking = false
      const isFirst = ['const', 'let', ','].includes(text) && isMaking
      const isMade = isFirst || text === 'function' || text === 'class'
      if (isMade) for (const name of madeAt(tokens, at + 1)) names.add(name)
    }
    if (kind === 'template' ? text.endsWith('${') : kind === 'mark' && '([{'.includes(text)) depth++
  }
  return names
}

/** What is made where a token stands: a name, those that something is taken apart to, or nothing. */
function madeAt(tokens, at) {
  const { kind, text } = tokens[at]
  if (text === '*') return madeAt(tokens, at + 1)
  if (kind === 'name') return [text]
  if (text !== '{' && text !== '[') return []
  const end = tokens.findIndex((token, index) => index > at && '}]'.includes(token.text))
  const made = tokens.slice(at + 1, end)
  const odd = made.find(({ kind, text }) => kind !== 'name' && text !== ',' && text !== ':')
  if (odd !== undefined) throw new Error(`'${odd.text}' is in what is taken apart outside of functions`)
  return made.filter((token, index) => token.kind === 'name' && made[index + 1]?.text !== ':')
    .map(({ text }) => text)
}

/** Whether something inside of a text may have that name for itself: then it stands for two things. */
export function isMadeAnew(name, tokens) {
  return tokens.some(({ kind, text, isMember }, at) => {
    if (kind !== 'name' || text !== name || isMember) return false
    const before = tokens[at - 1]?.text
    const after = tokens[at + 1]?.text
    if (['const', 'let', 'function', 'class'].includes(before) || after === '=>') return true
    if (after === '(') return behind(tokens, at + 2)?.text === '{'
    const isListed = ['(', '{', '[', ',', '...', ':'].includes(before)
    return isListed && [')', '}', ']', ',', '='].includes(after) && isPattern(tokens, at)
  })
}

/** Whether a token stands in the parameters of a function or in what is taken apart, or looks as if. */
function isPattern(tokens, from) {
  const next = behind(tokens, from)?.text
  return next === '=>' || next === '{' || next === '='
}

/** What comes behind the brackets around a token. */
function behind(tokens, from) {
  let depth = 0
  for (let at = from; at < tokens.length; at++) {
    const { kind, text } = tokens[at]
    if (kind !== 'mark') continue
    if (')]}'.includes(text) && --depth < 0) return tokens[at + 1]
    if ('([{'.includes(text)) depth++
  }
  return undefined
}
