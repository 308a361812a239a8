/**
 * Statistics of a text: characters, words, sentences, lines, paragraphs, frequent words, reading time.
 * In: a text; out: numbers. Words, sentences and visible characters are those of `Intl.Segmenter`, so they
 * hold for scripts without spaces too. Long texts are read in pieces. It knows no questions.
 */

import { Problem } from './problem.ts'

/** Everything that is counted in a text. */
export interface TextStats {
  /** Visible characters: a family emoji is one. */
  readonly characters: number
  readonly characters_without_spaces: number
  readonly code_points: number
  readonly letters: number
  readonly words: number
  readonly sentences: number
  /** Lines, the empty ones too; a line end at the end begins no new one. */
  readonly lines: number
  readonly paragraphs: number
  readonly average_word_length: number
  readonly longest_word: string
  /** At most five, the most frequent first; equals in order of appearance. */
  readonly frequent_words: readonly { readonly word: string, readonly count: number }[]
  readonly reading_seconds: number
}

/** In UTF-16 code units; what is longer would hold the process up for too long. */
export const maxText = 100_000
/** Segments hold on to a copy of their whole input on some versions of V8: long inputs would cost squared. */
const maxPiece = 1000
const wordsPerMinute = 238
const shownWords = 5

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const wordParts = new Intl.Segmenter('en', { granularity: 'word' })
const sentenceParts = new Intl.Segmenter('en', { granularity: 'sentence' })

/** Where a sentence surely ends, and where a word does. */
const sentenceEnd = /^[\s\S]*(?:[.!?…]["'”’)]{0,3}\s{1,3}(?=["'“(]?[\p{Lu}\p{N}])|[。！？]|\n)/u
const wordEnd = /^[\s\S]*\s/
const isSaid = /[\p{L}\p{N}]/u

/** Counts everything at once. Throws a `Problem` when the text is longer than `maxText`. */
export function textStats(text: string): TextStats {
  if (text.length > maxText) throw new Problem(`The text is longer than ${maxText} characters`)
  const words: string[] = []
  let [characters, visible, sentences] = [0, 0, 0]
  for (const { piece, complete } of pieces(text)) {
    for (const part of wordParts.segment(piece)) if (part.isWordLike) words.push(part.segment)
    for (const { segment } of graphemes.segment(piece)) {
      characters++
      if (segment.trim() !== '') visible++
    }
    const said = Array.from(sentenceParts.segment(piece), ({ segment }) => isSaid.test(segment))
    sentences += said.filter(Boolean).length - (said.at(-1) && !complete ? 1 : 0)
  }
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word.toLowerCase(), (counts.get(word.toLowerCase()) ?? 0) + 1)
  const inWords = words.reduce((sum, word) => sum + [...word].length, 0)
  return {
    characters,
    characters_without_spaces: visible,
    code_points: [...text].length,
    letters: text.match(/\p{L}/gu)?.length ?? 0,
    words: words.length,
    sentences,
    lines: text === '' ? 0 : text.replace(/(?:\r\n|\r|\n)$/, '').split(/\r\n|\r|\n/).length,
    paragraphs: text.split(/(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)/).filter((part) => part.trim() !== '').length,
    average_word_length: words.length === 0 ? 0 : Math.round(inWords / words.length * 100) / 100,
    longest_word: words.reduce((longest, word) => word.length > longest.length ? word : longest, ''),
    frequent_words: [...counts].map(([word, count]) => ({ word, count }))
      .sort((a, b) => b.count - a.count).slice(0, shownWords),
    reading_seconds: Math.ceil(words.length / wordsPerMinute * 60),
  }
}

/** The text in parts of bounded size; `complete` where no sentence is cut by the end of a part. */
function* pieces(text: string): Generator<{ readonly piece: string, readonly complete: boolean }> {
  for (let start = 0; start < text.length;) {
    const window = text.slice(start, start + maxPiece).replace(/[\uD800-\uDBFF]$/, '')
    const rest = start + window.length < text.length
    const ended = rest ? sentenceEnd.exec(window)?.[0] : window
    const piece = ended ?? wordEnd.exec(window)?.[0] ?? (window || text.slice(start, start + 1))
    yield { piece, complete: ended !== undefined }
    start += piece.length
  }
}

/** How often `part` stands in `text`, letter case aside, without overlaps. */
export function occurrences(text: string, part: string): number {
  return part === '' ? 0 : text.toLowerCase().split(part.toLowerCase()).length - 1
}
