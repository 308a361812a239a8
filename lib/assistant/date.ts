/**
 * Questions about dates and times, answered: now, another zone, difference, sum, and what day a date is. In:
 * a request and a clock; out: a sentence, and the figures in it.
 */
import { Fault } from '../define/fault.ts'
import {
  addMonths, dayMs, findZone, instantOf, isoDate, momentAt, momentText, offsetText, parseDuration,
  parseMoment, weekdayOf,
} from './moment.ts'
import type { Moment } from './moment.ts'

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
