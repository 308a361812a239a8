/**
 * The formats of 2020-12 (validation §7.3): a name to the test that a string of that format passes. Each
 * follows the grammar of the RFC named beside it and nothing else: what can be written, not what exists.
 */
import { domainToASCII, domainToUnicode } from 'node:url'
import { STEP } from './evaluation.ts'
import type { Fuel } from './evaluation.ts'

type Context = (before: string, after: string) => boolean

/** What looking at a character of a label costs. */
const LETTER = 8 * STEP

/** Tests texts by an expression that is made when the first comes: most formats are never used. */
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
function isHostname(text: string, fuel: Fuel): boolean {
  return text.length < 254 && text.split('.').every((label) =>
    /^(?!-)[A-Za-z\d-]{1,63}(?<!-)$/.test(label) && unicode(label, fuel) !== '')
}

/** A-labels, U-labels and ordinary ones, with a dot of any script between them. */
function isIdnHostname(text: string, fuel: Fuel): boolean {
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

/** Characters of a regular expression; honest ones have dozens. */
const MAX_REGEX = 1_000
/** What reading one `\\p{…}` costs. */
const UNICODE_SET = 1_200 * STEP
/** What taking an address apart costs. */
const GROUPS = 15 * STEP
/** Characters of the longest address: six groups and an IPv4 address. */
const MAX_IPV6 = 45

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const isIpv4 = tester(`${octet}(?:\\.${octet}){3}`)

// RFC 3339 §5.6.
const monthDay = '(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)'
  + '|02-(?:0[1-9]|1\\d|2[0-8])'
const leapYear = '\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00'
const isDate = tester(`\\d{4}-(?:${monthDay})|(?:${leapYear})-02-29`)
const time = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/
const leapSecond = /^(\d\d):(\d\d):60(?:\.\d+)?(?:[Zz]|([+-]\d\d):(\d\d))$/

// RFC 3339 appendix A: units in order, none left out between two.
const days = '(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)'
const hours = 'T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)'

// RFC 3987 §2.2: what an IRI may have beyond a URI.
const planes = [...'123456789abcd'].map((plane) => `\\u{${plane}0000}-\\u{${plane}fffd}`).join('')
const universal = `\\u{a0}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{ffef}${planes}\\u{e1000}-\\u{efffd}`
const internal = '\\u{e000}-\\u{f8ff}\\u{f0000}-\\u{ffffd}\\u{100000}-\\u{10fffd}'

const escape = '%[\\dA-Fa-f]{2}'
const pointer = '(?:/(?:[^/~]|~[01])*)*'

// RFC 6570 §2; the apostrophe by erratum 6937.
const name = `(?:\\w|${escape})(?:\\.?(?:\\w|${escape}))*(?::[1-9]\\d{0,3}|\\*)?`
const template = `(?:[!#$&'()*+,./:;=?@[\\]~\\w${universal}${internal}-]|${escape}`
  + `|\\{[+#./;?&=,!@|]?${name}(?:,${name})*\\})*`

const uri = identifier('', '')
const iri = identifier(universal, internal)

/** Format name to test. A name that is not here is no assertion. */
export const formats: ReadonlyMap<string, (text: string, fuel: Fuel) => boolean> = new Map([
  ['date-time', (text) => isDate(text.slice(0, 10)) && /^.{10}t/is.test(text) && isTime(text.slice(11))],
  ['date', isDate],
  ['time', isTime],
  ['duration', tester(`P(?:\\d+W|${days}(?:${hours})?|${hours})`)],
  ['email', mailbox('')],
  ['idn-email', mailbox('\\u{80}-\\u{10ffff}')],
  ['hostname', isHostname],
  ['idn-hostname', isIdnHostname],
  ['ipv4', isIpv4],
  ['ipv6', (text, fuel) => {
    fuel.pay(GROUPS)
    return isIpv6(text)
  }],
  ['uri', (text) => uri(text, true)],
  ['uri-reference', (text) => uri(text, false)],
  ['iri', (text) => iri(text, true)],
  ['iri-reference', (text) => iri(text, false)],
  ['uri-template', tester(template)],
  // RFC 9562 §4.
  ['uuid', tester('[\\dA-Fa-f]{8}(?:-[\\dA-Fa-f]{4}){3}-[\\dA-Fa-f]{12}')],
  // RFC 6901 §3, and its relative form.
  ['json-pointer', tester(pointer)],
  ['relative-json-pointer', tester(`(?:0|[1-9]\\d*)(?:#|${pointer})`)],
  ['regex', isRegex],
])

function tester(source: string): (text: string) => boolean {
  return lazily(() => RegExp(`^(?:${source})$`, 'u'))
}

/** A leap second is the last one of a day in UTC, whatever the offset. */
function isTime(text: string): boolean {
  if (time.test(text)) return true
  const [, hour, minute, offsetHour = '+0', offsetMinute = '0'] = leapSecond.exec(text) ?? []
  if (hour === undefined || !time.test(text.replace(':60', ':59'))) return false
  const offset = Number(offsetHour) * 60 + Number(offsetHour.charAt(0) + offsetMinute)
  return (Number(hour) * 60 + Number(minute) - offset + 2880) % 1440 === 1439
}

/** RFC 4291 §2.2: eight groups, of which `::` stands for one or more. */
function isIpv6(text: string): boolean {
  if (text.length > MAX_IPV6) return false
  const end = text.lastIndexOf(':') + 1
  const whole = isIpv4(text.slice(end)) ? `${text.slice(0, end)}0:0` : text
  const halves = whole.split('::')
  const groups = halves.flatMap((half) => half === '' ? [] : half.split(':'))
  return (halves.length === 1 ? groups.length === 8 : halves.length === 2 && groups.length < 8)
    && groups.every((group) => /^[\dA-Fa-f]{1,4}$/.test(group))
}

/** RFC 5321 §4.1.2 "Mailbox", and with more letters RFC 6531. */
function mailbox(letters: string): (text: string) => boolean {
  const atom = `[\\w!#$%&'*+/=?^\`{|}~${letters}-]+`
  const isLocal = tester(`${atom}(?:\\.${atom})*|"(?:[ !#-[\\]-~${letters}]|\\\\[ -~])*"`)
  const isDomain = tester(`(?:(?!-)[A-Za-z\\d${letters}-]+(?<!-)(?:\\.(?!$)|$))+`)
  return (text) => {
    const at = text.lastIndexOf('@')
    const [local, domain] = [text.slice(0, at), text.slice(at + 1)]
    const octets = letters ? Buffer.byteLength(local) : at
    if (at < 1 || octets > 64 || domain.length > 255 || !isLocal(local)) return false
    const [literal, ipv6] = /^\[(?:IPv6:(.*)|.*)\]$/i.exec(domain) ?? []
    if (literal === undefined) return isDomain(domain)
    return ipv6 === undefined ? isIpv4(literal.slice(1, -1)) : isIpv6(ipv6)
  }
}

/** RFC 3986 appendix A; RFC 3987 with what it adds. A reference may be relative. */
function identifier(letters: string, queries: string): (text: string, absolute: boolean) => boolean {
  let made: { readonly whole: RegExp; readonly relative: RegExp } | undefined
  return (text, absolute) => {
    const { whole, relative } = made ??= identifiers(letters, queries)
    const found = whole.exec(text) ?? (absolute ? null : relative.exec(text))
    const literal = found?.[1]
    return found !== null && (literal === undefined || isIpv6(literal)
      || /^[vV][\dA-Fa-f]+\.[\w.~!$&'()*+,;=:-]+$/.test(literal))
  }
}

function identifiers(
  letters: string, queries: string,
): { readonly whole: RegExp; readonly relative: RegExp } {
  const chars = (more: string): string => `(?:[\\w.~!$&'()*+,;=${more}${letters}-]|${escape})`
  const segment = chars(':@')
  const authority = `//(?:${chars(':')}*@)?(?:\\[([^\\]]*)\\]|${chars('')}*)(?::\\d*)?(?:/${segment}*)*`
  const after = (first: string): string => `(?:${authority}|/?(?:${first}+(?:/${segment}*)*)?|/)`
  const tail = `(?:\\?(?:${segment}|[/?${queries}])*)?(?:#(?:${segment}|[/?])*)?`
  const whole = RegExp(`^[A-Za-z][A-Za-z\\d+.-]*:${after(segment)}${tail}$`, 'u')
  const relative = RegExp(`^${after(chars('@'))}${tail}$`, 'u')
  return { whole, relative }
}

/** The runtime reads it, and takes long for sets of characters that Unicode defines. */
function isRegex(text: string, fuel: Fuel): boolean {
  if (text.length > MAX_REGEX) return false
  fuel.pay((text.split(/\\p/i).length - 1) * UNICODE_SET)
  try {
    return Boolean(RegExp(text, 'u'))
  } catch {
    return false
  }
}
