/**
 * Questions about dates in ordinary English. In: one sentence without lead-in and question mark; out: a
 * request for `date.ts`, or undefined when the sentence asks no such thing. It reads no calendar.
 */

import type { DateRequest } from './date.ts'
import { looksLikeMoment } from './moment.ts'

type Groups = readonly (string | undefined)[]
type Request = DateRequest | undefined

/** Longer sentences ask for no date. */
const maxQuestion = 200

/** Parts of patterns; those in capitals catch a group. */
const unit = '(?:year|month|fortnight|week|day|hour|hr|minute|min|second|sec)s?'
const SPAN = String.raw`((?:(?:\d{1,7}|an?) ?${unit}\b(?:,? and |, | )?)+)`
const timeOfDay = String.raw`(?:\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?|\d{1,2} ?[ap]m)`
const TIME = String.raw`((?:\S{1,20}[ T])?${timeOfDay}|noon|midnight)`
const what = String.raw`(?:what(?:'s| is| was)? )?(?:the )?`
const is = String.raw`(?:'s| is| was| will it be| will be| would be| will)?(?: it)?`
const now = '(?: right now| now)?'
const lead = String.raw`(?:(?:what(?:'s| is| time is(?: it)?)|convert|(?:if |when )?it(?:'s| is)) )?`
const SIZE = String.raw`\b(${unit}|long|difference|time)\b.{0,20}?`
const there = '(?:what time is it in|(?:is )?what time in|what is the time in|to|into|in)'

const rule = (pattern: string): RegExp => new RegExp(`^${pattern}$`, 'i')
const asMoment = (text = ''): string | undefined => looksLikeMoment(text) ? text : undefined

/** The first rule that fits, and whose groups are what they should be, decides. */
const rules: readonly (readonly [RegExp, (groups: Groups) => Request])[] = [
  [rule(`what time (?:is it|will it be|is) in (.+?) (?:when|if) it(?:'s| is) ${TIME} in (.+)`),
    ([to, date, zone]) => elsewhere(date, zone, to)],
  [rule(`${what}(?:current |local |exact )?time(?: is it| it is)?${now}(?: (?:in|at|for) (.+?))?${now}`),
    ([zone]) => ({ operation: 'now', zone })],
  [rule(`${what}time difference between (.+?) and (.+)`), ([zone, to]) => elsewhere('now', zone, to)],
  [rule(`${lead}${TIME} (?:in |at |from )?(.+?),? ${there} (.+)`),
    ([date, zone, to]) => elsewhere(date, zone, to)],
  [rule(`${lead}${TIME} (?:in|at) (.+)`), ([date, zone]) => elsewhere(date, zone)],
  [rule(`.{0,40}?${SIZE} (?:between|from) (.+?) (?:and|to|until|till) (.+)`),
    ([wanted, from, to]) => between(from, to, wanted)],
  [rule(`(?:what.{0,30}? )?${SPAN} ?(after|from|before) (.+)`),
    ([span, way, date]) => add(date, span, way === 'before')],
  [rule(String.raw`(?:what (?:date |day )?is )?(.+?) ?(\+|-|plus|minus) ?${SPAN}`),
    ([date, sign, span]) => add(date, span, sign === '-' || sign === 'minus')],
  [rule(`(add|subtract) ${SPAN} ?(?:to|from) (.+)`),
    ([verb, span, date]) => add(date, span, verb === 'subtract')],
  [rule(`.{0,30}?${SIZE} (?:until|till|til|to|before) (.+)`),
    ([wanted, until]) => difference(undefined, asMoment(until), wanted)],
  [rule(`.{0,30}?${SIZE} (?:since|ago was|ago is) (.+)`),
    ([wanted, date]) => difference(asMoment(date), undefined, wanted)],
  [rule('how old .{0,40}?born (?:on |in )?(.+)'), ([date]) => difference(asMoment(date), undefined)],
  [rule('(?:what(?:\'s| is) )?(.{3,40}?) (?:-|–|minus) (.{3,40})'),
    ([to, from]) => between(from, to)],
  [rule(`(?:what.{0,30}? )?${SPAN} ?ago`), ([span]) => add('', span, true)],
  [rule(`(?:what.{0,30}? )?in ${SPAN}`), ([span]) => add('', span)],
  [rule(`(?:what|which) (?:week ?day|day|date)(?: of the week)?(?:${is}| does| did| falls?)(?: on)?`
    + '(?: (.+?))??(?: fall on| fall| be)?(?: in (.+?))?(?: today)?'),
    ([date, zone]) => describe(date, zone)],
  [rule(`${what}(?:date|today(?:'s date)?|day)(?: is it| today| now)*(?: in (.+))?`),
    ([zone]) => describe('today', zone)],
  [rule(`${what}(?:day of the week|week ?day) (?:of|for|on|is|was) (.+)`), ([date]) => describe(date)],
  [rule(`(?:what|which)(?:'s| is)? ?(?:the )?(?:iso )?week(?: number)?(?: of| for)?${is}(?: (.+))?`),
    ([date]) => describe(date)],
  [rule('(?:is|was|will) (.+?) (?:be )?a leap year'),
    ([year = '']) => /^\d{1,4}$/.test(year) ? about(year) : describe(year)],
  [rule('(?:when(?:\'s| is| was) )?(?!how |in )(.{3,40})'),
    ([date = '']) => looksLikeMoment(date) ? about(date) : undefined],
]

/** Reads one sentence. */
export function askDate(sentence: string): DateRequest | undefined {
  if (sentence.length > maxQuestion) return undefined
  for (const [pattern, make] of rules) {
    const groups = pattern.exec(sentence)
    const request = groups === null ? undefined : make(groups.slice(1))
    if (request !== undefined) return request
  }
  return undefined
}

function about(date: string, zone?: string): DateRequest {
  return { operation: 'describe', date, zone }
}

function describe(date = 'today', zone?: string): Request {
  if (/^(?:it|today|now)$/i.test(date)) return about('today', zone)
  return looksLikeMoment(date) ? about(date, zone) : undefined
}

function elsewhere(date?: string, zone?: string, to?: string): DateRequest {
  return { operation: 'convert', date, zone, to_zone: to }
}

function between(from: string | undefined, to: string | undefined, wanted?: string): Request {
  return asMoment(from) === undefined || asMoment(to) === undefined ? undefined : difference(from, to, wanted)
}

function difference(date: string | undefined, until: string | undefined, wanted?: string): Request {
  return (date ?? until) === undefined ? undefined : { operation: 'difference', date, until, unit: wanted }
}

/** A span without hours and minutes counts from a day, any other from this moment. */
function add(date = '', span = '', backwards = false): Request {
  const fromNow = /^(?:now|today|)$/i.test(date)
  const start = fromNow ? /hour|hr|min|sec/i.test(span) ? 'now' : 'today' : asMoment(date)
  if (start === undefined) return undefined
  return { operation: 'add', date: start, duration: `${backwards ? '-' : ''}${span.trim()}` }
}
