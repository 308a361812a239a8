/**
 * Questions about dates and times, answered: now, another zone, difference, sum, and what day a date is. In:
 * a request and a clock; out: a sentence, and the figures in it.
 */
import { Fault } from '../define/fault.ts'
import { show } from '../define/validate.ts'
import { evaluate } from './calculate.ts'
import { findUnit, inUnit } from './quantity.ts'

/** What time it is, in epoch milliseconds, and the zone of whoever names none. */
export interface LocalClock { readonly now: number; readonly zone: string }

/** One question. What is left out means now, today or here; `until` is the other end of a difference. */
export type DateRequest = { readonly operation: 'now' | 'convert' | 'difference' | 'add' | 'describe' }
  & { readonly [Name in 'date' | 'until' | 'duration' | 'zone' | 'to_zone']?: string | undefined }

/** A sentence, and the figures in it. */
export interface DateAnswer { readonly text: string; readonly [figure: string]: string | number | boolean }

/** Answers a request. Throws a `Fault` with the reason where it cannot. */
export function answerDate(request: DateRequest, clock: LocalClock): DateAnswer {
  const { date, until, duration = '', zone = clock.zone, to_zone: place = clock.zone } = request
  const now = momentAt(clock.now, findZone(zone))
  const read = (text = 'today', side = 0): Moment => parseMoment(text, now, side)
  switch (request.operation) {
    case 'now': return { text: `It is ${placed(now)}.`, ...figuresOf(now) }
    case 'convert': return elsewhere(read(date ?? 'now'), place)
    case 'add': return later(now, duration, date)
    case 'describe': return about(read(date), now)
    case 'difference': return difference(read(date, until ? 0 : -1), read(until, date ? 0 : 1))
  }
}

/** `14:05 on Friday, 2026-03-06 in Europe/Paris (UTC+01:00)`. */
function placed(moment: Moment): string {
  const [name, offset] = [moment.zone.name, offsetText(moment.zone.offset(instantOf(moment)))]
  return `${momentText(moment)} in ${name}${name === offset ? '' : ` (${offset})`}`
}

const figuresOf = ({ local, isTimed }: Moment): Readonly<Record<string, string>> =>
  ({ date: new Date(local).toISOString().slice(0, isTimed ? 19 : 10), weekday: weekdayOf(local) })

function elsewhere(moment: Moment, place: string): DateAnswer {
  if (!moment.isTimed) throw new Fault('invalid', 'The time of day is missing; write it as 15:00')
  const there = momentAt(instantOf(moment), findZone(place))
  const ahead = there.local - moment.local
  const apart = ahead === 0 ? 'the same time' : `${span(Math.abs(ahead))} ${ahead > 0 ? 'ahead' : 'behind'}`
  return { text: `${placed(moment)} is ${placed(there)}, ${apart}.`, ...figuresOf(there) }
}

/** Days and months are those of the calendar, hours those of the clock. */
function later(now: Moment, duration: string, date = 'now'): DateAnswer {
  const { months, ms } = parseDuration(duration)
  const isWhole = ms % dayMs === 0
  const from = parseMoment(isWhole && date === 'now' ? 'today' : date, now)
  const moved = { ...from, local: addMonths(from.local, months) }
  const to = isWhole ? { ...moved, local: moved.local + ms } : momentAt(instantOf(moved) + ms, from.zone)
  const sum = `${momentText(from)} ${duration.trim().replace(/^([+-]?) ?/, (_, sign) => `${sign || '+'} `)}`
  const result = to.isTimed ? momentText(to) : `${momentText(to)}, a ${weekdayOf(to.local)}`
  return { text: `${sum} is ${result}.`, ...figuresOf(to) }
}

