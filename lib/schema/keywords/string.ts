/**
 * Keywords for what is in a string: `pattern`, `format`, and in draft-07 its content (2020-12 validation §6.3.3, §7;
 * draft-07 validation §8).
 */
import type { Rule, Site } from '../rule.ts'
import type { Check } from '../run.ts'
import { formats } from '../format.ts'
import * as kind from '../kind.ts'
import { patternAt } from '../pattern.ts'
import { rule } from '../rule.ts'

export const pattern: Rule = rule(kind.regex, (site, source) =>
  text(site, patternAt(site, source), `must match the pattern ${source}`, source))

/** Asserted where the option `formats` is set. */
export const format: Rule = rule(kind.string, (site, name) => site.limits.formats ? formatted(site, name) : undefined)
/** Asserted always: the vocabulary format-assertion. */
export const formatAssertion: Rule = rule(kind.string, formatted)

/** draft-07: asserted like `format`; an annotation since then. */
export const contentEncoding: Rule = rule(kind.string, (site, encoding) =>
  site.limits.formats && encoding === 'base64' ? text(site, isBase64, 'must be base64', encoding) : undefined)
export const contentMediaType: Rule = rule(kind.string, (site, media) => {
  const encoded = site.schema['contentEncoding'] === 'base64'
  const test = (value: string): boolean => encoded ? !isBase64(value) || isJson(decode(value)) : isJson(value)
  return site.limits.formats && media === 'application/json' ? text(site, test, 'must be JSON', media) : undefined
})

function formatted(site: Site, name: string): Check | undefined {
  const test = formats.get(name)
  return test && text(site, test, `must be a valid ${name}`, name)
}

function text(site: Site, test: (text: string) => boolean, message: string, expected: string): Check {
  const fault = site.fault(message, expected)
  return (value, run) => typeof value !== 'string' || test(value) || run.fails(fault, value)
}

function isBase64(text: string): boolean {
  return /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(text)
}

function decode(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0)))
}

function isJson(text: string): boolean {
  try {
    return JSON.parse(text) !== undefined
  } catch {
    return false
  }
}
