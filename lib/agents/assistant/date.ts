/**
 * Questions about dates, answered: the time now in a zone, the difference of two days, a day some time before
 * or after another, and what day a date is. In: a request and a clock; out: a sentence, and its figures. The
 * names and rules of zones come from `Intl`.
 */
import { show } from '../../kernel/define/validate.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { counted } from './text.ts'

/** The time in epoch milliseconds, and the zone of a request that names none. */
export interface LocalClock { readonly now: number; readonly zone: string }

/** What is left out means today, or here; `until` is the other end of a difference. */
export type DateRequest = { readonly operation: 'now' | 'difference' | 'add' | 'describe' }
  & { readonly [Name in 'date' | 'until' | 'duration' | 'zone']?: string | undefined }

/** A sentence, and the figures in it. */
export interface DateAnswer { readonly text: string; readonly [figure: string]: string | number | boolean }

const dayMs = 86_400_000

/** Throws a `Fault` with the reason where it cannot answer. Days are milliseconds at midnight of UTC. */
export function answerDate(request: DateRequest, clock: LocalClock): DateAnswer {
  const { date = 'today', until, duration = '', zone = clock.zone } = request
  const { name, offset } = zoneAt(zone, clock.now)
  const local = inYears(clock.now + offset)
  const today = Math.floor(local / dayMs) * dayMs
  switch (request.operation) {
    case 'now': return now(local, name, offset)
    case 'add': return later(readDay(date, today), duration)
    case 'describe': return about(readDay(date, today), today)
    case 'difference': return difference(
      readDay(date, today, until === undefined ? -1 : 0),
      readDay(until ?? 'today', today, request.date === undefined ? 1 : 0),
    )
  }
}

/** `14:05 on Friday, 2026-03-06 in Europe/Paris (UTC+01:00)`. */
function now(local: number, name: string, offset: number): DateAnswer {
  const [date, time] = [isoDate(local), new Date(local).toISOString().slice(11, 19)]
  const sign = offset < 0 ? '-' : '+'
  const utc = name === 'UTC' ? '' : ` (UTC${offset === 0 ? '' : sign + clockText(Math.abs(offset))})`
  const text = `It is ${clockText(local)} on ${weekdayOf(local)}, ${date} in ${name}${utc}.`
  return { text, date: `${date}T${time}`, weekday: weekdayOf(local) }
}

function later(from: number, duration: string): DateAnswer {
  const to = moved(from, duration)
  const span = duration.trim().replace(/^([+-]?) ?/, (_, sign) => `${sign || '+'} `)
  const [date, weekday] = [isoDate(to), weekdayOf(to)]
  return { text: `${isoDate(from)} ${span} is ${date}, a ${weekday}.`, date, weekday }
}

function difference(from: number, to: number): DateAnswer {
  const days = (to - from) / dayMs
  const count = Math.abs(days)
  const rest = count % 7 === 0 ? '' : ` and ${counted(count % 7, 'day')}`
  const weeks = count > 13 ? ` (${counted(Math.floor(count / 7), 'week')}${rest})` : ''
  const apart = `${counted(count, 'day')} ${days < 0 ? 'before' : 'after'}`
  return { text: `${isoDate(to)} is ${apart} ${isoDate(from)}${weeks}.`, days }
}

function about(day: number, today: number): DateAnswer {
  const [date, weekday] = [isoDate(day), weekdayOf(day)]
  const leap_year = new Date(new Date(day).setUTCMonth(1, 29)).getUTCDate() === 29
  // A week belongs to the year of its Thursday, and 1970-01-01 was one.
  const thursday = Math.floor((day / dayMs + 3) / 7) * 7 * dayMs
  const week = 1 + Math.floor((thursday - new Date(thursday).setUTCMonth(0, 1)) / dayMs / 7)
  const is = day < today ? `${date} was` : day > today ? `${date} will be` : `Today, ${date}, is`
  const text = `${is} a ${weekday}, in ISO week ${week}, in a ${leap_year ? 'leap' : 'common'} year.`
  return { text, date, weekday, week, leap_year }
}

