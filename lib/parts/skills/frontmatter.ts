/**
 * The frontmatter of a Markdown file: a part of YAML of which all readers make the same. Text in; a value, or
 * an error that names the line, out. What readers take differently has to be quoted.
 */
import { isRecord } from '../../kernel/define/content.ts'

interface Line { readonly indent: number; readonly text: string; readonly number: number }

const MAX_DEPTH = 8

/** The members of the frontmatter. `file` begins each error: `SKILL.md, line 3: …`. Throws `TypeError`. */
export function parseFrontmatter(file: string, text: string): Readonly<Record<string, unknown>> {
  const [first = '', ...rest] = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const end = rest.findIndex((line) => /^---[ \t]*$/.test(line))
  if (!/^---[ \t]*$/.test(first) || end < 0) {
    const why = first.startsWith('---') && end < 0 ? 'has no line --- that ends its frontmatter'
      : 'does not begin with frontmatter'
    throw new TypeError(`${file}, line 1: it ${why}; write ---, name: …, description: … and --- again`)
  }
  return new FrontmatterReader(file, rest.slice(0, end)).read()
}

const KEY = /^(?:([A-Za-z_][\w./-]*)|"([^"\\]*)"|'([^']*)')[ \t]*:(?:[ \t]+(.*))?$/s

class FrontmatterReader {
  readonly #file: string
  /** As they are in the file; the first is its line 2. */
  readonly #lines: readonly string[]
  #at = 0

  constructor(file: string, lines: readonly string[]) {
    this.#file = file
    this.#lines = lines
  }

  read(): Readonly<Record<string, unknown>> {
    const value = this.#peek() === undefined ? {} : this.#block(0, 0)
    const left = this.#peek()
    if (left !== undefined) this.#fail(left, 'is indented unlike what is above it; align it')
    if (!isRecord(value)) throw new TypeError(`${this.#file}, line 2: write members, as in name: my-skill`)
    return value
  }

  /** The next line that is not blank and no comment. */
  #peek(): Line | undefined {
    for (; this.#at < this.#lines.length; this.#at += 1) {
      const raw = this.#lines[this.#at] ?? ''
      const text = raw.trim()
      if (text === '' || text.startsWith('#')) continue
      const indent = raw.length - raw.trimStart().length
      const line = { indent, text, number: this.#at + 2 }
      if (raw.slice(0, indent).includes('\t')) this.#fail(line, 'is indented with a tab; use spaces')
      return line
    }
    return undefined
  }

