/**
 * Host names, ASCII (RFC 1123 §2.1) and internationalized (IDNA2008: RFC 5890 to 5893).
 *
 * Which characters a label may have follows from the runtime's Unicode properties by the rules of RFC 5892,
 * so there is no table to keep.
 */
import { domainToASCII, domainToUnicode } from 'node:url'
import { STEP } from './fuel.ts'
import type { Fuel } from './fuel.ts'

type Context = (before: string, after: string) => boolean

/** What looking at a character of a label costs. */
const LETTER = 8 * STEP

/** Tests texts by an expression that is made when the first comes: to gather these classes takes long. */
function lazily(make: () => RegExp): (text: string) => boolean {
  let made: RegExp | undefined
  return (text) => (made ??= make()).test(text)
}

// RFC 5892 §2 and §3: what is valid by exception, what is not, and what is valid by derivation.
const exceptions = '[a-z\\d\\u00df\\u03c2\\u06fd\\u06fe\\u0f0b\\u3007-]'
const excluded = '[\\u0640\\u07fa\\u302e\\u302f\\u3031-\\u3035\\u303b\\u1100-\\u11ff\\ua960-\\ua97f\\ud7b0-'
  + '\\ud7ff\\u20d0-\\u20ff\\u{1d100}-\\u{1d24f}\\p{Changes_When_NFKC_Casefolded}'
  + '\\p{Default_Ignorable_Code_Point}]'
const isValid = lazily(() => RegExp(`^(?:${exceptions}|(?!${excluded})[\\p{L}\\p{Nd}\\p{Mn}\\p{Mc}])$`, 'u'))

const afterHebrew: Context = (before) => /\p{sc=Hebr}$/u.test(before)

/** RFC 5892 appendix A: what must stand around the characters that are not always valid. */
const contextual: ReadonlyMap<string, Context> = new Map<string, Context>([
  ['\u00b7', (before, after) => before.endsWith('l') && after.startsWith('l')],
  ['\u0375', (_, after) => /^\p{sc=Grek}/u.test(after)],
  ['\u05f3', afterHebrew],
  ['\u05f4', afterHebrew],
  ['\u30fb', (before, after) => /[\p{sc=Hira}\p{sc=Kana}\p{sc=Han}]/u.test(before + after)],
  ['\u200c', joins('\u200c')],
  ['\u200d', joins('\u200d')],
])

// RFC 5893 §2, by the blocks that are written from right to left.
const right = '\\u0590-\\u06ef\\u06fa-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefe'
  + '\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}'
const isStrong = lazily(() => RegExp(`(?!\\p{Mn})[${right}]`, 'u'))
const startsRight = lazily(() => RegExp(`^(?![\\p{Mn}\\p{Nd}])[${right}]`, 'u'))
const isOnlyRight = lazily(() => (
  RegExp(`^[${right}\\d\\u06f0-\\u06f9\\p{Mn}\\u200c\\u200d-]*(?<!-\\p{Mn}*)$`, 'u')
))

/** Labels of letters, digits and hyphens; one that claims to be internationalized must be. */
export function isHostname(text: string, fuel: Fuel): boolean {
  return text.length < 254 && text.split('.').every((label) =>
    /^(?!-)[A-Za-z\d-]{1,63}(?<!-)$/.test(label) && unicode(label, fuel) !== '')
}

/** A-labels, U-labels and ordinary ones, with a dot of any script between them. */
export function isIdnHostname(text: string, fuel: Fuel): boolean {
  if (text.length > 253) return false
  const labels = text.split(/[.\u3002\uff0e\uff61]/).map((label) => unicode(label, fuel))
  const forms = labels.map((label) => {
    if (/[^\0-\x7f]/.test(label)) return isLabel(label, fuel) ? domainToASCII(label) : ''
    return /^(?!-|..--)[A-Za-z\d-]+(?<!-)$/.test(label) ? label : ''
  })
  return forms.every((form) => form !== '' && form.length < 64) && forms.join('.').length < 254
    && (labels.every(isDirected) || !labels.some((label) => isStrong(label)))
}

/** The U-label of an A-label, if it is the one way to write it, else nothing; other labels as they are. */
function unicode(label: string, fuel: Fuel): string {
  if (!/^xn--/i.test(label)) return label
  const text = domainToUnicode(label)
  const isOnly = isLabel(text, fuel) && domainToASCII(text) === label.toLowerCase()
  return isOnly && (isDirected(text) || !isStrong(text)) ? text : ''
}

/** Whether it is a U-label (RFC 5891 §4.2), directions aside. */
function isLabel(label: string, fuel: Fuel): boolean {
  fuel.pay(label.length * LETTER)
  if (label !== label.normalize() || /^-|^..--|-$|^\p{M}|^[\0-\x7f]*$/su.test(label)) return false
  if (/[\u0660-\u0669]/.test(label) && /[\u06f0-\u06f9]/.test(label)) return false
  const characters = [...label]
  return characters.every((character, index) => isValid(character)
    || contextual.get(character)?.(characters.slice(0, index).join(''), characters.slice(index + 1).join('')))
}

/** Whether a label of a name that has right-to-left labels runs in one direction (RFC 5893 §2). */
function isDirected(label: string): boolean {
  if (!startsRight(label)) return !isStrong(label) && /^[^\d\p{Mn}-]/u.test(label)
  return isOnlyRight(label) && !(/[\d\u06f0-\u06f9]/.test(label) && /[\u0660-\u0669]/.test(label))
}

/** Whether a joiner is where it may be. The runtime knows, but looks at the first joiner only. */
function joins(joiner: string): Context {
  const bare = (part: string): string => part.replace(/[\u200c\u200d]/g, '')
  return (before, after) => domainToASCII(bare(before) + joiner + bare(after)) !== ''
}
