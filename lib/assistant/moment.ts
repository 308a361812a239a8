/**
 * Dates, times and durations as people write them: 2026-03-01, "20 July 1969", "next friday", "3:30 pm",
 * "christmas", "1 year 2 months". In: such text and a clock; out: a moment in a zone, or a duration.
 * What can be read in two ways (03/04/2026) is refused. It knows no questions about dates.
 */

import { addMonths, dayMs, dayOf, fieldsOf, isoDate, monthNames, weekday, weekdayNames } from './calendar.ts'
import type { Day } from './calendar.ts'
import { Problem, shorten } from './problem.ts'
import { findZone } from './zones.ts'
import type { Zone } from './zones.ts'

/** What time it is, and where. */
export interface Clock {
  /** Epoch milliseconds. */
  readonly now: number
  /** Zone of whoever names none. */
  readonly zone: string
}

/** A day, with or without a time of day, on the clocks of a zone. */
export interface Moment {
  readonly day: Day
  /** Milliseconds after midnight; undefined for a whole day. */
  readonly ms: number | undefined
  readonly zone: Zone
}

/** Which one a date without a year means; left out, the one of this year, for holidays the next one. */
export type Preference = 'future' | 'past' | undefined

/** How much of each unit, all of one sign. */
export interface Duration {
  readonly months: number
  readonly days: number
  readonly ms: number
  /** As it was written, tidied. */
  readonly text: string
}

const holidays = new Map<string, readonly [month: number, day: number]>([
  ['christmas', [12, 25]], ['christmas day', [12, 25]], ['xmas', [12, 25]], ['christmas eve', [12, 24]],
  ['new year', [1, 1]], ['new years', [1, 1]], ['new years day', [1, 1]], ['new years eve', [12, 31]],
  ['halloween', [10, 31]], ['valentines day', [2, 14]], ['valentines', [2, 14]],
])

const relative = new Map([['today', 0], ['now', 0], ['tomorrow', 1], ['yesterday', -1],
  ['the day after tomorrow', 2], ['the day before yesterday', -2]])

const durationUnits = new Map<string, readonly [unit: 'months' | 'days' | 'ms', size: number]>([
  ['year', ['months', 12]], ['yr', ['months', 12]], ['month', ['months', 1]], ['fortnight', ['days', 14]],
  ['week', ['days', 7]], ['wk', ['days', 7]], ['day', ['days', 1]], ['d', ['days', 1]],
  ['hour', ['ms', 3_600_000]], ['hr', ['ms', 3_600_000]], ['h', ['ms', 3_600_000]],
  ['minute', ['ms', 60_000]], ['min', ['ms', 60_000]], ['second', ['ms', 1000]], ['sec', ['ms', 1000]],
])

const half = String.raw`\s?([ap]\.?m\b\.?)`
const digits = String.raw`(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?`
const clockTime = String.raw`(?:${digits}(?:${half})?|(\d{1,2})${half}|(noon|midnight))`
const withOffset = /^(.*\d:\d\d(?::\d\d)?(?:\.\d+)?)\s?(z|utc|gmt|(?:utc|gmt)?[+-]\d\d?(?::?\d\d)?)$/i
const atEnd = new RegExp(String.raw`(?<![\d:])${clockTime}$`, 'i')
const atStart = new RegExp(String.raw`^${clockTime}(?=\s)`, 'i')

/** Reads a date, a time, or both; the date left out is today. Throws a `Problem` for what is none. */
export function parseMoment(text: string, clock: Clock, zone?: Zone, prefer?: Preference): Moment {
  let rest = text.slice(0, 100).trim().replace(/\s+/g, ' ')
  const suffix = withOffset.exec(rest)
  const home = suffix === null ? zone ?? findZone(clock.zone) : findZone(suffix[2]!.replace(/^z$/i, 'UTC'))
  rest = suffix?.[1] ?? rest
  const now = momentAt(clock.now, home)
  if (/^(?:now|right now)$/i.test(rest)) return now
  const time = atEnd.exec(rest) ?? atStart.exec(rest)
  if (time === null) return { day: parseDay(rest, now.day, prefer), ms: undefined, zone: home }
  const date = time.index > 0
    ? rest.slice(0, time.index).replace(/(?<=\d)T$|(?:,| at)? ?$/, '')
    : rest.slice(time[0].length).replace(/^(?: on)? /, '')
  return { day: date === '' ? now.day : parseDay(date, now.day, prefer), ms: timeOf(time), zone: home }
}

function timeOf(parts: RegExpExecArray): number {
  if (parts[7] !== undefined) return parts[7].toLowerCase() === 'noon' ? dayMs / 2 : 0
  const side = (parts[4] ?? parts[6])?.[0]?.toLowerCase()
  const [hour, minute, second] = [Number(parts[1] ?? parts[5]), Number(parts[2] ?? 0), Number(parts[3] ?? 0)]
  const fits = side === undefined ? hour <= 23 : hour >= 1 && hour <= 12
  if (!fits || minute > 59 || second > 59) throw new Problem(`There is no time ${parts[0].trim()}`)
  const hours = side === undefined ? hour : hour % 12 + (side === 'p' ? 12 : 0)
  return ((hours * 60 + minute) * 60 + second) * 1000
}