function difference(from: Moment, to: Moment): DateAnswer {
  const ms = from.isTimed || to.isTimed ? instantOf(to) - instantOf(from) : to.local - from.local
  const days = Math.abs(ms) / dayMs
  const weeks = days % 1 === 0 && days > 13 ? ` (${spell([days / 7, 'week'], [days % 7, 'day'])})` : ''
  const apart = `${span(Math.abs(ms))} ${ms < 0 ? 'before' : 'after'}`
  const text = `${momentText(to)} is ${apart} ${momentText(from)}${weeks}.`
  return { text, days: ms / dayMs, seconds: ms / 1000 }
}

function about({ local }: Moment, now: Moment): DateAnswer {
  const [date, weekday, today] = [isoDate(local), weekdayOf(local), isoDate(now.local)]
  const leap_year = new Date(new Date(local).setUTCMonth(1, 29)).getUTCDate() === 29
  // A week belongs to the year of its Thursday, and 1970-01-01 was one.
  const thursday = Math.floor((local / dayMs + 3) / 7) * 7 * dayMs
  const week = 1 + Math.floor((thursday - new Date(thursday).setUTCMonth(0, 1)) / dayMs / 7)
  const is = date < today ? `${date} was` : date > today ? `${date} will be` : `Today, ${date}, is`
  const text = `${is} a ${weekday}, in ISO week ${week}, in a ${leap_year ? 'leap' : 'common'} year.`
  return { text, date, weekday, week, leap_year }
}

/** `9 hours and 30 minutes`. */
const span = (ms: number): string => spell([ms / dayMs, 'day'], [ms / 3_600_000 % 24, 'hour'],
  [ms / 60_000 % 60, 'minute'], [ms / 1000 % 60, 'second']) || '0 days'

/** Whole sizes with their units, without the zeros. */
function spell(...sizes: readonly (readonly [size: number, unit: string])[]): string {
  const spelled = sizes.filter(([size]) => size >= 1).map(([size, unit]) => new Intl.NumberFormat('en',
    { style: 'unit', unit, unitDisplay: 'long', useGrouping: false }).format(Math.floor(size)))
  return new Intl.ListFormat('en').format(spelled)
}

/** A place on the clock: its IANA name or abbreviation, and the milliseconds to add to UTC at an instant. */
export interface Zone { readonly name: string; offset(at: number): number }

/** What the clocks of a zone show, in milliseconds as though it were UTC; a whole day is not timed. */
export interface Moment { readonly local: number; readonly isTimed: boolean; readonly zone: Zone }

/** Milliseconds in a day without a change of clocks. */
export const dayMs = 86_400_000

/** Names that `Intl` has no zone for. */
const nicknames = new Map(`New_York nyc boston washington miami et, Chicago houston dallas ct, Denver mt,
  Los_Angeles la sf san_francisco seattle california pt, London uk england scotland, Berlin germany munich,
  Kolkata india ist mumbai delhi, Shanghai china beijing, Paris france, Madrid spain, Rome italy, Seoul korea`
  .split(/,\s+/).map((row) => row.split(' '))
  .flatMap(([city = '', ...names]) => names.map((name) => [name, city] as const)))

/** Abbreviations are offsets, in hours, as they are defined. */
const abbreviations = new Map(Object.entries({
  utc: 0, gmt: 0, bst: 1, cet: 1, cest: 2, eet: 2, eest: 3, msk: 3, jst: 9, kst: 9, aest: 10, aedt: 11,
  nzst: 12, nzdt: 13, est: -5, edt: -4, cst: -6, cdt: -5, mst: -7, mdt: -6, pst: -8, pdt: -7, hst: -10,
}))

