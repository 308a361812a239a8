/**
 * The calculator: from arithmetic in signs or words, with units and percentages, to a value. It computes
 * while it reads, bounded in length and depth; nothing is ever run as code.
 */
import { show } from '../../kernel/define/validate.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { add, divide, findUnit, formatQuantity, inUnit, multiply, quantity, raise } from './quantity.ts'
import type { Quantity, Unit } from './quantity.ts'

/** What an expression comes to, as an equation, and the figures in it. */
export interface Calculation { readonly text: string; readonly [figure: string]: string | number | boolean }

type Work = (...values: readonly number[]) => number
const [maxLength, maxDepth] = [1000, 100]

/** Words, and other signs, for the signs of arithmetic. */
const wordings: readonly (readonly [wording: RegExp, sign: string])[] = [
  ...'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')
    .map((word, number) => [new RegExp(`\\b${word}\\b`, 'gi'), String(number)] as const),
  [/\b(?:the|an?) (?=\S)/gi, ''], [/[$€£](?=\d)/g, ''],
  // A comma groups thousands, except between the arguments of a function.
  [/(?<!\p{L}\s*\([^)]*)(?<=\d),(?=\d{3}(?!\d))/gu, ''],
  [/\bsquare root\b|√/gi, 'sqrt '], [/\bcub(?:e|ic) root\b/gi, 'cbrt '], [/(?<=\d) factorial\b/gi, '!'],
  [/\b(sqrt|cbrt|abs|ln|log|sin|cos|tan|factorial) +of\b/gi, '$1 '], [/\b(?:twice|double)\b/gi, '2 *'],
  [/\bhalf\b/gi, '1/2'], [/\bthird\b/gi, '1/3'], [/\bquarter\b/gi, '1/4'], [/\btriple\b/gi, '3 *'],
  [/\*\*|\b(?:raised )?to power(?: of)?\b/gi, '^'], [/\bsquared\b|²/gi, '^2'], [/\bcubed\b|³/gi, '^3'],
  [/\bsq(?:uare)? (\p{L}+)|\bsq(ft|in|yd|mi|k?m)\b/giu, '$1$2^2'],
  [/\bcu(?:bic)? (\p{L}+)|\bcu(ft|in|yd|m)\b/giu, '$1$2^3'], [/\b([kcm]?m|ft|in|yd|mi)([23])\b/g, '$1^$2'],
  [/[×⋅·]|\b(?:times|multiplied by|of)\b|(?<!\p{L}|\b0)x(?=\s*[\d(.])/giu, '*'],
  [/(?<=\p{L}\s*)\/(?=\s*\p{L})/gu, ' per '], [/÷|\b(?:divided by|over)\b/gi, '/'], [/\bplus\b/gi, '+'],
  [/[−–]|\bminus\b/gi, '-'], [/%(?=\s*[\d(])|\bmodulo\b/gi, ' mod '], [/\bpercent(?:age)?\b/gi, '%'],
  // After a number, "in" is inches unless a unit follows.
  [/(?<=[\d.]\s*)in(?=\s*(?:$|[^\s\p{L}%]|(?:in|to|as|into)\b))/giu, '"'], [/\b(?:in|to|as|into)\b/gi, 'in'],
]
/** A fraction before a unit, a number, a word, a sign. */
const words = new RegExp(String.raw`(?<![\d.^/]\s*)\d+/\d+(?=\s+(?!mod|in\b)\p{L})|0x[\da-f]+|0b[01]+`
  + String.raw`|0o[0-7]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|°?[\p{L}_][\p{L}\d_]*|\S`, 'giu')

const constants = new Map(Object.entries({ 'pi': Math.PI, 'π': Math.PI, 'tau': Math.PI * 2, 'e': Math.E }))
const scales = new Map(Object.entries({ dozen: 12, hundred: 100, thousand: 1e3, million: 1e6, billion: 1e9 }))
const forms = new Map(Object.entries({ '%': '%', 'hex': '0x', 'octal': '0o', 'binary': '0b', 'decimal': '' }))

const sum: Work = (...values) => values.reduce((total, each) => total + each, 0)
const mean: Work = (...values) => sum(...values) / values.length
const factorial = (n: number): number => n === 0 ? 1 : n > 0 && n <= 171 ? n * factorial(n - 1) : NaN
/** Halves are rounded away from zero. */
const round = (value: number, places: number): number => {
  const scale = 10 ** Math.trunc(places || 0)
  return Math.sign(value) * Math.round(Math.abs(value) * scale) / scale
}
/** What is zero, or beyond all bounds, but for the rounding of the angle, is that. */
const circular = (work: (angle: number) => number) => (angle: number): number =>
  Math.abs(work(angle)) > 1e15 ? NaN : Math.round(work(angle) * 1e15) / 1e15

const keepingUnit = new Map<string, Work>([
  ['abs', Math.abs], ['round', round], ['floor', Math.floor], ['ceil', Math.ceil], ['trunc', Math.trunc],
  ['min', (...values) => Math.min(...values)], ['max', (...values) => Math.max(...values)],
  ['sum', sum], ['average', mean], ['mean', mean],
])
const functions = new Map<string, Work>([
  ...keepingUnit, ['sqrt', Math.sqrt], ['cbrt', Math.cbrt], ['exp', Math.exp], ['factorial', factorial],
  ['ln', Math.log], ['log', (value: number, base: number) => Math.log10(value) / Math.log10(base || 10)],
  ['log2', Math.log2], ['log10', Math.log10], ['asin', Math.asin], ['acos', Math.acos], ['atan', Math.atan],
  ['sin', circular(Math.sin)], ['cos', circular(Math.cos)], ['tan', circular(Math.tan)],
])

/** A plain number counts in the unit of the first; where that is not kept, angles are turned to radians. */
function call(name: string, values: readonly Quantity[]): Quantity {
  const [first = quantity(0)] = values
  const work = functions.get(name) ?? sum
  if (values.length > (work.length || Infinity)) throw new Fault('invalid', `${name} takes ${work.length}`)
  if (name === 'sqrt') return raise(first, quantity(0.5))
  const unit = keepingUnit.has(name) ? first.unit : undefined
  const target = unit ?? findUnit('rad')
  return quantity(work(...values.map((each) => each.unit ? inUnit(each, target).value : each.value)), unit)
}

const minus = (a: Quantity): Quantity => ({ ...a, value: -a.value })
/** The remainder with the sign of the divisor. */
const modulo = (a: Quantity, b: Quantity): Quantity =>
  add(a, minus(multiply(b, call('floor', [divide(a, inUnit(b, a.unit))]))))

/** What stands between two values, and how tightly it binds; a unit after a number needs no sign. */
const [product, unary, bound, power] = [2, 3, 5, 6]
const operators = new Map<string, readonly [binding: number, work: (a: Quantity, b: Quantity) => Quantity]>([
  ['+', [1, add]], ['-', [1, (a, b) => add(a, minus(b))]], ['*', [product, multiply]],
  ['/', [product, divide]], ['mod', [product, modulo]], ['next to', [product, multiply]],
  ['and then', [4, add]], ['in units of', [bound, multiply]], ['per', [bound, divide]], ['^', [power, raise]],
])

/** Computes an expression, in the unit or the base `to`. Throws a `Fault` that names what is wrong. */
export function calculate(expression: string, to?: string): Calculation {
  const given = evaluate(to === undefined ? expression : `(${expression}) in ${to}`)
  const { text: result, exact } = formatQuantity(given)
  const text = `${expression.trim().replace(/\s+/g, ' ')} ${exact ? '=' : '≈'} ${result}`
  return { text, result, exact, value: given.value, unit: given.unit?.symbol ?? '' }
}

/** The value of an expression. Throws as `calculate`. */
export function evaluate(text: string): Quantity {
  if (text.length > maxLength) throw new Fault('invalid', `An expression has at most ${maxLength} characters`)
  const tokens = wordings.reduce((all, [word, sign]) => all.replace(word, sign), text).match(words) ?? []
  let [index, depth] = [0, 0]
  const peek = (ahead = 0): string => tokens[index + ahead] ?? ''
  const take = (token: string): boolean => peek() === token && ++index > 0
  const isNumber = (): boolean => /^\.?\d/.test(peek())
  const isName = (): boolean => /^(?!(?:mod|in|per)$)[^\d.,()!%^*/+-]/.test(peek())
  const unitAt = (at = 0): Unit | undefined => findUnit(`${peek(at)} ${peek(at + 1)}`) ?? findUnit(peek(at))
  const unexpected = (needed: string): Fault => {
    const found = index < tokens.length ? show(tokens.slice(index).join(' ')) : 'the end'
    return new Fault('invalid', `Expected ${needed} but found ${found}`)
  }

  function closed(value: Quantity): Quantity {
    if (take(')')) return value
    throw unexpected('")"')
  }

  function primary(): Quantity {
    const name = peek().toLowerCase()
    if (take('(')) return closed(converted())
    if (functions.has(name) && (peek(1) === '(' || findUnit(name) === undefined)) {
      index++
      if (!take('(')) return call(name, [expression(unary)])
      const values = [expression(0)]
      while (take(',')) values.push(expression(0))
      return closed(call(name, values))
    }
    const known = constants.get(name) ?? scales.get(name)
    if (isNumber() || known !== undefined) {
      const [above, below = '1'] = tokens[index++]!.split('/')
      return divide(quantity(known ?? Number(above)), quantity(Number(below)))
    }
    const unit = unitAt()
    if (unit === undefined && isName()) throw new Fault('invalid', `There is no name or unit ${show(peek())}`)
    if (unit === undefined) throw unexpected('a number')
    index += unit === findUnit(peek()) ? 1 : 2
    return quantity(1, unit)
  }

  function operator(left: Quantity): string {
    if (isNumber()) return left.unit !== undefined && unitAt(1) !== undefined ? 'and then' : ''
    if (isName()) return left.unit === undefined && unitAt() !== undefined ? 'in units of' : 'next to'
    return peek() === '(' ? 'next to' : peek()
  }

  function expression(least: number): Quantity {
    if (++depth > maxDepth) throw new Fault('invalid', `An expression is at most ${maxDepth} levels deep`)
    const inner = Math.max(least, unary)
    let value = take('-') ? minus(expression(inner)) : take('+') ? expression(inner) : primary()
    for (;;) {
      const [binding, work] = operators.get(operator(value)) ?? [0, add]
      if (take('!')) value = call('factorial', [value])
      else if (take('%')) value = quantity(value.value / 100, value.unit, '%')
      else if (scales.has(peek().toLowerCase())) value = multiply(value, primary())
      else if (binding <= least) break
      else {
        if (operators.has(peek())) index++
        value = work(value, expression(binding === power ? bound : binding))
      }
    }
    depth--
    return value
  }

  function converted(): Quantity {
    let value = expression(0)
    while (take('in')) {
      const form = forms.get(peek().toLowerCase())
      const target = form === undefined ? expression(product) : quantity(1, undefined, tokens[index++])
      if (target.value !== 1) throw new Fault('invalid', 'What follows "in" must be a unit')
      value = quantity(inUnit(value, target.unit).value, target.unit, form)
      if (form?.[0] === '0' && value.value % 1) throw new Fault('invalid', 'Only whole numbers have bases')
    }
    return value
  }

  const value = converted()
  if (index < tokens.length) throw unexpected('an operator or the end')
  return value
}
