/**
 * Questions about dates and times, answered: now, another zone, difference, sum, and what there is to say
 * about one date. In: a request in words and a clock; out: a sentence and its figures.
 * It knows neither the sentences that people ask in nor how dates are spelled.
 */

import { addMonths, dayMs, dayOf, dayOfYear, fieldsOf, isLeap, isoDate } from './calendar.ts'
import { isoWeek, monthsBetween, weekday, weekdayNames } from './calendar.ts'
import { instantOf, momentAt, momentText, parseDuration, parseMoment, timeText } from './moment.ts'
import type { Clock, Moment } from './moment.ts'
import { divide, formatReal, ratio } from './number.ts'
import { Problem } from './problem.ts'
import { findZone, offsetText } from './zones.ts'
import type { Zone } from './zones.ts'

/** One question about dates. What is left out means now, today or here. */
export interface DateRequest {
  readonly operation: 'now' | 'convert' | 'difference' | 'add' | 'describe'
  /** What is asked about; now where it is left out. */
  readonly date?: string | undefined
  /** The other end of a difference. */
  readonly until?: string | undefined
  /** What to add, or with a minus to take away. */
  readonly duration?: string | undefined
  /** Place or zone that `date` is in, and the one to convert to. */
  readonly zone?: string | undefined
  readonly to_zone?: string | undefined
  /** Unit that a difference is wanted in. */
  readonly unit?: string | undefined
}

/** A sentence, and the figures in it. */
export interface DateAnswer {
  /** One or two sentences. */
  readonly text: string
  readonly date?: string
  readonly time?: string
  readonly weekday?: string
  readonly week?: string
  readonly day_of_year?: number
  readonly leap_year?: boolean
  readonly zone?: string
  readonly offset?: string
  /** Signed. */
  readonly days?: number
  readonly seconds?: number
}

const unitMs = new Map([['week', 7 * dayMs], ['hour', 3_600_000], ['minute', 60_000], ['second', 1000]])

/** Answers a request. Throws a `Problem` with the reason when it cannot. */
export function answerDate(request: DateRequest, clock: Clock): DateAnswer {
  const zone = findZone(request.zone ?? clock.zone)
  switch (request.operation) {
    case 'now': return now(zone, clock)
    case 'convert': return elsewhere(request, zone, clock)
    case 'difference': return difference(request, zone, clock)
    case 'add': return sum(request.date ?? 'today', request.duration ?? '', zone, clock)
    case 'describe': return about(request.date ?? 'today', zone, clock)
  }
}

function now(zone: Zone, clock: Clock): DateAnswer {
  const moment = momentAt(clock.now, zone)
  const figures = figuresOf(moment)
  const names = [zone.iana, figures.offset].filter((name) => name !== undefined && name !== zone.label)
  const more = names.length === 0 ? '' : ` (${names.join(', ')})`
  return { text: `It is ${momentText(moment)} in ${zone.label}${more}.`, ...figures }
}

function elsewhere(request: DateRequest, from: Zone, clock: Clock): DateAnswer {
  const to = findZone(request.to_zone ?? clock.zone)
  const moment = parseMoment(request.date ?? 'now', clock, from)
  if (moment.ms === undefined) throw new Problem('The time of day is missing', 'Write it as 15:00.')
  const at = instantOf(moment)
  const other = momentAt(at, to)
  const ahead = to.offset(at) - moment.zone.offset(at)
  const apart = ahead === 0 ? 'the same time' : `${listMs(Math.abs(ahead))} ${ahead > 0 ? 'ahead' : 'behind'}`
  const here = `${momentText(moment)} in ${moment.zone.label}`
  return { text: `${here} is ${momentText(other)} in ${to.label} (${apart}).`, ...figuresOf(other) }
}