/** The zone that a name means. Throws a `Fault` where there is none, or more than one. */
export function findZone(name: string): Zone {
  const plain = name.slice(0, 60).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim()
    .replace(/^the | time(?: ?zone)?$/g, '').replace('etc/unknown', 'utc').replaceAll(' ', '_')
  const [, sign = '+', hours, minutes = 0] = /^(?:utc|gmt)?_?([+-])(\d\d?)(?::?(\d\d))?$/.exec(plain) ?? []
  const offset = abbreviations.get(plain) ?? Number(`${sign}1`) * (Number(hours) + Number(minutes) / 60)
  if (Math.abs(offset) <= 14) {
    const ms = offset * dayMs / 24
    return { name: hours === undefined ? plain.toUpperCase() : offsetText(ms), offset: () => ms }
  }
  const clock = ['', 'Europe/', 'America/', 'Asia/', 'Africa/', 'Australia/', 'Pacific/', 'Atlantic/']
    .map((area) => clockIn(area + (nicknames.get(plain) ?? plain))).find(Boolean)
  if (clock) return { name: clock.resolvedOptions().timeZone, offset: (at) => offsetAt(clock, at) }
  const remedy = 'name a city, such as "Tokyo", or a zone, such as "Europe/Paris"'
  throw new Fault('invalid', `There is no time zone for ${show(name)}; ${remedy}`)
}

function clockIn(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  } catch {
    return undefined
  }
}

/** From GMT, or GMT+05:30; the seconds of times that are long past are left out. */
function offsetAt(clock: Intl.DateTimeFormat, at: number): number {
  const { value = '' } = clock.formatToParts(at).find(({ type }) => type === 'timeZoneName') ?? {}
  return -Date.parse(`1970-01-01T00:00${value.slice(3, 9) || 'Z'}`)
}

const holidays = new Map([['christmas', 'dec 25'], ['new year', 'jan 1'], ['halloween', 'oct 31']])
const nearDays = new Map([['', 0], ['today', 0], ['tomorrow', 1], ['yesterday', -1]])
const timeOfDay = new RegExp(String.raw`(?<![\d:])(?:\d\d?(?::[0-5]\d){1,2}(?:\.\d+)?(?: ?[ap]\.?m\b\.?)?`
  + String.raw`|\d\d? ?[ap]\.?m\b\.?)|\b(?:noon|midnight)\b`)
const offsetAtEnd = /(?<=:\d\d(?:\.\d+)?) ?(z|utc|gmt|(?:utc|gmt)?[+-]\d\d?(?::?\d\d)?)$/

/**
 * Reads a date, a time, or both; the date left out is today. Without a year it is that of this year, or the
 * nearest one on one `side` of today, 1 or -1. Throws a `Fault` for what is no date.
 */
