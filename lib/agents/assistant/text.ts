/**
 * Statistics of a text, in a sentence and in figures. Words and visible characters are those of
 * `Intl.Segmenter`, so they hold for scripts without spaces too, and a family emoji is one character.
 */
import { show } from '../../kernel/define/validate.ts'
import { Fault } from '../../kernel/define/fault.ts'

/** A sentence, and the figures in it. */
export interface TextAnswer { readonly text: string; readonly [figure: string]: unknown }

const [maxText, maxLetter, shownWords] = [100_000, 100, 5]
/** Segmenting costs the square of the length, so it is done in pieces, which end after a word if they can. */
const pieces = /[^]{0,199}\s|[^]{1,200}/gu
const sentenceEnd = /(?<=[.!?…]["'”’)]{0,3})\s+|(?<=[。！？])|\n{2,}/

/**
 * Counts what is in a text, or how often a letter or a word is. Throws a `Fault` above 100,000 UTF-16
 * code units of text, and above 100 of what is counted: to look for it may cost the product of both.
 */
export function countText(text: string, letter?: string): TextAnswer {
  if (text.length > maxText) throw new Fault('invalid', `The text is longer than ${maxText} characters`)
  if (letter !== undefined) {
    if (letter.length > maxLetter) {
      throw new Fault('invalid', `What is counted is longer than ${maxLetter} characters`)
    }
    const count = text.toLowerCase().split(letter.toLowerCase()).length - 1
    return { text: `${show(letter)} occurs ${counted(count, 'time')} in ${show(text)}.`, count }
  }
  const segments = (granularity: 'word' | 'grapheme'): readonly string[] => {
    const segmenter = new Intl.Segmenter('en', { granularity })
    return (text.match(pieces) ?? []).flatMap((piece) => Array.from(segmenter.segment(piece))
      .flatMap(({ segment, isWordLike = true }) => isWordLike ? segment.toLowerCase() : []))
  }
  const words = segments('word')
  const lines = text.split(/\r\n|\r|\n/)
  const figures = {
    words: words.length,
    characters: segments('grapheme').length,
    sentences: text.split(sentenceEnd).filter((part) => /[\p{L}\p{N}]/u.test(part)).length,
    lines: lines.at(-1) === '' ? lines.length - 1 : lines.length,
    letters: text.match(/\p{L}/gu)?.length ?? 0,
  }
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const frequent = Array.from(counts, ([word, times]) => ({ word, times }))
    .toSorted((a, b) => b.times - a.times).slice(0, shownWords)
  const sizes = Object.entries(figures).map(([noun, size]) => counted(size, noun.slice(0, -1)))
  const most = frequent.map(({ word, times }) => `${word} (${times})`).join(', ') || 'no words'
  return { text: `${sizes.join(', ')}.\nMost frequent: ${most}.`, ...figures, frequent }
}

export const counted = (size: number, noun: string): string => `${size} ${noun}${size === 1 ? '' : 's'}`