function difference(request: DateRequest, zone: Zone, clock: Clock): DateAnswer {
  const { date = 'today', until = 'today' } = request
  const from = parseMoment(date, clock, zone, request.until === undefined ? 'past' : undefined)
  const to = parseMoment(until, clock, zone, request.date === undefined ? 'future' : undefined)
  if (from.ms !== undefined || to.ms !== undefined) {
    const ms = instantOf(to) - instantOf(from)
    const size = inUnit(Math.abs(ms), request.unit) ?? listMs(Math.abs(ms))
    const text = `${momentText(to)} is ${size} ${ms < 0 ? 'before' : 'after'} ${momentText(from)}.`
    return { text, days: ms / dayMs, seconds: ms / 1000 }
  }
  const days = to.day - from.day
  const size = Math.abs(days)
  const figures = { days, seconds: days * 86_400 }
  if (days === 0) return { text: `Both are ${isoDate(to.day)}: 0 days.`, ...figures }
  const wanted = inUnit(size * dayMs, request.unit)
  const [first, last] = days < 0 ? [to.day, from.day] : [from.day, to.day]
  const { months, days: left } = monthsBetween(first, last)
  const details: string[] = []
  if (wanted !== undefined) details.push(count(size, 'day'))
  if (size >= 14 && !wanted?.includes('week')) {
    details.push(list([[Math.floor(size / 7), 'week'], [size % 7, 'day']]))
  }
  const years = Math.floor(months / 12)
  if (months > 0) details.push(list([[years, 'year'], [months % 12, 'month'], [left, 'day']]))
  const more = details.length === 0 ? '' : ` (${details.join('; ')})`
  const apart = `${wanted ?? count(size, 'day')} ${days < 0 ? 'before' : 'after'}`
  return { text: `${isoDate(to.day)} is ${apart} ${isoDate(from.day)}${more}.`, ...figures }
}

function sum(text: string, duration: string, zone: Zone, clock: Clock): DateAnswer {
  const from = parseMoment(text, clock, zone)
  const add = parseDuration(duration)
  const day = addMonths(from.day, add.months) + add.days
  fieldsOf(day)
  const timed = from.ms !== undefined || add.ms !== 0
  const to = timed ? momentAt(instantOf({ ...from, day }) + add.ms, from.zone) : { ...from, day }
  const result = timed ? momentText(to) : `${isoDate(to.day)}, a ${weekdayNames[weekday(to.day)]}`
  return { text: `${momentText(from)} ${add.text} is ${result}.`, ...figuresOf(to) }
}

function about(text: string, zone: Zone, clock: Clock): DateAnswer {
  const today = momentAt(clock.now, zone).day
  if (/^\d{1,4}$/.test(text)) {
    const year = fieldsOf(dayOf(Number(text), 1, 1)).year
    const verb = verbFor(year - fieldsOf(today).year)
    return { text: `${year} ${verb}${isLeap(year) ? '' : ' not'} a leap year.`, leap_year: isLeap(year) }
  }
  const moment = parseMoment(text, clock, zone)
  const { day } = moment
  const { year } = fieldsOf(day)
  const name = day === today ? `Today, ${isoDate(day)},` : isoDate(day)
  const what = `${name} ${verbFor(day - today)} a ${weekdayNames[weekday(day)]}`
  const where = `day ${dayOfYear(day)} of ${year}, ISO week ${isoWeek(day)}`
  return { text: `${what}, ${where}, in a ${isLeap(year) ? 'leap' : 'common'} year.`, ...figuresOf(moment) }
}

const verbFor = (ahead: number): string => ahead < 0 ? 'was' : ahead > 0 ? 'will be' : 'is'

function figuresOf(moment: Moment): Omit<DateAnswer, 'text'> {
  const { day, ms, zone } = moment
  const figures = {
    date: isoDate(day), weekday: weekdayNames[weekday(day)]!, week: isoWeek(day), day_of_year: dayOfYear(day),
    leap_year: isLeap(fieldsOf(day).year),
  }
  if (ms === undefined) return figures
  const offset = offsetText(zone.offset(instantOf(moment)))
  return { ...figures, time: timeText(ms), zone: zone.iana ?? zone.label, offset }
}

/** `12.5 weeks`, or undefined for the units that are shown anyway. */
function inUnit(ms: number, unit = ''): string | undefined {
  const name = unit.toLowerCase().replace(/s$/, '')
  const size = unitMs.get(name)
  if (size === undefined) return undefined
  const { text } = formatReal(divide(ratio(BigInt(ms)), ratio(BigInt(size))))
  return `${text} ${name}${text === '1' ? '' : 's'}`
}

function listMs(ms: number): string {
  const part = (size: number, times: number): number => Math.floor(ms / size) % times
  return list([[part(dayMs, Infinity), 'day'], [part(3_600_000, 24), 'hour'], [part(60_000, 60), 'minute'],
    [part(1000, 60), 'second']])
}

/** `1 year, 2 months and 3 days`, without the zeros. */
function list(parts: readonly (readonly [number, string])[]): string {
  const texts = parts.filter(([size]) => size > 0).map(([size, unit]) => count(size, unit))
  return texts.length > 1 ? `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}` : texts[0] ?? '0 seconds'
}

function count(size: number, unit: string): string {
  return `${size} ${unit}${size === 1 ? '' : 's'}`
}