function parseDay(text: string, today: Day, prefer: Preference): Day {
  const plain = text.toLowerCase().replace(/['’]/g, '').replace(/^(?:on|the) (?!day )/, '')
  const offset = relative.get(plain)
  if (offset !== undefined) return today + offset
  const ordered = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})$/.exec(plain)
  if (ordered !== null) return dayOf(Number(ordered[1]), Number(ordered[3]), Number(ordered[4]))
  const short = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})$/.exec(plain)
  if (short !== null) {
    const [a, b, year] = [Number(short[1]), Number(short[3]), Number(short[4])]
    if (a <= 12 && b <= 12 && a !== b) {
      const hint = `Write ${isoDate(dayOf(year, a, b))} or ${isoDate(dayOf(year, b, a))}.`
      throw new Problem(`"${text}" can be read in two ways`, hint)
    }
    return a > 12 ? dayOf(year, b, a) : dayOf(year, a, b)
  }
  const named = /^(next|last|this|coming|)\s?([a-z]+day)$/.exec(plain)
  const wanted = weekdayNames.findIndex((name) => name.toLowerCase() === named?.[2])
  if (wanted >= 0) {
    const ahead = (wanted - weekday(today) + 7) % 7
    return today + (named![1] === 'last' ? ahead - 7 : named![1] === 'next' && ahead === 0 ? 7 : ahead)
  }
  const bare = plain.replace(/^(?:sun|mon|tues|wednes|thurs|fri|satur)day,? /, '')
  const dayFirst = /^(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([a-z]{3,9})\.?(?:,? (\d{4}))?$/.exec(bare)
  const monthFirst = /^([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?$/.exec(bare)
  const [date, name, year] = dayFirst?.slice(1) ?? [monthFirst?.[2], monthFirst?.[1], monthFirst?.[3]]
  const month = monthNames.findIndex((each) => name !== undefined && each.toLowerCase().startsWith(name)) + 1
  const holiday = holidays.get(bare)
  const fixed = month > 0 ? [month, Number(date)] as const : holiday
  if (fixed === undefined) throw new Problem(`I cannot read the date "${shorten(text)}"`, 'Write 2026-03-01.')
  if (year !== undefined) return dayOf(Number(year), fixed[0], fixed[1])
  const day = dayOf(fieldsOf(today).year, fixed[0], fixed[1])
  if (prefer === 'past') return day > today ? addMonths(day, -12) : day
  return day < today && (prefer === 'future' || holiday !== undefined) ? addMonths(day, 12) : day
}

const monthName = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)'
const likeness = [
  /\b\d{4}[-/]\d\d?[-/]\d\d?\b|\b\d\d?[/.]\d\d?[/.]\d{4}\b/,
  /\b\d\d?:\d\d\b|\b\d\d? ?[ap]m\b|^(?:noon|midnight)$/i,
  new RegExp(String.raw`\b${monthName}[a-z]{0,6}\.? \d|\b\d\d?(?:st|nd|rd|th)?(?: of)? ${monthName}`, 'i'),
  /\b(?:sun|mon|tues|wednes|thurs|fri|satur)day$/i,
]

/** Whether a text is meant as a date or a time, be it a wrong one. */
export function looksLikeMoment(text: string): boolean {
  const plain = text.toLowerCase().replace(/['’]/g, '')
  if (text.length > 100) return false
  return relative.has(plain) || holidays.has(plain) || likeness.some((pattern) => pattern.test(text))
}

/** Reads `90 days`, `-2 weeks`, `1 year, 2 months and 3 days`. Throws a `Problem` for anything else. */
export function parseDuration(text: string): Duration {
  const plain = text.slice(0, 100).trim().toLowerCase()
  const minus = plain.startsWith('-')
  const sum = { months: 0, days: 0, ms: 0 }
  const parts: string[] = []
  const rest = plain.replace(/(\d{1,7}\s?|\ban?\s)([a-z]+)/g, (all, count: string, word: string) => {
    const unit = durationUnits.get(word) ?? durationUnits.get(word.replace(/s$/, ''))
    if (unit === undefined) return all
    const times = count.startsWith('a') ? 1 : Number(count)
    sum[unit[0]] += times * unit[1] * (minus ? -1 : 1)
    parts.push(`${times} ${word}`)
    return ''
  })
  if (parts.length === 0 || !/^[-+]?(?:\s|,|and)*$/.test(rest)) {
    const hint = 'Write whole numbers with units, as in "1 year 3 days".'
    throw new Problem(`I cannot read the duration "${shorten(text)}"`, hint)
  }
  return { ...sum, text: `${minus ? '-' : '+'} ${parts.join(' ')}` }
}

/** The wall clock of a zone at an instant. */
export function momentAt(at: number, zone: Zone): Moment {
  const local = at + zone.offset(at)
  return { day: Math.floor(local / dayMs), ms: local - Math.floor(local / dayMs) * dayMs, zone }
}

/** The instant of a moment; of two in autumn the earlier. Throws a `Problem` for a time that clocks skip. */
export function instantOf({ day, ms = 0, zone }: Moment): number {
  const local = day * dayMs + ms
  for (const near of [local - dayMs, local + dayMs]) {
    const at = local - zone.offset(near)
    if (at + zone.offset(at) === local) return at
  }
  throw new Problem(`${timeText(ms)} on ${isoDate(day)} does not exist in ${zone.label}: clocks skip it`)
}

/** `14:05`, with seconds where there are some. */
export function timeText(ms: number): string {
  const text = new Date(ms).toISOString()
  return ms % 60_000 < 1000 ? text.slice(11, 16) : text.slice(11, 19)
}

/** `2026-03-06`, or `14:05 on Friday, 2026-03-06`. */
export function momentText({ day, ms }: Moment): string {
  return ms === undefined ? isoDate(day) : `${timeText(ms)} on ${weekdayNames[weekday(day)]}, ${isoDate(day)}`
}
