/**
 * The one table of units: what each is called, how large it is, what it measures. In: a name as people write
 * it; out: the unit, or undefined. Factors are exact to a base unit per dimension (metre, kilogram, second,
 * kelvin, bit, degree). It knows single units only; products and powers are in `quantity.ts`.
 */

import { divide, equal, multiply, parseReal, zero } from './number.ts'
import type { Real } from './number.ts'
import { Problem, shorten, suggest } from './problem.ts'

/** Exponents of length, mass, time, temperature, data and angle. */
export type Dimension = readonly number[]

/** One unit of measure. */
export interface Unit {
  /** As shown after a number. */
  readonly symbol: string
  /** True where the symbol is a word that takes an s: 1 day, 2 days. */
  readonly plural: boolean
  readonly dimension: Dimension
  /** Value in base units = value * factor + offset; the offset is for thermometers. */
  readonly factor: Real
  readonly offset: Real
  /** The two whose quotient the unit is, where it is one: mph is mi / h. */
  readonly quotient: readonly [Unit, Unit] | undefined
}

/** Kinds, with rows of `symbol size names…`; `*` takes prefixes, `(s)` a plural, `_` is a blank. */
const table: readonly (readonly [kind: string, dimension: Dimension, rows: string])[] = [
  ['length', [1], `*m 1 meter metre; in 0.0254 inch inches " ″ ”; ft 0.3048 foot feet ' ′ ’;
    yd 0.9144 yard yds; mi 1609.344 mile; nmi 1852 nautical_mile; ly 9460730472580800 lightyear light_year;
    au 149597870700 astronomical_unit; pc 30856775814913673 parsec; Å 1e-10 angstrom;
    fathom(s) 1.8288; furlong(s) 201.168`],
  ['mass', [0, 1], `*g 0.001 gram gramme; lb 0.45359237 lbs pound; oz 0.028349523125 ounce;
    t 1000 tonne metric_ton; st 6.35029318 stone; ton(s) 907.18474 short_ton us_ton;
    long_ton(s) 1016.0469088 imperial_ton;
    ct 0.0002 carat; grain(s) 0.00006479891; troy_oz 0.0311034768 troy_ounce`],
  ['time', [0, 0, 1], `*s 1 second sec secs; min 60 minute mins; h 3600 hour hr hrs; day(s) 86400 d;
    week(s) 604800 wk; fortnight(s) 1209600; month(s) 2629746 mo; year(s) 31556952 yr yrs;
    decade(s) 315569520;
    century 3155695200 centuries; millennium 31556952000 millennia`],
  ['temperature', [0, 0, 0, 1], `K 1 kelvin;
    °C 1+273.15 C c celsius centigrade degC degree_celsius degrees_celsius degree_c degrees_c deg_c;
    °F 5/9+45967/180 F f fahrenheit degF degree_fahrenheit degrees_fahrenheit degree_f degrees_f deg_f;
    °R 5/9 rankine`],
  ['area', [2], `ha 10000 hectare; acre(s) 4046.8564224 ac; are(s) 100`],
  ['volume', [3], `*L 0.001 l liter litre; gal 0.003785411784 gallon us_gallon; qt 0.000946352946 quart;
    pt 0.000473176473 pint us_pint; cup(s) 0.0002365882365; fl_oz 0.0000295735295625 floz fluid_ounce;
    tbsp 0.00001478676478125 tablespoon; tsp 0.00000492892159375 teaspoon; cc 0.000001;
    bbl 0.158987294928 barrel;
    imp_gal 0.00454609 imperial_gallon uk_gallon; imp_pt 0.00056826125 imperial_pint uk_pint`],
  ['speed', [1, 0, -1], `mph mi/h; km/h km/h kph kmh kmph; kn nmi/h knot kt; fps ft/s; lightspeed 299792458`],
  ['acceleration', [1, 0, -2], `gee 9.80665 standard_gravity`],
  ['force', [1, 1, -2], `*N 1 newton; lbf 4.4482216152605 pound_force; kgf 9.80665; dyn 0.00001 dyne`],
  ['pressure', [-1, 1, -2], `*Pa 1 pascal; *bar 100000; atm 101325 atmosphere; psi 6894.757293168361;
    mmHg 133.322387415; Torr 101325/760; inHg 3386.389`],
  ['energy', [2, 1, -2], `*J 1 joule; *Wh 3600 watt_hour watthour; *cal 4.184 calorie; kcal 4184
    Cal food_calorie; BTU 1055.05585262; *eV 1.602176634e-19 electronvolt; therm(s) 105505585.262; erg 1e-7;
    ft_lb 1.3558179483314004 foot_pound`],
  ['power', [2, 1, -3], `*W 1 watt; hp 745.69987158227022 horsepower bhp; PS 735.49875 metric_horsepower`],
  ['frequency', [0, 0, -1], `*Hz 1 hertz; rpm 1/60`],
  ['data', [0, 0, 0, 0, 1], `*B 8 byte octet; *bit(s) 1 b; nibble(s) 4`],
  ['data rate', [0, 0, -1, 0, 1], `*bps 1`],
  ['angle', [0, 0, 0, 0, 0, 1], `deg 1 degree °; rad 57.295779513082320877 radian; turn(s) 360 revolution rev;
    grad 0.9 gradian gon; arcmin 1/60 arcminute arc_minute; arcsec 1/3600 arcsecond arc_second`],
]

