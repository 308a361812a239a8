/**
 * Finds out what a sentence means. In: a prompt and the conversation before it; out: steps to try, each a
 * call of a tool or a text, the likeliest first. Plain patterns of English; "that" and a leading operator
 * stand for the last result.
 */
import type { ChatMessage } from '../../kernel/define/call.ts'

type Args = Readonly<Record<string, string>>

/** One thing to try. The fault of a tool is shown where the step is surely what was meant. */
export type Step = { readonly text: string } | Readonly<{ tool: string, args: Args, isSure: boolean }>

/** Longer sentences are ignored, because patterns take time; text to be counted may be longer. */
const [maxSentence, maxTurns, maxAnswer, maxCarried] = [400, 20, 1000, 40]

/** Answers without a tool; `{role}` is the last message of that role. */
const topics: readonly (readonly [pattern: RegExp, say: string])[] = [
  [/^(?:hi|hello|hey|good \w+|how are you)(?: there)?$/i, 'Hello! Ask "what can you do?"'],
  [/^(?:thanks?|thank you|cheers)\b\D*$/i, 'You are welcome.'], [/^(?:good)?bye\b\D*$/i, 'Goodbye!'],
  [/^(?:|help|examples?|(?:what (?:can|do) you|(?:who|what) are you)\b.{0,60})$/i, 'help'],
  [/^what\b.{0,30}\b(?:i|my)\b.{0,20}\b(?:ask|say|said|question)\b.{0,20}$/i, 'Before this you said: {user}'],
  [/^(?:what (?:was|is) the last (?:answer|result)|repeat that|say that again)$/i, 'I said: {assistant}'],
]

const politeness = /^(?:(?:please|hey|ok|so|well|and|then|hi|hello|can you|tell me)\b[,:!]? )+|,? please$/gi
/** What continues from the last result, "times 2", "+ 5", "in miles", and what stands for it. */
const leading = /^(?:[*/^×÷%+]|- |(?:plus|minus|times|divided|multiplied|over|squared|cubed|in|to|as)\b)/i
const pronoun = /\b(?:that|this|(?<!(?:time|day|date|week) is )it|the (?:last |previous )?result)\b/gi

/** Questions about a text, and about a letter in it. */
const aboutText = new RegExp('^(?:(?:how many|count(?: the)?) (?:word|character|letter|sentence|line)s?'
  + '(?: are)?(?: there)? (?:in|of)|analy[sz]e)\\b(?: (?:the|this|following|text|word))*:?\\s*([^]+)$', 'i')
const aboutLetter = new RegExp('^how (?:many|often)(?: times)?(?: does)?(?: the)?(?: letters?)? '
  + '(?=["\'“]|.[\'’]s|(?<=letters? ).\\b)["\'“]?(\\p{L})["\'”’]?s?(?: \\w+)?(?: there)? in (.+)$', 'iu')

