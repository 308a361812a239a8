/**
 * The proleptic Gregorian calendar as arithmetic on day numbers (0 is 1970-01-01). In and out: numbers.
 * Years 1 to 9999. It knows no time of day, no zones and no text but ISO 8601.
 */

import { Problem } from './problem.ts'

/** Days since 1970-01-01. */
export type Day = number

/** Months and days count from 1. */
export interface CalendarDate {
  readonly year: number
  readonly month: number
  readonly day: number
}

/** Milliseconds in a day without a change of clocks. */
export const dayMs = 86_400_000
/** From January. */
export const monthNames: readonly string[] = ['January', 'February', 'March', 'April', 'May', 'June', 'July',
  'August', 'September', 'October', 'November', 'December']
/** From Sunday, as `weekday` counts. */
export const weekdayNames: readonly string[] = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday',
  'Friday', 'Saturday']

const padded = (value: number, length: number): string => String(value).padStart(length, '0')

/** Whether a year has a 29 February. */
export function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** How long a month (from 1) is. */
export function daysIn(year: number, month: number): number {
  return month === 2 ? isLeap(year) ? 29 : 28 : [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** The number of a date. Throws a `Problem` that says why there is no such day. */
export function dayOf(year: number, month: number, day: number): Day {
  if (!(year >= 1 && year <= 9999)) throw new Problem('Dates go from year 1 to year 9999')
  if (!(month >= 1 && month <= 12)) throw new Problem(`There is no month ${month}`)
  if (!(day >= 1 && day <= daysIn(year, month))) {
    const name = `${monthNames[month - 1]} ${year}`
    throw new Problem(`There is no such date: ${name} has ${daysIn(year, month)} days, not ${day}`)
  }
  // Date.UTC takes the years up to 99 for those of the twentieth century.
  return new Date(0).setUTCFullYear(year, month - 1, day) / dayMs
}

/** The date of a day number. Throws a `Problem` outside the years 1 to 9999. */
export function fieldsOf(day: Day): CalendarDate {
  const date = new Date(day * dayMs)
  const year = date.getUTCFullYear()
  if (!(year >= 1 && year <= 9999)) throw new Problem('Dates go from year 1 to year 9999')
  return { year, month: date.getUTCMonth() + 1, day: date.getUTCDate() }
}

/** 0 is Sunday. */
export function weekday(day: Day): number {
  return (((day + 4) % 7) + 7) % 7
}

/** `2026-03-01`. */
export function isoDate(day: Day): string {
  const { year, month, day: date } = fieldsOf(day)
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(date, 2)}`
}

/** `2026-W09`: the week belongs to the year of its Thursday. */
export function isoWeek(day: Day): string {
  const thursday = day - (weekday(day) + 6) % 7 + 3
  const { year } = fieldsOf(thursday)
  return `${padded(year, 4)}-W${padded(Math.floor((thursday - dayOf(year, 1, 1)) / 7) + 1, 2)}`
}

/** 1 on 1 January. */
export function dayOfYear(day: Day): number {
  return day - dayOf(fieldsOf(day).year, 1, 1) + 1
}

/** The same day some months later, or the last day of a month that is too short. */
export function addMonths(day: Day, months: number): Day {
  const from = fieldsOf(day)
  const index = from.year * 12 + from.month - 1 + months
  const [year, month] = [Math.floor(index / 12), (index % 12 + 12) % 12 + 1]
  return dayOf(year, month, Math.min(from.day, daysIn(year, month)))
}

/** Whole months from `from` to the later `to`, and the days that are left. */
export function monthsBetween(from: Day, to: Day): { readonly months: number, readonly days: number } {
  const [a, b] = [fieldsOf(from), fieldsOf(to)]
  let months = (b.year - a.year) * 12 + b.month - a.month
  if (addMonths(from, months) > to) months--
  return { months, days: to - addMonths(from, months) }
}
