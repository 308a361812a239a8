/**
 * From a sentence to what is wanted. In: a prompt and what is remembered; out: an intent for one skill, or
 * `unknown`. Plain patterns of ordinary English, tried in a fixed order; "that" and a leading operator stand
 * for the last result. Sentences are bounded in length, so that no pattern can take long. It answers nothing.
 */

import { askDate } from './ask-date.ts'
import { evaluate, isFunction, parseUnits } from './calculate.ts'
import { findBase, isTarget } from './convert.ts'
import type { DateRequest } from './date.ts'
import { constants } from './functions.ts'
import type { Memory } from './memory.ts'
import { asExpression, inDigits } from './phrases.ts'
import { isCurrency } from './units.ts'
import { findZone } from './zones.ts'

/** What can be said without a skill. */
type Topic = 'greeting' | 'thanks' | 'farewell' | 'help' | 'recall' | 'result' | 'last'

/** What a sentence wants. */
export type Intent =
  | { readonly skill: 'calculate', readonly expression: string }
  | { readonly skill: 'convert', readonly value: string, readonly to: string }
  | { readonly skill: 'date', readonly request: DateRequest }
  /** `count`: the one figure that is wanted; `letter`: how often it occurs. */
  | { readonly skill: 'text_stats', readonly text: string, readonly count?: string, readonly letter?: string }
  /** `lost`: it refers to a result that there is not. */
  | { readonly skill: Topic | 'lost' | 'unknown' }

/** Longest sentence that is looked at; only text to be counted may be longer. */
const maxSentence = 1200

