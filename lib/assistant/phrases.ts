/**
 * Arithmetic in words. In: a sentence such as "the square root of sixteen" or "20 is what percent of 80";
 * out: the expression that it means, `sqrt 16`. Substitutions only: whether the result can be computed is for
 * the calculator to say.
 */

type Phrases = readonly (readonly [pattern: RegExp, replacement: string])[]

const ones = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven',
  'twelve', 'thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen']
const tens = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']
const [anyOne, anyDigit, anyTen] = [ones, ones.slice(1, 10), tens].map((list) => list.join('|'))
const spelledTens = new RegExp(String.raw`\b(${anyTen})(?:[- ](${anyDigit}))?\b`, 'gi')
const spelledOnes = new RegExp(String.raw`\b(${anyOne})\b`, 'gi')

const asking = new RegExp('^(?:what(?:\'s|s| is| are| does| would be| was)?|calculate|compute|evaluate|solve'
  + '|work out|how much(?: is| are)?|find|give me|the (?:value|result|answer) of|equals?)\\b:? ?', 'i')

/** Whole sentences. */
const sentences: Phrases = [
  [/^add (.+?) (?:to|and|with) (.+)$/i, '$2 + $1'],
  [/^subtract (.+) from (.+)$/i, '$2 - $1'],
  [/^multiply (.+) (?:by|with|and) (.+)$/i, '$1 * $2'],
  [/^divide (.+) by (.+)$/i, '$1 / $2'],
  [/^raise (.+) to (?:the power (?:of )?)?(.+)$/i, '($1) ^ ($2)'],
  [/^increase (.+) by (.+)$/i, '$1 + $2'],
  [/^(?:decrease|reduce) (.+) by (.+)$/i, '$1 - $2'],
  [/^(.+?%) off (.+)$/i, '$2 - $1'],
  [/^(?:a )?tip of (.+?%) on (.+)$/i, '$1 of $2'],
  [/^percent(?:age)? of (.+) (?:is|are) (.+)$/i, '($2) / ($1) in %'],
  [/^(.+) (?:is|as) (?:what |a )?percent(?:age)? of (.+)$/i, '($1) / ($2) in %'],
  [/^difference between (.+) and (.+)$/i, '$1 - $2'],
  [/^remainder of (.+) divided by (.+)$/i, '($1) mod ($2)'],
]

const lists = /^(sum|average|mean|median|product|max\w*|min\w*|largest|biggest|smallest) (?:of )?([^()]+)$/i
const listNames = new Map([['maximum', 'max'], ['largest', 'max'], ['biggest', 'max'], ['minimum', 'min'],
  ['smallest', 'min']])

/** Parts of sentences. */
const words: Phrases = [
  [/\bto the power(?: of)?\b/gi, '^'],
  [/\bthe\b ?/gi, ''],
  [/\ba (?=dozen|hundred|thousand|million)/gi, '1 '],
  [/\bsquare root(?: of)?\b/gi, 'sqrt '],
  [/\b(?:cube|cubic) root(?: of)?\b/gi, 'cbrt '],
  [/\babsolute value(?: of)?\b/gi, 'abs '],
  [/\bnatural log(?:arithm)?(?: of)?\b/gi, 'ln '],
  [/\blogarithm\b/gi, 'log'],
  [/\bcosine\b/gi, 'cos'],
  [/\bsine\b/gi, 'sin'],
  [/\btangent\b/gi, 'tan'],
  [/\b(factorial|sqrt|cbrt|abs|sin|cos|tan|ln|log) of\b/gi, '$1 '],
  [/(\d) factorial\b/gi, '$1!'],
  [/\b(?:a )?half of\b/gi, '1/2 *'],
  [/\ba third of\b/gi, '1/3 *'],
  [/\ba quarter of\b/gi, '1/4 *'],
  [/\b(?:twice|double)\b/gi, '2 *'],
  [/\btriple\b/gi, '3 *'],
  [/(?<![\w.])[$€£](?=\d)/g, ''],
  [/\s+/g, ' '],
]

/** Number words up to ninety-nine as digits. */
export function inDigits(text: string): string {
  const worth = (list: readonly string[], word = 'zero'): number => list.indexOf(word.toLowerCase())
  return text
    .replace(spelledTens, (_, ten, one) => String(worth(tens, ten) * 10 + 20 + worth(ones, one)))
    .replace(spelledOnes, (one) => String(worth(ones, one)))
}

/** The expression in a sentence, and whether the sentence asks for a result in so many words. */
export function asExpression(sentence: string): { readonly expression: string, readonly asked: boolean } {
  const asked = asking.test(sentence)
  let expression = sentence.replace(asking, '').replace(asking, '').replace(/^the /i, '')
  for (const [pattern, replacement] of sentences) expression = expression.replace(pattern, replacement)
  const [, name = '', items = ''] = lists.exec(expression) ?? []
  if (name !== '') {
    const values = items.split(/,? and |, ?/)
    const called = listNames.get(name.toLowerCase()) ?? name.toLowerCase()
    expression = called === 'product' ? values.join(' * ') : `${called}(${values.join(', ')})`
  }
  for (const [pattern, replacement] of words) expression = expression.replace(pattern, replacement)
  return { expression: expression.trim(), asked }
}
