/**
 * The calculator: an arithmetic expression with units and percentages to its value. Precedence, low to high:
 * "in" a unit; + -; * / % of, and a product without a sign; unary minus; ^ (from the right); ! % and units.
 * Recursive descent that computes as it reads, bounded in length and depth; nothing is ever run as code.
 * It knows no sentences: `understand.ts` makes an expression of "what is the square root of 16?".
 */

import { constants, factorial, functions, scales } from './functions.ts'
import { modulo, multiply, one, ratio, toNumber } from './number.ts'
import type { Real } from './number.ts'
import { Problem, located, shorten } from './problem.ts'
import { addQuantities, divideQuantities, formatQuantity, inUnits, multiplyQuantities } from './quantity.ts'
import { negateQuantity, plain, powerOf, simplify, unitText } from './quantity.ts'
import type { Quantity, Units } from './quantity.ts'
import { tokenize } from './tokens.ts'
import type { Token } from './tokens.ts'
import { findUnit, unknownName } from './units.ts'

/** An expression and what it comes to. */
export interface Calculation {
  readonly expression: string
  /** The value with its unit, as text. */
  readonly result: string
  /** False where the digits of `result` are rounded. */
  readonly exact: boolean
  readonly value: number
  /** Empty for a plain number. */
  readonly unit: string
}

const maxDepth = 100
const conversions = /^(?:in|to|as|into)$/i
const modifiers = new Map([['square', 2], ['sq', 2], ['cubic', 3], ['cu', 3]])

/** Computes an expression. Throws a `Problem` that says what is wrong with it, and where. */
export function calculate(expression: string): Calculation {
  return describe(expression.trim().replace(/\s+/g, ' '), evaluate(expression))
}

/** A value as the result of `expression`. */
export function describe(expression: string, quantity: Quantity): Calculation {
  const { text, exact } = formatQuantity(quantity)
  const value = toNumber(quantity.percent ? multiply(quantity.value, ratio(100n)) : quantity.value)
  const unit = quantity.percent ? '%' : unitText(quantity.units)
  return { expression, result: text, exact, value, unit }
}

/** The value of an expression, in the units that it is best shown in. */
export function evaluate(expression: string): Quantity {
  return simplify(reader(tokenize(expression)).whole())
}

/** Reads nothing but units: `km/h`, `square feet`, `miles per hour`, `m^3`. */
export function parseUnits(text: string): Units {
  return reader(tokenize(text)).units()
}

/** Names that are words of the calculator and not of its units. */
export function isFunction(name: string): boolean {
  return functions.has(name.toLowerCase())
}