/** Sentences of arithmetic, and the expressions that they mean. */
const sums: readonly (readonly [sentence: RegExp, expression: string])[] = [
  [/^(?:calculate|compute|evaluate|solve|work out|how much(?: is| are)?)\b:? ?/i, ''],
  [/^what percent(?:age)? of (.+) is (.+)$/i, '$2 is what percent of $1'], [/^what(?:'?s| is| are) /i, ''],
  [/^the /i, ''], [/^add (.+?) (?:to|and) (.+)$/i, '$2 + $1'], [/^subtract (.+) from (.+)$/i, '$2 - ($1)'],
  [/^(?:multiply|product of) (.+) (?:by|and) (.+)$/i, '$1 * $2'], [/^divide (.+) by (.+)$/i, '$1 / $2'],
  [/^increase (.+) by (.+)$/i, '$1 + $2'], [/^(?:decrease|reduce) (.+) by (.+)$/i, '$1 - $2'],
  [/^(.+?%) off (.+)$/i, '$2 - $1'], [/^(?:a )?tip of (.+?%) on (.+)$/i, '$1 of $2'],
  [/^difference between (.+) and (.+)$/i, '$1 - ($2)'], [/^largest/i, 'max'], [/^smallest/i, 'min'],
  [/^(.+) (?:is|as) (?:what |a )?percent(?:age)? of (.+)$/i, '($1) / ($2) in %'],
  [/^(sum|average|mean|max|min)(?:imum)? of ([^()]+?),? and ([^()]+)$/i, '$1($2, $3)'],
]

const conversions = [/^how many (?<to>.+?) (?:(?:are )?(?:there )?in|is|are) (?<value>.+)$/i,
  /^(?:what(?:'s| is) |how much is )?(?:convert )?(?<value>.+) (?:to|into|in|as) (?<to>.+)$/i]

/** Parts of patterns for dates. */
const SPAN = String.raw`((?:(?:\d{1,7}|an?) ?(?:year|month|fortnight|week|day)s?\b(?:,? and |, | )?)+)`
const size = String.raw`.{0,30}?\b(?:years?|months?|weeks?|days?|long|difference|old)\b.{0,30}?`
const what = String.raw`(?:what(?:'s| is| was| time is(?: it)?)? |which )?(?:the )?`

/** Questions about dates, and the arguments that the groups of their patterns are. */
const dateQuestions = ([
  ['now', `${what}(?:current |local )?time(?: is it)?(?: right now| now)?(?: (?:in|at|for) (.+))?`, ['zone']],
  ['difference', `${size} (?:between|from) (.+?) (?:and|to|until|till) (.+)`, ['date', 'until']],
  ['add', `(add|subtract) ${SPAN} ?(?:to|from) (.+)`, ['sign', 'duration', 'date']],
  ['add', `(?:.{0,30} )?${SPAN} ?(after|from|before|ago)(?: (.+))?`, ['duration', 'sign', 'date']],
  ['add', String.raw`${what}(.+?) ?(\+|plus|-|minus) ?${SPAN}`, ['date', 'sign', 'duration']],
  ['add', `(?:what.{0,30}? )?in ${SPAN}`, ['duration']],
  ['difference', String.raw`${what}(\S*\d-\d\S*) (?:-|minus) (\S*\d-\d\S*)`, ['until', 'date']],
  ['difference', `${size} (?:until|till|to|before) (.+)`, ['until']],
  ['difference', `${size} (?:since|ago was|ago is|born(?: on| in)?) (.+)`, ['date']],
  ['describe', `${what}(?:date|day|today(?:'s date)?|week)(?: is (?:it|today))?(?: in (.+))?`, ['zone']],
  ['describe', `${what}(?:iso )?(?:week ?day|day|date|week)(?: number)?(?: of the week)?`
    + '(?: is| was| does| did| will| of| for)(?: on)? (.+?)(?: fall on| fall| be)?', ['date']],
  ['describe', '(?:is|was|will) (?:it|(.+?)) (?:be )?a leap year', ['date']],
  ['describe', String.raw`when(?:'s| is| was) (.+)|(\d{4}-\d\d?-\d\d?)`, ['date', 'date']],
] as const).map(([operation, text, names]) => [operation, new RegExp(`^(?:${text})$`, 'i'), names] as const)

/** What a prompt may mean; nothing where it is not understood. */
export function* understand(prompt: string, history: readonly ChatMessage[]): Generator<Step> {
  const lastOf = (author: string): string =>
    history.findLast(({ role, content }) => role === author && !content.startsWith('Before '))?.content ?? ''
  const meant = (text: string): string =>
    /^(?:that|it)\??$/i.test(text) ? lastOf('user') : text.replace(/^["'“]([^]*)["'”][?.!]*$/, '$1')
  const [, counted] = aboutText.exec(prompt.trim().replace(politeness, '')) ?? []
  if (counted !== undefined) yield use('text_stats', { text: meant(counted) })
  if (prompt.length > maxSentence) return
  const bare = prompt.replace(/’/g, '\'').replace(/\s+/g, ' ').replace(/^[ =]+|[ ?.=]+$/g, '')
  const text = bare.replace(politeness, '')
  const [, letter, word = ''] = aboutLetter.exec(text) ?? []
  if (letter !== undefined) yield use('text_stats', { text: meant(word), letter })
  const calm = bare.replace(/!+$/, '')
  const [, topic] = topics.find(([pattern]) => pattern.test(calm) || pattern.test(text)) ?? []
  const answer = topic?.replace(/\{(\w+)\}/, (_, role) => lastOf(role).slice(0, 500) || 'nothing')
  if (answer !== undefined) return yield { text: answer }
  const { value, unit } = remember(history)
  const zone = text.replace(/^(?:(?:what|how) about )?(?:in )?/i, '')
  if (lastOf('assistant').startsWith('It is ')) yield use('date', { operation: 'now', zone }, false)
  const that = value ?? 'that'
  const full = leading.test(text) ? `${that} ${text}` : text.replace(pronoun, () => that)
  if (value !== undefined && full !== text) yield* route(full, unit)
  if (unit !== '' && /^[\d.,]+ ?\p{L}+$/u.test(text)) yield use('convert', { value: text, to: unit }, false)
  yield* route(text)
  const isLost = value === undefined && (leading.test(text) || /\d.*that|convert.*that|that.*\d/i.test(full))
  if (isLost) yield { text: 'There is no earlier result in this conversation that I could go on from.' }
}

const use = (tool: string, args: Args, isSure = true): Step => ({ tool, args, isSure })

/** A sentence that needs nothing before it; its numbers may be meant in `unit`. */
function* route(text: string, unit = ''): Generator<Step> {
  for (const [operation, question, names] of dateQuestions) {
    const groups = question.exec(text)
    const found = names.map((name, index) => [name, groups?.[index + 1]]).filter(([, group]) => group)
    const { sign = '', duration = '', ...args }: Args = Object.fromEntries(found)
    const signed = /-|minus|subtract|before|ago/i.test(sign) ? `-${duration}` : duration
    if (groups !== null) yield use('date', { operation, duration: signed, ...args })
  }
  // A date is also a difference of numbers.
  if (/\d{4}-\d\d?-\d/.test(text)) return
  const isNumeric = (expression: string): boolean => /^[-+(.\d√]|^\w+\(/.test(expression)
  for (const conversion of conversions) {
    const { value = '', to = '' } = conversion.exec(text)?.groups ?? {}
    if (value !== '') yield use('convert', { value, to }, isNumeric(value))
  }
  const expression = sums.reduce((sum, [sentence, meaning]) => sum.replace(sentence, meaning), text)
  yield use('calculate', { expression }, isNumeric(expression))
  if (unit !== '') yield use('calculate', { expression: `${expression} ${unit}` }, false)
}

/** The last result and its unit, as text that the tools read; a rounded one as the expression it is from. */
function remember(history: readonly ChatMessage[]): { readonly value?: string, readonly unit: string } {
  for (const { role, content } of history.slice(-maxTurns).toReversed()) {
    if (role !== 'assistant' || /^(?:I |Before |Hello|There |You |Good)/.test(content)) continue
    const answer = content.slice(0, maxAnswer)
    const [, left = '', sign, right = ''] = /^(.*) ([=≈]) (.+)$/m.exec(answer) ?? []
    const unit = right.replace(/^\S+ ?/, '')
    const [, span] = / is (\d[\w ,]*?) (?:before|after) /.exec(answer) ?? []
    const isCarried = sign === '≈' && left.length <= maxCarried
    const exact = isCarried ? unit === '' ? left : `(${left}) in ${unit}` : right
    const result = exact || span?.replace(/,| and/g, '')
    if (result) return { value: /^[\d.]+$/.test(result) ? result : `(${result})`, unit }
    const figures = answer.match(/\b\d{4}-\d\d-\d\d\b/g) ?? answer.match(/(?<![\w.])-?\d+(?:\.\d+)?(?![\w-])/)
    if (figures !== null) return { value: figures.at(-1)!, unit }
  }
  return { unit: '' }
}