export function parseMoment(text: string, now: Moment, side = 0): Moment {
  const plain = text.slice(0, 100).toLowerCase().replace(/['’]/g, '').replace(/[\s,]+/g, ' ').trim()
  if (plain === 'now') return now
  const [rest = '', suffix] = plain.split(offsetAtEnd)
  const time = timeOfDay.exec(rest)?.[0]
  const date = rest.replace(timeOfDay, ' ').replace(/(?<=\d)t(?= )|\b(?:at|on|the|of)\b/g, ' ')
  const day = readDay(date.replace(/ +/g, ' ').trim(), Math.floor(now.local / dayMs) * dayMs, side)
  const zone = suffix === undefined ? now.zone : findZone(suffix.replace('z', 'utc'))
  return { local: day + (time === undefined ? 0 : readTime(time)), isTimed: time !== undefined, zone }
}

function readTime(text: string): number {
  const clock = text.replace('noon', '12:00').replace('midnight', '0:00')
    .replace(/^(\d\d?)(?=\D*$)/, '$1:00').replace(/ ?([ap])\.?m\.?$/, ' $1m')
  const ms = Date.parse(`1 Jan 1970 ${clock} UTC`)
  if (ms >= 0) return ms
  throw new Fault('invalid', `There is no time ${text}`)
}

function readDay(text: string, today: number, side: number): number {
  const near = nearDays.get(text)
  if (near !== undefined) return today + near * dayMs
  const [, which, weekday] = /^(?:(next|last|this) )?([a-z]+day)$/.exec(text) ?? []
  const days = [0, 1, 2, 3, 4, 5, 6].find((each) => weekdayOf(today + each * dayMs).toLowerCase() === weekday)
  const ahead = which === 'last' ? -7 : which === 'next' && days === 0 ? 7 : 0
  if (days !== undefined) return today + dayMs * (days + ahead)
  const written = (holidays.get(text) ?? text).replace(/^[a-z]+day (?=.* )|(?<=\d)(?:st|nd|rd|th)\b|\./g, '')
  const monthFirst = written.replace(/^(\d\d?) ([a-z]+)/, '$2 $1')
  const [, name, date, year] = /^([a-z]{3,9}) (\d\d?)(?: (\d{4}))?$/.exec(monthFirst) ?? []
  const month = new Date(`${name} 1 2000 UTC`).getUTCMonth() + 1
  const dated = `${year ?? isoDate(today).slice(0, 4)}-${month}-${date}`
  const iso = (name === undefined ? text.replace(/^\d{4}$/, '$&-1-1') : dated)
    .replace(/[/.]/g, '-').replace(/-(?=\d(?:-|$))/g, '-0')
  const day = /^\d{4}-\d\d-\d\d$/.test(iso) ? Date.parse(iso) : NaN
  if (Number.isNaN(day) || isoDate(day) !== iso) {
    throw new Fault('invalid', `There is no date ${show(text)}; write it as 2026-03-01`)
  }
  const wanted = name === undefined || year !== undefined ? 0 : side || (holidays.has(text) ? 1 : 0)
  return (day - today) * wanted < 0 ? addMonths(day, 12 * wanted) : day
}

/** Reads `90 days`, `-2 weeks`, `1 year, 2 months and 3 days`; a month is no number of milliseconds. */
export function parseDuration(text: string): { readonly months: number, readonly ms: number } {
  const sign = text.trim().startsWith('-') ? -1 : 1
  let months = 0
  const rest = text.toLowerCase().replace(/(\d{1,6}|\ban?) ?(year|month)s?\b/g, (_, count, unit) => {
    months += sign * (/^a/.test(count) ? 1 : Number(count)) * (unit === 'year' ? 12 : 1)
    return ''
  }).replace(/^[\s+-]+|,|\band\b/g, ' ').trim()
  const seconds = rest === '' && months !== 0 ? 0 : inUnit(evaluate(rest), findUnit('s')).value
  return { months, ms: sign * Math.round(seconds * 1000) }
}

/** The same time some months later, on the last day of a month that is too short. */
export function addMonths(local: number, months: number): number {
  const date = new Date(local)
  const day = date.getUTCDate()
  date.setUTCMonth(date.getUTCMonth() + months)
  return inYears(date.getUTCDate() === day ? date.getTime() : date.setUTCDate(0))
}

function inYears(local: number): number {
  const year = new Date(local).getUTCFullYear()
  if (year >= 1 && year <= 9999) return local
  throw new Fault('invalid', 'Dates go from year 1 to year 9999')
}

/** What the clocks of a zone show at an instant. Throws a `Fault` outside the years 1 to 9999. */
export const momentAt = (at: number, zone: Zone): Moment =>
  ({ local: inYears(inYears(at) + zone.offset(at)), isTimed: true, zone })
/** The instant of a moment. */
export const instantOf = ({ local, zone }: Moment): number => local - zone.offset(local - zone.offset(local))
/** `UTC+05:30`. */
export const offsetText = (ms: number): string =>
  ms === 0 ? 'UTC' : `UTC${ms < 0 ? '-' : '+'}${new Date(Math.abs(ms)).toISOString().slice(11, 16)}`
/** `Friday`. */
export const weekdayOf: (local: number) => string
  = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format
/** `2026-03-06`. */
export const isoDate = (local: number): string => new Date(inYears(local)).toISOString().slice(0, 10)
/** `2026-03-06`, or `14:05 on Friday, 2026-03-06`, with seconds where there are some. */
export function momentText({ local, isTimed }: Moment): string {
  const time = new Date(inYears(local)).toISOString().slice(11, local % 60_000 < 1000 ? 16 : 19)
  return isTimed ? `${time} on ${weekdayOf(local)}, ${isoDate(local)}` : isoDate(local)
}