function reader(tokens: readonly Token[]): { whole(): Quantity, units(): Units } {
  let index = 0
  let depth = 0
  const peek = (ahead = 0): Token => tokens[Math.min(index + ahead, tokens.length - 1)]!
  const next = (): Token => tokens[index++]!
  const isName = (ahead = 0): boolean => peek(ahead).kind === 'name'
  const isSymbol = (text: string, ahead = 0): boolean =>
    peek(ahead).kind === 'symbol' && peek(ahead).text === text
  const take = (text: string): boolean => isSymbol(text) && next() !== undefined
  const unexpected = (token: Token, wanted: string): Problem => {
    const hint = token.text === ',' ? 'A comma groups thousands (1,234) or separates arguments.' : undefined
    const found = token.kind === 'end' ? 'the end' : `"${shorten(token.text)}"`
    return new Problem(`Expected ${wanted} but found ${found}`, hint, token.at)
  }
  const expect = (text: string): void => {
    if (!take(text)) throw unexpected(peek(), `"${text}"`)
  }
  const isCall = (): boolean =>
    isName() && isFunction(peek().text) && (isSymbol('(', 1) || findUnit(peek().text) === undefined)
  const constant = (): Real | undefined => isName() ? constants.get(peek().text.toLowerCase()) : undefined
  /** Whether a value, not an operator, begins there; "in" begins one only as a unit, which `unit` decides. */
  const startsValue = (ahead: number): boolean => {
    return peek(ahead).kind === 'number' || isSymbol('(', ahead)
      || (isName(ahead) && !conversions.test(peek(ahead).text))
  }

  /** One unit with its power, or undefined with nothing read. */
  function unit(): Units | undefined {
    if (!isName() || isCall()) return undefined
    const start = index
    let times = modifiers.get(peek().text.toLowerCase()) ?? 1
    if (times > 1) index++
    const token = peek()
    const pair = isName(1) ? findUnit(`${token.text} ${peek(1).text}`) : undefined
    let found = pair ?? (isName() && constant() === undefined ? findUnit(token.text) : undefined)
    const short = found === undefined && times === 1 ? /^(sq|cu)?(.+?)([23])?$/i.exec(token.text) : null
    if (short !== null) {
      found = findUnit(short[2]!)
      times = Number(short[3] ?? modifiers.get(short[1]?.toLowerCase() ?? '') ?? 1)
    }
    if (found === undefined) {
      index = start
      return undefined
    }
    index += pair === undefined ? 1 : 2
    if (isSymbol('^')) {
      const minus = isSymbol('-', 1) ? 1 : 0
      const exponent = toNumber(peek(1 + minus).value ?? NaN)
      if (!(exponent >= 1 && exponent <= 12 && Number.isInteger(exponent))) {
        throw new Problem('The power of a unit must be a whole number up to 12', undefined, peek(1).at)
      }
      times *= minus === 1 ? -exponent : exponent
      index += 2 + minus
    }
    const [above, below] = found.quotient ?? [found]
    return below === undefined ? [[above, times]] : [[above, times], [below, -times]]
  }

  /** Units with slashes between them; a slash before anything else is left alone. */
  function unitProduct(): Quantity | undefined {
    const first = unit()
    if (first === undefined) return undefined
    let product: Quantity = { value: one, units: first }
    while (isSymbol('/') && isName(1)) {
      const start = index++
      const below = unit()
      if (below === undefined) {
        index = start
        break
      }
      product = divideQuantities(product, { value: one, units: below })
    }
    return product
  }

  function call(token: Token): Quantity {
    const named = functions.get(token.text.toLowerCase())!
    const values: Quantity[] = []
    if (!take('(')) values.push(unary())
    else if (!take(')')) {
      do values.push(sum())
      while (take(','))
      expect(')')
    }
    const [first, ...rest] = values
    if (first === undefined || values.length < named.least || values.length > named.most) {
      const { least, most } = named
      const count = most === Infinity ? `at least ${least}` : least === most ? least : `${least} to ${most}`
      throw new Problem(`Wrong number of arguments (${token.text} takes ${count})`, undefined, token.at)
    }
    return located(token.at, () => named.apply(first, ...rest))
  }

  function primary(): Quantity {
    if (take('(')) {
      const inner = converted()
      expect(')')
      return inner
    }
    if (isCall()) return call(next())
    const token = peek()
    const value = token.value ?? constant()
    if (value !== undefined) {
      index++
      // "3/4 cup" is a fraction of a cup, not 3 by 4 cups.
      const end = token.at + token.text.length
      const isFraction = isSymbol('/') && peek().at === end && peek(1).at === end + 1
      const below = isFraction && isName(2) && findUnit(peek(2).text) ? peek(1).value : undefined
      if (below === undefined) return plain(value)
      index += 2
      return located(token.at, () => divideQuantities(plain(value), plain(below)))
    }
    const units = unitProduct()
    if (units !== undefined) return units
    if (!isName()) throw unexpected(token, 'a number')
    throw unknownName(token.text, token.at, [...functions.keys(), ...constants.keys()])
  }

  /** What may follow a value: ! and %, a unit, and a smaller part of the same kind (5 ft 3 in). */
  function postfix(): Quantity {
    let value = primary()
    for (;;) {
      const token = peek()
      const converts = conversions.test(token.text) && (startsValue(1) || isSymbol('%', 1))
      const percent = isSymbol('%') && !startsValue(1)
      const scale = percent ? ratio(1n, 100n) : isName() ? scales.get(token.text.toLowerCase()) : undefined
      if (scale !== undefined) {
        index++
        value = { ...located(token.at, () => multiplyQuantities(value, plain(scale))), percent }
      } else if (isSymbol('!')) value = located(next().at, () => factorial(value))
      else if (value.units.length === 0 && !value.percent && !converts && isName()) {
        const units = unitProduct()
        if (units === undefined) return value
        value = multiplyQuantities(value, units)
      } else return value
    }
  }

  function parts(): Quantity {
    let value = postfix()
    while (value.units.length === 1 && peek().kind === 'number') {
      const [start, position] = [index, peek().at]
      const part = postfix()
      if (part.units.length === 0) {
        index = start
        return value
      }
      value = located(position, () => addQuantities(value, part))
    }
    return value
  }

  function exponential(): Quantity {
    const base = parts()
    if (!isSymbol('^')) return base
    const { at } = next()
    const exponent = unary()
    return located(at, () => powerOf(base, exponent))
  }

  function unary(): Quantity {
    if (++depth > maxDepth) throw new Problem(`Nested deeper than ${maxDepth} levels`, undefined, peek().at)
    const value = take('-') ? negateQuantity(unary()) : take('+') ? unary() : exponential()
    depth--
    return value
  }

  function product(): Quantity {
    let value = unary()
    for (;;) {
      const token = peek()
      const left = value
      const symbol = token.kind === 'symbol' ? token.text : startsValue(0) && isName() ? 'x' : ''
      if (!/^(?:[*/%(x]|mod)$/.test(symbol)) return value
      if (symbol !== '(' && symbol !== 'x') index++
      const right = unary()
      value = located(token.at, () => {
        if (symbol === '/') return divideQuantities(left, right)
        if (symbol !== '%' && symbol !== 'mod') return multiplyQuantities(left, right)
        return { value: modulo(left.value, inUnits(right, left.units).value), units: left.units }
      })
    }
  }

  function sum(): Quantity {
    let value = product()
    while (isSymbol('+') || isSymbol('-')) {
      const { text, at } = next()
      const [left, right] = [value, product()]
      value = located(at, () => addQuantities(left, text === '-' ? negateQuantity(right) : right))
    }
    return value
  }

  function converted(): Quantity {
    let value = sum()
    while (isName() && conversions.test(peek().text)) {
      const { at } = next()
      const from = value
      if (take('%') || /^percent(?:age)?$/i.test(peek().text)) {
        if (!isSymbol('%', -1)) index++
        value = located(at, () => ({ ...inUnits(from, []), percent: true }))
        continue
      }
      const target = units()
      value = located(at, () => inUnits(from, target))
    }
    return value
  }

  /** Units up to the end or a closing parenthesis; products may be written with * here. */
  function units(): Units {
    let product: Quantity | undefined
    do {
      const factor = unitProduct()
      if (factor === undefined) {
        throw isName() ? unknownName(peek().text, peek().at) : unexpected(peek(), 'a unit')
      }
      product = product === undefined ? factor : multiplyQuantities(product, factor)
    } while (take('*'))
    return product.units
  }

  const finish = <T>(value: T): T => {
    if (peek().kind !== 'end') throw unexpected(peek(), 'an operator or the end')
    return value
  }
  return { whole: () => finish(converted()), units: () => finish(units()) }
}