/** Binary ones last; below one for everything but data. */
const prefixes: readonly (readonly [symbol: string, name: string, size: string])[] = [
  ['k', 'kilo', '1e3'], ['M', 'mega', '1e6'], ['G', 'giga', '1e9'], ['T', 'tera', '1e12'],
  ['P', 'peta', '1e15'], ['c', 'centi', '1e-2'], ['m', 'milli', '1e-3'], ['µ', 'micro', '1e-6'],
  ['u', 'micro', '1e-6'], ['n', 'nano', '1e-9'], ['p', 'pico', '1e-12'], ['d', 'deci', '1e-1'],
  ['h', 'hecto', '1e2'],
  ['Ki', 'kibi', '1024'], ['Mi', 'mebi', '1048576'], ['Gi', 'gibi', '1073741824'],
  ['Ti', 'tebi', '1099511627776'],
]

const currencies = /^(?:[$€£¥₹]|usd|eur|gbp|jpy|cny|inr|chf|dollars?|euros?|yen|rupees?|bitcoins?)$/i

const kinds = new Map<string, string>()
const units: Unit[] = []
const spelled = new Map<string, Unit>()
const folded = new Map<string, Unit>()

function enter(unit: Unit, spellings: readonly string[]): void {
  units.push(unit)
  for (const spelling of spellings) {
    for (const each of spelling.length > 2 ? [spelling, `${spelling}s`] : [spelling]) {
      if (!spelled.has(each)) spelled.set(each, unit)
      if (each.length > 1 && !folded.has(each.toLowerCase())) folded.set(each.toLowerCase(), unit)
    }
  }
}

for (const [kind, short, rows] of table) {
  const dimension = [0, 1, 2, 3, 4, 5].map((axis) => short[axis] ?? 0)
  const data = dimension[4] !== 0
  kinds.set(dimension.join(), kind)
  for (const row of rows.split(';')) {
    const [head = '', size = '1', ...names] = row.trim().split(/\s+/).map((word) => word.replaceAll('_', ' '))
    const plural = head.endsWith('(s)')
    const symbol = head.replace(/^\*|\(s\)$/g, '')
    const [factor = '1', offset] = size.split('+')
    const [above, below] = factor.split('/').map((part) => spelled.get(part))
    const quotient: Unit['quotient'] = above && below && [above, below]
    enter({
      symbol, plural, dimension, quotient,
      factor: quotient ? divide(quotient[0].factor, quotient[1].factor) : parseReal(factor),
      offset: offset === undefined ? zero : parseReal(offset),
    }, [symbol, ...names])
    if (!head.startsWith('*')) continue
    for (const [short, long, scale] of prefixes) {
      if (data ? scale.includes('-') || short === 'h' : long.endsWith('bi')) continue
      // "kb" is left to be read as kB, which is what is mostly meant by it.
      const shorts = [symbol, ...names.filter((each) => each.length === 1 && short !== 'k')]
      const longs = [symbol, ...names].filter((each) => each.length > 2)
      const unit = {
        symbol: short.replace('u', 'µ') + symbol, plural, dimension, offset: zero, quotient: undefined,
        factor: multiply(parseReal(factor), parseReal(scale)),
      }
      enter(unit, [...shorts.map((each) => short + each), ...longs.map((each) => long + each)])
    }
  }
}

/** The unit of that name: a symbol or a word, with or without prefix; letter case where it matters. */
export function findUnit(name: string): Unit | undefined {
  const plain = name.replace(/μ/g, 'µ')
  return spelled.get(plain) ?? folded.get(plain.toLowerCase())
}

/** What a dimension measures ("length"), or undefined where no unit of the table has it. */
export function kindOf(dimension: Dimension): string | undefined {
  return kinds.get(dimension.join())
}

/** The first unit of the table that is as large as `factor` in that dimension. */
export function findBySize(dimension: Dimension, factor: Real): Unit | undefined {
  const key = dimension.join()
  return units.find((unit) => unit.dimension.join() === key && equal(unit.factor, factor))
}

/** The unit that is the quotient of two others, as mph is of mi and h. */
export function findQuotient(above: Unit, below: Unit): Unit | undefined {
  return units.find(({ quotient }) => quotient?.[0] === above && quotient[1] === below)
}

/** Whether a name is a currency, which is no unit but often asked for. */
export function isCurrency(name: string): boolean {
  return currencies.test(name)
}

/** Why `name` is no unit, with the nearest one; `others` are names that could have stood there too. */
export function unknownName(name: string, position: number, others: Iterable<string> = []): Problem {
  if (isCurrency(name)) return new Problem(`"${name}" needs live exchange rates, which I do not have`)
  const candidates = [...others, ...[...spelled.keys()].filter((each) => each.length > 3)]
  return new Problem(`Unknown name or unit "${shorten(name)}"`, suggest(name, candidates), position)
}