  #fail({ number }: Pick<Line, 'number'>, why: string): never {
    throw new TypeError(`${this.#file}, line ${number}: it ${why}`)
  }

  /** Members, or the items of a list, all indented by `indent`. */
  #block(indent: number, depth: number): unknown {
    const first = this.#peek()
    if (first === undefined) return null
    if (depth > MAX_DEPTH) this.#fail(first, `lies deeper than ${MAX_DEPTH} levels`)
    if (first.indent !== indent) this.#fail(first, 'is indented unlike what is above it; align it')
    return isItem(first) ? this.#list(indent) : this.#members(indent, depth)
  }

  #list(indent: number): readonly unknown[] {
    const items: unknown[] = []
    for (let line = this.#peek(); line?.indent === indent && isItem(line); line = this.#peek()) {
      this.#at += 1
      const text = line.text.slice(1).trim()
      if (text === '' || KEY.test(text) || isItem({ ...line, text })) {
        this.#fail(line, 'is an item that is no single value; write texts, each behind its own -')
      }
      items.push(this.#value(line, text, indent))
    }
    return items
  }

  #members(indent: number, depth: number): Readonly<Record<string, unknown>> {
    const members = new Map<string, unknown>()
    for (let line = this.#peek(); line?.indent === indent && !isItem(line); line = this.#peek()) {
      const [found, plain, double, single, rest = ''] = KEY.exec(line.text) ?? []
      const name = plain ?? double ?? single
      if (found === undefined || name === undefined) {
        this.#fail(line, 'is no member; write name: value, and quote a value that goes on in a second line')
      }
      if (plain !== undefined && OTHER.test(plain)) this.#fail(line, `has the name ${plain}; quote it`)
      if (members.has(name)) this.#fail(line, `says '${name}' a second time; leave one of them out`)
      this.#at += 1
      members.set(name, this.#member(line, rest.trim(), depth))
    }
    return Object.fromEntries(members)
  }

  #member(line: Line, text: string, depth: number): unknown {
    if (text !== '' && !text.startsWith('#')) return this.#value(line, text, line.indent)
    const next = this.#peek()
    // A list may stand below its name without an indent.
    const isBelow = next !== undefined && (next.indent > line.indent || (next.indent === line.indent
      && isItem(next)))
    return isBelow ? this.#block(next.indent, depth + 1) : null
  }

  #value(line: Line, text: string, indent: number): unknown {
    if (/^[|>]/.test(text)) return this.#lineByLine(line, text, indent)
    if (text.startsWith('[')) return this.#inline(line, text)
    const more = text.startsWith('"') || text.startsWith(`'`) ? [] : this.#continued(indent)
    return more.length === 0 ? this.#scalar(line, text)
      : this.#text(line, [withoutComment(text), ...more].join(' '))
  }

  /** The further lines of a plain text: they are indented more than its name. */
  #continued(indent: number): readonly string[] {
    const found: string[] = []
    for (let line = this.#peek(); line !== undefined && line.indent > indent; line = this.#peek()) {
      const before = this.#lines[this.#at - 1]?.trim() ?? ''
      if (before === '' || before.startsWith('#') || / #/.test(before)) {
        this.#fail(line, 'goes on with a text behind a blank line or a comment; write | or > before the text')
      }
      found.push(withoutComment(line.text))
      this.#at += 1
    }
    return found
  }

  /** `|` keeps the lines, `>` joins them with blanks. */
  #lineByLine(line: Line, text: string, indent: number): string {
    const [, style, chomp] = /^([|>])([+-]?)(?:[ \t]+#.*)?$/.exec(text) ?? []
    if (style === undefined) this.#fail(line, `has ${text.slice(0, 12)}; write | or >, and the text below`)
    const lines: string[] = []
    let margin = 0
    for (; this.#at < this.#lines.length; this.#at += 1) {
      const raw = this.#lines[this.#at] ?? ''
      const own = raw.length - raw.trimStart().length
      const here = { number: this.#at + 2 }
      if (raw.trim() === '') {
        if (margin > 0 && own > margin) this.#fail(here, 'is blanks alone; leave them out')
        lines.push('')
        continue
      }
      if (own <= indent) break
      if (margin === 0 && lines.length > 0) this.#fail(here, 'stands behind a blank line; leave that out')
      margin ||= own
      if (raw.slice(0, own).includes('\t')) this.#fail(here, 'is indented with a tab; use spaces')
      if (own < margin) this.#fail(here, 'is indented less than the first line of its text; align it')
      if (style === '>' && own > margin) this.#fail(here, 'is indented more than its text; align it')
      lines.push(raw.slice(margin))
    }
    const ends = lines.length - lines.findLastIndex((one) => one !== '') - 1
    const body = lines.slice(0, lines.length - ends)
    const joined = style === '|' ? body.join('\n') : body.join('\n').replace(/\n+/g, (breaks) => (
      breaks.length === 1 ? ' ' : breaks.slice(1)
    ))
    if (chomp === '-' || (body.length === 0 && chomp === '')) return joined
    if (body.length === 0) return '\n'.repeat(ends)
    return joined + '\n'.repeat(chomp === '+' ? ends + 1 : 1)
  }

  /** `[a, 'b']` */
  #inline(line: Line, text: string): readonly unknown[] {
    const [, inner] = /^\[(.*)\](?:[ \t]+#.*)?$/s.exec(text) ?? []
    if (inner?.trim() === '') return []
    const items = inner?.match(/(?:"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[^,'"[\]{}#])+/g) ?? undefined
    if (items === undefined || items.join(',') !== inner?.replace(/,\s*$/, '')) {
      this.#fail(line, 'is no plain list; write its items below, each behind its own -')
    }
    return items.map((item) => this.#scalar(line, item.trim()))
  }

  #scalar(line: Line, text: string): unknown {
    if (text.startsWith('"')) return this.#doubleQuoted(line, text)
    if (text.startsWith(`'`)) {
      const [, inner] = /^'((?:[^']|'')*)'(?:[ \t]+#.*)?$/.exec(text) ?? []
      if (inner === undefined) this.#fail(line, `has no ' at its end; write it twice within the text`)
      return inner.replaceAll(`''`, `'`)
    }
    const plain = withoutComment(text)
    if (/^(?:true|false)$/.test(plain)) return plain === 'true'
    if (plain === 'null') return null
    if (/^(?:0|-?[1-9]\d{0,14})$/.test(plain)) return Number(plain)
    if (/^-?(?:0|[1-9]\d{0,14})\.\d{1,15}$/.test(plain)) return Number(plain)
    return this.#text(line, plain)
  }

  #doubleQuoted(line: Line, text: string): string {
    const [, quoted] = /^("(?:[^"\\]|\\.)*")(?:[ \t]+#.*)?$/.exec(text) ?? []
    try {
      // A tab may stand in a text as it is, which JSON does not allow.
      const value: unknown = JSON.parse(String(quoted).replaceAll('\t', '\\t'))
      if (typeof value === 'string') return value
    } catch {
      // The error below names the line.
    }
    return this.#fail(line, `is no text in double quotes; end it with " and write it as in JSON, or use '…'`)
  }

  /** A text without quotes. */
  #text(line: Line, text: string): string {
    if (OTHER.test(text)) {
      const shown = text.slice(0, 40)
      this.#fail(line, `has ${shown} without quotes, which some read as no text; write '…' around it`)
    }
    if (/^[&*!|>%@`{}[\],?:-](?:\s|$)|^[&*!%@`{}[\],|>#"']/.test(text)) {
      this.#fail(line, `has a text that begins with ${text[0]}; write '…' around it`)
    }
    if (/:(?:\s|$)/.test(text)) this.#fail(line, `has a colon in its text; write '…' around it`)
    return text
  }
}

function isItem({ text }: Line): boolean {
  return text === '-' || text.startsWith('- ')
}

function withoutComment(text: string): string {
  return text.replace(/(?<![ \t])[ \t]+#.*$/s, '')
}

/** What one version of YAML or another reads as a number, a date, a truth value or nothing. */
const OTHER = new RegExp('^(?:~|y|n|yes|no|on|off|true|false|null|[-+]?\\.(?:inf|nan)|=|<<'
  + '|[-+]?(?:\\d[\\d_]*(?:\\.[\\d_]*)?|\\.\\d[\\d_]*)(?:e[-+]?\\d+)?|[-+]?0(?:x[\\da-f_]+|o[0-7_]+|b[01_]+)'
  + '|\\d{4}-\\d\\d?-\\d\\d?(?:[t \\t].*)?|[-+]?\\d[\\d_]*(?::[0-5]?\\d)+(?:\\.[\\d_]*)?)$', 'i')