/** The zone of a city or with an IANA name, and the milliseconds to add to UTC at an instant. */
function zoneAt(given: string, at: number): { readonly name: string; readonly offset: number } {
  const plain = given.slice(0, 60).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim()
    .replace('etc/unknown', 'utc').replaceAll(' ', '_')
  const areas = ['', 'Europe/', 'America/', 'Asia/', 'Africa/', 'Australia/', 'Pacific/', 'Atlantic/']
  const clock = areas.map((area) => clockIn(area + plain)).find((one) => one !== undefined)
  if (clock === undefined) {
    const remedy = 'name a city, such as "Tokyo", or a zone, such as "Europe/Paris"'
    throw new Fault('invalid', `There is no time zone for ${show(given)}; ${remedy}`)
  }
  const { value = '' } = clock.formatToParts(at).find(({ type }) => type === 'timeZoneName') ?? {}
  // GMT, or GMT+05:30.
  const offset = -Date.parse(`1970-01-01T00:00${value.slice(3, 9) || 'Z'}`)
  return { name: clock.resolvedOptions().timeZone, offset }
}

function clockIn(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  } catch {
    return undefined
  }
}

const holidays = new Map([['christmas', 'dec 25'], ['new year', 'jan 1'], ['halloween', 'oct 31']])
const nearDays = new Map([['now', 0], ['today', 0], ['tomorrow', 1], ['yesterday', -1]])

/**
 * Reads `2026-03-01`, `20 July 1969`, `christmas`, `next friday`. Without a year it is that of this year, or
 * the nearest one on one `side` of today, 1 or -1. Throws a `Fault` for what is no date.
 */
function readDay(given: string, today: number, side = 0): number {
  const text = given.slice(0, 100).toLowerCase().replace(/['’]/g, '').replace(/\b(?:on|the|of)\b/g, ' ')
    .replace(/[\s,]+/g, ' ').trim()
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

/** A day moved by `90 days`, `-2 weeks` or `1 year, 2 months and 3 days`. */
function moved(from: number, duration: string): number {
  const sign = duration.trim().startsWith('-') ? -1 : 1
  const sizes = { year: 0, month: 0, fortnight: 0, week: 0, day: 0 }
  const rest = duration.toLowerCase().replace(
    /(\d{1,7}|\ban?) ?(year|month|fortnight|week|day)s?\b/g, (_, count: string, unit: keyof typeof sizes) => {
      sizes[unit] += sign * (count.startsWith('a') ? 1 : Number(count))
      return ''
    },
  )
  if (rest === duration.toLowerCase() || /[^\s,+-]/.test(rest.replace(/\band\b/g, ''))) {
    throw new Fault('invalid', `There is no duration ${show(duration)}; write it as "90 days" or "1 year"`)
  }
  const { year, month, fortnight, week, day } = sizes
  return inYears(addMonths(from, year * 12 + month) + (fortnight * 14 + week * 7 + day) * dayMs)
}

/** On the last day of a month that is too short. */
function addMonths(day: number, months: number): number {
  const date = new Date(day)
  const before = date.getUTCDate()
  date.setUTCMonth(date.getUTCMonth() + months)
  return inYears(date.getUTCDate() === before ? date.getTime() : date.setUTCDate(0))
}

function inYears(local: number): number {
  const year = new Date(local).getUTCFullYear()
  if (year >= 1 && year <= 9999) return local
  throw new Fault('invalid', 'Dates go from year 1 to year 9999')
}

const clockText = (ms: number): string => new Date(ms).toISOString().slice(11, 16)
const weekdayOf: (day: number) => string
  = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format
const isoDate = (local: number): string => new Date(inYears(local)).toISOString().slice(0, 10)