const talk: readonly (readonly [RegExp, Topic])[] = [
  [/^(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day))(?: there| assistant)?$/i, 'greeting'],
  [/^how are you\b.{0,20}$/i, 'greeting'],
  [/^(?:thanks?|thank you|thx|cheers)\b.{0,40}$/i, 'thanks'],
  [/^(?:bye|goodbye|good ?night|see you|farewell)\b.{0,20}$/i, 'farewell'],
  [/^(?:help|examples?|commands|usage)(?: me)?$/i, 'help'],
  [/^(?:what (?:can|could|do|can't) you (?:do|help)|(?:who|what) are you|how can i use)\b.{0,60}$/i, 'help'],
  [/^(?:how do you work|what are your (?:skills|capabilities)|introduce yourself)$/i, 'help'],
  [/^(?:do you remember )?(?:what|which)\b.{0,40}\bi\b.{0,20}\b(?:ask|say|asked|said)\b.{0,30}$/i, 'recall'],
  [/^what (?:was|were) my (?:last|previous|first|earlier)?\b.{0,30}$/i, 'recall'],
  [/^what (?:was|is) (?:the|your) (?:last |previous |earlier )?(?:answer|result)$/i, 'result'],
  [/^(?:what did you (?:say|answer)|repeat(?: that| it)?|say (?:that|it) again)\b.{0,30}$/i, 'last'],
]

const countable = 'words?|characters?|chars|letters?|sentences?|lines?|paragraphs?|code points?'
const counting = '(?:how many|count(?: the)?(?: number of)?|(?:what is )?the number of)'
const countQuestion = new RegExp(String.raw`^(?:${counting}\s+(${countable})`
  + String.raw`(?:\s+(?:are|is))?(?:\s+there)?\s+(?:in|of|from)`
  + String.raw`|(word|character|letter|sentence|line) count(?:\s+(?:of|for|in))?)\b\s*:?\s*(\S[\s\S]*)$`, 'i')
const statsRequest = new RegExp(String.raw`^(?:(?:text[ _]?)?stat(?:istic)?s?|analy[sz]e|count)`
  + String.raw`(?:\s+(?:of|for))?(?:\s+(?:this|the))?(?:\s+(?:text|words))?\s*[:\n]\s*(\S[\s\S]*)$`, 'i')
const letterQuestion = new RegExp(String.raw`^(?:how (?:many|often)|count)(?: times)?(?: does| do)?(?: the)? `
  + String.raw`(?:letters? )?(?:["'“](\p{L})["'”](?:'?s)?|(?<=letters? )(\p{L})(?:'?s)?|(\p{L})['’]s)`
  + String.raw`(?: are| appears?| occurs?)?(?: there)? in (?:the word )?(.+)$`, 'iu')

const politeness = new RegExp('^(?:(?:please|hey|ok|okay|so|well|and|then|now|also|assistant|hi|hello|can you'
  + '|could you|would you|will you|tell me|do you know|i want to know|i need to know)\\b[,:!]? )+', 'i')
/** What goes on from the last result: "times 2", "+ 5", "in miles". */
const leading = new RegExp('^(?:[*/^×÷%+]|- |(?:plus|minus|times|multiplied by|divided by|over|mod|modulo)\\b'
  + '|squared$|cubed$|to the power\\b|(?:in|to|into|as) \\S)', 'i')
const reference = /\b(?:that|it|this|the (?:last |previous )?(?:result|answer)|ans)\b/gi
const operator = /[-+*/^%!()×÷√²³]|\b(?:plus|minus|times|over|divided|mod|of|squared|cubed)\b/

/** Finds out what is wanted. Never throws. */
export function understand(prompt: string, memory: Memory): Intent {
  const aboutText = textQuestion(prompt.trim().replace(politeness, ''), memory)
  if (aboutText !== undefined) return aboutText
  if (prompt.length > maxSentence) return { skill: 'unknown' }
  const sentence = prompt.replace(/’/g, '\'').trim().replace(/\s+/g, ' ')
  const bare = sentence.replace(/[\s?.!=]+$/, '')
  if (bare === '') return { skill: 'help' }
  const plain = bare.replace(politeness, '')
  const topic = talk.find(([pattern]) => pattern.test(bare) || pattern.test(plain))
  if (topic !== undefined) return { skill: topic[1] }
  const request = sentence.replace(/^= ?|[\s?.=]+$/g, '').replace(politeness, '').replace(/,? please$/i, '')
  const text = inDigits(request)
  const intent = goingOn(text, memory)
  if (intent !== undefined) return intent
  const lost = memory.value === undefined && goingOn(text, { ...memory, value: '1' }) !== undefined
  return { skill: lost ? 'lost' : 'unknown' }
}

/** A sentence on its own, or one that needs the last result. */
function goingOn(text: string, { value, unit, answer = '' }: Memory): Intent | undefined {
  const place = /^(?:(?:what|how) about )?(?:in )?(.{2,40})$/i.exec(text)?.[1]
  if (place !== undefined && /^It is \d\d:\d\d/.test(answer) && works(() => findZone(place))) {
    return { skill: 'date', request: { operation: 'now', zone: place } }
  }
  if (value === undefined) return route(text, '')
  if (leading.test(text)) return route(`${value} ${text}`, unit)
  const request = askDate(text)
  if (request !== undefined) return { skill: 'date', request }
  const alike = /^[\d.,]+ ?\p{L}+$/u.test(text) && unit !== '' && works(() => evaluate(`${text} in ${unit}`))
  if (alike) return { skill: 'convert', value: text, to: unit }
  const full = text.replace(reference, () => value)
  return full === text ? route(text, '') : route(full, unit, text)
}

/**
 * `unit`: what a number without one is taken in, where only that makes sense (20 °C "plus 5").
 * `typed`: the text before the last result was put into it.
 */
function route(text: string, unit: string, typed = text): Intent | undefined {
  const request = askDate(text)
  if (request !== undefined) return { skill: 'date', request }
  return conversion(text) ?? calculation(text, unit, typed)
}

function conversion(text: string): Intent | undefined {
  const many = /^how (?:many|much) (.+?) (?:(?:are |is )?(?:there )?in|equals?|is|are) (.+)$/i.exec(text)
  const subject = text.replace(/^(?:what(?:'s| is)|how much is) /i, '')
  const named = /^(?:the )?(roman numeral|\w+)(?: value| form)? (?:of|for) (.+)$/i.exec(subject)
  const verb = /^(?:convert|change|turn|express|translate|write) /i.exec(subject)?.[0] ?? ''
  const parts = /^(.+) (?:to|into|in|as) (.+)$/i.exec(subject.slice(verb.length))
  return (many && converting(many[2]!, many[1]!, true))
    ?? (named && findBase(named[1]!) !== undefined ? converting(named[2]!, named[1]!, true) : undefined)
    ?? (parts ? converting(parts[1]!, parts[2]!, verb !== '') : undefined)
}

/** Convertible at all: a number or a numeral, to what is a target or was asked for in so many words. */
function converting(value: string, target: string, asked: boolean): Intent | undefined {
  const from = value.replace(/^the /i, '').replace(/^an? /i, '1 ')
  const to = target.replace(/^(?:the |an? )/i, '')
  const known = isTarget(to) || isCurrency(to)
  const numeral = findBase(to) !== undefined && (asked || /^(?:[ivxlcdm]+|(?:hex|roman) \w+)$/i.test(from))
  if ((!numeral && !/\d/.test(from)) || /^\d/.test(to)) return undefined
  const unit = from.replace(/^[-+.\d\s]+/, '')
  const fits = known ? numeral || unit !== from || works(() => evaluate(from)) : works(() => parseUnits(unit))
  if (!(asked || fits) || (!known && to.split(' ').length > 3)) return undefined
  return { skill: 'convert', value: from, to }
}

function calculation(text: string, unit: string, typed: string): Intent | undefined {
  const { expression, asked } = asExpression(text)
  const first = /^\p{L}+/u.exec(expression)?.[0] ?? ''
  const called = isFunction(first) || /^\p{L}\w*\(/u.test(expression)
  if (!/^[-+(.\d√]/.test(expression) && !called && !constants.has(first)) return undefined
  const fine = works(() => evaluate(expression))
  const inUnit = `${expression} ${unit}`
  if (!fine && unit !== '' && works(() => evaluate(inUnit))) return { skill: 'calculate', expression: inUnit }
  const meant = called || operator.test(expression) || !/\s/.test(expression) || (asked && /\d/.test(typed))
  return fine || (meant && /[\d)]/.test(expression)) ? { skill: 'calculate', expression } : undefined
}

function works(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}

function textQuestion(prompt: string, memory: Memory): Intent | undefined {
  const line = prompt.length > maxSentence ? '' : prompt.replace(/\s+/g, ' ').replace(/[?.! ]+$/, '')
  const [, quoted, named, possessive, where] = letterQuestion.exec(line) ?? []
  const letter = quoted ?? named ?? possessive
  if (where !== undefined && letter !== undefined) {
    return { skill: 'text_stats', text: unquote(where), letter }
  }
  const count = countQuestion.exec(prompt)
  const text = count?.[3] ?? statsRequest.exec(prompt)?.[1]
  if (text === undefined) return undefined
  const subject = unquote(text.replace(/^(?:(?:this|the|following) )*(?:text|sentence|word)?\s*:\s*/i, ''))
  const meant = /^(?:that|it|this|my (?:last|previous) (?:message|question))\??$/i.test(subject)
  const wanted = (count?.[1] ?? count?.[2])?.toLowerCase().replace(/s$/, '')
  const whole = meant ? memory.question ?? subject : subject
  return { skill: 'text_stats', text: whole, ...(wanted === undefined ? {} : { count: wanted }) }
}

function unquote(text: string): string {
  const inner = /^(?:the (?:word|text|sentence|phrase) )?["'“‘`]([\s\S]*)["'”’`][?.!]*$/i.exec(text.trim())
  return inner?.[1] ?? text
}
